//! The repository itself: where it is, the facts about it that never change while we run, its worktrees, and the `git`
//! program.
//!
//! Reading its contents (objects, refs, indexes) is in the other folders.
//!
//! Begin reading with `repository`, then `discovery` and `program`.

pub(crate) mod about;
pub(super) mod bare;
pub(super) mod borrowers;
pub(super) mod branch_config;
pub(super) mod configured;
pub(super) mod discovery;
pub(super) mod file_system;
mod found_repository;
pub(super) mod handles;
mod headless;
pub(super) mod identity;
pub(super) mod inherited_lock;
pub(super) mod locked_ref;
pub(super) mod main_worktree;
pub(super) mod nested;
pub(super) mod new_repository;
pub(super) mod object_stage;
pub(super) mod opened_by_gix;
mod opened_stage;
pub(super) mod orphan_scratch;
pub(super) mod own_scratch;
pub(super) mod own_settings;
pub(super) mod ownership;
pub(super) mod person_ident;
pub(super) mod pointer_files;
pub(super) mod program;
mod read_settings;
pub(super) mod reopening;
pub(super) mod repository;
#[cfg(test)]
pub(super) mod scratch;
pub(super) mod shortcut_conditions;
pub(super) mod shortcuts;
pub(super) mod stage_folder;
pub(super) mod stale_locks;
pub(super) mod submodules;
pub(super) mod surrounding;
pub(super) mod times;
pub(super) mod version;
pub(super) mod worktree_list;
pub(super) mod worktrees;
