//! The message of the commit that holds what an iteration left uncommitted. Pure.

use std::fmt::Write;

use crate::base::ids::AgentId;
use crate::work::iteration::IterationOutcome;
use crate::work::signals::reports::TaskReports;
use crate::work::signals::signal::FileReport;
use crate::work::tasks::task::Task;

/// How the subject of a commit of unfinished work begins.
const PREFIX: &str = "WIP: ";

/// How many files a message names at most.
const MOST_FILES: usize = 20;

/// What the message is about.
#[derive(Debug, Clone, Copy)]
pub struct WipCommitContext<'a> {
    /// The task.
    pub task: &'a Task,
    /// The agent that left them.
    pub agent: &'a AgentId,
    /// The number of the iteration.
    pub iteration: u32,
    /// How the iteration ended: what is left of a complete task is no work in progress.
    pub outcome: &'a IterationOutcome,
    /// What was reported of the task.
    pub reports: Option<&'a TaskReports>,
}

/// The message: `WIP: TITLE (80%) #task @agent`, the files in progress, the newest capture, and the trailers.
pub fn message(of: &WipCommitContext<'_>) -> String {
    let WipCommitContext { task, agent, iteration, outcome, reports } = of;
    let (id, title) = (&task.id, &task.title);
    let mut text = match outcome {
        IterationOutcome::Complete => format!("{title} #{id} @{agent}\n\n"),
        IterationOutcome::Blocked { .. }
        | IterationOutcome::Waiting { .. }
        | IterationOutcome::Unfinished { .. }
        | IterationOutcome::Limited { .. }
        | IterationOutcome::NeedsHuman { .. }
        | IterationOutcome::Stopped
        | IterationOutcome::Crashed => {
            let progress = reports.and_then(|reports| reports.progress);
            let progress = progress.map_or_else(String::new, |percent| format!(" ({percent}%)"));
            format!("{PREFIX}{title}{progress} #{id} @{agent}\n\n")
        }
    };
    let _ = write!(text, "Left uncommitted by iteration {iteration}.\n\n");
    if let Some(reports) = reports.filter(|_| **outcome != IterationOutcome::Complete) {
        push_files(&mut text, reports);
        if let Some(captured) = &reports.captured {
            let _ = write!(text, "Last capture: {} {}\n\n", captured.at.strftime("%Y-%m-%dT%H:%M:%SZ"), captured.capture);
        }
    }
    let _ = write!(text, "Axiom-Task: {id}\nAxiom-Agent: {agent}\nAxiom-Iteration: {iteration}\n");
    text
}

/// Whether a commit with this subject holds unfinished work.
pub fn is_wip(subject: &str) -> bool {
    subject.starts_with(PREFIX)
}

fn push_files(text: &mut String, reports: &TaskReports) {
    let files: Vec<&FileReport> = reports.files.iter().filter(|file| !file.done && file.role.is_none()).collect();
    if files.is_empty() {
        return;
    }
    text.push_str("Files in progress:\n");
    for file in files.iter().take(MOST_FILES) {
        let sure = file.confidence.map_or_else(String::new, |sure| format!(" ({:.0}% confidence)", sure * 100.0));
        let _ = writeln!(text, "- {}{sure}", file.path);
    }
    if files.len() > MOST_FILES {
        let _ = writeln!(text, "- and {} more", files.len() - MOST_FILES);
    }
    text.push('\n');
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::base::ids::TaskId;
    use crate::base::names::Oid;
    use crate::work::signals::report_parts::TaskCaptureRecord;
    use crate::work::signals::signal::ReportedFileRole;
    use crate::work::tasks::commit_marks;
    use crate::work::tasks::task::{TaskKind, TaskStatus};

    /// A task.
    pub fn task() -> Task {
        Task {
            id: TaskId::new("auth").unwrap(),
            kind: TaskKind::Task,
            title: "Log in".into(),
            body: None,
            parent: None,
            after: vec![],
            needs: vec![],
            start_early: false,
            persona: None,
            verify: vec![],
            limits: crate::work::money::budget::BudgetLimits::default(),
            status: TaskStatus::Active,
            merged: None,
            reason: None,
            created_at: jiff::Timestamp::UNIX_EPOCH,
        }
    }

    fn of(outcome: &IterationOutcome, reports: Option<&TaskReports>) -> String {
        let agent = AgentId::new("ed-001").unwrap();
        message(&WipCommitContext { task: &task(), agent: &agent, iteration: 3, outcome, reports })
    }

    const TRAILERS: &str = "Axiom-Task: auth\nAxiom-Agent: ed-001\nAxiom-Iteration: 3\n";

    #[test]
    fn work_in_progress_says_how_far_it_is() {
        let file = |path: &str, confidence| FileReport { path: path.into(), confidence, ..FileReport::default() };
        let reports = TaskReports {
            progress: Some(80),
            files: vec![
                file("src/a.rs", Some(0.82)),
                FileReport { done: true, ..file("src/done.rs", None) },
                FileReport { role: Some(ReportedFileRole::Related), ..file("src/b.rs", None) },
                file("src/c.rs", None),
            ],
            captured: Some(TaskCaptureRecord {
                at: jiff::Timestamp::UNIX_EPOCH,
                capture: Oid::new("a".repeat(40)).unwrap(),
                lines: None,
                changed_at: None,
            }),
            ..TaskReports::default()
        };
        let text = of(&IterationOutcome::Stopped, Some(&reports));
        let body = "Left uncommitted by iteration 3.\n\nFiles in progress:\n- src/a.rs (82% confidence)\n- src/c.rs";
        let capture = format!("Last capture: 1970-01-01T00:00:00Z {}", "a".repeat(40));
        assert_eq!(text, format!("WIP: Log in (80%) #auth @ed-001\n\n{body}\n\n{capture}\n\n{TRAILERS}"));
        assert_eq!(commit_marks::read(&text).tasks, ["auth"]);
    }

    #[test]
    fn what_is_complete_is_no_work_in_progress() {
        let reports = TaskReports { progress: Some(80), ..TaskReports::default() };
        let body = "Left uncommitted by iteration 3.\n\n";
        assert_eq!(of(&IterationOutcome::Complete, Some(&reports)), format!("Log in #auth @ed-001\n\n{body}{TRAILERS}"));
        assert_eq!(of(&IterationOutcome::Crashed, None), format!("WIP: Log in #auth @ed-001\n\n{body}{TRAILERS}"));
    }

    #[test]
    fn many_files_are_counted() {
        let file = |number| FileReport { path: format!("f{number}"), ..FileReport::default() };
        let reports = TaskReports { files: (0..30).map(file).collect(), ..TaskReports::default() };
        let text = of(&IterationOutcome::Stopped, Some(&reports));
        assert!(text.contains("- f19\n- and 10 more\n\n"), "{text}");
    }
}
