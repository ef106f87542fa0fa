//! Undoing a transaction: the recorded changes of each ref, path and task field are inverted, and each has to find its new
//! value unchanged. A later change in the same places is a conflict, and nothing is changed; all other later changes stay.

mod checkpoints;
mod git_operations;
mod needs;
mod preview;
mod rebase;
mod removed_worktrees;
mod submodules;
mod undoability;
pub mod work_at_risk;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rebase::{capture_of, changed};

use crate::checkpoint::{CapturedWorkspace, CheckpointCaptures, CheckpointRequest, has_uncommitted};
use crate::context::handle::Context;
use crate::folders::workspaces::branch_of;
use crate::operation::branches::branches_are_free;
use crate::operation::recorded_head::head_state;
use crate::operation::stop_agents;
use crate::operation::stop_agents::{PausedForOperation, StoppedAgentLine};
use crate::rollback::plan::kept;
use crate::rollback::replaced_bytes;
use crate::{checkpoint, history, operation};
use axiom_base::env;
use axiom_base::error::Result;
use axiom_git::MovedObstacle;
use axiom_model::base::ids::{CheckpointName, OperationId, TaskId};
use axiom_model::base::names::{Oid, RefName};
use axiom_model::base::ref_change::{ChangeDirection, RefChange};
use axiom_model::checkpoint::trigger::CheckpointTrigger;
use axiom_model::journal::journaled::{JournaledOperation, OperationKind};
use axiom_model::journal::journaled_changes::TrashChange;
use axiom_model::operation::operation_record::{JournaledChanges, OperationRecord};
use axiom_model::operation::undo;
use axiom_model::operation::undo::UndoSelector;
use axiom_model::work::tasks::branch_names::task_of;
use axiom_model::work::tasks::task::MergedTaskWork;
pub use preview::UndoPreview;
pub(crate) use rebase::rebased;
pub use undoability::UndoabilityCheck;

/// A transaction that is to be undone.
#[derive(Debug, Clone)]
pub struct UndoTarget {
    /// The transaction.
    pub transaction: OperationRecord,
    /// The original action: where the transaction is an undo, the action that it undid.
    pub what: String,
    /// Whether the transaction is an undo itself, so that this is a redo.
    pub redo: bool,
    /// The last event that was known when it was chosen. If there is no later one, the choice stands.
    pub as_of: u64,
}

/// The result of an undo.
#[derive(Debug)]
pub struct UndoReport {
    /// What changed; `old` is what was there before the undo.
    pub preview: UndoPreview,
    /// The transaction of the undo itself.
    pub txn: OperationId,
    /// Whether that can be undone in turn: not where all was as it should be already.
    pub is_undoable: bool,
    /// The checkpoint made before it, where files or refs changed.
    pub safety: Option<CheckpointName>,
    /// Files that no capture held and that were in the way: they are in the trash.
    pub moved_aside: Vec<MovedObstacle>,
    /// Files that had been in the way of the transaction and are back in their places.
    pub brought_back: Vec<PathBuf>,
    /// Such files that are still in the trash, because something else is in their places now.
    pub still_aside: Vec<MovedObstacle>,
}

/// The transaction that the user means.
pub fn choose(ctx: &Context, asked: &UndoSelector) -> Result<UndoTarget> {
    let enough = |known: &[OperationRecord]| undo::is_decided_by(known, asked);
    let all = match asked {
        UndoSelector::Undo | UndoSelector::Redo => history::newest_transactions(ctx, enough)?,
        // The beginning of an id may fit another one, however old.
        UndoSelector::Named(text) => match OperationId::new(text.clone()) {
            Ok(id) => history::transactions_since(ctx, &id, enough)?,
            Err(_) => history::transactions(ctx)?,
        },
    };
    let transaction = undo::choose(&all, asked)?.clone();
    let (what, redo) = undo::subject(&all, &transaction);
    Ok(UndoTarget { what: what.to_owned(), redo, transaction, as_of: ctx.state().seq })
}

/// The later transactions that changed the same places, newest first: why a transaction cannot be undone.
pub fn later_changes_of_the_same(ctx: &Context, id: &OperationId) -> Result<Vec<OperationRecord>> {
    let all = history::transactions_since(ctx, id, |_| true)?;
    Ok(undo::later_changes_of_the_same(&all, id).into_iter().cloned().collect())
}

/// The newest transactions that can be undone now, at most `most` of them: of those that `log` lists.
pub fn possible(ctx: &Context, most: usize) -> Result<Vec<OperationRecord>> {
    let all = history::transactions(ctx)?;
    let standing = UndoabilityCheck::new(ctx, &all)?;
    let listed = all.iter().rev().filter(|one| one.matters());
    let found = listed.filter(|one| one.undo.of.is_none() && standing.obstacle(one).is_none());
    Ok(found.take(most).cloned().collect())
}

