//! What a session remembers of tasks and no record has.

use std::collections::{BTreeMap, HashSet};

use super::crash::CrashedTaskCounts;
use super::prompting::PromptNotes;
use axiom_model::base::ids::TaskId;

/// What a session remembers of tasks and no record has.
#[derive(Debug, Default)]
pub(super) struct TaskMemory {
    /// Notes for the next prompt of a task. A human's answer is in the state.
    pub(super) notes: BTreeMap<TaskId, PromptNotes>,
    /// Tasks that a human wants tried again, with iterations from 1.
    pub(super) counted_anew: HashSet<TaskId>,
    /// Tasks whose workspace was repaired once already: if the agent breaks it again, the task waits.
    pub(super) mended: HashSet<TaskId>,
    /// What became of the tasks that the crash before this session cut off, until it is said.
    pub(super) taken_up: Option<CrashedTaskCounts>,
}
