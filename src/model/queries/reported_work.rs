//! What an agent reported of its work, as it is shown.

use jiff::Timestamp;
use serde::Serialize;

use crate::work::signals::report_parts::{PhaseConfidence, ReadyPoint};
use crate::work::signals::reports::TaskReports;
use crate::work::signals::signal::{FileReport, ReportedFileRole};

/// What agents reported of a task.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReportedWork<'a> {
    /// The phase.
    pub phase: Option<&'a str>,
    /// How sure its agent said that it is, phase by phase (each loop of its work); the last 50.
    pub confidences: &'a [PhaseConfidence],
    /// When its agent expects to be done.
    pub estimated_completion: Option<Timestamp>,
    /// At most 200.
    pub subtasks: &'a [crate::work::signals::report_parts::Subtask],
    /// The files that are worked on or done; with those of the context at most 500.
    pub files: Vec<ReportedFile<'a>>,
    /// What else the work needs.
    pub context: ReportedContext<'a>,
    /// How many files its iterations changed; while one runs, in how many the newest capture differs from where the branch was
    /// started.
    pub files_modified: u64,
    /// Whether its verification passed when it was last run; null where nothing was run.
    pub tests_passing: Option<bool>,
    /// How many reports were left out because of the limits.
    pub left_out: u64,
    /// What others may begin with, at most 50.
    pub ready: &'a [ReadyPoint],
}

/// A file that the work changes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs)] // as in `FileReport`
pub struct ReportedFile<'a> {
    /// As the agent gave it.
    pub path: &'a str,
    pub completed: bool,
    pub last_completed_section: Option<&'a str>,
    pub next_section: Option<&'a str>,
    pub current_line: Option<u64>,
    pub confidence: Option<f64>,
}

/// What the work uses and does not change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReportedContext<'a> {
    /// Libraries, at most 100.
    pub dependencies: &'a [String],
    /// Files that help to understand the work.
    pub related_files: Vec<&'a str>,
    /// Files that test it.
    pub test_files: Vec<&'a str>,
}

impl<'a> ReportedWork<'a> {
    /// What was reported, in this form.
    pub fn of(reports: &'a TaskReports) -> Self {
        let with = |role: Option<ReportedFileRole>| reports.files.iter().filter(move |file| file.role == role);
        Self {
            phase: reports.phase.as_deref(),
            confidences: &reports.confidences,
            estimated_completion: reports.expected_at,
            subtasks: &reports.subtasks,
            files: with(None).map(ReportedFile::of).collect(),
            context: ReportedContext {
                dependencies: &reports.dependencies,
                related_files: with(Some(ReportedFileRole::Related)).map(|file| file.path.as_str()).collect(),
                test_files: with(Some(ReportedFileRole::Test)).map(|file| file.path.as_str()).collect(),
            },
            files_modified: reports.files_modified,
            tests_passing: reports.verified,
            left_out: reports.left_out,
            ready: &reports.ready,
        }
    }
}

impl<'a> ReportedFile<'a> {
    fn of(file: &'a FileReport) -> Self {
        Self {
            path: &file.path,
            completed: file.done,
            last_completed_section: file.section.as_deref(),
            next_section: file.next.as_deref(),
            current_line: file.line,
            confidence: file.confidence,
        }
    }
}