/// Checks whether a transaction can be undone now, and previews the undo; changes nothing.
///
/// # Errors
/// `CHANGED_MEANWHILE`, with the later changes, `IN_THE_WAY`, `BRANCH_IN_USE`, `OPERATION_OPEN`; `NOT_UNDOABLE` where
/// objects that it needs are no longer kept.
pub fn check(ctx: &Context, chosen: &UndoTarget) -> Result<UndoPreview> {
    ctx.no_open_operation()?;
    let captured = if chosen.transaction.moves() { Some(checkpoint::capture_all(ctx)?) } else { None };
    let (operation, left_as_is) = operation(ctx, chosen, captured.as_ref())?;
    operation::rehearse(ctx, &operation)?;
    let mut preview = preview::preview(ctx, &operation, captured.as_ref(), &lost_asides(&chosen.transaction), left_as_is)?;
    if stops_agents(&chosen.transaction) {
        preview.changes.agents = stop_agents::at_work(ctx)?;
        nothing_is_committed_by_a_stop(ctx, &operation, captured.as_ref(), &preview.changes.agents)?;
    }
    Ok(preview)
}

/// Whether agents are stopped first: they write where it changes files.
fn stops_agents(transaction: &OperationRecord) -> bool {
    transaction.changes.moves_files()
}

/// Refuses before agents are stopped what would be refused after that: what an agent did is committed then, on a branch that it moves.
fn nothing_is_committed_by_a_stop(
    ctx: &Context,
    operation: &JournaledOperation,
    captured: Option<&CheckpointCaptures>,
    agents: &[StoppedAgentLine],
) -> Result<()> {
    let is_moved = |task: &TaskId| operation.refs.iter().any(|change| task_of(&change.name).as_ref() == Some(task));
    for StoppedAgentLine { id, task_id } in agents.iter().filter(|agent| is_moved(&agent.task_id)) {
        let its = |held: &&CapturedWorkspace| held.state.task_id.as_ref() == Some(task_id);
        let workspace = captured.and_then(|captured| captured.workspaces.iter().find(its));
        if let Some(workspace) = workspace
            && has_uncommitted(&ctx.repo, &workspace.captured.capture)?
        {
            return Err(changed(&[format!("{id} works on {task_id}: once it is stopped, what it did is committed")]));
        }
    }
    Ok(())
}

/// Undoes a transaction. Agents are stopped where worktrees change. When this returns, all of it survives a power loss. A
/// crash leaves nothing changed, or an operation that recovery finishes.
pub fn undo(ctx: &mut Context, chosen: &UndoTarget) -> Result<UndoReport> {
    let agents = check(ctx, chosen)?.changes.agents;
    let paused = if stops_agents(&chosen.transaction) { stop_agents::stop_agents(ctx)? } else { PausedForOperation::Nothing };
    let mut outcome = ctx.with_change_lock(|ctx| locked(ctx, chosen));
    if let Ok(report) = &mut outcome {
        report.preview.changes.agents = agents;
    }
    if paused == PausedForOperation::BySupervisor {
        stop_agents::resume(ctx)?;
    }
    outcome
}

fn locked(ctx: &mut Context, chosen: &UndoTarget) -> Result<UndoReport> {
    ctx.no_open_operation()?;
    // Another process may have undone it while this one waited for the lock.
    let chosen = match ctx.state().seq == chosen.as_of {
        true => chosen.clone(),
        false => choose(ctx, &UndoSelector::Named(chosen.transaction.id.to_string()))?,
    };
    let mut safety = None;
    let mut captured = None;
    if chosen.transaction.moves() {
        let (record, taken) = checkpoint::create_locked(ctx, &CheckpointRequest::by(CheckpointTrigger::BeforeUndo))?;
        (safety, captured) = (Some(record), Some(taken));
        env::fault_point("undo.safe");
    }
    let (mut operation, left_as_is) = operation(ctx, &chosen, captured.as_ref())?;
    operation.safety = safety.as_ref().map(|record| record.name.clone());
    let main = ctx.repo.worktrees().main_worktree()?;
    for worktree in operation.worktrees.iter_mut().filter(|worktree| Path::new(&worktree.path) == main.path()) {
        worktree.captures.old = safety.as_ref().map(|record| record.capture.clone());
    }
    if let Some(captured) = &captured {
        replaced_bytes::keep_bytes_replaced(ctx, &mut operation, captured)?;
    }
    let mut preview = preview::preview(ctx, &operation, captured.as_ref(), &lost_asides(&chosen.transaction), left_as_is)?;
    let is_undoable = operation.changes_anything();
    let done = operation::run(ctx, operation.clone())?;
    env::fault_point("undo.before-tags");
    checkpoints::follow(ctx, &operation)?;
    let operation::OperationStepsReport { moved_aside, brought_back, still_aside, lost, files: _, left: _, not_put_back: _ } =
        done;
    preview.lost.extend(lost.iter().map(|place| place.display().to_string()));
    let (txn, safety) = (ctx.txn().clone(), safety.map(|record| record.name));
    Ok(UndoReport { preview, txn, is_undoable, safety, moved_aside, brought_back, still_aside })
}

/// What an undo leaves as it is, as absolute paths.
#[derive(Debug, Default)]
pub(crate) struct UndoExclusions {
    /// Worktrees that were removed since.
    removed: Vec<String>,
    /// Files and submodules that cannot be read now: what they hold could not be saved first.
    unread: Vec<String>,
}

