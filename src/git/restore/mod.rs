//! Restores: bring the files of a worktree from one captured tree to another. Nothing is destroyed: what is replaced or
//! removed goes to the trash, and each step can be reversed.
//!
//! Which tree is restored, and whether at all, is decided in `safety` and `agents`. Captures are in `capture`; `install` puts a whole index into place.
//!
//! Begin reading with `run`; `plan` decides for one path, `moves` carries it out.

pub(super) mod advance;
mod annex;
pub(super) mod changes;
pub(super) mod install;
mod meanwhile;
pub(super) mod moves;
pub(super) mod nested_repositories;
pub(super) mod obstacles;
pub(super) mod permissions;
pub(super) mod permissions_preflight;
pub(super) mod plan;
pub(super) mod prepared;
mod prepared_permissions;
pub(super) mod present_files;
pub(super) mod reversal;
pub(super) mod run;
#[cfg(test)]
pub(super) mod tests;
pub(super) mod trash;
pub(super) mod trash_folder;
pub(super) mod types;
