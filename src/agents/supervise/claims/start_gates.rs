//! The gates that keep a task from being started.

use crate::supervise::core::desk::SessionDesk;
use axiom_base::error::Result;
use axiom_model::base::ids::TaskId;
use axiom_model::work::gates::gate::{Gate, GateDecision, GateKind};
use axiom_model::work::hooks::hook_event::HookEvent;
use axiom_model::work::iteration::ReviewCause;
use axiom_safety::context::approved_hooks::EventHooks;
use axiom_safety::context::handle::Context;

/// Whether further tasks may wait because of hooks: a human should not have to decide on a thousand.
pub(crate) fn asks_to_start(ctx: &Context) -> bool {
    if matches!(ctx.hooks.at(HookEvent::PreTaskStart), EventHooks::Nothing) {
        return true;
    }
    let gates = ctx.state().restorable.gates.values();
    gates.filter(|gate| gate.is_about_start() && gate.decision.is_none()).count() < MOST_CLAIM_GATES
}

/// A task is not started: it waits for a human, in every mode.
pub(crate) fn veto(desk: &mut SessionDesk<'_>, task: &TaskId, reason: String, lines: Vec<String>) -> Result<()> {
    desk.open_gate_about(GateKind::HumanReview, task, (reason, Some(ReviewCause::HookVeto)), lines)
}

/// Whether a hook keeps a pending task from being started, and nobody has decided yet.
pub(crate) fn is_vetoed(desk: &SessionDesk<'_>, task: &TaskId) -> bool {
    desk.undecided_gate(GateKind::HumanReview, task)
}

/// Whether a human has decided about a veto.
pub(crate) fn is_review_decided(desk: &SessionDesk<'_>, task: &TaskId) -> bool {
    desk.gate(GateKind::HumanReview, task).is_some_and(|gate| gate.decision.is_some())
}

/// Why a human rejected the start of its task at a gate, or gave a question no answer, if that is what was decided there.
pub(crate) fn rejected_start(gate: &Gate) -> Option<&str> {
    let keeps = matches!(gate.kind, GateKind::Claim | GateKind::Question) || gate.is_about_start();
    match gate.decision.as_ref().filter(|_| keeps)? {
        GateDecision::Rejected { reason } => Some(reason),
        GateDecision::Approved | GateDecision::Answered { .. } => None,
    }
}

/// At most this many claim gates are open at the same time: a human should not have to decide on a thousand tasks.
pub(crate) const MOST_CLAIM_GATES: usize = 20;

/// Whether a human stopped the task's agent or rolled the task back, and has not allowed it to continue yet; or a question about it has no
/// answer.
pub(crate) fn is_held(desk: &SessionDesk<'_>, task: &TaskId) -> bool {
    let is_asked = desk.undecided_gate(GateKind::Question, task);
    desk.ctx.state().is_held(task) || is_asked || is_vetoed(desk, task)
}

pub(crate) fn is_claim_approved(desk: &SessionDesk<'_>, task: &TaskId) -> bool {
    desk.gate(GateKind::Claim, task).is_some_and(Gate::is_approved)
}
