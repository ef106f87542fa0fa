//! All that is known of tasks that a crash cut off.

use super::tasks::{group_in_words, last_file};
use crate::cli::{visible, words};
use crate::wording::reported;
use axiom_agents::recover::export::{CrashExport, CrashExportTask};
use axiom_model::base::ids::TaskId;
use axiom_model::queries::reported_work::ReportedWork;
use axiom_model::queries::task_checks::TaskCheckSubject;

/// Each task with what is known of it.
pub fn inspected(state: &CrashExport) -> String {
    if state.tasks.is_empty() {
        return "No crash cut a task off. What runs on or waits: git axiom status\n".to_owned();
    }
    let groups: String = state.groups.iter().map(group_in_words).collect();
    let between = if groups.is_empty() { "" } else { "\n" };
    groups + between + &state.tasks.iter().map(in_words).collect::<Vec<_>>().join("\n")
}

fn in_words(task: &CrashExportTask) -> String {
    let title = visible::line(&task.title);
    let mut text = format!("{}: {title} ({}, {}%)\n", task.id, task.status, task.progress);
    let mut line = |name: &str, value: String| text.push_str(&format!("  {name}: {}\n", visible::line(&value)));
    if let Some(orphan) = &task.cut_off {
        line("what follows", orphan.reason.clone());
        if let Some(marker) = &orphan.marker {
            line("where it was", marker.in_words());
        }
    }
    if let Some(iteration) = task.iteration {
        line("iteration", iteration.to_string());
    }
    if task.retry_count > 0 {
        line("retries", task.retry_count.to_string());
    }
    let used = [task.tokens_used.map(|tokens| format!("{tokens} tokens")), task.cost_usd.map(|cost| format!("${cost:.2}"))];
    let used: Vec<String> = used.into_iter().flatten().collect();
    if !used.is_empty() {
        line("used", used.join(", "));
    }
    for check in &task.verification {
        line(if check.of == TaskCheckSubject::Task { "verify" } else { "verify merge" }, check.words.clone());
    }
    for row in task.reports.iter().flat_map(|reports| reported::rows(&ReportedWork::of(reports))) {
        if let [name, value] = row.as_slice() {
            line(name.trim_end_matches(':'), value.clone());
        }
    }
    if let Some(at) = task.saved_at {
        line("last sign of life", words::time(at));
    }
    let (done, open) = (task.files_completed.len(), task.files_in_progress.len());
    if done + open > 0 {
        line("files completed", format!("{done}/{}", done + open));
    }
    if let Some(last) = &task.last_checkpoint {
        line("last file", last_file(&last.file, last.line, (last.function.as_deref(), last.next.as_deref())));
    }
    if !task.waits_for.is_empty() {
        line("waits for", task.waits_for.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", "));
    }
    for (name, value) in [("branch", &task.branch), ("workspace", &task.workspace)] {
        if let Some(value) = value {
            line(name, value.clone());
        }
    }
    text
}
