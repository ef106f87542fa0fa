//! Gates that need no decision any more.

use super::claims::start_gates::is_about_start;
use super::core::SessionCore;
use axiom_base::error::Result;
use axiom_model::state::event::Event;
use axiom_model::work::gates::gate::GateKind;
use axiom_model::work::tasks::task::TaskStatus;

/// Closes one gate that needs no decision any more: a verb on its task, or the user, has settled the matter. Returns
/// whether there was one.
pub(crate) fn close_idle_gates(core: &mut SessionCore<'_>) -> Result<bool> {
    let state = core.desk.ctx.state();
    let (ready, target, mode) = (&mut core.ready, core.setup.target.clone(), state.restorable.mode);
    let idle = state.restorable.gates.values().find(|gate| {
        let Some(task) = &gate.task_id else { return false };
        let case = state.restorable.tasks.get(task);
        let is_pending = case.is_some_and(|case| case.status == TaskStatus::Pending);
        match gate.kind {
            // A held task may wait for other tasks first; it stays held meanwhile.
            GateKind::Claim if gate.held.is_some() => !is_pending,
            // Where the mode asks nobody, nobody is told that it waits for an answer.
            GateKind::Claim => !ready.contains(state, task) || gate.decision.is_none() && mode.claims(),
            GateKind::HumanReview if is_about_start(gate) => !is_pending,
            GateKind::Merge if target.as_ref().is_some_and(|target| mode.merges() && gate.only_asks_to_merge(target)) => true,
            GateKind::Merge if target.as_ref().is_some_and(|target| gate.is_of_another_target(target)) => true,
            GateKind::Merge | GateKind::HumanReview => {
                !case.is_some_and(|case| case.status == TaskStatus::Done && case.merged.is_none())
            }
            GateKind::Question | GateKind::Permission => state.agent_on(task).is_none(),
            GateKind::Recovery | GateKind::Planning | GateKind::Budget | GateKind::Disk => false,
        }
    });
    match idle.map(|gate| gate.id.clone()) {
        Some(id) => core.desk.step(Event::GateClosed { id, reason: "settled otherwise".into() }).map(|()| true),
        None => Ok(false),
    }
}
