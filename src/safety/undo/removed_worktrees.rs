//! Worktrees of a transaction that were removed since: its undo leaves them out and names them.

use std::collections::BTreeSet;
use std::path::Path;

use crate::checkpoint::CheckpointCaptures;
use crate::context::handle::Context;
use crate::operation;
use crate::rollback::workspace::no_git_dir;
use axiom_base::error::{Code, Error, Result};
use axiom_git::Head;
use axiom_model::base::ids::OperationId;
use axiom_model::base::ref_change::{ChangeDirection, RefChange};
use axiom_model::base::text::ValueChange;
use axiom_model::journal::journaled::JournaledOperation;
use axiom_model::journal::journaled_changes::BranchAdvance;

/// Removes from an undo the changes in missing worktrees; returns their paths. Their branches still go back, together with
/// the worktree in which they are checked out now, if there is one. Their files in the trash stay there.
pub(super) fn leave_out(
    ctx: &Context,
    of: &OperationId,
    operation: &mut JournaledOperation,
    captured: Option<&CheckpointCaptures>,
) -> Result<Vec<String>> {
    let stands = |path: &str| match captured {
        Some(captured) => Ok(captured.worktree_at(path).is_some()),
        None => operation::is_there(ctx, path),
    };
    let mut gone = BTreeSet::new();
    let worktrees = operation.worktrees.iter().map(|change| &change.path);
    let advances = operation.advances.iter().map(|change| &change.path);
    let asides = operation.asides.iter().map(|change| &change.worktree);
    for path in worktrees.chain(advances).chain(asides) {
        if !stands(path)? {
            gone.insert(path.clone());
        }
    }
    operation.worktrees.retain(|change| !gone.contains(&change.path));
    operation.asides.retain(|change| !gone.contains(&change.worktree));
    let (gone_with, stay): (Vec<BranchAdvance>, Vec<BranchAdvance>) =
        std::mem::take(&mut operation.advances).into_iter().partition(|change| gone.contains(&change.path));
    operation.advances = stay;
    for change in gone_with {
        add_branch(ctx, change, operation)?;
    }
    // What git still has of a broken workspace goes to the trash; a redo brings it back just as broken.
    for change in operation.workspaces.iter_mut().filter(|change| change.way == ChangeDirection::PutAside && !change.lost) {
        if !stands(&change.workspace.path)? {
            gone.insert(change.workspace.path.clone());
            change.lost = true;
            // Another worktree may be registered under its name now.
            let registered = ctx.repo.worktrees().worktree_at(Path::new(&change.workspace.path))?;
            change.git_dir = match registered {
                Some(entry) => entry.worktree.git_dir().display().to_string(),
                None => no_git_dir(&change.git_dir_trash),
            };
        }
    }
    if gone.is_empty() || changes_something(operation) {
        return Ok(gone.into_iter().collect());
    }
    let all = gone.iter().map(|path| format!("'{path}'")).collect::<Vec<_>>().join(", ");
    Err(Error::new(Code::NotUndoable, format!("'{of}' changed only a worktree that was removed since"))
        .why(all)
        .hint("git axiom checkpoint list    shows which checkpoints are left"))
}

fn add_branch(ctx: &Context, change: BranchAdvance, operation: &mut JournaledOperation) -> Result<()> {
    let worktrees = ctx.repo.worktrees().list()?;
    let is_on = |head: &Head| head.branch() == Some(&change.branch);
    let elsewhere = worktrees.iter().find(|entry| entry.present && entry.head.as_ref().is_some_and(is_on));
    match elsewhere {
        Some(entry) => operation.advances.push(BranchAdvance { path: entry.worktree.path_text()?, ..change }),
        None => {
            let value = ValueChange::new(Some(change.commit.old), Some(change.commit.new));
            operation.refs.push(RefChange { name: change.branch, value });
        }
    }
    Ok(())
}

fn changes_something(operation: &JournaledOperation) -> bool {
    !(operation.is_state_only() && operation.asides.is_empty() && operation.edits.is_empty() && operation.mode.is_none())
}
