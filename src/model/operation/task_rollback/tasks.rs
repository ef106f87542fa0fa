//! How the rollback of a task changes others, and which tasks depend on it.

use std::collections::BTreeSet;

use crate::base::ids::TaskId;
use crate::state::current_state::State;
use crate::work::tasks::task::{Task, TaskChangeSet, TaskFieldChange, TaskKind, TaskStatus};

/// The tasks that were begun after these, directly or through others: those that are done or active, or have a workspace.
pub fn dependents(state: &State, tasks: &[TaskId]) -> Vec<TaskId> {
    let cases = &state.restorable.tasks;
    let is_task = |task: &&Task| task.kind == TaskKind::Task && task.status != TaskStatus::Archived;
    let mut concerned: BTreeSet<TaskId> = tasks.iter().cloned().collect();
    loop {
        let more: Vec<TaskId> = cases
            .values()
            .filter(is_task)
            .filter(|task| !concerned.contains(&task.id))
            .filter(|task| needs(state, task).any(|needed| is_or_holds(state, needed, &concerned)))
            .map(|task| task.id.clone())
            .collect();
        if more.is_empty() {
            break;
        }
        concerned.extend(more);
    }
    let begun = |id: &TaskId| {
        let status = cases.get(id).map(|task| task.status);
        matches!(status, Some(TaskStatus::Done | TaskStatus::Active)) || state.restorable.workspaces.contains_key(id)
    };
    concerned.into_iter().filter(|id| !tasks.contains(id) && begun(id)).collect()
}

/// The dependencies of a task: its own and those of its groups.
fn needs<'s>(state: &'s State, task: &'s Task) -> impl Iterator<Item = &'s TaskId> {
    std::iter::once(task).chain(state.restorable.groups_around(task)).flat_map(|task| &task.after)
}

/// Whether a task is one of these, or a group that contains one of these.
fn is_or_holds(state: &State, id: &TaskId, concerned: &BTreeSet<TaskId>) -> bool {
    let tasks = &state.restorable.tasks;
    let within = |one: &TaskId| {
        tasks.get(one).is_some_and(|task| task.id == *id || state.restorable.groups_around(task).any(|group| group.id == *id))
    };
    concerned.contains(id) || concerned.iter().any(within)
}

/// The edits that make tasks open again: pending, not merged, no reason. Archived tasks stay archived.
pub fn edits(state: &State, tasks: &[TaskId]) -> Vec<TaskChangeSet> {
    let edit = |id: &TaskId| {
        let task = state.restorable.tasks.get(id)?;
        let mut then = task.clone();
        then.merged = None;
        if task.status != TaskStatus::Archived {
            then.status = TaskStatus::Pending;
            then.reason = None;
        }
        let changes = TaskFieldChange::between(task, &then);
        (!changes.is_empty()).then(|| TaskChangeSet { id: id.clone(), changes })
    };
    tasks.iter().filter_map(edit).collect()
}
