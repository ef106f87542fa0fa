//! What can be wrong with a checkpoint, and how closely that is looked for.

use serde::Serialize;

/// Something that is wrong with a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointProblem {
    /// What is wrong, in words.
    pub what: String,
    /// Whether `--repair` can fix it from what is left.
    pub repairable: bool,
}

/// How thoroughly checkpoints are verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckpointVerifyDepth {
    /// Every object is read completely.
    Whole,
    /// Commits and trees are read; for blobs only their existence is checked.
    Quick,
}
