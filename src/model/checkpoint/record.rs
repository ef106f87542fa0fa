//! What a state knows of a checkpoint, and of a deleted one.

use crate::base::ids::CheckpointName;
use crate::base::names::Oid;
use crate::checkpoint::known_scope::KnownPathsCount;
use crate::checkpoint::marks::CheckpointMarks;
use crate::checkpoint::stamp::AttachedSessionStamp;
use crate::checkpoint::trigger::{CheckpointTrigger, CheckpointType};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The state's record of a checkpoint: enough to list it without opening its tag.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointRecord {
    /// Its name.
    pub name: CheckpointName,
    /// Who wanted it: an automatic trigger or the user.
    #[serde(rename = "type")]
    pub kind: CheckpointType,
    /// Why it was made.
    pub trigger: CheckpointTrigger,
    /// When it was made.
    pub created_at: Timestamp,
    /// The commit that was checked out in the main worktree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_commit: Option<Oid>,
    /// The capture of the main worktree: the value of `refs/axiom/captures/<name>`.
    pub capture: Oid,
    /// The annotated tag; the capture again where it has none: see [`CheckpointRecord::marks`]. The note is on it.
    pub tag: Oid,
    /// How many events the log had before it. Later events are counted from here.
    pub seq: u64,
    /// How many tasks had ever been completed. Later ones are counted from here.
    pub tasks_completed: u32,
    /// How many bytes it added to the repository; `None` where that was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// For a checkpoint of known paths: how many were looked at, and which checkpoint the rest is taken from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<KnownPathsCount>,
    /// The attached session that it was made for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attached: Option<Box<AttachedSessionStamp>>,
    /// What it has beside its capture ref, where its trigger does not say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marked: Option<CheckpointMarks>,
}

impl CheckpointRecord {
    /// What it has beside its capture ref, as decided when it was made.
    pub fn marks(&self) -> CheckpointMarks {
        self.marked.unwrap_or_else(|| CheckpointMarks::unsaid(self.trigger))
    }

    /// What checkpoints are ordered by, oldest first.
    pub fn age(&self) -> (u64, &CheckpointName) {
        (self.seq, &self.name)
    }
}

/// A checkpoint that was deleted and can still be brought back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeletedCheckpoint {
    /// Its record.
    pub record: CheckpointRecord,
    /// When it can no longer be brought back.
    pub until: Timestamp,
}

impl KnownPathsCount {
    /// Whether it is built on this checkpoint, and not on an earlier one with the same name.
    pub fn is_on(&self, record: &CheckpointRecord) -> bool {
        self.all_else_capture == record.capture && self.all_else_as_of == record.name
    }
}

/// The newest complete checkpoint.
pub fn newest_complete<'r>(records: impl Iterator<Item = &'r CheckpointRecord>) -> Option<&'r CheckpointRecord> {
    newest(records.filter(|record| record.only.is_none()))
}

/// The newest checkpoint of known paths that was built on `base`.
pub fn newest_on<'r>(
    records: impl Iterator<Item = &'r CheckpointRecord>,
    base: &CheckpointRecord,
) -> Option<&'r CheckpointRecord> {
    newest(records.filter(|record| record.only.as_ref().is_some_and(|only| only.is_on(base))))
}

fn newest<'r>(records: impl Iterator<Item = &'r CheckpointRecord>) -> Option<&'r CheckpointRecord> {
    records.max_by_key(|record| record.age())
}
