//! What decides whether iterations may go on: space, money and slots.

use super::program_clock::ProgramClock;
use super::session_space::SessionSpace;
use crate::supervise::core::SessionCore;
use axiom_model::base::ids::{AgentId, TaskId};
use axiom_model::work::sessions::session::SessionState;

/// What decides whether iterations may go on: space, money and slots.
#[derive(Debug, Default)]
pub(crate) struct IterationCare {
    /// How much space there is.
    pub(crate) room: SessionSpace,
    /// How long programs have run in this session.
    pub(crate) clock: ProgramClock,
    /// The slots of tasks that are about to start.
    pub(crate) slots_reserved: usize,
}

impl IterationCare {
    /// Whether an iteration may be started now.
    pub(crate) fn may_iterate(&self, core: &mut SessionCore<'_>, agent: &AgentId) -> bool {
        let waits = |task: &TaskId| core.makings.is_at_work_for(task) || core.leaving.is_leaving(task);
        let is_free = !core.desk.work_of(agent).is_some_and(|work| waits(&work.task));
        is_free && core.desk.session_state() == SessionState::Running && self.room.has_room() && !core.runs.must_wait(agent)
    }
}
