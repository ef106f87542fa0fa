//! The steps of an operation, each idempotent, in their fixed order (see [`super`]).

use std::path::{Path, PathBuf};

use crate::context::handle::Context;
use crate::folders::workspace_submodules::bring_home;
use axiom_base::env;
use axiom_base::error::{Error, Result};
use axiom_git::{ChangeAttempt, RefEdit};
use axiom_model::base::ids::OperationId;
use axiom_model::base::names::{Oid, RefName};
use axiom_model::base::ref_change::{ChangeDirection, RefChange};
use axiom_model::journal::journaled::JournaledOperation;
use axiom_model::journal::journaled_changes::{BranchAdvance, StashChange, TrashChange, WorkspaceChange, WorktreeChange};

use super::asides::{in_trash, put_back, take_away};
use super::workspaces::{aside, bring_back, is_in_trash};
use super::{submodules, submodules_again};
use crate::operation::step_parts::steps_report::OperationStepsReport;
use crate::operation::step_parts::worktree_step::{OperationContents, advance, restore_worktree, worktree};

/// Carries out an operation; steps that are done already are recognized. To reverse an operation, carry out its inverse with
/// [`ChangeAttempt::Back`]: then what another process changed meanwhile is left as it is.
pub(super) fn carry_out(
    ctx: &Context,
    operation: &JournaledOperation,
    txn: &OperationId,
    attempt: ChangeAttempt,
    ready: &OperationContents,
) -> Result<OperationStepsReport> {
    let mut done = OperationStepsReport::default();
    super::keep_ref::keep(ctx, operation, txn)?;
    // Also files that an interrupted attempt has put back already: they would be in the way of the files to restore.
    let away = |change: &&TrashChange| change.way == ChangeDirection::PutAside || attempt == ChangeAttempt::Again;
    for change in operation.asides.iter().filter(away) {
        let outcome = take_away(ctx, change);
        done.or_named(attempt, &format!("'{}' in '{}'", change.path, change.worktree), outcome)?;
    }
    for change in operation.workspaces.iter().filter(|change| change.way == ChangeDirection::PutAside) {
        env::fault_point("journal.before-aside");
        if is_anothers_place(ctx, operation, change, attempt)? {
            continue;
        }
        bring_submodules_home(ctx, change, (txn, &operation.title));
        let outcome = aside(ctx, change).and_then(|aside| ctx.repo.workspaces().put_aside(&aside));
        done.or_named(attempt, &format!("the workspace '{}'", change.workspace.path), outcome)?;
    }
    for change in &operation.worktrees {
        env::fault_point("journal.before-worktree");
        let outcome = restore_own_worktree(ctx, change, (txn, attempt, ready), &mut done);
        done.or_named(attempt, &format!("the worktree '{}'", change.path), outcome)?;
    }
    for change in &operation.submodules {
        env::fault_point("journal.before-submodule");
        let stays = |folder: &Path| submodules::folder_stays(ctx, operation, folder);
        let outcome = submodules::carry_out(ctx, change, (txn, attempt, ready), &stays, &mut done);
        done.or_named(attempt, &format!("the submodule '{}'", change.worktree.path), outcome)?;
    }
    for change in &operation.advances {
        env::fault_point("journal.before-advance");
        let outcome = carry_advance(ctx, change, txn, (attempt, ready), &mut done);
        done.or_named(attempt, &format!("{} in '{}'", change.branch.short(), change.path), outcome)?;
    }
    let advanced = operation.advances.iter().map(|change| &change.path);
    let written = operation.worktrees.iter().map(|change| &change.path).chain(advanced);
    // The worktree is looked up only where it is needed.
    for there in written.filter(|_| ctx.repo.restore().annex_has_put_off()).filter_map(|path| worktree(ctx, path).ok()) {
        ctx.repo.restore().write_what_annex_put_off(&there);
    }
    env::fault_point("journal.before-refs");
    let outcome = move_refs(ctx, &operation.refs, &operation.title, txn, attempt, &mut done);
    done.or_named(attempt, "branches", outcome)?;
    if !operation.branch_configs.is_empty() {
        env::fault_point("journal.before-config");
        let outcome = ctx.repo.settings().change_branch_configs(&operation.branch_configs);
        done.or_named(attempt, "the configuration of branches", outcome)?;
    }
    for StashChange { entry, way } in &operation.stash {
        let outcome = match way {
            ChangeDirection::BringBack => ctx.repo.stash().put_on_top(entry),
            ChangeDirection::PutAside => ctx.repo.stash().take_out(&entry.id),
        };
        done.or_named(attempt, &format!("stash entry {}", entry.id.short()), outcome)?;
    }
    for change in operation.workspaces.iter().filter(|change| change.way == ChangeDirection::BringBack) {
        env::fault_point("journal.before-back");
        let outcome = bring_back(ctx, change, txn);
        done.or_named(attempt, &format!("the workspace '{}'", change.workspace.path), outcome)?;
    }
    let coming: Vec<TrashChange> =
        operation.asides.iter().filter(|change| change.way == ChangeDirection::BringBack).cloned().collect();
    done.still_aside = put_back(ctx, &coming)?;
    let stays: Vec<PathBuf> = done.still_aside.iter().map(|moved| moved.now_at.clone()).collect();
    for change in coming.iter().filter(|change| !stays.contains(&in_trash(change).now_at())) {
        let place = Path::new(&change.worktree).join(change.path.to_path());
        let back = place.symlink_metadata().is_ok();
        if back { done.brought_back.push(place) } else { done.lost.push(place) }
    }
    Ok(done)
}

