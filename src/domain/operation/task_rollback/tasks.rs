//! How the rollback of a task changes cases, and which tasks depend on it.

use std::collections::BTreeSet;

use crate::domain::base::ids::TaskId;
use crate::domain::state::current_state::State;
use crate::domain::work::task::{Task, TaskChangeSet, TaskFieldChange, TaskKind, TaskStatus};

/// The tasks that were begun after these, directly or through others: those that are done or active, or have a workspace.
pub fn dependents(state: &State, tasks: &[TaskId]) -> Vec<TaskId> {
    let cases = &state.restorable.cases;
    let is_task = |case: &&Task| case.kind == TaskKind::Task && case.status != TaskStatus::Archived;
    let mut concerned: BTreeSet<TaskId> = tasks.iter().cloned().collect();
    loop {
        let more: Vec<TaskId> = cases
            .values()
            .filter(is_task)
            .filter(|case| !concerned.contains(&case.id))
            .filter(|case| needs(state, case).any(|needed| is_or_holds(state, needed, &concerned)))
            .map(|case| case.id.clone())
            .collect();
        if more.is_empty() {
            break;
        }
        concerned.extend(more);
    }
    let begun = |id: &TaskId| {
        let status = cases.get(id).map(|case| case.status);
        matches!(status, Some(TaskStatus::Done | TaskStatus::Active)) || state.restorable.workspaces.contains_key(id)
    };
    concerned.into_iter().filter(|id| !tasks.contains(id) && begun(id)).collect()
}

/// The dependencies of a case: its own and those of its groups.
fn needs<'s>(state: &'s State, case: &'s Task) -> impl Iterator<Item = &'s TaskId> {
    std::iter::once(case).chain(state.restorable.groups_around(case)).flat_map(|case| &case.after)
}

/// Whether a case is one of these, or a group that contains one of these.
fn is_or_holds(state: &State, id: &TaskId, concerned: &BTreeSet<TaskId>) -> bool {
    let cases = &state.restorable.cases;
    let within = |one: &TaskId| {
        cases.get(one).is_some_and(|case| case.id == *id || state.restorable.groups_around(case).any(|group| group.id == *id))
    };
    concerned.contains(id) || concerned.iter().any(within)
}

/// The edits that make tasks open again: pending, not merged, no reason. Archived tasks stay archived.
pub fn edits(state: &State, tasks: &[TaskId]) -> Vec<TaskChangeSet> {
    let edit = |id: &TaskId| {
        let case = state.restorable.cases.get(id)?;
        let mut then = case.clone();
        then.merged = None;
        if case.status != TaskStatus::Archived {
            then.status = TaskStatus::Pending;
            then.reason = None;
        }
        let changes = TaskFieldChange::between(case, &then);
        (!changes.is_empty()).then(|| TaskChangeSet { id: id.clone(), changes })
    };
    tasks.iter().filter_map(edit).collect()
}
