//! The user's own linked worktrees, where a rollback is to take them back too: files, index, HEAD, and the branch that was checked out.
//! One that is gone is not made again; it is told with the command that does so.

use crate::domain::base::text::Change;
use crate::domain::checkpoint::document::{CheckpointDocument, WorkspaceState};
use crate::domain::operation::journaled::{HeadState, Operation, RefChange};
use crate::error::Result;
use crate::ops::checkpoint::{Captured, CapturedWorkspace, capture_options};
use crate::ops::context::handle::Context;

use super::left_alone::is_same;
use super::preview::Preview;
use super::submodules;
use super::worktree::{Then, add_worktree, head_state, worktree_change};

/// What becomes of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Own {
    /// They stay as they are, which is told.
    Stay,
    /// They go back too.
    GoBackToo,
}

/// Those that the checkpoint holds and that are still there. What a task has, its fate decides about.
fn held<'a>(
    document: &'a CheckpointDocument,
    captured: &'a Captured,
) -> impl Iterator<Item = (&'a WorkspaceState, &'a CapturedWorkspace)> {
    document.workspaces.iter().filter(|then| then.task_id.is_none()).filter_map(|then| {
        let now = captured.workspaces.iter().find(|now| now.state.path == then.path)?;
        now.state.task_id.is_none().then_some((then, now))
    })
}

/// Moves their branches back, but for those that the rollback moves anyway.
///
/// # Errors
/// `GIT_FAILED`.
pub(super) fn add_branches(
    ctx: &Context,
    document: &CheckpointDocument,
    captured: &Captured,
    operation: &mut Operation,
) -> Result<()> {
    for (then, _) in held(document, captured) {
        let Some(branch) = &then.branch else { continue };
        let is_known = document.refs.contains_key(branch) || document.branch.as_ref() == Some(branch);
        let value = Change::new(ctx.repo.refs().read_ref(branch)?, then.head.clone());
        if !is_known && value.old != value.new && !operation.refs.iter().any(|change| change.name == *branch) {
            operation.refs.push(RefChange { name: branch.clone(), value });
        }
    }
    Ok(())
}

/// Adds those that differ from the checkpoint.
///
/// # Errors
/// As for the main worktree.
pub(super) fn add(
    ctx: &Context,
    document: &CheckpointDocument,
    captured: &Captured,
    operation: &mut Operation,
    preview: &mut Preview,
) -> Result<()> {
    for (then, now) in held(document, captured) {
        let coverage = document.coverage.get(&then.path);
        let known = operation.submodules.len();
        let submodules = submodules::add(ctx, document, (captured, &then.path), None, operation, preview)?;
        if operation.submodules.len() == known && is_same(ctx, (then, coverage), now)? {
            continue;
        }
        let head = match (&then.branch, &then.head) {
            (Some(branch), _) => HeadState::Branch(branch.clone()),
            (None, Some(commit)) => HeadState::Detached(commit.clone()),
            (None, None) => head_state(&now.captured.capture.head),
        };
        let old = Some(now.state.capture.clone());
        let exclude = capture_options(ctx).exclude;
        let wanted = Then { capture: &then.capture, head, coverage, only: None, exclude: &exclude, submodules: &submodules };
        let change = worktree_change(&ctx.repo, then.path.clone(), (&now.captured, old), wanted, preview)?;
        add_worktree(ctx, change, &now.captured.capture, operation, preview)?;
    }
    Ok(())
}
