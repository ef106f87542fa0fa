//! How events change tasks.

use jiff::Timestamp;

use super::{Result, refuse, spending};
use crate::base::forms::plural::count;
use crate::base::ids::TaskId;
use crate::state::current_state::State;
use crate::state::event_envelope::EventAuthor;
use crate::state::graph;
use crate::work::gates::gate::{Gate, GateKind};
use crate::work::tasks::task::{Task, TaskChangeSet, TaskFieldChange, TaskStatus};
use axiom_base::error::Code;

/// Counts the tasks that agents add: their number is limited.
pub(super) fn count_added(state: &mut State, by: &EventAuthor, tasks: usize) {
    let EventAuthor::Agent(agent) = by else { return };
    let tasks = u32::try_from(tasks).unwrap_or(u32::MAX);
    state.record.added_by_agents = state.record.added_by_agents.saturating_add(tasks);
    if let Some(work) = state.restorable.agents.get_mut(agent).and_then(|agent| agent.work.as_mut()) {
        work.added = work.added.saturating_add(tasks);
    }
}

/// As [`change_tasks`]; notes what a human changed of tasks on which an agent has worked: the next one is told.
pub(super) fn change_tasks_by(state: &mut State, by: &EventAuthor, edits: &[TaskChangeSet], at: Timestamp) -> Result<()> {
    let before: Vec<(TaskId, TaskStatus)> =
        edits.iter().filter_map(|edit| Some((edit.id.clone(), state.restorable.tasks.get(&edit.id)?.status))).collect();
    change_tasks(state, edits, at)?;
    before.iter().for_each(|(id, status)| taken_up_again(state, id, *status));
    if *by != EventAuthor::User {
        return Ok(());
    }
    for edit in edits {
        let Some(record) = state.record.tasks.get_mut(&edit.id).filter(|record| record.last_agent.is_some()) else { continue };
        let told = edit.changes.iter().filter(|change| match change {
            TaskFieldChange::Title(_) | TaskFieldChange::Body(_) | TaskFieldChange::Parent(_) | TaskFieldChange::Verify(_) => {
                true
            }
            TaskFieldChange::After(_)
            | TaskFieldChange::Needs(_)
            | TaskFieldChange::StartEarly(_)
            | TaskFieldChange::Persona(_)
            | TaskFieldChange::Limits(_)
            | TaskFieldChange::Status(_)
            | TaskFieldChange::Merged(_)
            | TaskFieldChange::Reason(_) => false,
        });
        record.edited.extend(told.map(|change| change.field().to_owned()));
    }
    Ok(())
}

/// A gate that asks whether a task may start names it as it is.
fn rename_in_gate(state: &mut State, edit: &TaskChangeSet) {
    let gate = Gate::id_for(GateKind::Claim, &edit.id).ok().and_then(|id| state.restorable.gates.get_mut(&id));
    if let Some((title, gate)) =
        edit.title().zip(gate).filter(|(title, gate)| gate.reason == Gate::to_start(&edit.id, &title.old))
    {
        gate.reason = Gate::to_start(&edit.id, &title.new);
    }
}

/// As [`add_tasks`]; counts those of an agent.
pub(super) fn add_tasks_by(state: &mut State, by: &EventAuthor, tasks: &[Task]) -> Result<()> {
    add_tasks(state, tasks)?;
    count_added(state, by, tasks.len());
    Ok(())
}

pub(super) fn add_tasks(state: &mut State, tasks: &[Task]) -> Result<()> {
    graph::check_added(state, tasks)?;
    if let Some(task) = tasks.iter().find(|task| task.status == TaskStatus::Active) {
        return refuse(
            Code::InvalidTransition,
            format!("'{}' cannot be added as active: only an agent's claim makes it so", task.id),
        );
    }
    for task in tasks {
        state.restorable.tasks.insert(task.id.clone(), task.clone());
        state.folded.add(&task.id);
        state.record.tasks.entry(task.id.clone()).or_default();
    }
    state.record.last_action = match tasks {
        [one] => Some(format!("added {}", one.id)),
        many => Some(format!("added {}", count(many.len(), "task"))),
    };
    Ok(())
}

/// Changes fields, all or none. Only a claim makes a task active, and only a release ends that.
pub(super) fn change_tasks(state: &mut State, edits: &[TaskChangeSet], at: Timestamp) -> Result<()> {
    let mut changed: Vec<Task> = Vec::with_capacity(edits.len());
    for edit in edits {
        // Of two edits of one task, the second sees the result of the first.
        let earlier = changed.iter().position(|task| task.id == edit.id).map(|index| changed.remove(index));
        let mut task = match earlier {
            Some(task) => task,
            None => state.task(&edit.id)?.clone(),
        };
        for change in &edit.changes {
            if !change.apply(&mut task) {
                let what = format!("the {} of '{}' is not what the change expects", change.field(), edit.id);
                return refuse(Code::ChangedMeanwhile, what);
            }
            if let TaskFieldChange::Status(status) = change
                && (status.old == TaskStatus::Active || status.new == TaskStatus::Active)
            {
                return refuse(Code::InvalidTransition, format!("'{}' is active: stop its agent first", edit.id));
            }
        }
        changed.push(task);
    }
    let rewired = edits
        .iter()
        .any(|edit| edit.changes.iter().any(|change| matches!(change, TaskFieldChange::After(_) | TaskFieldChange::Parent(_))));
    if rewired {
        graph::check_changed(state, &changed)?;
    }
    match changed.as_slice() {
        [] => {}
        [one] if edits.iter().flat_map(|edit| &edit.changes).any(|change| change.merges().is_some()) => {
            state.record.last_action = Some(format!("{} had nothing to merge", one.id));
        }
        [one] => state.record.last_action = Some(format!("changed {}", one.id)),
        many => state.record.last_action = Some(format!("changed {}", count(many.len(), "task"))),
    }
    edits.iter().for_each(|edit| rename_in_gate(state, edit));
    for edit in edits.iter().filter(|edit| !edit.changes.iter().all(TaskFieldChange::leaves_complete)) {
        if let Some(record) = state.record.tasks.get_mut(&edit.id) {
            record.complete = None;
        }
    }
    for task in changed {
        if let Some(old) = state.restorable.tasks.insert(task.id.clone(), task) {
            spending::changed(state, &old, at);
        }
    }
    Ok(())
}

/// Follows an edit by which a task is to be worked on again; not one of a rollback or an undo, which say by themselves what counts.
/// Work that was done is given back: what was reported and verified of it does not count any more. Its iterations are counted anew,
/// as are those of a task that failed.
fn taken_up_again(state: &mut State, id: &TaskId, was: TaskStatus) {
    let Some(new) = state.restorable.tasks.get(id) else { return };
    let given_back = match (was, new.status) {
        (TaskStatus::Done, TaskStatus::Pending | TaskStatus::Blocked | TaskStatus::Failed) => true,
        (TaskStatus::Failed, TaskStatus::Pending) => false,
        (_, _) => return,
    };
    let Some(reports) = state.restorable.reports.get_mut(id) else { return };
    reports.iteration = 0;
    if given_back {
        reports.give_back();
        if let Some(record) = state.record.tasks.get_mut(id) {
            record.verified.clear();
            // Why a merge did not pass is what its agent is told.
            if record.merge_verified.as_ref().is_some_and(|merge| merge.passed()) {
                record.merge_verified = None;
            }
        }
    }
}
