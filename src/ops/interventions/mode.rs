//! The mode: which steps wait for a human.

use crate::domain::base::text::ValueChange;
use crate::domain::checkpoint::trigger::CheckpointTrigger;
use crate::domain::state::event::Event;
use crate::domain::work::session::SessionMode;
use crate::error::Result;
use crate::ops::checkpoint::{self, CheckpointRequest};
use crate::ops::context::handle::Context;

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
