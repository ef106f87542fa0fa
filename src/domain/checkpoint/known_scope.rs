//! What a checkpoint of known paths is built on, and which paths it looked at.

use crate::domain::base::ids::CheckpointName;
use crate::domain::base::names::Oid;
use crate::domain::base::names::RepoPath;
use crate::domain::checkpoint::catalog::CheckpointCatalog;
use crate::domain::checkpoint::document::CheckpointRecord;
use serde::{Deserialize, Serialize};

/// Which paths of a worktree were looked at, and which checkpoint the rest is taken from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KnownPathsScope {
    /// The files and folders that were looked at: those that were named since that checkpoint, and those whose index entry
    /// differs from it.
    pub paths: Vec<RepoPath>,
    /// The checkpoint from which the rest is taken.
    pub all_else_as_of: CheckpointName,
    /// The capture of that checkpoint, because a name may be used again.
    pub all_else_capture: Oid,
}

/// The same in short, for the state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KnownPathsCount {
    /// How many files and folders were looked at, in all worktrees.
    pub paths: u64,
    /// The checkpoint from which the rest is taken.
    pub all_else_as_of: CheckpointName,
    /// The capture of that checkpoint, because a name may be used again.
    pub all_else_capture: Oid,
    /// Whether that checkpoint was deleted since. Only for display, never recorded.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all_else_gone: bool,
}

impl KnownPathsCount {
    /// Whether it is built on this checkpoint, and not on an earlier one with the same name.
    pub fn is_on(&self, record: &CheckpointRecord) -> bool {
        self.all_else_capture == record.capture && self.all_else_as_of == record.name
    }

    /// For display: with `all_else_gone` set from the state.
    pub fn shown(&self, checkpoints: &CheckpointCatalog) -> crate::error::Result<Self> {
        let is_there = checkpoints.get(&self.all_else_as_of)?.is_some_and(|record| self.is_on(record));
        Ok(Self { all_else_gone: !is_there, ..self.clone() })
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
