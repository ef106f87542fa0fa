//! The status of a task as it is shown.

use serde::Serialize;

use crate::work::tasks::task::{Task, TaskStatus};

/// The displayed status: the stored one, except for pending tasks that cannot start, and active ones that a crash cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum DisplayedTaskStatus {
    /// Ready to be claimed.
    Pending,
    /// Pending, and its dependencies are not merged yet.
    Waiting,
    /// A crash ended the agent that works on it, and nobody has recovered that yet.
    Interrupted,
    /// An agent works on it.
    Active,
    /// Reported and verified.
    Done,
    /// It cannot go on, for the given reason.
    Blocked,
    /// No iterations or retries are left.
    Failed,
    /// No longer part of the plan.
    Archived,
    /// A group: an agent works on a part of it, and it has hardly come any further.
    Starting,
    /// A group: parts of it were begun.
    InProgress,
    /// A group: all of it is merged.
    Completed,
}

impl DisplayedTaskStatus {
    /// The word used in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => TaskStatus::Pending.as_str(),
            Self::Waiting => "waiting",
            Self::Interrupted => "interrupted",
            Self::Active => TaskStatus::Active.as_str(),
            Self::Done => TaskStatus::Done.as_str(),
            Self::Blocked => TaskStatus::Blocked.as_str(),
            Self::Failed => TaskStatus::Failed.as_str(),
            Self::Archived => TaskStatus::Archived.as_str(),
            Self::Starting => "starting",
            Self::InProgress => "inProgress",
            Self::Completed => "completed",
        }
    }

    /// The status of a task that this is: what is recorded, and of a group, for which nothing is, what its parts have come to.
    pub const fn stored(self, task: &Task) -> TaskStatus {
        match self {
            Self::Completed => TaskStatus::Done,
            Self::Starting | Self::InProgress => TaskStatus::Active,
            Self::Pending
            | Self::Waiting
            | Self::Interrupted
            | Self::Active
            | Self::Done
            | Self::Blocked
            | Self::Failed
            | Self::Archived => task.status,
        }
    }

    /// The status of a group of which a part `is_lost`: it was merged, and its target has it no longer.
    #[must_use]
    pub const fn unless_lost(self, is_lost: bool) -> Self {
        if is_lost && matches!(self, Self::Completed) { Self::InProgress } else { self }
    }

    /// The status in words.
    pub const fn in_words(self) -> &'static str {
        if matches!(self, Self::InProgress) { "in progress" } else { self.as_str() }
    }
}
