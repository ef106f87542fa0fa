//! What is known of the work on a task, and of several together.

use jiff::Timestamp;

use crate::work::signals::reports::TaskReports;
use crate::work::tasks::task::{Task, TaskStatus};

/// What is known of the work on a task, or of the tasks of a group together.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TaskWorkFacts {
    /// The first claim.
    pub started_at: Option<Timestamp>,
    /// The newest record.
    pub recorded_at: Option<Timestamp>,
    /// Whether an agent works on any of it.
    pub is_active: bool,
    /// Whether a crash cut any of it off, and nobody has recovered that yet.
    pub is_interrupted: bool,
    /// Whether any of it is done.
    pub has_done: bool,
    /// The sum of what is known of confidence, and of how many tasks it is known.
    confidence: (f64, u32),
}

impl TaskWorkFacts {
    /// Of a task.
    pub(crate) fn of_task(task: &Task, reports: Option<&TaskReports>) -> Self {
        let sure = reports.and_then(TaskReports::confidence);
        Self {
            started_at: reports.and_then(|reports| reports.started_at),
            recorded_at: reports.and_then(|reports| reports.recorded_at),
            is_active: task.status == TaskStatus::Active,
            is_interrupted: false,
            has_done: task.status == TaskStatus::Done,
            confidence: (sure.unwrap_or(0.0), u32::from(sure.is_some())),
        }
    }

    /// Of a task on which nobody works any more.
    #[must_use]
    pub(crate) fn of_nobody(self) -> Self {
        Self { is_active: false, is_interrupted: true, ..self }
    }

    /// Of two together.
    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            // `None` is less than any time.
            started_at: self.started_at.into_iter().chain(other.started_at).min(),
            recorded_at: self.recorded_at.max(other.recorded_at),
            is_active: self.is_active || other.is_active,
            is_interrupted: self.is_interrupted || other.is_interrupted,
            has_done: self.has_done || other.has_done,
            confidence: (self.confidence.0 + other.confidence.0, self.confidence.1 + other.confidence.1),
        }
    }

    pub(super) fn confidence(&self) -> Option<f64> {
        let (sum, of) = self.confidence;
        // Two digits: a mean has more than anybody knows.
        (of > 0).then(|| (sum / f64::from(of) * 100.0).round() / 100.0)
    }
}
