//! What the entries of a task's history say of its attempts, in fixed words: for `task audit --json` and the recovery context. Pure.

use serde::{Deserialize, Serialize};

use super::event::Event;
use crate::base::names::Oid;
use crate::recovery::decide::CrashAction;
use crate::work::iteration::{IterationOutcome, IterationReport};

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptEventKind {
    /// An iteration began.
    Start,
    /// It ended.
    Iteration,
    /// Its agent reported something.
    Signal,
    /// It was cut off by a crash.
    Crash,
    /// What becomes of it was decided.
    CrashRecovery,
}

/// A part of an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptRecord {
    /// What happened.
    pub event: AttemptEventKind,
    /// More about it.
    pub details: AttemptDetails,
}

/// More about a part of an attempt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AttemptDetails {
    /// Names of changed files, at most a hundred.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files_modified: Vec<String>,
    /// The branch's commit after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_commit: Option<Oid>,
    /// Why it did not complete the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What was decided after a crash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<CrashAction>,
    /// In a recovery context: how the tests ended that ran last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_status: Option<TestStatus>,
}

/// How many tests passed and failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)] // as it says
pub struct TestStatus {
    pub passed: u64,
    pub failed: u64,
}

/// What an event says of an attempt; `None` where it is about something else.
pub fn of(event: &Event) -> Option<AttemptRecord> {
    let attempt = |event, details| Some(AttemptRecord { event, details });
    if let Event::IterationIntended { from, .. } = event {
        attempt(AttemptEventKind::Start, AttemptDetails { last_commit: Some(from.clone()), ..AttemptDetails::default() })
    } else if let Event::Signalled { .. } = event {
        attempt(AttemptEventKind::Signal, AttemptDetails::default())
    } else if let Event::IterationEnded { report, .. } = event {
        let step =
            if report.outcome == IterationOutcome::Crashed { AttemptEventKind::Crash } else { AttemptEventKind::Iteration };
        attempt(step, ended(report))
    } else if let Event::RecoveryDecided { decision, .. } = event {
        attempt(AttemptEventKind::CrashRecovery, AttemptDetails { decision: Some(decision.action), ..AttemptDetails::default() })
    } else {
        None
    }
}

fn ended(report: &IterationReport) -> AttemptDetails {
    let error = match &report.outcome {
        IterationOutcome::Complete | IterationOutcome::Waiting { .. } => None,
        IterationOutcome::Blocked { reason } => Some(reason.clone()),
        IterationOutcome::Unfinished { why }
        | IterationOutcome::Limited { why, .. }
        | IterationOutcome::NeedsHuman { why, .. } => Some(why.clone()),
        IterationOutcome::Stopped => Some("it was stopped".into()),
        IterationOutcome::Crashed => Some("its keeper or the machine died".into()),
    };
    AttemptDetails {
        files_modified: report.files.clone(),
        last_commit: Some(report.to.clone()),
        error,
        ..AttemptDetails::default()
    }
}
