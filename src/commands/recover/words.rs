//! What `recover` prints.

use super::RecoverAnswer;
use crate::cli::{visible, words};
use crate::domain::base::ids::CaseId;
use crate::domain::base::times;
use crate::domain::recovery::estimate::Crash;
use crate::domain::state::wedge::WedgeView;
use crate::ops::recover::parts::CutGroup;
use crate::ops::recover::survey::{Orphan, View};

/// How many ids are named in a line.
const MOST_NAMED: usize = 10;

/// The tasks that are active while no supervisor runs, and what the crash costs, for a terminal with so many columns.
pub(super) fn tasks(view: &View, columns: Option<usize>) -> String {
    let mut text = String::new();
    if let Some(Crash { crash_time, last_checkpoint, crash_duration, .. }) = &view.crash {
        text.push_str(&format!("Crashed: {}, {} ago\n", words::time(*crash_time), times::span(*crash_duration)));
        text.push_str(&format!("Last kept: {}\n\n", words::time(*last_checkpoint)));
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
    if !view.left.is_empty() {
        text.push_str(&folded(&format!("as it is   {}", left_in_words(view)), columns));
    }
    if let Some(Crash { estimated_loss, estimated_seconds, .. }) = &view.crash {
        text.push_str(&format!("\nEstimated work loss: {estimated_loss}%\n"));
        if let Some(seconds) = estimated_seconds {
            text.push_str(&format!("Estimated recovery time: {}\n", times::span(*seconds)));
        }
    }
    text
}

/// The tasks that stay as the crash left them.
fn left_in_words(view: &View) -> String {
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

fn group_in_words(group: &CutGroup) -> String {
    let mut text = format!("{}: {} ({}%)\n", group.task_id, visible::line(&group.title), group.progress);
    for part in &group.parts {
        let ids = |ids: &[CaseId]| ids.iter().map(CaseId::as_str).collect::<Vec<_>>().join(", ");
        let after = match (part.waits_for.as_slice(), part.resolved.as_slice()) {
            ([], []) => String::new(),
            ([], resolved) => format!("; {} is there", ids(resolved)),
            (waits, _) => format!("; waits for {}", ids(waits)),
        };
        text.push_str(&format!("  {:<11} {:>3}%  {}{after}\n", part.status, part.progress, part.task_id));
    }
    text
}

/// How far a task is, as a bar.
fn bar(percent: u8) -> String {
    let full = usize::from(percent.min(100)) / 5;
    format!("{}{} {percent:>3}%", "#".repeat(full), ".".repeat(20 - full))
}

fn orphan_in_words(title: &str, orphan: &Orphan, columns: Option<usize>) -> String {
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
    if let Some(sure) = orphan.confidence {
        more(&format!("confidence: {sure:.2}"));
    }
    text
}

fn done_in_words(answer: &RecoverAnswer) -> String {
    let mut text = String::new();
    for done in &answer.done {
        text.push_str(&format!("{}  {}\n", done.task_id, visible::line(&done.what)));
    }
    for (done, percent) in answer.done.iter().filter_map(|done| Some((done, done.progress?))) {
        text.push_str(&format!("  {}  {}\n", bar(percent), done.task_id));
    }
    if let Some(seconds) = answer.view.crash.as_ref().and_then(|crash| crash.estimated_seconds).filter(|_| !text.is_empty()) {
        text.push_str(&format!("Estimated time to completion: {}\n", times::span(seconds)));
    }
    if !answer.done.is_empty() {
        text.push_str("To go on with the work: git axiom run\n");
    }
    text
}

/// Everything, for a terminal with so many columns.
pub(super) fn all(answer: &RecoverAnswer, columns: Option<usize>) -> String {
    let view = &answer.view;
    if !view.needed
        && view.wedges.is_empty()
        && view.locks.is_empty()
        && view.lost_objects.is_empty()
        && view.lost_files.is_empty()
        && view.leftovers.is_empty()
        && answer.done.is_empty()
    {
        return "Nothing has to be recovered.\n".to_owned();
    }
    let mut text = if answer.recovered { String::new() } else { tasks(view, columns) };
    view.lost_files.iter().for_each(|lost| text.push_str(&super::files::of_task(lost)));
    if let Some(operation) = &view.operation {
        text.push_str(&format!("operation  '{operation}' was interrupted: it is finished, or reversed if that fails\n"));
    }
    if let Some(checkpoint) = &view.checkpoint {
        text.push_str(&format!("checkpoint {checkpoint} was being made: it is completed if its capture exists\n"));
    }
    for checkpoint in &view.forgotten_checkpoints {
        text.push_str(&format!("checkpoint {checkpoint} exists, but the state does not know it: it is added\n"));
    }
    for left in &view.leftovers {
        text.push_str(&format!("left       {}\n", visible::line(left)));
    }
    for lock in &view.locks {
        text.push_str(&format!("lock       {lock}: removed if its owner is proven dead\n"));
    }
    for object in &view.damaged_objects {
        text.push_str(&format!(
            "object     {object} is corrupt: moved to quarantine, and written again if its content still exists\n"
        ));
    }
    for words in &view.lost_objects {
        text.push_str(&format!("lost       {words}\n"));
    }
    let (by_us, by_hand): (Vec<&WedgeView>, Vec<&WedgeView>) = view.wedges.iter().partition(|wedge| wedge.recovers);
    let is_named = |wedge: &WedgeView| view.locks.iter().any(|lock| wedge.what.contains(lock.as_str()));
    for wedge in by_us.iter().filter(|wedge| !is_named(wedge)) {
        text.push_str(&format!("repair     {}\n", wedge.what));
    }
    for wedge in &by_hand {
        text.push_str(&format!("by hand    {}\n", wedge.what));
        text.extend(wedge.hints.iter().map(|hint| format!("           {hint}\n")));
    }
    text.push_str(&done_in_words(answer));
    if answer.recovered && !view.left.is_empty() {
        text.push_str(&format!("As the crash left them stay {}.\n", left_in_words(view)));
    }
    match (answer.recovered, by_hand.is_empty(), view.repairs || !view.locks.is_empty()) {
        (true, true, _) => text.push_str("Recovered.\n"),
        (true, false, _) => text.push_str("Recovered, except for what you have to do by hand.\n"),
        (false, _, true) => text.push_str(&format!("Nothing was changed. To do it: {}\n", answer.to_do_it)),
        (false, _, false) => text.push_str("Nothing was changed.\n"),
    }
    text
}
