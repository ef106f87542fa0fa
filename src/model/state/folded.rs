//! Whether a task has an id, in upper or lower case: remembered, since a replay asks it for each task that was ever added.

use std::collections::{BTreeMap, HashSet};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::base::ids::TaskId;
use crate::work::tasks::task::Task;

/// The ids of all tasks in lower case, from the second question on. It follows from the tasks, so all are equal.
#[derive(Debug, Default)]
pub struct FoldedTaskIds {
    known: OnceLock<HashSet<String>>,
    was_asked: AtomicBool,
}

impl FoldedTaskIds {
    /// Whether one of the tasks has this id, given in lower case.
    pub fn has(&self, tasks: &BTreeMap<TaskId, Task>, folded: &str) -> bool {
        // One question is answered faster by looking.
        if self.known.get().is_none() && !self.was_asked.swap(true, Ordering::Relaxed) {
            return tasks.keys().any(|id| id.as_str().eq_ignore_ascii_case(folded));
        }
        self.known.get_or_init(|| tasks.keys().map(TaskId::folded).collect()).contains(folded)
    }

    /// A task was added.
    pub fn add(&mut self, id: &TaskId) {
        if let Some(known) = self.known.get_mut() {
            known.insert(id.folded());
        }
    }

    /// The tasks are others now.
    pub fn forget(&mut self) {
        *self = Self::default();
    }
}

impl Clone for FoldedTaskIds {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for FoldedTaskIds {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::current_state::State;

    #[test]
    fn an_id_is_found_in_any_case_at_the_first_question_and_at_later_ones() {
        let mut state = State::default();
        let ids = |names: &[&str]| names.iter().map(|name| TaskId::new(*name).unwrap()).collect::<Vec<_>>();
        let mut folded = FoldedTaskIds::default();
        let task = |id: &TaskId| serde_json::json!({"id": id, "kind": "task", "title": "t", "status": "pending", "createdAt": "2026-01-01T00:00:00Z"});
        let add = |state: &mut State, folded: &mut FoldedTaskIds, id: &TaskId| {
            state.restorable.tasks.insert(id.clone(), serde_json::from_value(task(id)).unwrap());
            folded.add(id);
        };
        ids(&["One", "two"]).iter().for_each(|id| add(&mut state, &mut folded, id));
        for _ in 0..3 {
            assert_eq!(
                ["one", "two", "three", "on"].map(|id| folded.has(&state.restorable.tasks, id)),
                [true, true, false, false]
            );
        }
        ids(&["THREE"]).iter().for_each(|id| add(&mut state, &mut folded, id));
        assert!(folded.has(&state.restorable.tasks, "three"));
        state.restorable.tasks.clear();
        folded.forget();
        assert!((0..3).all(|_| !folded.has(&state.restorable.tasks, "three")));
    }
}
