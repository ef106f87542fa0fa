//! What is kept of the words of prompts: the first line of each, masked.

use std::collections::BTreeSet;

use crate::context::handle::Context;
use axiom_base::error::Result;
use axiom_model::checkpoint::stamp::prompt_number;
use axiom_model::recovery::mask::masked;
use axiom_store::beside::attach::AttachFiles;
use axiom_store::beside::attach::prompt_files::PromptLine;

/// The longest text that is kept of a prompt, in characters.
const LONGEST: usize = 80;

/// What is kept of a prompt.
pub(super) fn first_line(text: &str) -> String {
    // Masked as a whole: a secret may begin in the first line and end behind it.
    let masked = masked(text.trim_start());
    masked.lines().next().unwrap_or_default().chars().take(LONGEST).collect()
}

/// Changes the first lines that are kept of prompts.
pub(super) fn change(files: &AttachFiles, change: impl FnOnce(&mut Vec<PromptLine>)) -> Result<()> {
    files.prompts().locked(|| {
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
