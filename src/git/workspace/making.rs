//! Making a workspace with `git worktree add`: what is prepared before, what git is told, and what there is of it where it failed.

use std::os::fd::BorrowedFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::index::filters::is_of_a_filter;
use crate::objects::durability::sync_file_systems;
use crate::refs::edits::{ExpectedRefValue, RefEdit};
use crate::repo::handles::Workspaces;
use crate::repo::program::{Git, GitOutput};
use crate::repo::worktrees::Worktree;
use axiom_base::error::{Code, Error, Result};
use axiom_base::{env, files};
use axiom_model::base::names::{Oid, RefName};

use super::worktrees::{HALF_MADE, in_the_way};

/// What to check out in a new workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkspaceBranch {
    /// A new branch at this commit.
    New {
        /// Its full name.
        name: RefName,
        /// The commit where it starts.
        base: Oid,
    },
    /// A branch that exists.
    Existing(RefName),
    /// No branch: a detached HEAD at this commit.
    Detached(Oid),
}

/// How long git may take to make a workspace: filters and hooks of the user's run meanwhile, and large files may be fetched.
const MAKING: Duration = Duration::from_secs(600);

/// How often, and how soon, making one is tried again after another git was met in the middle of making a worktree. It writes
/// such a file within some milliseconds; one that was killed there is mended before the next.
const MEETINGS: u32 = 50;
const MEETING: Duration = Duration::from_millis(20);

/// How a workspace is made.
#[derive(Debug, Default)]
pub struct AddWorkspaceOptions<'l> {
    /// Git is ended when this becomes true.
    pub given_up: Arc<AtomicBool>,
    /// A lock that git holds too, so that others know of it if this process dies. Its hooks and filters do not.
    pub lock: Option<BorrowedFd<'l>>,
    /// The files come from a capture afterwards: contents of Git LFS that are not here are not fetched, and a file whose filter
    /// fails is written as git stores it, also where its filter is required.
    pub from_capture: bool,
}

/// What came of making a workspace.
#[derive(Debug)]
pub enum AddWorkspaceOutcome {
    /// It is there, on disk.
    Made(Worktree),
    /// It is not: what git said.
    NotMade(Box<GitOutput>),
}

