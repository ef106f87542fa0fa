//! Prompts before which nothing could be saved: the timeline shows them as such, since there is nothing to go back to.

use super::prompt_lines::first_line;
use crate::context::handle::Context;
use axiom_base::error::Result;
use axiom_model::checkpoint::record::CheckpointRecord;
use axiom_model::checkpoint::trigger::CheckpointTrigger;
use axiom_store::beside::attach::AttachFiles;
pub use axiom_store::beside::attach::prompt_files::NotSavedPromptLine;

/// How many are kept.
const MOST: usize = 50;

/// Notes one, with its first line where `keeps` says so.
pub(super) fn note(files: &AttachFiles, prompt: NotSavedPromptLine, keeps: Option<&str>) -> Result<()> {
    files.prompts().locked(|| {
        let mut all = files.prompts().not_saved();
        all.push(NotSavedPromptLine { text: keeps.map(first_line), ..prompt });
        let over = all.len().saturating_sub(MOST);
        all.drain(..over);
        files.prompts().write_not_saved(&all)
    })
}

/// Those that are known, the newest first.
pub fn list(ctx: &Context) -> Result<Vec<NotSavedPromptLine>> {
    let mut all = AttachFiles::of(ctx.layout()).prompts().not_saved();
    if all.is_empty() {
        return Ok(all);
    }
    let records = ctx.state().record.checkpoints.all()?;
    let was_made = |one: &NotSavedPromptLine| {
        // One that was cut off may have been completed by the next command.
        let is_it = |record: &CheckpointRecord| {
            let is_own = record.attached.as_ref().is_some_and(|stamp| stamp.session == one.session);
            record.trigger == CheckpointTrigger::Prompt && is_own && (one.at..=one.until).contains(&record.created_at)
        };
        records.iter().any(|record| is_it(record))
    };
    all.retain(|one| !was_made(one));
    all.reverse();
    Ok(all)
}

/// Forgets their first lines; returns how many there were.
pub(super) fn forget(files: &AttachFiles) -> Result<usize> {
    let mut gone = 0;
    files.prompts().locked(|| {
        let mut all = files.prompts().not_saved();
        gone = all.iter_mut().filter_map(|one| one.text.take()).count();
        if gone > 0 { files.prompts().write_not_saved(&all) } else { Ok(()) }
    })?;
    Ok(gone)
}
