//! The moment before the first prompt to a program that tells only of the ends of answers: it is saved when the program is attached.

use super::saving::{self, SaveRequest};
use crate::context::handle::Context;
use axiom_base::error::Result;
use axiom_model::agent::attached_program::AttachedProgram;
use axiom_model::checkpoint::record::CheckpointRecord;
use axiom_model::checkpoint::stamp::{AttachedSessionStamp, session_key};
use axiom_model::checkpoint::trigger::CheckpointTrigger;

/// Saves it for the current worktree, unless such a moment of it is known.
pub fn keep_first_moment(ctx: &Context, program: &str) -> Result<()> {
    if program != AttachedProgram::Aider.as_str() {
        return Ok(());
    }
    let program = AttachedProgram::Aider;
    let here = ctx.repo.worktrees().current_worktree()?;
    let stamp = AttachedSessionStamp { program, session: session_key(program, ""), worktree: here.path_text()? };
    let is_of_it = |one: &&CheckpointRecord| {
        one.trigger == CheckpointTrigger::Prompt && one.attached.as_deref().is_some_and(|of| *of == stamp)
    };
    if ctx.state().record.checkpoints.all()?.iter().any(is_of_it) {
        return Ok(());
    }
    let own = Some(here.path().to_owned());
    let wanted = SaveRequest { stamp: Some(stamp), own, ..SaveRequest::all(CheckpointTrigger::Prompt) };
    saving::in_time(&ctx.repo, wanted).map(drop)
}
