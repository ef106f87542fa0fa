//! Whether a gate asks a human for something that is still to be decided. Pure.

use crate::base::ids::TaskId;
use crate::base::names::RefName;
use crate::state::current_state::State;
use crate::work::gates::gate::{Gate, GateKind};
use crate::work::sessions::session::SessionMode;
use crate::work::tasks::task::TaskStatus;

/// Whether a gate is there only since the mode asked, and a session of this mode, which merges into `target`, does not ask.
pub fn asks_no_more(gate: &Gate, mode: SessionMode, target: Option<&RefName>) -> bool {
    match gate.kind {
        GateKind::Claim => gate.held.is_none() && gate.decision.is_none() && mode.claims(),
        GateKind::Merge => target.is_some_and(|target| mode.merges() && gate.only_asks_to_merge(target)),
        GateKind::Question
        | GateKind::Permission
        | GateKind::HumanReview
        | GateKind::Recovery
        | GateKind::Planning
        | GateKind::Budget
        | GateKind::Disk => false,
    }
}

/// Whether a decision at a gate has still something to decide. A verb on its task may have settled the matter while no session runs, which
/// closes such a gate at its begin: until then nobody is asked. `may_start` says whether a pending task waits for no other.
pub fn is_of_use(state: &State, gate: &Gate, may_start: impl FnOnce(&TaskId) -> bool) -> bool {
    let Some(id) = &gate.task_id else { return true };
    let task = state.restorable.tasks.get(id);
    let is_pending = task.is_some_and(|task| task.status == TaskStatus::Pending);
    match gate.kind {
        // A held task may wait for other tasks first; it stays held meanwhile.
        GateKind::Claim => is_pending && (gate.held.is_some() || may_start(id)),
        GateKind::HumanReview if gate.is_about_start() => is_pending,
        GateKind::Merge | GateKind::HumanReview => {
            task.is_some_and(|task| task.status == TaskStatus::Done && task.merged.is_none())
        }
        GateKind::Question
        | GateKind::Permission
        | GateKind::Recovery
        | GateKind::Planning
        | GateKind::Budget
        | GateKind::Disk => true,
    }
}
