//! What humans do with the learnings of agents: change the text of one, or forget it.

use axiom_base::error::Result;
use axiom_model::state::current_state::State;
use axiom_model::state::event::Event;
use axiom_model::work::signals::signal::AgentSignal;
use axiom_model::work::tasks::learnings::{Learning, LearningId};
use axiom_safety::context::handle::Context;

/// Changes the text of a learning; returns it as it is now.
///
/// # Errors
/// `UNKNOWN_LEARNING`; `INVALID_INPUT`, `TOO_LARGE` for the text.
pub fn edit(ctx: &mut Context, id: LearningId, text: &str) -> Result<Learning> {
    // What a human writes has the limits of what an agent reports.
    AgentSignal::Learning { text: text.to_owned(), scope: None }.validated()?;
    ctx.append_with(|state| {
        state.learning(id)?;
        Ok(vec![Event::LearningEdited { id, text: text.to_owned() }])
    })?;
    ctx.state().learning(id).cloned()
}

/// Forgets learnings. Either all of them are forgotten, or none.
///
/// # Errors
/// `UNKNOWN_LEARNING`.
pub fn forget(ctx: &mut Context, ids: &[LearningId]) -> Result<()> {
    let events = |state: &State| {
        ids.iter().try_for_each(|id| state.learning(*id).map(drop))?;
        Ok(ids.iter().map(|id| Event::LearningForgotten { id: *id }).collect())
    };
    ctx.append_with(events).map(drop)
}
