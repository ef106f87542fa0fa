//! What is kept of one thing that an agent reported: a phase, a capture, a commit that can be merged, a subtask.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::base::names::Oid;

/// How sure an agent is of a phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PhaseConfidence {
    /// The phase.
    pub phase: String,
    /// From 0 to 1.
    pub confidence: f64,
}

/// A capture of a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskCaptureRecord {
    /// When it was made.
    pub at: Timestamp,
    /// The capture.
    pub capture: Oid,
    /// How many lines it differs in from where the branch was started, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<ChangedLineCounts>,
    /// When the newest of what had changed was changed, as far as that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_at: Option<Timestamp>,
}

impl TaskCaptureRecord {
    /// When it shows the agent to have been at work.
    pub fn seen_at_work(&self) -> Timestamp {
        self.changed_at.map_or(self.at, |at| at.min(self.at))
    }
}

/// How many lines were changed, as `git diff --shortstat` counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangedLineCounts {
    /// Files that differ.
    #[serde(default)]
    pub files: u64,
    /// Lines that were added.
    pub insertions: u64,
    /// Lines that were removed.
    pub deletions: u64,
}

impl ChangedLineCounts {
    /// Added and removed ones together.
    pub fn total(self) -> u64 {
        self.insertions.saturating_add(self.deletions)
    }
}

/// Something of a task that is ready for others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadyPoint {
    /// Its name, as the agent gave it.
    pub name: String,
    /// What those who wait for it are told.
    pub text: String,
}

/// A part of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Subtask {
    /// Its name.
    pub name: String,
    /// How far it is.
    pub stage: SubtaskStage,
}

/// How far a part of a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SubtaskStage {
    /// It comes later.
    Planned,
    /// It was begun.
    Begun,
    /// It is done.
    Done,
}
