//! The gates of a session: opening, finding and closing them.

use super::core::SessionCore;
use super::desk::SessionDesk;
use super::hooks::is_about_start;
use super::notice::SessionNotice;
use axiom_base::env;
use axiom_base::error::Result;
use axiom_model::base::ids::TaskId;
use axiom_model::state::current_state::State;
use axiom_model::state::event::Event;
use axiom_model::work::gates::gate::{Gate, GateKind};
use axiom_model::work::iteration::ReviewCause;
use axiom_model::work::tasks::task::TaskStatus;

/// Closes one gate that needs no decision any more: a verb on its task, or the user, has settled the matter. Returns
/// whether there was one.
pub(super) fn close_idle_gates(core: &mut SessionCore<'_>) -> Result<bool> {
    let state = core.desk.ctx.state();
    let (ready, target, mode) = (&mut core.ready, core.setup.target.clone(), state.restorable.mode);
    let only_asks_to_merge = |gate: &Gate, task: &TaskId| {
        let asks = target.as_ref().map(|target| Gate::to_merge(task, target));
        gate.decision.is_none() && asks.is_some_and(|asks| gate.reason == asks)
    };
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
            GateKind::Merge if mode.merges() && only_asks_to_merge(gate, task) => true,
            GateKind::Merge | GateKind::HumanReview => {
                !case.is_some_and(|case| case.status == TaskStatus::Done && case.merged.is_none())
            }
            GateKind::Question => state.agent_on(task).is_none(),
            GateKind::Recovery | GateKind::Planning | GateKind::Budget | GateKind::Disk => false,
        }
    });
    match idle.map(|gate| gate.id.clone()) {
        Some(id) => core.desk.step(Event::GateClosed { id, reason: "settled otherwise".into() }).map(|()| true),
        None => Ok(false),
    }
}

impl SessionDesk<'_> {
    pub(super) fn undecided_gate(&self, kind: GateKind, task: &TaskId) -> bool {
        let mut gates = self.ctx.state().restorable.gates.values();
        gates.any(|gate| gate.kind == kind && gate.task_id.as_ref() == Some(task) && gate.decision.is_none())
    }

    /// The gate of this kind for a task, if it is open.
    pub(super) fn gate(&self, kind: GateKind, task: &TaskId) -> Option<&Gate> {
        self.ctx.state().restorable.gates.values().find(|gate| gate.kind == kind && gate.task_id.as_ref() == Some(task))
    }

    pub(super) fn open_gate(&mut self, kind: GateKind, task: &TaskId, reason: String, details: Vec<String>) -> Result<()> {
        self.open_gate_about(kind, task, (reason, None), details)
    }

    pub(super) fn open_gate_about(
        &mut self,
        kind: GateKind,
        task: &TaskId,
        (reason, cause): (String, Option<ReviewCause>),
        details: Vec<String>,
    ) -> Result<()> {
        self.open(Gate { details, cause, ..Gate::of_task(kind, task, reason, env::now())? })
    }

    /// Opens a gate, and tells it. Where a human's command opened or decided it first, that stands, and is looked at next.
    pub(super) fn open(&mut self, gate: Gate) -> Result<()> {
        let (id, reason, details) = (gate.id.to_string(), gate.reason.clone(), gate.detail_lines());
        let seen = self.ctx.state().restorable.gates.get(&gate.id).cloned();
        let is_as_seen = |state: &State| state.restorable.gates.get(&gate.id) == seen.as_ref();
        if self.step_if(|state| is_as_seen(state).then(|| Event::GateOpened { gate: Box::new(gate.clone()) }))? {
            self.tell(SessionNotice::GateOpened { id, reason, details });
        }
        Ok(())
    }

    pub(super) fn close_gate(&mut self, kind: GateKind, task: &TaskId, reason: &str) -> Result<()> {
        let Some(seen) = self.gate(kind, task).cloned() else { return Ok(()) };
        self.step_if(|state| {
            let is_there = state.restorable.gates.get(&seen.id).is_some_and(|gate| gate.is_same_wait(&seen));
            is_there.then(|| Event::GateClosed { id: seen.id.clone(), reason: reason.to_owned() })
        })
        .map(drop)
    }
}