/// Whether what is at the path of a workspace that leaves is not it, but the other one that comes to this path, or has come: that one
/// stays. Both have their own places in the trash, and only these tell which of the two moves were made.
fn is_anothers_place(
    ctx: &Context,
    operation: &JournaledOperation,
    change: &WorkspaceChange,
    attempt: ChangeAttempt,
) -> Result<bool> {
    let path = &change.workspace.path;
    let comes = |other: &&WorkspaceChange| other.way == ChangeDirection::BringBack && other.workspace.path == *path;
    let Some(other) = operation.workspaces.iter().find(comes) else { return Ok(false) };
    // On the way back the one that leaves was brought only after the other one had left.
    let never_came = attempt == ChangeAttempt::Back && !is_in_trash(other);
    let was_lost = || Ok::<_, Error>(change.lost && ctx.repo.worktree_owners().own_git_dir_of(Path::new(path))?.is_some());
    Ok(is_in_trash(change) || never_came || was_lost()?)
}

/// What submodules of a workspace have is brought into the main worktree's repositories, before the workspace goes to the trash. Where
/// that fails it is in the trash, as long as the workspace is.
fn bring_submodules_home(ctx: &Context, change: &WorkspaceChange, (txn, title): (&OperationId, &str)) {
    let there = ctx.repo.worktrees().worktree_at(Path::new(&change.workspace.path));
    // Where only its folder is gone, their repositories are still there.
    let outcome = there.and_then(|entry| entry.map_or(Ok(()), |entry| bring_home(ctx, &entry.worktree)));
    if let Err(error) = outcome.and_then(|()| submodules_again::keep(ctx, change, txn, title)) {
        tracing::warn!(%error, workspace = %change.workspace.path, "what its submodules have is only in the trash");
    }
}

fn restore_own_worktree(
    ctx: &Context,
    change: &WorktreeChange,
    (txn, attempt, ready): (&OperationId, ChangeAttempt, &OperationContents),
    done: &mut OperationStepsReport,
) -> Result<()> {
    if is_gone_on_the_way_back(ctx, &change.path, attempt, done)? {
        return Ok(());
    }
    let worktree = worktree(ctx, &change.path)?;
    restore_worktree(ctx, (&ctx.repo, &worktree), change, (txn, attempt, ready), done)
}

fn carry_advance(
    ctx: &Context,
    change: &BranchAdvance,
    txn: &OperationId,
    (attempt, ready): (ChangeAttempt, &OperationContents),
    done: &mut OperationStepsReport,
) -> Result<()> {
    if is_gone_on_the_way_back(ctx, &change.path, attempt, done)? {
        // The worktree is missing, so its branch is checked out nowhere: only the branch has to move back.
        return move_refs(ctx, &[change.ref_change()], "taken back", txn, attempt, done);
    }
    advance(ctx, change, txn, |ctx, advance| {
        done.add(advance.worktree, ctx.repo.advances().apply_prepared(advance, attempt, ready.advances.get(&change.path))?);
        if ctx.repo.refs().read_ref(advance.branch)?.as_ref() != Some(advance.new) {
            done.left.push(advance.branch.short().to_owned());
        }
        Ok(())
    })
}

/// Whether a worktree exists and is valid, so that something can be put back in it.
pub(crate) fn is_there(ctx: &Context, path: &str) -> Result<bool> {
    let entry = ctx.repo.worktrees().worktree_at(Path::new(path))?;
    Ok(entry.is_some_and(|entry| entry.present && entry.worktree.verify().is_ok()))
}

/// Whether the worktree of a reversal is missing; if so, that is recorded in `done`.
fn is_gone_on_the_way_back(ctx: &Context, path: &str, attempt: ChangeAttempt, done: &mut OperationStepsReport) -> Result<bool> {
    let gone = attempt == ChangeAttempt::Back && !is_there(ctx, path)?;
    if gone {
        done.not_put_back.push(format!("the worktree '{path}', which was removed meanwhile"));
    }
    Ok(gone)
}

/// Moves the refs that have not moved yet, each only from its expected value.
fn move_refs(
    ctx: &Context,
    refs: &[RefChange],
    title: &str,
    txn: &OperationId,
    attempt: ChangeAttempt,
    done: &mut OperationStepsReport,
) -> Result<()> {
    let names: Vec<RefName> = refs.iter().map(|change| change.name.clone()).collect();
    let now = ctx.repo.refs().read_refs(&names)?;
    let open = refs.iter().filter(|change| now.get(&change.name) != change.value.new.as_ref());
    let (open, moved): (Vec<&RefChange>, Vec<&RefChange>) = match attempt {
        ChangeAttempt::First | ChangeAttempt::Again => (open.collect(), Vec::new()),
        ChangeAttempt::Back => open.partition(|change| now.get(&change.name) == change.value.old.as_ref()),
    };
    done.left.extend(moved.iter().map(|change| change.name.short().to_owned()));
    let edits: Vec<RefEdit> = open.into_iter().map(RefEdit::from).collect();
    let coming: Vec<Oid> =
        edits.iter().filter_map(|edit| edit.new.clone()).filter(|oid| !ctx.repo.connectivity().holds(oid)).collect();
    if !coming.is_empty()
        && let Some(kept) = super::keep_ref::KeepRefContents::by(ctx, txn)?
    {
        kept.write_tags_again(ctx, &coming)?;
    }
    ctx.repo.refs().update_refs(&edits, &format!("git axiom: {title}"))
}
