//! Attached agents that are in the middle of a turn, for a human who is about to change the files under their hands.

use std::path::Path;

use super::sessions;
use crate::attach::sessions::attached_session::AttachedSession;
use crate::context::handle::Context;
use crate::rollback::RollbackScope;
use axiom_base::error::Result;
use axiom_model::checkpoint::record::CheckpointRecord;
use axiom_model::checkpoint::stamp::prompt_number;
use axiom_model::checkpoint::trigger::CheckpointTrigger;

/// How many of the newest checkpoints are looked through for the prompt of a session.
const AMONG: usize = 500;

/// What a human ought to know before such a rollback, a line for each agent.
pub fn before_rollback(ctx: &Context, part: RollbackScope<'_>) -> Result<Vec<String>> {
    let main = ctx.repo.worktrees().main_worktree()?.path_text()?;
    notes(ctx, &|worktree: &str| {
        let place = Path::new(worktree);
        match part {
            RollbackScope::Whole => worktree == main,
            RollbackScope::Everywhere => true,
            RollbackScope::Worktree(path) => path == place,
            RollbackScope::Paths(paths) => paths.iter().any(|path| path.starts_with(place)),
            RollbackScope::Prompt(part) => part.worktree == place,
        }
    })
}

/// A line for each agent that is in the middle of a turn in one of these worktrees.
pub fn notes(ctx: &Context, is_meant: &dyn Fn(&str) -> bool) -> Result<Vec<String>> {
    let works = |one: &AttachedSession| one.prompts > 0 && !one.rests && one.is_alive() && is_meant(&one.worktree);
    sessions::list(ctx).iter().filter(|one| works(one)).map(|one| line(ctx, one)).collect()
}

fn line(ctx: &Context, session: &AttachedSession) -> Result<String> {
    let newest = ctx.state().record.checkpoints.newest(AMONG)?;
    let is_of_it = |one: &&CheckpointRecord| {
        one.trigger == CheckpointTrigger::Prompt && one.attached.as_ref().is_some_and(|stamp| stamp.session == session.id)
    };
    let number = newest.into_iter().filter(is_of_it).filter_map(|one| prompt_number(one.name.as_str())).max();
    let turn = number.map_or_else(|| "a turn".to_owned(), |number| format!("prompt {number}"));
    Ok(format!(
        "{} has not ended {turn} in '{}': interrupt it first if it still works, or it may write over what comes back",
        session.program.title(),
        session.worktree
    ))
}
