//! What happened before and what is there, as values. Pure.

use super::pieces::{line, list, text};
use super::values::{Name, PromptValues};
use super::{BranchCommit, MOST_COMMITS, MOST_ITEMS, PromptAnswers, PromptHistory, PromptWorkspaceState, SECTION_BYTES};
use crate::agent::tool_kind::ToolKind;
use crate::base::names::Oid;
use crate::prompt::context::where_it_was;
use crate::work::endings::last_run::LastIteration;
use crate::work::endings::resuming::FreshStartReason;
use crate::work::iteration::IterationOutcome;
use crate::work::iteration_marker::MarkerKind;
use crate::work::signals::report_parts::SubtaskStage;
use crate::work::signals::reports::TaskReports;
use crate::work::tasks::wip;

/// How many parts and files of each kind are named.
const MOST_NAMED: usize = 30;
/// How many characters of a name or a subject.
const LONGEST_NAME: usize = 200;

pub(super) fn put(values: &mut PromptValues, history: &PromptHistory, found: &PromptWorkspaceState) {
    let last = history.last_run.as_ref();
    let or_empty = |value: Option<String>| value.unwrap_or_default();
    let cut = |words: &str| text(words, SECTION_BYTES, "");
    for (name, value) in [
        (Name::LastEnd, or_empty(last.map(|last| cut(&last_end(last, history.anew, found.has_last))))),
        (Name::Resumed, or_empty(last.filter(|_| history.resumes).map(|last| cut(&cut_off(&last.outcome))))),
        (Name::Reported, or_empty(history.reports.as_ref().map(|reports| list(&reported(reports), MOST_ITEMS, SECTION_BYTES)))),
        (Name::Ready, list(&history.ready_points.ready, MOST_ITEMS, SECTION_BYTES)),
        (Name::NotReady, list(&history.ready_points.not_ready, MOST_ITEMS, SECTION_BYTES)),
        (Name::Awaited, list(&history.ready_points.awaited, MOST_ITEMS, SECTION_BYTES)),
        (Name::Denied, or_empty(last.map(|last| list(&last.denied, MOST_ITEMS, SECTION_BYTES)))),
        (Name::Unfinished, or_empty(last.map(|last| list(&unfinished(last), MOST_ITEMS, SECTION_BYTES)))),
        (Name::Commits, commits(&found.commits, last.filter(|_| found.has_last).map(|last| &last.to))),
        (Name::Changes, changes(&found.changes, last)),
        (Name::Verification, cut(&history.verification.join("\n\n"))),
        (Name::Answers, cut(&answers(&history.answers, history.resumes))),
        (Name::Edits, edits(&history.edited)),
        (Name::Crashes, if history.attempts.count == 0 { String::new() } else { history.attempts.count.to_string() }),
        (Name::CutOff, history.attempts.how.unwrap_or_default().to_owned()),
        (Name::Anew, or_empty(history.begins_anew.clone())),
        (Name::History, list(&history.attempts.audit, MOST_ITEMS, SECTION_BYTES)),
        (Name::Notes, cut(&history.notes.join("\n\n"))),
    ] {
        values.put(name, value);
    }
}

fn last_end(last: &LastIteration, anew: Option<FreshStartReason>, has_last: bool) -> String {
    let number = last.iteration;
    let mut words = match (&last.outcome, &last.failed_verify) {
        (IterationOutcome::Complete, Some(_)) => {
            format!("Iteration {number} ended as complete, and then the verification failed.")
        }
        (IterationOutcome::Complete, None) => format!("Iteration {number} ended as complete, and the work was not accepted."),
        (IterationOutcome::Blocked { reason }, _) => format!("Iteration {number} reported that it could not go on: {reason}"),
        (IterationOutcome::Waiting { question }, _) => format!("Iteration {number} asked a human: {question}"),
        (IterationOutcome::Unfinished { why }, _) => format!("Iteration {number} did not complete the task: {why}"),
        (IterationOutcome::Limited { why, .. }, _) => format!("Iteration {number} was ended by the model's service: {why}"),
        (IterationOutcome::NeedsHuman { cause, why }, _) => {
            format!("Iteration {number} ended because {}: {why}\nA human wants it tried again.", cause.in_words())
        }
        (IterationOutcome::Stopped, _) => format!("Iteration {number} was stopped before it had ended."),
        (IterationOutcome::Crashed, _) => format!("Iteration {number} was cut off by a crash."),
    };
    if let Some(why) = anew {
        words.push_str(&format!("\nThe session in which it worked is not gone on with: {why}."));
    }
    if let Some(said) = &last.in_vain {
        words.push_str(&format!("\nThe session in which it worked could not be gone on with: {said}"));
    }
    if !has_last {
        words.push_str("\nWhat it did was taken back since, or the branch was moved: look at what is there.");
    }
    words
}

fn cut_off(outcome: &IterationOutcome) -> String {
    match outcome {
        IterationOutcome::Stopped => "it was stopped".into(),
        IterationOutcome::Crashed => "it ended by a crash".into(),
        IterationOutcome::Unfinished { why } => why.clone(),
        // Such an end is none by which a session is cut off.
        IterationOutcome::Complete
        | IterationOutcome::Blocked { .. }
        | IterationOutcome::Waiting { .. }
        | IterationOutcome::Limited { .. }
        | IterationOutcome::NeedsHuman { .. } => "it was ended".into(),
    }
}

