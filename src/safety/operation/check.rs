//! Checking that everything is as an operation expects, before its first change.

use std::path::Path;

use crate::context::handle::Context;
use axiom_base::error::{Code, Error, Result};
use axiom_git::{ChangeAttempt, IndexLock, RefEdit, Repository, WorktreeRestore};
use axiom_model::base::names::RefName;
use axiom_model::base::ref_change::ChangeDirection;
use axiom_model::journal::journaled::JournaledOperation;
use axiom_model::journal::journaled_changes::HeadState;
use axiom_model::state::settle::edit_fits;

use super::recorded_head::is_at;
use super::steps::is_there;
use super::{mounts, submodules, trash_folders};
use crate::operation::step_parts::submodule_folders::opened;
use crate::operation::step_parts::worktree_step::{advance, restore, worktree};

/// Compares refs, HEADs, advanced branches, places of workspaces and task fields with what is expected, and looks for what
/// would make a step fail: hooks that refuse, files and folders that cannot be changed, a trash that is not a folder. Files
/// are compared one by one when they are moved: each is in a capture by then.
pub(super) fn expectations(ctx: &Context, operation: &JournaledOperation) -> Result<()> {
    let mut changed = Vec::new();
    let names: Vec<RefName> = operation.refs.iter().map(|change| change.name.clone()).collect();
    let now = ctx.repo.refs().read_refs(&names)?;
    let moved = operation.refs.iter().filter(|change| now.get(&change.name) != change.value.old.as_ref());
    changed.extend(moved.map(|change| format!("{} moved", change.name.short())));
    for edit in &operation.edits {
        if !ctx.state().restorable.tasks.get(&edit.id).is_some_and(|task| edit_fits(edit, task)) {
            changed.push(format!("task {} was changed", edit.id));
        }
    }
    for change in &operation.worktrees {
        let there = worktree(ctx, &change.path)?;
        there.verify()?;
        IndexLock::check_free(&there)?;
        if !is_at(&ctx.repo.refs().head(&there)?, &change.head.old) {
            changed.push(format!("HEAD of '{}' moved", change.path));
        }
    }
    for change in &operation.submodules {
        submodules::expectations(ctx, change, &mut changed)?;
    }
    if !changed.is_empty() {
        let what = "something changed since the operation was planned";
        return Err(Error::new(Code::ChangedMeanwhile, what).why(changed.join(", ")));
    }
    for change in &operation.advances {
        advance(ctx, change, ctx.txn(), |_, advance| {
            IndexLock::check_free(advance.worktree)?;
            ctx.repo.advances().prepare_advance(advance)
        })?;
    }
    for change in &operation.worktrees {
        let there = worktree(ctx, &change.path)?;
        restore(ctx, (&ctx.repo, &there), change, (ctx.txn(), ChangeAttempt::First), can_be_restored)?;
    }
    for change in operation.submodules.iter().filter(|change| change.checked_out.old) {
        let (repo, there) = opened(ctx, change)?;
        restore(ctx, (&repo, &there), &change.worktree, (ctx.txn(), ChangeAttempt::First), can_be_restored)?;
    }
    trash_folders::are_folders(ctx, operation)?;
    let refs = operation.refs.iter().map(RefEdit::from);
    let advances = operation.advances.iter().map(|change| RefEdit::from(&change.ref_change()));
    ctx.repo.refs().try_refs(&refs.chain(advances).collect::<Vec<_>>())?;
    heads_may_move(ctx, operation)?;
    if !operation.branch_configs.is_empty() {
        ctx.repo.settings().config_is_free()?;
    }
    for change in &operation.workspaces {
        let path = &change.workspace.path;
        let is_left = || operation.puts_aside(path) && is_there(ctx, path).is_ok_and(|is_ours| is_ours);
        let taken = Path::new(path).symlink_metadata().is_ok() && !is_left();
        match change.way {
            ChangeDirection::BringBack if taken && !ctx.found.unsettled => {
                return Err(Error::new(Code::WorkspaceInTheWay, format!("'{}' exists already", change.workspace.path))
                    .hint("move it away, and try again"));
            }
            ChangeDirection::BringBack | ChangeDirection::PutAside => {}
        }
    }
    mounts::are_left_alone(ctx, operation)
}

fn can_be_restored(repo: &Repository, restore: &WorktreeRestore<'_>) -> Result<()> {
    repo.index(restore.worktree).can_be_read()?;
    repo.restore().check_obstacles(restore)?;
    repo.restore().check_permissions(restore)
}

/// Asks git, and so its hooks, whether each HEAD may be changed as the operation changes it.
fn heads_may_move(ctx: &Context, operation: &JournaledOperation) -> Result<()> {
    for change in operation.worktrees.iter().filter(|change| change.head.old != change.head.new) {
        let there = worktree(ctx, &change.path)?;
        ctx.repo.refs().try_head(&there, &ctx.repo.refs().head(&there)?, &change.head.new)?;
    }
    // The HEAD of a workspace that goes to the trash is detached.
    for change in operation.workspaces.iter().filter(|change| change.way == ChangeDirection::PutAside && !change.lost) {
        let on_branch = matches!(change.head, HeadState::Branch(_));
        if let Some(commit) = change.commit.as_ref().filter(|_| on_branch)
            && is_there(ctx, &change.workspace.path)?
        {
            let there = worktree(ctx, &change.workspace.path)?;
            ctx.repo.refs().try_head(&there, &ctx.repo.refs().head(&there)?, &HeadState::Detached(commit.clone()))?;
        }
    }
    Ok(())
}

/// For a preview: checks that the contents can be made, since a filter may fail. An operation makes them before its first
/// change.
pub(super) fn contents(ctx: &Context, operation: &JournaledOperation) -> Result<()> {
    for change in &operation.worktrees {
        let there = worktree(ctx, &change.path)?;
        let check = |repo: &Repository, restore: &WorktreeRestore<'_>| repo.restore().check_contents(restore);
        restore(ctx, (&ctx.repo, &there), change, (ctx.txn(), ChangeAttempt::First), check)?;
    }
    for change in operation.submodules.iter().filter(|change| change.checked_out.old) {
        let (repo, there) = opened(ctx, change)?;
        let check = |repo: &Repository, restore: &WorktreeRestore<'_>| repo.restore().check_contents(restore);
        restore(ctx, (&repo, &there), &change.worktree, (ctx.txn(), ChangeAttempt::First), check)?;
    }
    for change in &operation.advances {
        advance(ctx, change, ctx.txn(), |ctx, advance| {
            ctx.repo.restore().check_contents(&advance.restore(ChangeAttempt::First))
        })?;
    }
    Ok(())
}
