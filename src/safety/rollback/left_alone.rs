//! Linked worktrees of the user's own: a checkpoint holds them, but a rollback to it leaves them as they are unless the user
//! names one.

use std::collections::BTreeSet;
use std::path::Path;

use crate::checkpoint::{CapturedWorkspace, CapturedWorktree, CheckpointCaptures};
use crate::context::handle::Context;
use crate::operation::differences::{ComparedCapture, differences};
use crate::operation::extras_of;
use axiom_base::error::{Code, Error, Result};
use axiom_base::shell_word::shell_word;
use axiom_git::{CaptureParts, Head, WorktreeCapture, WorktreeEntry};
use axiom_model::base::names::RefName;
use axiom_model::checkpoint::coverage::CaptureCoverage;
use axiom_model::checkpoint::document::{CheckpointDocument, WorkspaceState};
use axiom_model::checkpoint::record::CheckpointRecord;
use axiom_model::journal::journaled::JournaledOperation;

use super::preview::{MissingWorktreeLine, RollbackPreview};

/// Adds to the preview the worktrees that differ from the checkpoint and that the operation leaves as they are; also missing
/// ones, with the command that makes them again.
pub(super) fn left_alone(
    ctx: &Context,
    document: &CheckpointDocument,
    captured: &CheckpointCaptures,
    operation: &JournaledOperation,
    preview: &mut RollbackPreview,
) -> Result<()> {
    let (part, not_captured) = (part_of(operation), captured.not_captured());
    for then in document.workspaces.iter().filter(|then| !part.contains(then.path.as_str())) {
        match captured.workspaces.iter().find(|now| now.state.path == then.path) {
            Some(now) if is_same(ctx, (then, document.coverage.get(&then.path)), &now.captured)? => {}
            Some(_) => preview.left_alone.push(then.path.clone()),
            // The fate of a task's workspace depends on the task.
            None if then.task_id.is_some() => {}
            // It is there and cannot be captured, which is told.
            None if not_captured.contains(&then.path) => {}
            None => {
                preview.left_alone.push(then.path.clone());
                preview.gone.push(MissingWorktreeLine { path: then.path.clone(), made_by: made_by(ctx, then, Some(operation))? });
            }
        }
    }
    Ok(())
}

/// The same for the main worktree, where another one goes back in its place.
pub(super) fn main_left_alone(
    ctx: &Context,
    (record, document): (&CheckpointRecord, &CheckpointDocument),
    captured: &CheckpointCaptures,
    preview: &mut RollbackPreview,
) -> Result<()> {
    let main = &captured.main;
    let then = WorkspaceState {
        agent_id: None,
        task_id: None,
        path: main.worktree.path_text()?,
        branch: document.branch.clone(),
        head: document.git_commit.clone(),
        capture: record.capture.clone(),
        captured_at: None,
    };
    if !is_same(ctx, (&then, document.main_coverage()), main)? {
        preview.left_alone.push(then.path);
    }
    Ok(())
}

/// The command that makes a missing worktree again, to be run after `operation`, which may bring its branch back or delete
/// it.
pub(super) fn made_by(ctx: &Context, then: &WorkspaceState, operation: Option<&JournaledOperation>) -> Result<String> {
    let path = shell_word(&then.path);
    // What stands in its place is the user's.
    let is_taken = Path::new(&then.path).symlink_metadata().is_ok();
    let will_be_there = |branch: &RefName| {
        let moved = operation.and_then(|operation| operation.refs.iter().rfind(|change| change.name == *branch));
        moved.map_or_else(|| Ok(ctx.repo.refs().read_ref(branch)?.is_some()), |change| Ok(change.value.new.is_some()))
    };
    let moved = moved_to(ctx, then)?;
    let add = match (&then.branch, &then.head) {
        (_, Some(commit)) if is_taken && moved.is_some() => format!("git worktree add --detach {path} {}", commit.short()),
        (Some(branch), _) if will_be_there(branch)? => format!("git worktree add {path} {}", branch.short_in_shell()),
        (Some(branch), Some(commit)) => format!("git worktree add -b {} {path} {}", branch.short_in_shell(), commit.short()),
        (Some(branch), None) => format!("git worktree add --orphan -b {} {path}", branch.short_in_shell()),
        (None, Some(commit)) => format!("git worktree add --detach {path} {}", commit.short()),
        (None, None) => format!("git worktree add --detach {path}"),
    };
    if let Some(now) = moved.filter(|_| !is_taken) {
        return Ok(format!("git worktree move {} {path}", shell_word(&now)));
    }
    let add = if is_taken { format!("mv {path} ELSEWHERE; {add}") } else { add };
    Ok(match ctx.repo.worktrees().worktree_at(Path::new(&then.path))? {
        Some(entry) if entry.locked.is_some() => format!("git worktree unlock {path}; git worktree prune; {add}"),
        Some(_) => format!("git worktree prune; {add}"),
        None => add,
    })
}

/// Where a worktree that is gone from its place is now, as far as that can be told: a linked worktree that has its branch. None can be made
/// for a branch that another one has.
fn moved_to(ctx: &Context, then: &WorkspaceState) -> Result<Option<String>> {
    let Some(branch) = &then.branch else { return Ok(None) };
    let has_it = |entry: &WorktreeEntry| {
        entry.present && !entry.worktree.is_main() && entry.head.as_ref().and_then(Head::branch) == Some(branch)
    };
    let entry = ctx.repo.worktrees().list()?.into_iter().find(has_it);
    entry.map(|entry| entry.worktree.path_text()).transpose()
}

/// Refuses a rollback of everything that was called in such a worktree: the user may have meant only that worktree.
pub(super) fn refuse_from_there(
    ctx: &Context,
    document: &CheckpointDocument,
    captured: &CheckpointCaptures,
    operation: &JournaledOperation,
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
    let what = format!("a rollback to '{}' changes '{main}', and leaves this worktree alone", document.name);
    Err(Error::new(Code::InvalidInput, what)
        .why(format!("{path} is a worktree of your own"))
        .hint(format!("git axiom rollback checkpoint {} --worktree .    rolls back only this worktree", document.name))
        .hint(format!(
            "git -C {} axiom rollback checkpoint {}    rolls back that one, and leaves this one alone",
            shell_word(&main.to_string()),
            document.name
        )))
}

fn part_of(operation: &JournaledOperation) -> BTreeSet<&str> {
    let worktrees = operation.worktrees.iter().map(|change| change.path.as_str());
    worktrees.chain(operation.workspaces.iter().map(|change| change.workspace.path.as_str())).collect()
}

/// Whether a worktree is as the checkpoint has it.
pub(super) fn is_same(
    ctx: &Context,
    (then, coverage): (&WorkspaceState, Option<&CaptureCoverage>),
    now: &CapturedWorktree,
) -> Result<bool> {
    let CapturedWorktree { worktree, capture, .. } = now;
    let WorktreeCapture { head, index_tree, .. } = capture;
    if then.head.as_ref() != head.commit() || then.branch.as_ref() != head.branch() {
        return Ok(false);
    }
    let CaptureParts { files, index, .. } = ctx.repo.captures().capture_parts(&then.capture)?;
    if index != *index_tree {
        return Ok(false);
    }
    let extras = extras_of(&ctx.repo, Some(&then.capture))?;
    Ok(differences(&ctx.repo, (worktree, capture), ComparedCapture { tree: &files, extras: &extras, coverage }, None)?.is_empty())
}
