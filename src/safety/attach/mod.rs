//! Attached sessions: what a hook does when a program calls it (`hook`), what is saved afterwards by one joiner for each
//! repository (`join`), the sessions (`sessions`), the timeline of prompts (`prompts`), and the watch of a worktree
//! for what has no hooks (`watching`).
//!
//! A hook never keeps the agent from its work: whatever fails is noted for `status`, and the hook has answered before the program's
//! own limit. Begin reading with `hook`.

pub mod at_work;
pub mod attach_status;
mod call_folder;
mod command_paths;
pub mod elsewhere;
pub mod first_moment;
pub mod hook;
pub mod join;
mod newest_checkpoint;
pub mod not_saved;
pub mod outside;
mod prompt_lines;
pub mod prompts;
pub(crate) mod saving;
pub mod sessions;
pub mod since;
pub mod turn_watch;
mod unusable;
pub mod watching;
mod went_back;
