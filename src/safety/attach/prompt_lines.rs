//! What is kept of the words of prompts: the first line of each, masked.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::context::handle::Context;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files::{FileLock, LockAttempt};
use axiom_model::checkpoint::stamp::prompt_number;
use axiom_model::recovery::mask::masked;
use axiom_store::beside::attach::AttachFiles;
use axiom_store::beside::attach::prompt_files::PromptLine;

/// The longest text that is kept of a prompt, in characters.
const LONGEST: usize = 80;

/// Keeps the first line of a prompt.
pub(super) fn note(files: &AttachFiles, name: &str, text: &str) -> Result<()> {
    let Some(number) = prompt_number(name) else { return Ok(()) };
    let line = first_line(text);
    change(files, |all| {
        all.retain(|one| one.number != number);
        all.push(PromptLine { number, text: line });
    })
}

/// What is kept of a prompt.
pub(super) fn first_line(text: &str) -> String {
    // Masked as a whole: a secret may begin in the first line and end behind it.
    let masked = masked(text.trim_start());
    masked.lines().next().unwrap_or_default().chars().take(LONGEST).collect()
}

/// Changes what is kept of prompts while nobody else does.
pub(super) fn locked(files: &AttachFiles, change: impl FnOnce(&AttachFiles) -> Result<()>) -> Result<()> {
    let LockAttempt::Taken(_lock) = FileLock::take(&files.prompts().lock(), Duration::from_secs(2))? else {
        return Err(Error::new(Code::Busy, "the list of prompts is being changed"));
    };
    change(files)
}

/// Changes the first lines that are kept of prompts.
pub(super) fn change(files: &AttachFiles, change: impl FnOnce(&mut Vec<PromptLine>)) -> Result<()> {
    locked(files, |files| {
        let mut all = files.prompts().lines()?;
        change(&mut all);
        files.prompts().write_lines(&all)
    })
}

/// Forgets the first lines of prompts whose checkpoints are gone.
pub fn forget_expired(ctx: &Context) -> Result<()> {
    let files = AttachFiles::of(ctx.layout());
    let all = ctx.state().record.checkpoints.all()?;
    let there: BTreeSet<u32> = all.iter().filter_map(|record| prompt_number(record.name.as_str())).collect();
    if files.prompts().lines()?.iter().all(|one| there.contains(&one.number)) {
        return Ok(());
    }
    change(&files, |all| all.retain(|one| there.contains(&one.number)))
}
