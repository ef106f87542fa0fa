//! How many agents may still begin.

use axiom_model::work::gates::gate::GateKind;
use axiom_safety::context::handle::Context;

/// How many slots are taken. An agent that waits for an answer takes none: other agents work meanwhile, and its next
/// iteration waits for a free slot.
pub(crate) fn slots_taken(ctx: &Context) -> usize {
    ctx.state().busy_agents().filter(|agent| !agent.waits_for_an_answer()).count()
}

/// How many agents have an answer and continue before another task is claimed.
pub(crate) fn answered(ctx: &Context) -> usize {
    let gates = ctx.state().restorable.gates.values();
    gates.filter(|gate| gate.kind == GateKind::Question && gate.decision.is_some()).count()
}
