//! Whether a gate asks a human for something that is still to be decided. Pure.

use crate::base::ids::TaskId;
use crate::state::current_state::State;
use crate::work::gates::gate::{Gate, GateDecision, GateKind};
use crate::work::money::budget::{BudgetLimits, BudgetSpending};
use crate::work::sessions::session::{Session, SessionMode};
use crate::work::tasks::task::{Task, TaskStatus};

/// Whether a gate is there only since the mode asked, which a session of this mode does not.
pub fn asks_no_more(gate: &Gate, mode: SessionMode) -> bool {
    match gate.kind {
        GateKind::Claim => gate.held.is_none() && gate.decision.is_none() && mode.claims(),
        GateKind::Merge => mode.merges() && gate.only_asks_to_merge(),
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
    let Some(id) = &gate.task_id else { return gate.kind != GateKind::Budget || session_that_goes_on(state).is_some() };
    let task = state.restorable.tasks.get(id);
    let is_pending = task.is_some_and(|task| task.status == TaskStatus::Pending);
    if asks_no_more(gate, state.restorable.mode) {
        return false;
    }
    match gate.kind {
        // A held task may wait for other tasks first; it stays held meanwhile, and a rejected one is blocked.
        GateKind::Claim => is_pending && (gate.held.is_some() || is_rejected(gate) || may_start(id)),
        GateKind::HumanReview if gate.is_about_start() => is_pending,
        GateKind::Merge | GateKind::HumanReview => {
            task.is_some_and(|task| task.status == TaskStatus::Done && task.merged.is_none())
        }
        GateKind::Budget => {
            let used_up = |task: &Task| !spent_on(state, id).reached(task.limits.or(limits_of_tasks(state))).is_empty();
            is_pending && (gate.decision.is_some() || task.is_some_and(used_up))
        }
        // Of a task that an agent has left, its next one is told the answer; a permission is for the call that waits for it.
        GateKind::Question => is_pending || state.agent_on(id).is_some(),
        GateKind::Permission => state.agent_on(id).is_some(),
        GateKind::Recovery | GateKind::Planning | GateKind::Disk => true,
    }
}

/// Whether a human has rejected it.
pub fn is_rejected(gate: &Gate) -> bool {
    matches!(gate.decision, Some(GateDecision::Rejected { .. }))
}

/// The newest session, where it runs, or where the next one goes on with it since it has crashed: only then its budget still limits
/// something. Which of both it is, the lock of the supervisor tells.
pub fn session_that_goes_on(state: &State) -> Option<&Session> {
    state.record.session.as_ref().filter(|session| session.state.is_gone_on_with())
}

/// The limits of tasks that have none of their own, as the newest session has them.
pub fn limits_of_tasks(state: &State) -> BudgetLimits {
    state.record.session.as_ref().map(|session| session.task_limits).unwrap_or_default()
}

/// What the iterations of a task have used that have ended, since a human allowed as much again.
pub fn spent_on(state: &State, task: &TaskId) -> BudgetSpending {
    let record = state.record.tasks.get(task);
    record.map_or_else(BudgetSpending::default, |record| BudgetSpending::since(&record.tally(), record.counted_from.as_ref()))
}
