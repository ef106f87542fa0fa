//! Workspaces: linked worktrees that are made, moved to the trash, brought back and mended, and what an agent left in one.
//!
//! Listing worktrees is in `repo::worktrees`.
//!
//! Begin reading with `worktrees`.

pub(super) mod begun_merge;
pub(super) mod damaged_worktree;
pub(super) mod filtered_index;
mod git_crypt;
pub(super) mod git_damage;
mod included_files;
pub(super) mod left_markers;
pub(super) mod leftovers;
pub(super) mod making;
pub(super) mod mend;
pub(super) mod registration;
pub(super) mod registration_mend;
pub(super) mod secret_names;
mod switching;
pub(super) mod worktrees;
