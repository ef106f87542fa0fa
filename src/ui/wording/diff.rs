//! What a task changed, in words.

use crate::cli::grid::{StyledCell, StyledGrid};
use crate::cli::styled::StyledText;
use crate::cli::visible;
use axiom_agents::task_diff::FileDiffStat;
use axiom_model::base::forms::plural::count;
use axiom_model::base::screen_colors::ColoredPart;
use axiom_model::operation::change_json::FileChange;
use axiom_safety::history::work_diff::TaskDiff;

/// How many files a summary names.
const NAMED: usize = 200;

/// The files with their lines, and their sum.
pub fn stat(diff: &TaskDiff) -> StyledText {
    if diff.files.is_empty() && diff.not_shown.is_empty() {
        return "There is nothing that the target does not have already.\n".into();
    }
    let row = |FileDiffStat { path, change, lines }: &FileDiffStat| {
        let lines = match lines {
            Some((added, deleted)) => format!("+{added} -{deleted}"),
            None => "binary or large".to_owned(),
        };
        let note = if diff.uncommitted.contains(path) { "not committed" } else { "" };
        vec![visible::quoted(path.as_bytes()).into(), StyledCell::of(part(*change), in_words(*change)), lines.into(), note.into()]
    };
    let rows = diff.files.iter().take(NAMED).map(row);
    let mut text = StyledText::from(StyledGrid::of(rows).cut(&[0]).indented(1));
    if diff.files.len() > NAMED {
        text.push_str(&format!(" and {} more\n", diff.files.len() - NAMED));
    }
    for (path, why) in &diff.not_shown {
        text.push_str(&format!(" {} ({why})\n", visible::quoted(path.as_bytes())));
    }
    let sum = |of: fn(&(u64, u64)) -> u64| diff.files.iter().filter_map(|file| file.lines.as_ref()).map(of).sum::<u64>();
    let (added, deleted) = (sum(|lines| lines.0), sum(|lines| lines.1));
    text.push_str(&format!("{}, +{added} -{deleted}\n", count(diff.files.len(), "file")));
    text
}

const fn part(change: FileChange) -> Option<ColoredPart> {
    match change {
        FileChange::Added => Some(ColoredPart::Added),
        FileChange::Deleted => Some(ColoredPart::Removed),
        FileChange::Modified | FileChange::ModeChanged | FileChange::TypeChanged => None,
    }
}

const fn in_words(change: FileChange) -> &'static str {
    match change {
        FileChange::Added => "added",
        FileChange::Modified => "modified",
        FileChange::Deleted => "deleted",
        FileChange::ModeChanged => "mode changed",
        FileChange::TypeChanged => "type changed",
    }
}
