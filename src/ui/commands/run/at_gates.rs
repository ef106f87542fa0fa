//! The gates at which a session came to rest that was to run until nothing more can be done: at a terminal they are asked about, so that
//! one command goes from the tasks to their merges.

use crate::cli::prompt;
use crate::cli::screen::Screen;
use crate::cli::{visible, words};
use crate::wording::interventions::decided as decided_in_words;
use axiom_agents::interventions;
use axiom_base::error::Result;
use axiom_model::base::forms::natural;
use axiom_model::queries::view::undecided_gates;
use axiom_model::state::current_state::State;
use axiom_model::state::event_envelope::EventAuthor;
use axiom_model::work::gates::gate::{Gate, GateDecision, GateKind, is_for_trust};
use axiom_safety::context::handle::Context;

/// Asks at a terminal whether the tasks that wait may start, and be merged; returns whether they may, so that it can go on.
pub(super) fn approved(ctx: &mut Context, screen: &mut Screen) -> Result<bool> {
    if !screen.can_ask() {
        return Ok(false);
    }
    ctx.store.refresh()?;
    let waiting = undecided_gates(ctx.state()).into_iter().filter(|gate| only_asks(ctx.state(), gate));
    let waiting: Vec<Gate> = natural::sorted(waiting, |gate| gate.id.as_str()).into_iter().cloned().collect();
    if waiting.is_empty() {
        return Ok(false);
    }
    let below = |gate: &Gate| {
        gate.lines_below().iter().map(|line| format!("    {}\n", visible::set_in(line, "      "))).collect::<String>()
    };
    let lines: String = waiting.iter().map(|gate| format!("  {}\n{}", visible::line(&gate.reason), below(gate))).collect();
    screen.note_text(&format!("Waiting for you:\n{}", lines.trim_end()));
    if waiting.iter().any(|gate| gate.kind == GateKind::Merge) {
        screen.note("'git axiom diff TASK' shows in another terminal what a task changed.");
    }
    if !prompt::confirm(&format!("Approve {}, and go on?", words::count(waiting.len(), "gate")))? {
        return Ok(false);
    }
    let ids: Vec<String> = waiting.iter().map(|gate| gate.id.to_string()).collect();
    ctx.act_as(EventAuthor::User)?;
    let decided = interventions::decide(ctx, &ids, &GateDecision::Approved)?;
    screen.note_text(decided_in_words(&decided, &GateDecision::Approved).trim_end());
    Ok(true)
}

/// Whether a yes is all that a gate waits for: nothing is to be looked at first, and nothing has failed.
fn only_asks(state: &State, gate: &Gate) -> bool {
    let session = state.record.session.as_ref();
    match gate.kind {
        GateKind::Claim => gate.decision.is_none() && gate.held.is_none() && !is_for_trust(&gate.reason),
        GateKind::Merge => {
            session.is_some_and(|session| gate.only_asks_to_merge() && !gate.is_of_another_target(&session.target))
        }
        GateKind::HumanReview
        | GateKind::Question
        | GateKind::Recovery
        | GateKind::Planning
        | GateKind::Budget
        | GateKind::Permission
        | GateKind::Disk => false,
    }
}
