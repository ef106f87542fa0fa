//! `git axiom prompts NUMBER`: what one prompt changed, and how to go back to before it.

use serde::Serialize;

use super::changed_in_words;
use crate::cli::screen::Screen;
use crate::cli::styled::StyledText;
use crate::cli::{visible, words};
use crate::commands::diff;
use crate::commands::diff::{DiffCommitJson, DiffFileJson};
use crate::commands::grammar::arguments::GlobalArgs;
use crate::commands::open_with_usable_config;
use crate::wording::diff::stat;
use axiom_base::error::{Exit, Result};
use axiom_safety::attach::prompts;
use axiom_safety::attach::prompts::Prompt;
use axiom_safety::context::placement::VerbPurpose;
use axiom_safety::history::work_diff::TaskDiff;

/// A prompt, and what it changed.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OnePromptJson<'a> {
    prompt: &'a Prompt,
    /// Newest first.
    commits: Vec<DiffCommitJson<'a>>,
    changed: Vec<DiffFileJson<'a>>,
}

/// Shows one prompt.
pub(super) fn show(number: u32, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let ctx = open_with_usable_config(VerbPurpose::Look, global, screen)?;
    let (mut prompt, diff) = (prompts::one(&ctx, number)?, prompts::diff(&ctx, number)?);
    if prompt.elsewhere.is_empty() {
        // The list counts until the newest checkpoint, this is so until now.
        let sum = |of: fn(&(u64, u64)) -> u64| Some(diff.files.iter().filter_map(|file| file.lines.as_ref()).map(of).sum());
        prompt.files = Some(diff.files.len());
        (prompt.insertions, prompt.deletions) = (sum(|lines| lines.0), sum(|lines| lines.1));
    }
    let answer = OnePromptJson { prompt: &prompt, commits: diff::commits(&diff.commits), changed: diff::files(&diff) };
    screen.answer(&answer, || in_words(&prompt, &diff))?;
    Ok(Exit::Done)
}

fn in_words(prompt: &Prompt, diff: &TaskDiff) -> StyledText {
    let number = prompt.number;
    let program = prompt.program.map_or("an agent", |program| program.title());
    let mut text = StyledText::from(format!("Prompt {number} to {program}, {}\n", words::time(prompt.at)));
    if let Some(line) = &prompt.text {
        text.push_str(&format!("  {}\n", visible::line(line)));
    }
    if let Some(worktree) = &prompt.worktree {
        text.push_str(&format!("in {}\n", visible::line(worktree)));
    }
    if let Some(back) = &prompt.taken_back_by {
        text.push_str(&format!("taken back: git axiom undo {back}    brings back what it did\n"));
    }
    let until = match (&diff.workspace, &prompt.taken_back_by) {
        (Some(_), _) => "until now",
        (None, Some(_)) => "before it was taken back",
        (None, None) => "until the next prompt of its session",
    };
    if diff.files.is_empty() {
        text.push_str(&format!("\nChanged {until}: {}\n", changed_in_words(prompt)));
    } else {
        text.push_str(&format!("\nChanged {until}:\n"));
        text.append(stat(diff));
    }
    for commit in &diff.commits {
        text.push_str(&format!("committed: {} {}\n", commit.oid.short(), visible::line(&commit.subject)));
    }
    text + format!(
        "\ngit axiom diff {number}                    the same as a patch\n\
         git axiom rollback --prompt {number}       goes back to before it: its worktree alone\n\
         git axiom restore --prompt {number} FILE   brings back one file or folder alone\n"
    )
}
