//! The gates of a session: opening, finding and closing one.

use super::desk::SessionDesk;
use crate::supervise::shown::notice::SessionNotice;
use axiom_base::env;
use axiom_base::error::Result;
use axiom_model::base::ids::TaskId;
use axiom_model::state::current_state::State;
use axiom_model::state::event::Event;
use axiom_model::work::gates::gate::{Gate, GateKind};
use axiom_model::work::iteration::ReviewCause;

impl SessionDesk<'_> {
    pub(crate) fn undecided_gate(&self, kind: GateKind, task: &TaskId) -> bool {
        self.ctx.state().has_undecided(kind, task)
    }

    /// The gate of this kind for a task, if it is open.
    pub(crate) fn gate(&self, kind: GateKind, task: &TaskId) -> Option<&Gate> {
        self.ctx.state().restorable.gates.values().find(|gate| gate.kind == kind && gate.task_id.as_ref() == Some(task))
    }

    pub(crate) fn open_gate(&mut self, kind: GateKind, task: &TaskId, reason: String, details: Vec<String>) -> Result<()> {
        self.open_gate_about(kind, task, (reason, None), details)
    }

    pub(crate) fn open_gate_about(
        &mut self,
        kind: GateKind,
        task: &TaskId,
        (reason, cause): (String, Option<ReviewCause>),
        details: Vec<String>,
    ) -> Result<()> {
        self.open(Gate { details, cause, ..Gate::of_task(kind, task, reason, env::now())? })
    }

    /// Opens a gate, and tells it. Where a human's command opened or decided it first, that stands, and is looked at next.
    pub(crate) fn open(&mut self, gate: Gate) -> Result<()> {
        let (id, reason, details) = (gate.id.to_string(), gate.reason.clone(), gate.detail_lines());
        let seen = self.ctx.state().restorable.gates.get(&gate.id).cloned();
        let is_as_seen = |state: &State| state.restorable.gates.get(&gate.id) == seen.as_ref();
        if self.step_if(|state| is_as_seen(state).then(|| Event::GateOpened { gate: Box::new(gate.clone()) }))? {
            self.tell(SessionNotice::GateOpened { id, reason, details });
        }
        Ok(())
    }

    pub(crate) fn close_gate(&mut self, kind: GateKind, task: &TaskId, reason: &str) -> Result<()> {
        let Some(seen) = self.gate(kind, task).cloned() else { return Ok(()) };
        self.step_if(|state| {
            let is_there = state.restorable.gates.get(&seen.id).is_some_and(|gate| gate.is_same_wait(&seen));
            is_there.then(|| Event::GateClosed { id: seen.id.clone(), reason: reason.to_owned() })
        })
        .map(drop)
    }
}
