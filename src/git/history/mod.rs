//! Commits and history: walks, tree differences, task marks in messages, merges in memory, signatures.
//!
//! Nothing here changes a worktree, an index or a ref.
//!
//! Begin reading with `queries`, then `task_commits`.

pub(super) mod at_path;
pub(super) mod merge;
pub(super) mod merge_cache;
mod merge_folder;
mod merge_settings;
pub(super) mod patch;
pub(super) mod queries;
pub(super) mod signing;
pub(super) mod task_commits;
pub(super) mod walk;
