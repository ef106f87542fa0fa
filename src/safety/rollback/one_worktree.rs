//! Rolling back one worktree: everything else stays as it is, such as other worktrees, their branches, the tasks.

use std::path::Path;

use crate::checkpoint::{CapturedWorktree, CheckpointCaptures, capture_options};
use crate::context::handle::Context;
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::names::{Oid, RefName};
use axiom_model::base::ref_change::RefChange;
use axiom_model::base::text::ValueChange;
use axiom_model::checkpoint::coverage::CaptureCoverage;
use axiom_model::checkpoint::document::CheckpointDocument;
use axiom_model::checkpoint::record::CheckpointRecord;
use axiom_model::journal::journaled::{JournaledOperation, OperationKind};
use axiom_model::journal::journaled_changes::HeadState;

use super::beside_worktree::BesideWorktree;
use super::left_alone::made_by;
use super::own_worktrees::OwnWorktreesFate;
use super::plan::{RollbackPlan, kept};
use super::preview::RollbackPreview;
use super::refs::{add_branch_configs, add_local_refs, add_moved_branches, since};
use super::worktree::{WorktreeRollbackState, add_worktree, worktree_change};
use super::{own_worktrees, submodules};
use crate::operation::branches::branches_are_free;
use crate::rollback::removed_commits::{add_detached, add_refs};

/// One worktree at the checkpoint and now.
pub(super) struct OneWorktreeRollback<'a> {
    /// The checkpoint's capture of it.
    pub capture: Oid,
    branch: Option<RefName>,
    commit: Option<Oid>,
    /// Its present contents.
    pub now: &'a CapturedWorktree,
    /// The commit of the present capture, where it is not the main worktree.
    pub now_capture: Option<Oid>,
}

impl OneWorktreeRollback<'_> {
    /// The worktree's path in the document.
    pub fn path_then<'d>(&self, document: &'d CheckpointDocument, path: &'d str) -> &'d str {
        match self.now_capture {
            Some(_) => path,
            None => document.main_path().unwrap_or(path),
        }
    }

    /// What the checkpoint's capture does not hold.
    pub fn coverage<'d>(&self, document: &'d CheckpointDocument, path: &str) -> Option<&'d CaptureCoverage> {
        match self.now_capture {
            Some(_) => document.coverage.get(path),
            None => document.main_coverage(),
        }
    }
}

/// Plans the rollback of the worktree at `path`, from the capture made just now: files, index, HEAD, and the branch that was
/// checked out there; and what goes back beside it.
pub(super) fn make(
    ctx: &Context,
    (record, document): (&CheckpointRecord, &CheckpointDocument),
    captured: &CheckpointCaptures,
    path: &Path,
    beside: BesideWorktree<'_>,
) -> Result<RollbackPlan> {
    let both = find(ctx, record, document, captured, path)?;
    let text = path.display().to_string();
    let head = match (&both.branch, &both.commit) {
        (Some(branch), _) => HeadState::Branch(branch.clone()),
        (None, Some(commit)) => HeadState::Detached(commit.clone()),
        (None, None) => return Err(Error::new(Code::CheckpointDamaged, "the checkpoint names neither branch nor commit")),
    };
    let kind = OperationKind::RollbackCheckpoint { partly: false, checkpoint: record.name.clone() };
    let mut operation = JournaledOperation::new(kind, format!("rollback of '{text}' to checkpoint {}", record.name));
    let mut preview = RollbackPreview::of(ctx.state(), record)?;
    preview.worktree = Some(text.clone());
    if let Some(branch) = &both.branch {
        let value = ValueChange::new(ctx.repo.refs().read_ref(branch)?, both.commit.clone());
        if value.old != value.new {
            operation.refs.push(RefChange { name: branch.clone(), value });
        }
    }
    let own = OwnWorktreesFate::These(beside.others);
    own_worktrees::add_branches(ctx, document, captured, own, &mut operation)?;
    let since = since(ctx, &record.capture, &operation, beside.refs)?;
    add_moved_branches(&since, beside.refs, &mut operation, &mut preview);
    add_refs(ctx, &record.name, document, &mut operation, &mut preview)?;
    add_local_refs(ctx, &record.capture, since, beside.refs, &mut operation, &mut preview)?;
    add_branch_configs(ctx, &record.capture, &mut operation, &mut preview)?;
    let coverage = both.coverage(document, &text);
    let now = (both.now, both.now_capture.clone());
    let then_at = both.path_then(document, &text);
    let submodules = submodules::add(ctx, document, (captured, then_at), None, &mut operation, &mut preview)?;
    let exclude = capture_options(ctx).exclude;
    let then =
        WorktreeRollbackState { capture: &both.capture, head, coverage, only: None, exclude: &exclude, submodules: &submodules };
    let change = worktree_change(&ctx.repo, text.clone(), now, then, &mut preview)?;
    add_worktree(ctx, change, both.now, &mut operation, &mut preview)?;
    own_worktrees::add(ctx, document, (captured, own), &mut operation, &mut preview)?;
    add_detached(ctx, &operation, &mut preview)?;
    operation.kept = kept(ctx, &operation)?;
    branches_are_free(ctx, &operation)?;
    preview.name_moments(&operation, document);
    RollbackPlan::of(ctx, captured, operation, preview)
}

/// The worktree at `path`, at the checkpoint and now.
pub(super) fn find<'a>(
    ctx: &Context,
    record: &CheckpointRecord,
    document: &CheckpointDocument,
    captured: &'a CheckpointCaptures,
    path: &Path,
) -> Result<OneWorktreeRollback<'a>> {
    if captured.main.worktree.path() == path {
        let (branch, commit) = (document.branch.clone(), document.git_commit.clone());
        return Ok(OneWorktreeRollback {
            capture: record.capture.clone(),
            branch,
            commit,
            now: &captured.main,
            now_capture: None,
        });
    }
    let Some(now) = captured.workspaces.iter().find(|one| one.captured.worktree.path() == path) else {
        let held = document.workspaces.iter().find(|then| Path::new(&then.path) == path);
        if let Some(then) = held.filter(|_| path.symlink_metadata().is_err()) {
            return Err(Error::new(Code::WorkspaceBroken, format!("the worktree '{}' is gone", then.path))
                .why(format!(
                    "checkpoint '{}' holds its contents, but they can only be restored into an existing worktree",
                    record.name
                ))
                .hint(format!("{}    brings it back; then repeat the command", made_by(ctx, then, None)?)));
        }
        return Err(Error::new(Code::InvalidInput, format!("'{}' is not a worktree of this repository", path.display()))
            .hint("git worktree list    shows them"));
    };
    let Some(then) = document.workspaces.iter().find(|then| Path::new(&then.path) == path) else {
        let what = format!("checkpoint '{}' holds no worktree at '{}'", record.name, path.display());
        return Err(Error::new(Code::InvalidInput, what).hint(format!("git axiom checkpoint show {}", record.name)));
    };
    Ok(OneWorktreeRollback {
        capture: then.capture.clone(),
        branch: then.branch.clone(),
        commit: then.head.clone(),
        now: &now.captured,
        now_capture: Some(now.state.capture.clone()),
    })
}
