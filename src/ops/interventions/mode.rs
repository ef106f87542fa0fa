//! The mode: which steps wait for a human.

use crate::domain::base::text::Change;
use crate::domain::checkpoint::document::Trigger;
use crate::domain::state::event::Event;
use crate::domain::work::session::Mode;
use crate::error::Result;
use crate::ops::checkpoint::{self, CheckpointRequest};
use crate::ops::context::handle::Context;

/// Changes the mode; returns whether it was another one. Before a change to autopilot a checkpoint is made, where
/// configured.
///
/// # Errors
/// Those of the checkpoint: then the mode does not change.
pub fn change_mode(ctx: &mut Context, new: Mode) -> Result<bool> {
    let begins = new == Mode::Autopilot && ctx.state().restorable.mode != new;
    if begins && ctx.config.checkpoints.before_autopilot {
        checkpoint::create(ctx, &CheckpointRequest::by(Trigger::BeforeAutopilot))?;
    }
    let changed = ctx.append_with(|state| {
        let old = state.restorable.mode;
        Ok((old != new).then(|| Event::ModeChanged { mode: Change::new(old, new) }).into_iter().collect())
    })?;
    Ok(!changed.is_empty())
}