impl Workspaces<'_> {
    /// Makes a workspace with `git worktree add`. The user's post-checkout hook runs. A crash leaves a half-made workspace
    /// that [`Workspaces::repair_workspace`] clears.
    pub fn create_workspace(&self, path: &Path, branch: &WorkspaceBranch, trash: &Path) -> Result<Worktree> {
        self.created(path, branch, trash, &AddWorkspaceOptions::default())
    }

    /// As [`Workspaces::create_workspace`], for a workspace that gets its files from a capture afterwards: nothing is downloaded for it,
    /// and no filter that fails keeps it from being made.
    pub fn create_workspace_again(&self, path: &Path, branch: &WorkspaceBranch, trash: &Path) -> Result<Worktree> {
        self.created(path, branch, trash, &AddWorkspaceOptions { from_capture: true, ..AddWorkspaceOptions::default() })
    }

    fn created(&self, path: &Path, branch: &WorkspaceBranch, trash: &Path, adding: &AddWorkspaceOptions<'_>) -> Result<Worktree> {
        self.prepare_workspace(path, branch)?;
        match self.add_workspace(path, branch, adding)? {
            AddWorkspaceOutcome::Made(made) => Ok(made),
            AddWorkspaceOutcome::NotMade(output) => Err(self.not_made(path, branch, trash, &output)),
        }
    }

    /// Before [`Workspaces::add_workspace`]: looks whether anything is in the way, and repairs what would stop git. The caller holds the
    /// change lock.
    pub fn prepare_workspace(&self, path: &Path, branch: &WorkspaceBranch) -> Result<()> {
        if path.symlink_metadata().is_ok() && !is_empty_folder(path) {
            return Err(in_the_way(path));
        }
        if let Some(parent) = path.parent() {
            files::create_dir_all(parent)?;
        }
        self.repo.registrations().mend_what_stops_git()?;
        let base = match branch {
            WorkspaceBranch::New { base, .. } | WorkspaceBranch::Detached(base) => Some(base.clone()),
            WorkspaceBranch::Existing(name) => self.repo.refs().read_ref(name)?,
        };
        base.iter().try_for_each(|base| self.is_not_locked(base))
    }

    /// Makes a prepared workspace: filters and the post-checkout hook run meanwhile, so this needs no lock but that of the workspace. What
    /// was given up on is left marked as half-made, as a killed git leaves it.
    pub fn add_workspace(
        &self,
        path: &Path,
        branch: &WorkspaceBranch,
        adding: &AddWorkspaceOptions<'_>,
    ) -> Result<AddWorkspaceOutcome> {
        env::fault_point("git.before-worktree-add");
        let output = self.git_adds(path, branch, adding)?;
        let entry = || Ok::<_, Error>(self.repo.worktrees().worktree_at(path)?.filter(|entry| entry.present));
        if adding.given_up.load(Ordering::SeqCst) && !output.ok() {
            // Its hook may have run half: whoever needs the workspace makes it anew.
            if let Some(entry) = entry()? {
                files::write_scratch(&entry.worktree.git_dir().join("locked"), HALF_MADE.as_bytes())?;
            }
            return Ok(AddWorkspaceOutcome::NotMade(Box::new(output)));
        }
        // A post-checkout hook that fails sets git's exit status too, although the worktree was made. git removes a worktree
        // that it could not finish, and unlocks a finished one.
        if !output.ok() && entry()?.is_none_or(|entry| entry.locked.is_some()) {
            return Ok(AddWorkspaceOutcome::NotMade(Box::new(output)));
        }
        env::fault_point("git.after-worktree-add");
        if let Some(entry) = entry()?.filter(|_| !adding.from_capture)
            && let Err(error) = self.copy_included(&entry.worktree, &adding.given_up)
        {
            tracing::warn!(%error, "the ignored files that .worktreeinclude names are not in the workspace");
        }
        sync_file_systems(&[self.repo.common_dir(), path])?;
        let made = entry()?.map(|entry| entry.worktree).ok_or_else(|| {
            Error::new(Code::WorkspaceBroken, format!("'{}' was made, but git does not list it", path.display()))
        })?;
        self.link_crypt_keys(&made)?;
        Ok(AddWorkspaceOutcome::Made(made))
    }

    /// Runs `git worktree add`, once more where it met a worktree that another git had only begun to write.
    fn git_adds(&self, path: &Path, branch: &WorkspaceBranch, adding: &AddWorkspaceOptions<'_>) -> Result<GitOutput> {
        let (mut output, mut branch) = (self.git_adds_once(path, branch, adding)?, branch.clone());
        let mut again = MEETINGS;
        while again > 0 && met_one_that_is_begun(&output) {
            again -= 1;
            std::thread::sleep(MEETING);
            // It makes the branch first.
            if let WorkspaceBranch::New { name, base } = &branch
                && self.repo.refs().read_ref(name)?.as_ref() == Some(base)
            {
                branch = WorkspaceBranch::Existing(name.clone());
            }
            output = self.git_adds_once(path, &branch, adding)?;
        }
        Ok(output)
    }

    fn git_adds_once(&self, path: &Path, branch: &WorkspaceBranch, adding: &AddWorkspaceOptions<'_>) -> Result<GitOutput> {
        let git =
            self.repo.git().writing().config("checkout.workers=2").args(["worktree", "add", "--quiet", "--no-guess-remote"]);
        let git = match branch {
            WorkspaceBranch::New { name, base } => {
                git.args(["--no-track", "-b", name.short(), "--"]).arg(path).arg(base.as_str())
            }
            WorkspaceBranch::Existing(name) => git.arg("--").arg(path).arg(name.short()),
            WorkspaceBranch::Detached(commit) => git.args(["--detach", "--"]).arg(path).arg(commit.as_str()),
        };
        let git = if adding.from_capture { self.with_filters_that_cost_nothing(git) } else { git };
        let lock = adding.lock.as_ref().map(BorrowedFd::try_clone_to_owned).transpose();
        let lock = lock.map_err(|e| Error::io("copy the lock of", path, e))?;
        self.with_crypt_keys(git).limited(MAKING).ended_by(Arc::clone(&adding.given_up)).holding(lock).run()
    }

    /// Contents of Git LFS that are not here would be fetched, and fail all where they cannot be; so would a required filter.
    fn with_filters_that_cost_nothing<'g>(&self, git: Git<'g>) -> Git<'g> {
        let git = git.env("GIT_LFS_SKIP_SMUDGE", "1");
        self.repo.conversions().filter_names().iter().fold(git, |git, name| git.config(format!("filter.{name}.required=false")))
    }

    /// Why a workspace was not made; what there is of it goes to `trash`. The caller holds the change lock.
    pub fn not_made(&self, path: &Path, branch: &WorkspaceBranch, trash: &Path, output: &GitOutput) -> Error {
        let words = output.stderr.as_str();
        let error = output.error();
        if words.contains("already used by worktree") || words.contains("already checked out") {
            return Error::new(Code::BranchInUse, "the branch is checked out elsewhere").why(words.trim().replace('\n', "; "));
        }
        if words.contains("a branch named") && words.contains("already exists") {
            return Error::new(Code::ChangedMeanwhile, "the branch exists already").why(words.trim().replace('\n', "; "));
        }
        if error.code() == Code::GitLocked {
            return error;
        }
        let cleaned = self.repair_workspace(path, trash).and_then(|_| match branch {
            WorkspaceBranch::New { name, base } if self.repo.refs().read_ref(name)?.as_ref() == Some(base) => {
                let edit = RefEdit { name: name.clone(), expected: ExpectedRefValue::Value(base.clone()), new: None };
                self.repo.refs().update_refs(&[edit], "git axiom: workspace not made")
            }
            WorkspaceBranch::New { .. } | WorkspaceBranch::Existing(_) | WorkspaceBranch::Detached(_) => Ok(()),
        });
        if let Err(cleanup) = cleaned {
            tracing::warn!(error = %cleanup, "what was half-made could not be cleared");
        }
        if error.code() == Code::FilterFailed {
            return error;
        }
        let code = if error.code() == Code::DiskFull { Code::DiskFull } else { Code::DiskCheckoutFailed };
        let hint = match is_of_a_filter(words) {
            true => {
                "fix the filter (git config --get-regexp '^filter'), or what it needs: contents of Git LFS have to be here, or be fetched"
            }
            false => "free some disk space, or read git's message",
        };
        Error::new(code, format!("the workspace '{}' could not be written", path.display()))
            .why(words.trim().replace('\n', "; "))
            .hint(hint)
    }
}

