//! The index: private copies, edits, installation, its lock, and what decides about contents (attributes, conversions,
//! sparse parts).
//!
//! Reading a whole worktree is in `capture`, writing one in `restore`.
//!
//! Begin reading with `file`, then `install`.

pub(super) mod attributes;
pub(super) mod changed_paths;
pub(super) mod conversions;
pub(super) mod edit;
pub(super) mod file;
pub(super) mod install;
pub(super) mod lock;
pub(super) mod odd_names;
pub(super) mod path_patterns;
pub(super) mod plain_contents;
pub(super) mod sparse;
pub(super) mod staged_blobs;
pub(super) mod status;
pub(super) mod users;
