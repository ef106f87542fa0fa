//! What a task changed, in words.

use crate::cli::screen::table;
use crate::cli::visible;
use axiom_agents::task_diff::FileDiffStat;
use axiom_model::base::forms::plural::count;
use axiom_model::operation::change_json::FileChange;
use axiom_safety::history::work_diff::TaskDiff;

/// How many files a summary names.
const NAMED: usize = 200;

/// The files with their lines, and their sum.
pub fn stat(diff: &TaskDiff) -> String {
    if diff.files.is_empty() && diff.not_shown.is_empty() {
        return "There is nothing that the target does not have already.\n".to_owned();
    }
    let row = |FileDiffStat { path, change, lines }: &FileDiffStat| {
        let lines = match lines {
            Some((added, deleted)) => format!("+{added} -{deleted}"),
            None => "binary or large".to_owned(),
        };
        let note = if diff.uncommitted.contains(path) { "not committed" } else { "" };
        vec![format!(" {}", visible::quoted(path.as_bytes())), in_words(*change).to_owned(), lines, note.to_owned()]
    };
    let rows: Vec<Vec<String>> = diff.files.iter().take(NAMED).map(row).collect();
    let mut text = if rows.is_empty() { String::new() } else { table(&rows) };
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

const fn in_words(change: FileChange) -> &'static str {
    match change {
        FileChange::Added => "added",
        FileChange::Modified => "modified",
        FileChange::Deleted => "deleted",
        FileChange::ModeChanged => "mode changed",
        FileChange::TypeChanged => "type changed",
    }
}
