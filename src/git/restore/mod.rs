//! Restores: the files of a worktree from one captured tree to another. Nothing is destroyed; each step can be taken back.
//!
//! Which tree, and whether at all, is decided in `ops`.
//!
//! Begin reading with `run`; `plan` decides for one path, `moves` does it.

pub(super) mod advance;
pub(super) mod back;
pub(super) mod changes;
pub(super) mod moves;
pub(super) mod nested_repositories;
pub(super) mod obstacles;
pub(super) mod permissions;
pub(super) mod permissions_preflight;
pub(super) mod place;
pub(super) mod plan;
pub(super) mod prepared;
pub(super) mod present_files;
pub(super) mod run;
#[cfg(test)]
pub(super) mod tests;
pub(super) mod trash;
pub(super) mod types;
