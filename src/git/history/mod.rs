//! Commits and history: walks, tree differences, task marks in messages, merges in memory, signatures.
//!
//! Nothing here changes a worktree, an index or a ref.
//!
//! Begin reading with `questions`, then `task_commits`.

pub(super) mod at_path;
pub(super) mod merge;
pub(super) mod merge_memory;
mod merge_place;
mod merge_settings;
pub(super) mod patch;
pub(super) mod questions;
pub(super) mod signing;
pub(super) mod task_commits;
pub(super) mod walk;