/// Whether git ended with an error since the `commondir` of another worktree was still missing or empty: git lists all
/// worktrees, and writes that file after it has made the folder.
fn met_one_that_is_begun(output: &GitOutput) -> bool {
    !output.ok() && output.stderr.lines().any(|line| line.contains("failed to read") && line.contains("/commondir"))
}

fn is_empty_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_dir())
        && std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use super::*;
    use crate::repo::scratch::ScratchRepository;

    #[test]
    fn a_filter_that_fails_is_no_full_disk() {
        let scratch = ScratchRepository::new(&[]);
        scratch.write(".gitattributes", b"a.txt filter=odd\n");
        scratch.git(&["add", ".gitattributes"]);
        scratch.git(&["commit", "-qm", "attributes"]);
        for (name, value) in [("smudge", "false"), ("required", "true")] {
            scratch.git(&["config", &format!("filter.odd.{name}"), value]);
        }
        let base = Oid::new(scratch.git(&["rev-parse", "HEAD"])).unwrap();
        let (repo, trash) = (scratch.repo(), scratch.path().join(".git/trash"));
        let error = repo
            .workspaces()
            .create_workspace(&scratch.path().join("w"), &WorkspaceBranch::New { name: RefName::branch("t1"), base }, &trash)
            .unwrap_err();
        let said = format!("{error:?}");
        assert!(
            error.code() == Code::DiskCheckoutFailed && said.contains("fix the filter") && !said.contains("disk space"),
            "{said}"
        );
    }

    #[test]
    fn a_worktree_that_another_git_just_begins_stops_no_making() {
        let scratch = ScratchRepository::new(&[]);
        let repo = scratch.repo();
        let other = scratch.path().join(".git/worktrees/other");
        std::fs::create_dir_all(&other).unwrap();
        for (file, text) in [("commondir", ""), ("HEAD", "ref: refs/heads/other\n"), ("gitdir", "/nowhere/.git\n")] {
            std::fs::write(other.join(file), text).unwrap();
        }
        std::thread::scope(|scope| {
            let base = Oid::new(scratch.git(&["rev-parse", "HEAD"])).unwrap();
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(100));
                std::fs::write(other.join("commondir"), "../..\n").unwrap();
            });
            let branch = WorkspaceBranch::New { name: RefName::branch("t1"), base };
            let made =
                repo.workspaces().add_workspace(&scratch.path().join("w"), &branch, &AddWorkspaceOptions::default()).unwrap();
            assert!(matches!(made, AddWorkspaceOutcome::Made(_)), "{made:?}");
        });
    }
}
