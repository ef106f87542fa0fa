//! What of the project's files a human approved: the question before anything of them is applied or run. The rule is here;
//! the files and the approvals are in `project_hooks`.

use std::collections::BTreeSet;

use super::recorded_place;
use crate::project_hooks::approvals::{Approval, ApprovalFolder, ApprovedRepository};
use crate::project_hooks::project_files::{ProjectFiles, SHARED};
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_git::Repository;
use axiom_store::identity;
use axiom_store::layout::StoreLayout;

/// What counts of the project's files.
#[derive(Debug)]
pub enum ProjectTrust {
    /// The project brings no files, and this clone has no hooks.
    Nothing,
    /// A human approved exactly these files.
    Approved(ProjectFiles),
    /// Nobody approved them as they are; nothing of them is applied or run.
    Waiting {
        /// The files as they are.
        now: ProjectFiles,
        /// What was approved before.
        before: Option<Approval>,
    },
    /// They, or what was approved, cannot be read, for this reason; nothing of them is applied or run.
    Unusable {
        /// The reason.
        why: Error,
        /// What was approved before, if that is known.
        before: Option<Approval>,
    },
}

impl ProjectTrust {
    /// Whether something that was approved, or may have been, counts no more.
    pub fn has_lapsed(&self) -> bool {
        match self {
            Self::Nothing | Self::Approved(_) | Self::Waiting { before: None, .. } => false,
            Self::Waiting { before: Some(_), .. } | Self::Unusable { .. } => true,
        }
    }

    /// What was approved and counts no more.
    pub fn lapsed(&self) -> Option<ProjectFiles> {
        match self {
            Self::Nothing | Self::Approved(_) => None,
            Self::Waiting { before, .. } | Self::Unusable { before, .. } => before.as_ref().map(Approval::files),
        }
    }
}

/// Which repository an approval has to be for.
fn for_this(repo: &Repository) -> Result<Option<ApprovedRepository>> {
    let Some(identity) = identity::read(&StoreLayout::new(repo.common_dir()))? else { return Ok(None) };
    Ok(Some(ApprovedRepository { repository: repo.common_dir().to_string_lossy().into_owned(), id: identity.id }))
}

/// Reads the project's files from the main worktree, and what was approved for this repository. Writes nothing. What cannot be
/// read is [`ProjectTrust::Unusable`] and no error: verbs that save and bring back have to work nevertheless. Files that were approved
/// and are gone wait for approval too, since a verification may go with them.
pub fn trust(repo: &Repository) -> ProjectTrust {
    let before = match approved(repo) {
        Ok(before) => before,
        Err(why) => return ProjectTrust::Unusable { why, before: None },
    };
    let now = match read(repo) {
        Ok(now) => now,
        Err(why) => return ProjectTrust::Unusable { why, before },
    };
    let then = before.as_ref().map(Approval::files).unwrap_or_default();
    match then == now {
        true if now.is_empty() => ProjectTrust::Nothing,
        true => ProjectTrust::Approved(now),
        false => ProjectTrust::Waiting { now, before },
    }
}

/// What was approved for this repository.
pub fn approved(repo: &Repository) -> Result<Option<Approval>> {
    // Without a place for approvals, nothing was approved.
    let (Some(of), Ok(approvals)) = (for_this(repo)?, ApprovalFolder::of_user()) else { return Ok(None) };
    approvals.get(&of)
}

/// The files of the main worktree and of this clone; empty where the main worktree is not there.
fn read(repo: &Repository) -> Result<ProjectFiles> {
    let main = repo.worktrees().main_worktree()?;
    let executables: Option<BTreeSet<String>> = match main.path().join(SHARED).is_dir() {
        true => repo.index(&main).executables_below(SHARED)?,
        false => None,
    };
    let own = StoreLayout::new(repo.common_dir());
    match &executables {
        Some(known) => ProjectFiles::read(main.path(), own.root(), Some(&|path| known.contains(path))),
        None => ProjectFiles::read(main.path(), own.root(), None),
    }
}

/// Records that a human approved exactly these files for this repository. On disk when this returns.
pub fn approve(repo: &Repository, files: &ProjectFiles) -> Result<()> {
    let layout = StoreLayout::new(repo.common_dir());
    layout.ensure()?;
    recorded_place::write_down(&layout, repo)?;
    let of = for_this(repo)?.ok_or_else(|| Error::new(Code::Internal, "the repository has no identity"))?;
    ApprovalFolder::of_user()?.put(&Approval::new(of, env::now(), files))
}

/// As [`approve`], where the files that wait are still those that a human has seen: those with this digest. Returns them.
pub fn approve_as_shown(repo: &Repository, shown: &str) -> Result<ProjectFiles> {
    match trust(repo) {
        ProjectTrust::Waiting { now, .. } if now.digest().as_str() == shown => approve(repo, &now).map(|()| now),
        ProjectTrust::Unusable { why, .. } => Err(why),
        ProjectTrust::Nothing | ProjectTrust::Approved(_) | ProjectTrust::Waiting { .. } => Err(Error::new(
            Code::ChangedMeanwhile,
            "the project's files are no longer those that were shown: nothing was approved",
        )
        .hint("git axiom trust    shows them as they are")),
    }
}

/// Takes the approval for this repository back. Returns whether there was one.
pub fn revoke(repo: &Repository) -> Result<bool> {
    match for_this(repo)? {
        Some(of) => ApprovalFolder::of_user()?.remove(&of),
        None => Ok(false),
    }
}
