//! What a task needs of others before it begins, where that is less than their merged work: something that their agents report as
//! ready. Pure.

use crate::work::tasks::task::{NeededReadyPoint, Task, TaskDependency, TaskStatus};
use std::collections::BTreeMap;

use crate::base::ids::TaskId;
use crate::state::current_state::State;
use crate::work::signals::report_parts::ReadyPoint;

/// The tasks of a list, and what is needed of them.
pub fn split(list: Vec<TaskDependency>) -> (Vec<TaskId>, Vec<NeededReadyPoint>) {
    let mut needs: Vec<NeededReadyPoint> = Vec::new();
    for TaskDependency { task, name } in &list {
        let need = name.as_ref().map(|name| NeededReadyPoint { task: task.clone(), name: name.clone() });
        needs.extend(need.filter(|need| !needs.contains(need)));
    }
    (list.into_iter().map(|after| after.task).collect(), needs)
}

/// What is ready of the work on a task, as its agent reported it.
pub fn ready<'a>(state: &'a State, need: &NeededReadyPoint) -> Option<&'a ReadyPoint> {
    state.reports(&need.task)?.ready.iter().find(|point| point.name == need.name)
}

/// What a task needs of those that it comes after: a rollback may have brought back other dependencies.
fn named(task: &Task) -> impl Iterator<Item = &NeededReadyPoint> {
    task.needs.iter().filter(|need| task.after.contains(&need.task))
}

/// What a task needs and is not ready yet. What is merged needs not be.
pub fn open<'a>(state: &'a State, task: &'a Task) -> impl Iterator<Item = &'a NeededReadyPoint> {
    let is_settled = |need: &NeededReadyPoint| state.restorable.tasks.get(&need.task).is_none_or(Task::is_settled);
    named(task).filter(move |need| ready(state, need).is_none() && !is_settled(need))
}

/// Whether a task need not wait for another one to be merged: all that it needs of it is ready, or it begins on what does not need it.
/// It does that once.
pub fn lets_begin(state: &State, task: &Task, other: &TaskId) -> bool {
    if !named(task).any(|need| need.task == *other) {
        return false;
    }
    let begins_early = task.start_early && state.record.tasks.get(&task.id).is_none_or(|record| record.last_run.is_none());
    begins_early || !open(state, task).any(|need| need.task == *other)
}

/// The tasks that have to be merged before the work on this one is, although it was begun before they were.
pub fn to_merge_first<'a>(state: &'a State, task: &'a Task) -> impl Iterator<Item = &'a TaskId> {
    let is_merged = |id: &TaskId| state.restorable.tasks.get(id).is_none_or(Task::is_settled);
    named(task).map(|need| &need.task).filter(move |id| !is_merged(id))
}

/// What others still wait for of a task: the names, each with the tasks that do.
pub fn awaited<'a>(state: &'a State, task: &TaskId) -> BTreeMap<&'a str, Vec<&'a TaskId>> {
    let mut awaited: BTreeMap<&str, Vec<&TaskId>> = BTreeMap::new();
    for case in state.restorable.tasks.values().filter(|case| matches!(case.status, TaskStatus::Pending | TaskStatus::Active)) {
        for need in open(state, case).filter(|need| need.task == *task) {
            awaited.entry(need.name.as_str()).or_default().push(&case.id);
        }
    }
    awaited
}

#[cfg(test)]
mod tests {
    use super::*;
    use axiom_base::error::Code;

    #[test]
    fn a_need_has_a_task_and_a_name() {
        let (ids, needs) = split(vec!["a", "b:x y", "b:z", "b:z"].into_iter().map(|text| text.parse().unwrap()).collect());
        assert_eq!(ids.iter().map(TaskId::as_str).collect::<Vec<_>>(), ["a", "b", "b", "b"]);
        assert_eq!(needs.iter().map(ToString::to_string).collect::<Vec<_>>(), ["b:x y", "b:z"]);
        for (text, code) in
            [("b:", Code::InvalidInput), ("b: ", Code::InvalidInput), (":x", Code::InvalidId), ("b:a\nb", Code::InvalidInput)]
        {
            assert_eq!(text.parse::<TaskDependency>().unwrap_err().code(), code, "{text}");
        }
    }
}
