//! What `recover` prints.

use super::RecoverAnswer;
use crate::cli::{visible, words};
use crate::domain::base::ids::CaseId;
use crate::domain::base::times;
use crate::domain::recovery::estimate::Crash;
use crate::domain::state::wedge::WedgeView;
use crate::ops::recover::parts::CutGroup;
use crate::ops::recover::survey::{Orphan, View};

/// The tasks that are active while no supervisor runs, and what the crash costs.
pub(super) fn tasks(view: &View) -> String {
    let mut text = String::new();
    if let Some(crash) = &view.crash {
        text.push_str(&crash_in_words(crash));
    }
    for group in &view.groups {
        text.push_str(&group_in_words(group));
    }
    if !view.groups.is_empty() {
        text.push('\n');
    }
    for (title, orphans) in [("resumable", &view.resumable), ("reset    ", &view.reset), ("failed   ", &view.failed)] {
        for orphan in orphans {
            text.push_str(&orphan_in_words(title, orphan));
        }
    }
    text
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

fn crash_in_words(crash: &Crash) -> String {
    let Crash { crash_time, last_checkpoint, crash_duration, estimated_loss, estimated_seconds } = crash;
    let mut text = format!("Crashed: {}, {} ago\n", words::time(*crash_time), times::span(*crash_duration));
    text.push_str(&format!("Last kept: {}\n", words::time(*last_checkpoint)));
    text.push_str(&format!("Estimated work loss: {estimated_loss}%\n"));
    if let Some(seconds) = estimated_seconds {
        text.push_str(&format!("Estimated recovery time: {}\n", times::span(*seconds)));
    }
    text.push('\n');
    text
}

fn orphan_in_words(title: &str, orphan: &Orphan) -> String {
    let progress = orphan.progress.map_or_else(String::new, |percent| format!(", {percent}%"));
    let mut text = format!(
        "{title}  {} ({}, iteration {}{progress})\n           {}\n",
        orphan.task_id,
        orphan.agent_id,
        orphan.iteration,
        visible::line(&orphan.reason)
    );
    let mut more = |words: String| text.push_str(&format!("           {}\n", visible::line(&words)));
    if orphan.files_total > 0 {
        more(format!("files completed: {}/{}", orphan.files_completed, orphan.files_total));
    }
    if let Some(file) = &orphan.last_file {
        let line = file.line.map_or_else(String::new, |line| format!(" (line {line})"));
        let section = file.section.as_ref().map_or_else(String::new, |section| format!(", after {section}"));
        let next = file.next.as_ref().map_or_else(String::new, |next| format!(", next {next}"));
        more(format!("last file: {}{line}{section}{next}", file.path));
    }
    if let Some(sure) = orphan.confidence {
        more(format!("confidence: {sure:.2}"));
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

/// Everything.
pub(super) fn all(answer: &RecoverAnswer) -> String {
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
    let mut text = if answer.recovered { String::new() } else { tasks(view) };
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
    match (answer.recovered, by_hand.is_empty(), view.repairs || !view.locks.is_empty()) {
        (true, true, _) => text.push_str("Recovered.\n"),
        (true, false, _) => text.push_str("Recovered, except for what you have to do by hand.\n"),
        (false, _, true) => text.push_str(&format!("Nothing was changed. To do it: {}\n", answer.to_do_it)),
        (false, _, false) => text.push_str("Nothing was changed.\n"),
    }
    text
}
