//! What agents reported of a task, as rows of `task show`, and for `recover inspect`.

use crate::cli::{visible, words};
use axiom_model::queries::reported_work::{ReportedFile, ReportedWork};
use axiom_model::work::signals::report_parts::{Subtask, SubtaskStage};

/// How many parts or files are listed; `--json` has all.
const MOST: usize = 20;

/// Rows with a name and a value. What is still to be done comes first.
pub fn rows(reported: &ReportedWork<'_>) -> Vec<Vec<String>> {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut row = |name: &str, value: &str| rows.push(vec![format!("{name}:"), visible::line(value).into_owned()]);
    if let Some(phase) = reported.phase {
        row("phase", phase);
    }
    if !reported.confidences.is_empty() {
        let last = &reported.confidences[reported.confidences.len().saturating_sub(MOST)..];
        let all: Vec<String> = last.iter().map(|one| format!("{} {:.2}", one.phase, one.confidence)).collect();
        row("confidence", &all.join(", "));
    }
    if let Some(at) = reported.estimated_completion {
        row("expected", &words::time(at));
    }
    let stages = [SubtaskStage::Begun, SubtaskStage::Planned, SubtaskStage::Done];
    let parts = stages.iter().flat_map(|stage| reported.subtasks.iter().filter(move |part| part.stage == *stage));
    parts.take(MOST).for_each(|part| row("part", &part_text(part)));
    if reported.subtasks.len() > MOST {
        row("part", &format!("and {} more, see --json", reported.subtasks.len() - MOST));
    }
    let open = reported.files.iter().filter(|file| !file.completed);
    let files = open.chain(reported.files.iter().filter(|file| file.completed));
    files.take(MOST).for_each(|file| row("file", &file_text(file)));
    if reported.files.len() > MOST {
        row("file", &format!("and {} more, see --json", reported.files.len() - MOST));
    }
    if reported.files_modified > 0 {
        row("changed", &words::count_of(reported.files_modified, "file", "files"));
    }
    if let Some(passing) = reported.tests_passing {
        row("verified", if passing { "passed when it was last done" } else { "did not pass when it was last done" });
    }
    let lists = [("related", &reported.context.related_files), ("tests", &reported.context.test_files)];
    for (name, files) in lists.into_iter().filter(|(_, files)| !files.is_empty()) {
        row(name, &listed(files));
    }
    if !reported.context.dependencies.is_empty() {
        let names: Vec<&str> = reported.context.dependencies.iter().map(String::as_str).collect();
        row("uses", &listed(&names));
    }
    reported.ready.iter().take(MOST).for_each(|point| row("ready", &format!("{}: {}", point.name, point.text)));
    if reported.left_out > 0 {
        row("left out", &words::count_of(reported.left_out, "report over the limits", "reports over the limits"));
    }
    rows
}

fn listed(names: &[&str]) -> String {
    let shown = names.iter().take(MOST).copied().collect::<Vec<_>>().join(", ");
    if names.len() > MOST { format!("{shown} and {} more", names.len() - MOST) } else { shown }
}

fn part_text(part: &Subtask) -> String {
    match part.stage {
        SubtaskStage::Planned => format!("{}, planned", part.name),
        SubtaskStage::Begun => format!("{}, begun", part.name),
        SubtaskStage::Done => format!("{}, done", part.name),
    }
}

fn file_text(file: &ReportedFile<'_>) -> String {
    let mut text = file.path.to_owned();
    if file.completed {
        text.push_str(", done");
    }
    if let Some(line) = file.current_line {
        text.push_str(&format!(", line {line}"));
    }
    if let Some(section) = file.last_completed_section {
        text.push_str(&format!(", after {section}"));
    }
    if let Some(next) = file.next_section {
        text.push_str(&format!(", next {next}"));
    }
    if let Some(sure) = file.confidence {
        text.push_str(&format!(", {:.0}% sure", sure * 100.0));
    }
    text
}
