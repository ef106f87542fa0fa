//! Tasks that a crash cut off, and what becomes of them.

use crate::cli::{visible, words};
use axiom_agents::recover::earlier_tasks::EarlierRecoveredTask;
use axiom_agents::recover::interrupted_groups::InterruptedGroup;
use axiom_agents::recover::survey::{OrphanTask, RecoverySurvey};
use axiom_base::env;
use axiom_model::base::forms::times;
use axiom_model::base::ids::TaskId;
use axiom_model::recovery::decide::CrashAction;
use axiom_model::recovery::estimate::CrashEstimate;
use axiom_model::work::signals::report_parts::SubtaskStage;

/// How many ids are named in a line.
const MOST_NAMED: usize = 10;

/// How many parts that are still to do are named; `recover inspect` has all.
const MOST_PARTS: usize = 5;

/// The tasks that are active while no supervisor runs, and what the crash costs, for a terminal with so many columns.
pub fn tasks(view: &RecoverySurvey, columns: Option<usize>) -> String {
    let mut text = String::new();
    if let Some(CrashEstimate { crash_time, last_checkpoint, crash_duration, .. }) = &view.crash {
        let zone = env::time_zone();
        let [crashed, kept] = [*crash_time, *last_checkpoint].map(|at| times::whole(&zone, at));
        text.push_str(&format!("Crashed: {crashed}, or later: at most {} ago\n", times::span(*crash_duration)));
        text.push_str(&format!("Last kept: {kept}\n\n"));
    }
    for group in &view.groups {
        text.push_str(&group_in_words(group));
    }
    if !view.groups.is_empty() {
        text.push('\n');
    }
    for (title, orphans) in [("resumable", &view.resumable), ("reset    ", &view.reset), ("failed   ", &view.failed)] {
        for orphan in orphans {
            text.push_str(&orphan_in_words(title, orphan, columns));
        }
    }
    for EarlierRecoveredTask { task_id, decision, what } in &view.earlier {
        let title = match decision {
            None => "failed   ",
            Some(CrashAction::RestartTask) => "reset    ",
            Some(CrashAction::ContinueTask | CrashAction::NextTask | CrashAction::HumanReview) => "resumable",
        };
        text.push_str(&format!("{title}  {task_id}\n"));
        text.push_str(&folded(&format!("           {}", visible::line(what)), columns));
    }
    if !view.left.is_empty() {
        text.push_str(&folded(&format!("as it is   {}", left_in_words(view)), columns));
    }
    if let Some(CrashEstimate { estimated_loss, estimated_seconds, .. }) = &view.crash {
        text.push_str(&format!("\nEstimated work loss: {estimated_loss}%\n"));
        if let Some(seconds) = estimated_seconds {
            text.push_str(&format!("Estimated recovery time: {}\n", times::span(*seconds)));
        }
    }
    text
}

/// The tasks that stay as the crash left them.
pub(super) fn left_in_words(view: &RecoverySurvey) -> String {
    let mut ids: Vec<&str> = view.left.iter().take(MOST_NAMED).map(|orphan| orphan.task_id.as_str()).collect();
    if view.left.len() > ids.len() {
        ids.push("…");
    }
    format!("{}: {}", words::count(view.left.len(), "task"), ids.join(", "))
}

/// A line of what is said of a task, in a terminal with so many columns.
fn folded(line: &str, columns: Option<usize>) -> String {
    words::folded(line, columns, 11) + "\n"
}

/// The file that was worked on last.
pub(super) fn last_file(path: &str, line: Option<u64>, (after, next): (Option<&str>, Option<&str>)) -> String {
    let line = line.map_or_else(String::new, |line| format!(" (line {line})"));
    let after = after.map_or_else(String::new, |after| format!(", after {after}"));
    let next = next.map_or_else(String::new, |next| format!(", next {next}"));
    format!("{path}{line}{after}{next}")
}

/// A group or goal, and its tasks that a crash cut off, with those beside them.
pub(super) fn group_in_words(group: &InterruptedGroup) -> String {
    let ids = |ids: &[TaskId]| ids.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", ");
    let waits = if group.waits_for.is_empty() { String::new() } else { format!("; waits for {}", ids(&group.waits_for)) };
    let indent = "  ".repeat(group.depth);
    let title = visible::line(&group.title);
    let mut text = format!("{indent}{}: {title} ({}, {}%{waits})\n", group.task_id, group.status.in_words(), group.progress);
    for part in &group.parts {
        let after = match (part.waits_for.as_slice(), part.resolved.as_slice()) {
            ([], []) => String::new(),
            ([], resolved) => format!("; {} is there", ids(resolved)),
            (waits, _) => format!("; waits for {}", ids(waits)),
        };
        text.push_str(&format!("{indent}  {:<11} {:>3}%  {}{after}\n", part.status, part.progress, part.task_id));
    }
    text
}

fn orphan_in_words(title: &str, orphan: &OrphanTask, columns: Option<usize>) -> String {
    let progress = orphan.progress.map_or_else(String::new, |percent| format!(", {percent}%"));
    let mut text = format!("{title}  {} ({}, iteration {}{progress})\n", orphan.task_id, orphan.agent_id, orphan.iteration);
    let mut more = |words: &str| text.push_str(&folded(&format!("           {}", visible::line(words)), columns));
    more(&orphan.reason);
    if orphan.files_total > 0 {
        more(&format!("files completed: {}/{}", orphan.files_completed, orphan.files_total));
    }
    if let Some(last) = &orphan.last_file {
        more(&format!("last file: {}", last_file(&last.path, last.line, (last.section.as_deref(), last.next.as_deref()))));
    }
    let reports = orphan.reports.as_ref();
    if let Some(phase) = reports.and_then(|reports| reports.phase.as_ref()) {
        more(&format!("phase: {phase}"));
    }
    let open = reports.map_or(&[][..], |reports| &reports.subtasks).iter().filter(|part| part.stage != SubtaskStage::Done);
    let parts: Vec<&str> = open.take(MOST_PARTS).map(|part| part.name.as_str()).collect();
    if !parts.is_empty() {
        more(&format!("parts still to do: {}", parts.join(", ")));
    }
    if let Some(sure) = orphan.confidence {
        more(&format!("confidence: {sure:.2}"));
    }
    text
}