/// The calls that had begun and not ended. Of a write or an edit it was looked up in the file whether it had its effect.
fn unfinished(last: &LastIteration) -> Vec<String> {
    let cut = last.cut.as_deref();
    let begun = cut.and_then(|cut| cut.marker.as_ref()).filter(|marker| marker.kind == MarkerKind::ToolStarted);
    let looked_up = begun.filter(|marker| matches!(marker.tool_kind, Some(ToolKind::Write | ToolKind::Edit)));
    let words = cut.filter(|_| looked_up.is_some()).and_then(where_it_was);
    last.unfinished.iter().cloned().chain(words).collect()
}

fn reported(reports: &TaskReports) -> Vec<String> {
    let named = |stage: SubtaskStage| -> Vec<&str> {
        reports.subtasks.iter().filter(|part| part.stage == stage).map(|part| part.name.as_str()).collect()
    };
    let mut out = Vec::new();
    let phase = reports.phase.as_ref().map(|phase| format!("phase {}", line(phase, LONGEST_NAME)));
    let progress = reports.progress.map(|percent| format!("{percent}% done"));
    let head: Vec<String> = progress.into_iter().chain(phase).collect();
    if !head.is_empty() {
        out.push(head.join(", "));
    }
    for (what, stage) in
        [("parts done", SubtaskStage::Done), ("parts begun", SubtaskStage::Begun), ("parts planned", SubtaskStage::Planned)]
    {
        let names = named(stage);
        if !names.is_empty() {
            out.push(format!("{what}: {}", joined(&names)));
        }
    }
    for file in reports.files.iter().filter(|file| !file.done && file.role.is_none()).take(MOST_NAMED) {
        let mut words = format!("in progress: {}", line(&file.path, LONGEST_NAME));
        let place =
            [("line", file.line.map(|line| line.to_string())), ("after", file.section.clone()), ("next", file.next.clone())];
        for (what, value) in place.into_iter().filter_map(|(what, value)| Some((what, value?))) {
            words.push_str(&format!(", {what} {}", line(&value, LONGEST_NAME)));
        }
        out.push(words);
    }
    let done: Vec<&str> = reports.files.iter().filter(|file| file.done).map(|file| file.path.as_str()).collect();
    if !done.is_empty() {
        out.push(format!("files done: {}", joined(&done)));
    }
    out
}

fn joined(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(MOST_NAMED).map(|name| line(name, LONGEST_NAME)).collect();
    let left = names.len() - shown.len();
    if left == 0 { shown.join(", ") } else { format!("{} and {left} more", shown.join(", ")) }
}

/// The commits, newest first. `last` is the one with which the last iteration ended, where it is on the branch.
fn commits(all: &[BranchCommit], last: Option<&Oid>) -> String {
    let is_newer = all.iter().position(|commit| Some(&commit.oid) == last).unwrap_or(0);
    let mut lines: Vec<String> = Vec::new();
    for (index, commit) in all.iter().take(MOST_COMMITS).enumerate() {
        let mut words = format!("{} {}", commit.oid.short(), line(&commit.subject, LONGEST_NAME));
        if wip::is_wip(&commit.subject) {
            words.push_str(" (committed for you: what was left uncommitted then)");
        }
        if index < is_newer {
            words.push_str(" (since the last iteration, by somebody else)");
        }
        lines.push(words);
    }
    if all.len() > MOST_COMMITS {
        lines.push("and older ones, left out here".to_owned());
    }
    list(&lines, usize::MAX, SECTION_BYTES)
}

/// Uncommitted paths. What the last iteration left is committed, except for some; the rest is somebody else's.
fn changes(paths: &[String], last: Option<&LastIteration>) -> String {
    let words = |path: &String| match last {
        None => line(path, LONGEST_NAME),
        Some(last) => match last.left_out.iter().find_map(|left| left.strip_prefix(path.as_str())?.strip_prefix(" (")) {
            Some(why) => format!("{} (left uncommitted: {why}", line(path, LONGEST_NAME)),
            None => format!("{} (changed since the last iteration)", line(path, LONGEST_NAME)),
        },
    };
    list(&paths.iter().map(words).collect::<Vec<_>>(), MOST_ITEMS, SECTION_BYTES)
}

/// The newest answer first: where not all have room, the oldest are cut. A session that is gone on with has the ones before.
fn answers(answers: &PromptAnswers, resumes: bool) -> String {
    let most = match (resumes, answers.last_is_new) {
        (true, true) => 1,
        (true, false) => 0,
        (false, _) => usize::MAX,
    };
    let mut words = Vec::new();
    for (index, answer) in answers.all.iter().rev().take(most).enumerate() {
        let when = if index == 0 && answers.last_is_new { "You asked" } else { "Asked earlier" };
        words.push(format!("{when}: {}\n\nThe answer: {}", answer.question, answer.text));
    }
    words.join("\n\n")
}

fn edits(fields: &[String]) -> String {
    let words = |field: &String| match field.as_str() {
        "body" => "text".to_owned(),
        "verify" => "verify steps".to_owned(),
        other => other.to_owned(),
    };
    match fields {
        [] => String::new(),
        fields => {
            let named: Vec<String> = fields.iter().map(words).collect();
            format!(
                "A human changed this of the task since an agent worked on it: {}. What stands here is new.",
                named.join(", ")
            )
        }
    }
}
