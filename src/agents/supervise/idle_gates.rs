//! Gates that need no decision any more.

use super::core::SessionCore;
use axiom_base::error::Result;
use axiom_model::queries::gate_use::is_of_use;
use axiom_model::state::event::Event;
use axiom_model::work::gates::gate::GateKind;

/// Closes one gate that needs no decision any more: a verb on its task, or the user, has settled the matter. Returns
/// whether there was one.
pub(crate) fn close_idle_gates(core: &mut SessionCore<'_>) -> Result<bool> {
    let state = core.desk.ctx.state();
    let (ready, target, mode) = (&mut core.ready, core.setup.target.clone(), state.restorable.mode);
    let idle = state.restorable.gates.values().find(|gate| {
        let Some(task) = &gate.task_id else { return false };
        if !is_of_use(state, gate, |task| ready.contains(state, task)) {
            return true;
        }
        match gate.kind {
            // Where the mode asks nobody, nobody is told that it waits for an answer.
            GateKind::Claim => gate.held.is_none() && gate.decision.is_none() && mode.claims(),
            GateKind::Merge => target
                .as_ref()
                .is_some_and(|target| mode.merges() && gate.only_asks_to_merge(target) || gate.is_of_another_target(target)),
            GateKind::Question | GateKind::Permission => state.agent_on(task).is_none(),
            GateKind::HumanReview | GateKind::Recovery | GateKind::Planning | GateKind::Budget | GateKind::Disk => false,
        }
    });
    match idle.map(|gate| gate.id.clone()) {
        Some(id) => core.desk.step(Event::GateClosed { id, reason: "settled otherwise".into() }).map(|()| true),
        None => Ok(false),
    }
}
