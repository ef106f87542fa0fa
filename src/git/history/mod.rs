//! Commits and what follows from them: walks, marks of tasks, merges in memory, signatures.
//!
//! No worktree and no index is touched here.
//!
//! Begin reading with `questions`; then `task_commits`.

pub(super) mod merge;
pub(super) mod questions;
pub(super) mod signing;
pub(super) mod task_commits;
pub(super) mod walk;
