//! The mode: which steps wait for a human.

use axiom_base::error::Result;
use axiom_model::base::text::ValueChange;
use axiom_model::checkpoint::trigger::CheckpointTrigger;
use axiom_model::state::event::Event;
use axiom_model::work::sessions::session::SessionMode;
use axiom_safety::checkpoint;
use axiom_safety::checkpoint::CheckpointRequest;
use axiom_safety::context::handle::Context;

/// Changes the mode; returns whether it was another one. Before a change to autopilot a checkpoint is made, where
/// configured.
pub fn change_mode(ctx: &mut Context, new: SessionMode) -> Result<bool> {
    let begins = new == SessionMode::Autopilot && ctx.state().restorable.mode != new;
    if begins && ctx.config.checkpoints.before_autopilot {
        checkpoint::create(ctx, &CheckpointRequest::by(CheckpointTrigger::BeforeAutopilot))?;
    }
    let changed = ctx.append_with(|state| {
        let old = state.restorable.mode;
        Ok((old != new).then(|| Event::ModeChanged { mode: ValueChange::new(old, new) }).into_iter().collect())
    })?;
    Ok(!changed.is_empty())
}
