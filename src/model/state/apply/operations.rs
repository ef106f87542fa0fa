//! How events change checkpoints and the open operation.

use super::{Result, refuse, session, spending, tasks};
use jiff::{SignedDuration, Timestamp};

use crate::base::ids::{CheckpointName, OperationId, TaskId};
use crate::base::names::Oid;
use crate::base::own_names::CAPTURES;
use crate::base::ref_change::ChangeDirection;
use crate::checkpoint::purge::{PurgeLeftover, PurgeRecord};
use crate::checkpoint::record::{CheckpointRecord, DeletedCheckpoint};
use crate::checkpoint::stamp::prompt_number;
use crate::checkpoint::trigger::CheckpointTrigger;
use crate::journal::journaled::OperationEnd;
use crate::journal::journaled::{JournaledOperation, OperationKind};
use crate::journal::journaled_changes::{GateChange, WorkspaceChange};
use crate::state::current_state::{OpenOperation, State};
use crate::state::settle::{OperationSettlement, move_workspaces};
use crate::state::task_record::TakenStashEntry;
use axiom_base::error::Code;

/// How long a checkpoint can be brought back after an undo or redo deleted it.
const BRING_BACK: SignedDuration = SignedDuration::from_hours(7 * 24);

/// The capture refs that an operation changes.
fn moved_captures(operation: &JournaledOperation) -> Vec<(CheckpointName, Option<Oid>)> {
    let changes = operation.refs.iter();
    let named = changes.filter_map(|change| {
        let name = change.name.as_str().strip_prefix(CAPTURES)?;
        Some((CheckpointName::new(name).ok()?, change.value.new.clone()))
    });
    named.collect()
}

pub(super) fn intend_checkpoint(state: &mut State, name: &CheckpointName) -> Result<()> {
    if state.is_taken(name.as_str()) {
        return refuse(Code::DuplicateId, format!("the name '{name}' is taken"));
    }
    state.record.checkpoint_intent = Some(name.clone());
    Ok(())
}

pub(super) fn create_checkpoint(state: &mut State, checkpoint: &CheckpointRecord, at: Timestamp) -> Result<()> {
    state.record.checkpoints.insert(checkpoint.clone())?;
    state.record.deleted_checkpoints.retain(|_, deleted| deleted.until > at);
    state.record.checkpoint_intent = None;
    if checkpoint.trigger == CheckpointTrigger::SessionStart
        && let Some(session) = &mut state.record.session
        && session.start_checkpoint.is_none()
    {
        session.start_checkpoint = Some(checkpoint.name.clone());
    }
    if checkpoint.trigger.is_attached() {
        let counts = &mut state.record.attached;
        counts.checkpoints += 1;
        counts.prompts = counts.prompts.max(prompt_number(checkpoint.name.as_str()).unwrap_or(0));
    }
    state.record.last_action = Some(format!("checkpoint {}", checkpoint.name));
    Ok(())
}

/// What was taken out is gone or made anew; the tasks whose words were masked wait, and what is left is remembered.
pub(super) fn purge(state: &mut State, purge: &PurgeRecord, at: Timestamp) -> Result<()> {
    state.record.checkpoints.read_all()?;
    purge.made_anew.iter().try_for_each(|record| state.record.checkpoints.insert(record.clone()))?;
    purge.gone.iter().try_for_each(|name| state.record.checkpoints.remove(name).map(drop))?;
    state.record.deleted_checkpoints.retain(|capture, _| !purge.forgotten.contains(capture));
    session::hold_masked(state, &purge.masked, at);
    remember_left(state, purge.left.as_ref());
    Ok(())
}

/// What a purge could not delete, in place of what an earlier one of the same path could not.
fn remember_left(state: &mut State, left: Option<&PurgeLeftover>) {
    let Some(left) = left else { return };
    let all = &mut state.record.left_by_purges;
    all.retain(|one| one.path != left.path);
    all.extend((!left.contents.is_empty()).then(|| left.clone()));
}

pub(super) fn delete_checkpoints(state: &mut State, names: &[CheckpointName]) -> Result<()> {
    state.record.checkpoints.read_all()?;
    names.iter().try_for_each(|name| state.record.checkpoints.remove(name).map(drop))
}

pub(super) fn begin_operation(state: &mut State, txn: &OperationId, operation: &JournaledOperation) -> Result<()> {
    if let Some(open) = &state.record.open {
        return refuse(Code::OperationOpen, format!("'{}' was interrupted", open.operation.title));
    }
    state.record.open = Some(OpenOperation { txn: txn.clone(), operation: operation.clone(), reversing: false });
    Ok(())
}

pub(super) fn reverse_operation(state: &mut State) -> Result<()> {
    match &mut state.record.open {
        Some(open) => {
            open.reversing = true;
            Ok(())
        }
        None => refuse(Code::InvalidTransition, "no operation is open"),
    }
}

