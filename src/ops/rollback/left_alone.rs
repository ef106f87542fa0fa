//! Linked worktrees of the user's: a checkpoint holds them, and a rollback to it leaves them alone unless one is named.

use std::collections::BTreeSet;

use crate::domain::checkpoint::{CheckpointDocument, WorkspaceState};
use crate::domain::operation::Operation;
use crate::error::{Code, Error, Result};
use crate::git::WorktreeCapture;
use crate::ops::checkpoint::{Captured, CapturedWorkspace};
use crate::ops::context::Context;

/// The paths of worktrees that the checkpoint has otherwise than they are, and that the operation leaves alone; those that
/// are gone too.
///
/// # Errors
/// `GIT_FAILED`, `CHECKPOINT_DAMAGED`.
pub(super) fn left_alone(
    ctx: &Context,
    document: &CheckpointDocument,
    captured: &Captured,
    operation: &Operation,
) -> Result<Vec<String>> {
    let part = part_of(operation);
    let mut paths = Vec::new();
    for then in document.workspaces.iter().filter(|then| !part.contains(then.path.as_str())) {
        let differs = match captured.workspaces.iter().find(|now| now.state.path == then.path) {
            Some(now) => !is_same(ctx, then, now)?,
            // What becomes of a task's workspace is decided with the task.
            None => then.task_id.is_none(),
        };
        if differs {
            paths.push(then.path.clone());
        }
    }
    Ok(paths)
}

/// Whoever calls from such a worktree may mean that one.
///
/// # Errors
/// `INVALID_INPUT` with both ways to say what is meant.
pub(super) fn refuse_from_there(
    ctx: &Context,
    document: &CheckpointDocument,
    captured: &Captured,
    operation: &Operation,
) -> Result<()> {
    let here = ctx.repo.git_dir();
    if here == ctx.repo.common_dir() {
        return Ok(());
    }
    let is_here = |one: &&CapturedWorkspace| {
        let git_dir = one.captured.worktree.git_dir();
        git_dir == here || git_dir.canonicalize().ok().is_some_and(|place| here.canonicalize().is_ok_and(|here| here == place))
    };
    let Some(one) = captured.workspaces.iter().find(is_here) else { return Ok(()) };
    let path = one.state.path.as_str();
    if part_of(operation).contains(path) || !document.workspaces.iter().any(|then| then.path == path) {
        return Ok(());
    }
    let main = captured.main.worktree.path().display();
    let what = format!("a rollback to '{}' goes back in '{main}', and leaves this worktree alone", document.name);
    Err(Error::new(Code::InvalidInput, what)
        .why(format!("'{path}' is a worktree of your own"))
        .hint(format!("git axiom rollback checkpoint {} --worktree .    goes back here, and nowhere else", document.name))
        .hint(format!(
            "git -C '{main}' axiom rollback checkpoint {}    goes back there, and leaves this one alone",
            document.name
        )))
}

fn part_of(operation: &Operation) -> BTreeSet<&str> {
    let worktrees = operation.worktrees.iter().map(|change| change.path.as_str());
    worktrees.chain(operation.workspaces.iter().map(|change| change.workspace.path.as_str())).collect()
}

fn is_same(ctx: &Context, then: &WorkspaceState, now: &CapturedWorkspace) -> Result<bool> {
    let WorktreeCapture { head, tree, index_tree, .. } = &now.captured.capture;
    if then.head.as_ref() != head.commit() || then.branch.as_ref() != head.branch() {
        return Ok(false);
    }
    let then = ctx.repo.capture_parts(&then.capture)?;
    Ok(then.files == *tree && then.index == *index_tree)
}
