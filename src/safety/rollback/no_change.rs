//! Finding out whether a rollback would change anything at all.

use crate::checkpoint::CheckpointCaptures;
use crate::context::handle::Context;
use crate::operation;
use axiom_base::error::Result;
use axiom_model::journal::journaled::JournaledOperation;
use axiom_model::journal::journaled_changes::WorktreeChange;
use axiom_model::work::restorable::restorable_changes::RestorableChanges;

use super::{RollbackRequest, RollbackScope};
use crate::operation::stop_agents;

/// Whether a preview should find out first if the rollback changes anything, before a safety checkpoint is made. Always for
/// single paths. Not while agents run, since they write until they are stopped; and not for a whole rollback where HEAD
/// differs from the checkpoint, since that changes something for certain.
pub fn may_change_nothing(ctx: &Context, wish: RollbackRequest<'_>) -> Result<bool> {
    let whole = match wish.part {
        RollbackScope::Paths(_) => return Ok(true),
        RollbackScope::Worktree(_) | RollbackScope::Prompt(_) => false,
        RollbackScope::Whole | RollbackScope::Everywhere => true,
    };
    if !stop_agents::at_work(ctx)?.is_empty() {
        return Ok(false);
    }
    let (_, document) = super::find(ctx, wish.name)?;
    let head = ctx.repo.refs().head(&ctx.repo.worktrees().main_worktree()?)?;
    Ok(!whole || head.commit() == document.git_commit.as_ref() && head.branch() == document.branch.as_ref())
}

/// Whether the operation would change nothing: files, index, extras of captures, refs and state are already as they would
/// be.
pub(super) fn changes_nothing(ctx: &Context, operation: &JournaledOperation, captured: &CheckpointCaptures) -> Result<bool> {
    // Every field is listed here, so that a new field of an operation has to be considered.
    let JournaledOperation { kind: _, title: _, safety: _, kept: _, advances, refs, branch_configs, stash, .. } = operation;
    let JournaledOperation { worktrees, submodules, workspaces, asides, edits, gates, standing, changes, mode, .. } = operation;
    let no_refs = advances.is_empty() && refs.is_empty() && branch_configs.is_empty() && stash.is_empty();
    // One that stays as it is, is not in it.
    let no_places = submodules.is_empty() && workspaces.is_empty() && asides.is_empty();
    let no_tasks =
        edits.is_empty() && gates.is_empty() && standing.is_empty() && mode.as_ref().is_none_or(|mode| mode.old == mode.new);
    let same_state = changes.as_deref().is_none_or(RestorableChanges::is_empty);
    if !(no_refs && no_places && no_tasks && same_state) {
        return Ok(false);
    }
    for change in worktrees {
        if !is_as_then(ctx, change, captured)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_as_then(ctx: &Context, change: &WorktreeChange, captured: &CheckpointCaptures) -> Result<bool> {
    let WorktreeChange { path, files, index, head, captures } = change;
    if files.old != files.new || index.old != index.new || head.old != head.new {
        return Ok(false);
    }
    let Some(now) = captured.worktree_at(path) else { return Ok(false) };
    Ok(operation::extras_of(&ctx.repo, captures.new.as_ref())? == now.capture.extras)
}
