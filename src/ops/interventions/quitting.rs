//! Quit: the session ends as at Ctrl+C.

use super::request::{Handled, ask_supervisor};
use crate::domain::base::ids::CheckpointName;
use crate::domain::checkpoint::document::Trigger;
use crate::domain::work::session::Request;
use crate::error::{Code, Error, Result};
use crate::ops::checkpoint::{self, CheckpointRequest};
use crate::ops::context::handle::Context;

/// What is saved before a session ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// Nothing in addition: what agents did is committed in any case.
    Nothing,
    /// Everything, in a checkpoint.
    Checkpoint,
}

/// Ends the session. Returns the checkpoint that was made before.
///
/// # Errors
/// `NO_SUPERVISOR`; those of the checkpoint: then the session goes on; as [`ask_supervisor`].
pub fn quit(ctx: &mut Context, before: Before) -> Result<Option<CheckpointName>> {
    let made = match before {
        Before::Nothing => None,
        Before::Checkpoint => {
            if !ctx.supervisor_alive()? {
                return Err(Error::new(Code::NoSupervisor, "no supervisor runs in this repository")
                    .hint("git axiom checkpoint create    makes a checkpoint"));
            }
            Some(checkpoint::create(ctx, &CheckpointRequest::by(Trigger::Manual))?.name)
        }
    };
    let Handled { done, message } = ask_supervisor(ctx, Request::Quit)?;
    if done { Ok(made) } else { Err(Error::new(Code::InvalidTransition, message).hint("see 'git axiom status'")) }
}
