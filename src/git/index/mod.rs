//! The index of a worktree: private copies, edits, its lock. Also what decides how contents are converted
//! (attributes, line ends, filters), sparse checkouts, and the output of `git status`.
//!
//! Captures of a whole worktree are in `capture`, changes of its files and of its whole index in `restore`.
//!
//! Begin reading with `file`, then `edit`.

pub(super) mod attributes;
pub(super) mod changed_paths;
pub(super) mod conversions;
pub(super) mod edit;
pub(super) mod executables;
pub(super) mod file;
pub(super) mod filter_memory;
pub(super) mod filters;
pub(super) mod folders;
pub(super) mod lock;
pub(super) mod odd_names;
mod own_index_edits;
pub(super) mod path_patterns;
pub(super) mod placed_file;
pub(super) mod plain_contents;
pub(super) mod sparse;
pub(super) mod starting_index;
pub(super) mod status;
pub(super) mod submodule_entries;
pub(super) mod user_entries;
