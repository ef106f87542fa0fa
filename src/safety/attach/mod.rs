//! Attached sessions: what a hook does when a program calls it (`hook`), what is saved afterwards by one joiner for each
//! repository (`join`), the sessions (`sessions`), the timeline of prompts (`prompts`), and the watch of a worktree
//! for what has no hooks (`watching`).
//!
//! A hook never keeps the agent from its work: whatever fails is noted for `status`, and the hook has answered before the program's
//! own limit. Begin reading with `hook`.

pub mod at_work;
pub mod attach_status;
pub mod attached_session;
mod call_folder;
pub mod changed_by_others;
mod command_paths;
pub mod elsewhere;
mod excludes;
pub mod first_moment;
pub mod hook;
pub mod join;
mod joiner_line;
mod newest_checkpoint;
pub mod not_saved;
pub mod outside;
mod packing;
mod prompt_lines;
pub mod prompts;
mod saving;
pub mod session_files;
pub mod sessions;
pub mod since;
pub mod turn_watch;
mod unstarted;
mod unusable;
pub mod watching;
mod went_back;
