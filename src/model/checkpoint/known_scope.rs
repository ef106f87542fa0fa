//! Which paths a checkpoint of known paths looked at, and which checkpoint the rest is taken from.

use crate::base::ids::CheckpointName;
use crate::base::names::{Oid, RepoPath};
use serde::{Deserialize, Serialize};

/// Which paths of a worktree were looked at, and which checkpoint the rest is taken from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KnownPathsScope {
    /// The files and folders that were looked at: those that were named since that checkpoint, and those whose index entry
    /// differs from it.
    pub paths: Vec<RepoPath>,
    /// The checkpoint that all else is taken from.
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