/// The operation that undoes a transaction, for the present contents of the worktrees; and what it leaves as it is.
fn operation(
    ctx: &Context,
    chosen: &UndoTarget,
    captured: Option<&CheckpointCaptures>,
) -> Result<(JournaledOperation, UndoExclusions)> {
    let UndoTarget { transaction, what, redo, as_of: _ } = chosen;
    needs::are_there(ctx, transaction)?;
    let kind = OperationKind::Undo { of: transaction.id.clone() };
    let JournaledChanges { refs, branch_configs, stash, advances, worktrees, submodules, workspaces, asides, gates } =
        transaction.changes.clone();
    let forward = JournaledOperation {
        refs,
        branch_configs,
        stash,
        advances,
        worktrees,
        submodules,
        workspaces,
        // Files that are no longer in the trash cannot come back: see `lost_asides`.
        asides: asides.into_iter().filter(is_in_trash).collect(),
        gates,
        ..JournaledOperation::new(kind.clone(), transaction.what.clone())
    };
    let mut operation = forward.inverse(kind, format!("{} of '{what}'", if *redo { "redo" } else { "undo" }));
    if !operation.branch_configs.is_empty() {
        let now = ctx.repo.settings().branch_configs()?;
        operation.branch_configs.retain(|change| now.as_ref().is_some_and(|now| change.is_to_do(now)));
    }
    // A stash entry that the user has removed, or added again, needs no change.
    let there: BTreeSet<Oid> = if operation.stash.is_empty() {
        BTreeSet::new()
    } else {
        ctx.repo.stash().entries()?.into_iter().map(|entry| entry.id).collect()
    };
    operation.stash.retain(|change| there.contains(&change.entry.id) == (change.way == ChangeDirection::PutAside));
    operation.refs = still_to_move(ctx, operation.refs)?;
    let back = undo::state_back(transaction, ctx.state(), &|task, merged| holds(ctx, task, merged))?;
    (operation.edits, operation.mode, operation.standing) = (back.edits, back.mode, back.standing);
    let mut left_as_is = UndoExclusions {
        removed: removed_worktrees::leave_out(ctx, &transaction.id, &mut operation, captured)?,
        unread: Vec::new(),
    };
    if let Some(captured) = captured {
        let moved: Vec<&RefName> = git_operations::moved(&transaction.changes).collect();
        submodules::rebase(ctx, &mut operation.submodules, captured, &mut left_as_is)?;
        for change in &mut operation.worktrees {
            let now = capture_of(captured, &change.path)
                .ok_or_else(|| changed(&[format!("'{}' is no longer a worktree of this repository", change.path)]))?;
            let inside = submodules::inside(&operation.submodules, &change.path);
            *change = rebased(&ctx.repo, &moved, change, now, (&inside, &mut left_as_is))?;
        }
        for change in operation.workspaces.iter_mut().filter(|change| change.way == ChangeDirection::PutAside) {
            // A missing workspace is marked as lost already.
            let Some(now) = captured.workspaces.iter().find(|now| now.state.path == change.workspace.path) else { continue };
            change.lost = false;
            let head = &now.captured.capture.head;
            change.head = head_state(head);
            change.commit = head.commit().cloned();
            change.capture = now.state.capture.clone();
            change.submodules = captured.submodules_of(&change.workspace.path);
        }
        operation.kept = kept(ctx, &operation)?;
    }
    git_operations::advances_are_clear(ctx, &transaction.changes)?;
    branches_are_free(ctx, &operation)?;
    checkpoints::names_are_free(ctx, &operation)?;
    Ok((operation, left_as_is))
}

/// Without branches of tasks that are as the undo wants them already: a branch goes in more than one way once its task is merged.
fn still_to_move(ctx: &Context, refs: Vec<RefChange>) -> Result<Vec<RefChange>> {
    let names: Vec<RefName> = refs.iter().map(|change| &change.name).filter(|name| task_of(name).is_some()).cloned().collect();
    let now = if names.is_empty() { BTreeMap::new() } else { ctx.repo.refs().read_refs(&names)? };
    let is_done = |change: &RefChange| names.contains(&change.name) && now.get(&change.name) == change.value.new.as_ref();
    Ok(refs.into_iter().filter(|change| !is_done(change)).collect())
}

/// Whether a merge has all commits that the task's branch has now.
fn holds(ctx: &Context, task: &TaskId, merged: &MergedTaskWork) -> bool {
    let tip = ctx.repo.refs().read_ref(&branch_of(ctx, task)).ok().flatten();
    tip.is_some_and(|tip| ctx.repo.history().is_ancestor(&tip, &merged.commit).is_ok_and(|held| held))
}

fn is_in_trash(change: &TrashChange) -> bool {
    Path::new(&change.trash).join(change.path.to_path()).symlink_metadata().is_ok()
}

/// The files that the transaction moved out of its way and that are no longer in the trash.
fn lost_asides(transaction: &OperationRecord) -> Vec<TrashChange> {
    transaction.changes.asides.iter().filter(|change| !is_in_trash(change)).cloned().collect()
}
