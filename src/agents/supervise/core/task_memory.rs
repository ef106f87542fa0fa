//! What a session remembers of tasks and no record has.

use std::collections::{BTreeMap, HashSet};

use axiom_model::base::forms::plural::count;
use axiom_model::base::ids::TaskId;
use axiom_model::recovery::decide::CrashAction;

/// What a session remembers of tasks and no record has.
#[derive(Debug, Default)]
pub(crate) struct TaskMemory {
    /// Notes for the next prompt of a task. A human's answer is in the state.
    pub(crate) notes: BTreeMap<TaskId, PromptNotes>,
    /// Tasks that a human wants tried again, with iterations from 1.
    pub(crate) counted_anew: HashSet<TaskId>,
    /// Tasks whose workspace was repaired once already: if the agent breaks it again, the task waits.
    pub(crate) mended: HashSet<TaskId>,
    /// What became of the tasks that the crash before this session cut off, until it is said.
    pub(crate) taken_up: Option<CrashedTaskCounts>,
}

/// What becomes of the tasks that the crash before a session cut off, in numbers.
#[derive(Debug, Default)]
pub(crate) struct CrashedTaskCounts {
    resumable: usize,
    reset: usize,
    failed: usize,
}

impl CrashedTaskCounts {
    pub(crate) fn in_words(&self) -> Option<String> {
        let Self { resumable, reset, failed } = self;
        let all = resumable + reset + failed;
        (all > 0).then(|| {
            let tasks = count(all, "task");
            format!("{tasks} that a crash had cut off: {resumable} resumable, {reset} reset, {failed} failed")
        })
    }
}

impl TaskMemory {
    /// Counts what becomes of a task, until that was said.
    pub(crate) fn count_crash(&mut self, action: Option<CrashAction>) {
        let Some(taken_up) = &mut self.taken_up else { return };
        match action {
            Some(CrashAction::ContinueTask | CrashAction::NextTask | CrashAction::HumanReview) => taken_up.resumable += 1,
            Some(CrashAction::RestartTask) => taken_up.reset += 1,
            None => taken_up.failed += 1,
        }
    }
}

/// What the next iteration of a task has to know and no record has, as long as the session lasts.
#[derive(Debug, Default)]
pub(crate) struct PromptNotes {
    /// The verification that failed, with its output.
    pub verification: Option<String>,
    /// Anything else, with its heading.
    pub others: Vec<String>,
}
