//! Workspaces: linked worktrees that are made, put aside, brought back and mended, and what an agent left in one.
//!
//! Which worktrees there are is said by `repo::worktrees`.
//!
//! Begin reading with `worktrees`.

pub(super) mod leftovers;
pub(super) mod mend;
pub(super) mod registration;
pub(super) mod registration_mend;
pub(super) mod worktrees;