pub(super) fn end_operation(state: &mut State, end: OperationEnd, settled: OperationSettlement, at: Timestamp) -> Result<()> {
    let Some(open) = &state.record.open else {
        return refuse(Code::InvalidTransition, "no operation is open");
    };
    let title = open.operation.title.clone();
    let workspaces = open.operation.workspaces.clone();
    let captures = moved_captures(&open.operation);
    let refs = open.operation.refs.clone();
    let (gates, standing) = (open.operation.gates.clone(), open.operation.standing.clone());
    let until = match &open.operation.kind {
        OperationKind::DeleteCheckpoints { until } => *until,
        OperationKind::Merge { .. }
        | OperationKind::BeginMerge { .. }
        | OperationKind::RollbackCheckpoint { .. }
        | OperationKind::RollbackTask { .. }
        | OperationKind::RecoverFiles { .. }
        | OperationKind::StashTaken { .. }
        | OperationKind::Undo { .. } => at.checked_add(BRING_BACK).unwrap_or(at),
    };
    let stash = match (&open.operation.kind, end) {
        (OperationKind::StashTaken { task }, OperationEnd::Done) => {
            let taken = open.operation.stash.iter().map(|change| change.entry.clone());
            Some((task.clone(), taken.map(|entry| TakenStashEntry { entry, operation: open.txn.clone() }).collect()))
        }
        (OperationKind::Merge { task }, OperationEnd::Done) => Some((task.clone(), Vec::new())),
        (_, OperationEnd::Done | OperationEnd::Aborted) => None,
    };
    if end == OperationEnd::Done {
        if !captures.is_empty() {
            // Before anything changes: reading can fail.
            state.record.checkpoints.read_all()?;
        }
        let OperationSettlement { edits, changes, mode } = settled;
        if mode.as_ref().is_some_and(|mode| mode.old != state.restorable.mode) {
            return refuse(Code::ChangedMeanwhile, "the mode is not what the change expects");
        }
        tasks::change_tasks(state, &edits, at)?;
        if changes.is_some() {
            state.folded.forget();
        }
        let before = spending::concerned(state, changes.as_deref());
        match changes {
            Some(changes) => changes.apply(&mut state.restorable),
            None => move_workspaces(&mut state.restorable, &workspaces),
        }
        before.iter().for_each(|old| spending::changed(state, old, at));
        is_put_aside(state, &workspaces);
        if let Some(mode) = mode {
            state.restorable.mode = mode.new;
        }
        standing.apply(&mut state.restorable);
        change_gates(state, &gates);
        follow_captures(state, captures, until)?;
        state.follow_branches(&refs);
        state.record.last_action = Some(title);
    }
    state.record.open = None;
    note_stash(state, stash);
    Ok(())
}

/// What was to be kept aside is: an undo that brings it back holds.
fn is_put_aside(state: &mut State, changes: &[WorkspaceChange]) {
    for change in changes.iter().filter(|change| change.way == ChangeDirection::PutAside) {
        let record = state.record.tasks.get_mut(&change.task);
        if let Some(recovery) = record.and_then(|record| record.recovery.as_mut()) {
            recovery.puts_aside = false;
        }
    }
}

/// Entries of the stash that went during a task; none: it was merged, and what went before is settled.
fn note_stash(state: &mut State, stash: Option<(TaskId, Vec<TakenStashEntry>)>) {
    match stash {
        Some((task, taken)) if !taken.is_empty() => state.record.tasks.entry(task).or_default().stash_taken.extend(taken),
        Some((task, _)) => {
            if let Some(record) = state.record.tasks.get_mut(&task) {
                record.stash_taken.clear();
            }
        }
        None => {}
    }
}

/// A checkpoint is deleted and brought back together with its capture ref, whichever operation changes that ref.
fn follow_captures(state: &mut State, captures: Vec<(CheckpointName, Option<Oid>)>, until: Timestamp) -> Result<()> {
    let record = &mut state.record;
    for (name, new) in captures {
        if let Some(gone) = record.checkpoints.remove(&name)? {
            record.deleted_checkpoints.insert(gone.capture.clone(), DeletedCheckpoint { record: gone, until });
        }
        if let Some(back) = new.and_then(|capture| record.deleted_checkpoints.remove(&capture)) {
            record.checkpoints.insert(CheckpointRecord { name, ..back.record })?;
        }
    }
    Ok(())
}

/// Opens and closes gates on tasks, after all other changes of the operation.
fn change_gates(state: &mut State, changes: &[GateChange]) {
    for GateChange { gate, way } in changes {
        match way {
            ChangeDirection::PutAside => state.restorable.gates.retain(|_, open| !open.is_same_wait(gate)),
            ChangeDirection::BringBack => session::hold(state, gate),
        }
    }
}
