//! Gates that need no decision any more.

use super::core::SessionCore;
use axiom_base::env;
use axiom_base::error::Result;
use axiom_model::base::ids::TaskId;
use axiom_model::queries::gate_use::is_of_use;
use axiom_model::state::current_state::State;
use axiom_model::state::event::Event;
use axiom_model::work::gates::gate::{Gate, GateKind};
use axiom_model::work::tasks::task::TaskStatus;

/// Closes one gate that needs no decision any more: a verb on its task, or the user, has settled the matter. Returns
/// whether there was one.
pub(crate) fn close_idle_gates(core: &mut SessionCore<'_>) -> Result<bool> {
    let state = core.desk.ctx.state();
    let (ready, target) = (&mut core.ready, core.setup.target.clone());
    let idle = state.restorable.gates.values().find(|gate| {
        let Some(task) = &gate.task_id else { return false };
        if !is_of_use(state, gate, |task| ready.contains(state, task)) {
            return true;
        }
        match gate.kind {
            // Whatever the target is, a human says when what was undone is merged again.
            GateKind::Merge if gate.is_of_undone_merge() && gate.decision.is_none() => false,
            GateKind::Merge => target.as_ref().is_some_and(|target| gate.is_of_another_target(target)),
            // A question that a rollback brought back can be answered until its task is taken up: the next prompt has the answer.
            GateKind::Question => match state.agent_on(task).and_then(|agent| agent.work.as_ref()) {
                Some(work) => work.claimed_at > gate.opened_at,
                // A rejected one blocks the task when that would be taken up.
                None => gate.is_approved(),
            },
            GateKind::Claim
            | GateKind::Permission
            | GateKind::HumanReview
            | GateKind::Recovery
            | GateKind::Planning
            | GateKind::Budget
            | GateKind::Disk => false,
        }
    });
    let Some(gate) = idle else { return Ok(false) };
    // What was undone and allowed again is allowed into its own branch: for another a human says so.
    let undone = target.filter(|target| gate.is_of_undone_merge() && gate.is_of_another_target(target));
    let asked_anew =
        undone.zip(gate.task_id.as_ref()).and_then(|(target, task)| Gate::for_undone_merge(task, Some(target), None, env::now()));
    if let Some(gate) = asked_anew {
        return core.desk.step(Event::GateOpened { gate: Box::new(gate) }).map(|()| true);
    }
    let is_answered = gate.kind == GateKind::Question && gate.decision.is_some();
    let reason = if is_answered { "the next prompt has the answer" } else { "settled otherwise" };
    core.desk.step(Event::GateClosed { id: gate.id.clone(), reason: reason.into() }).map(|()| true)
}

/// Whether a task is pending.
pub(crate) fn is_pending(state: &State, task: &TaskId) -> bool {
    state.restorable.tasks.get(task).is_some_and(|task| task.status == TaskStatus::Pending)
}
