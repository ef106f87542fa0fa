//! What an index, or a merge, has of a path in conflict.

use serde::{Deserialize, Serialize};

use axiom_model::base::names::{Oid, RepoPath};

/// One stage of a path in conflict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConflictStage {
    /// The path.
    pub path: RepoPath,
    /// 1 (base), 2 (ours) or 3 (theirs).
    pub stage: u8,
    /// The mode.
    pub mode: u32,
    /// The blob.
    pub oid: Oid,
}
