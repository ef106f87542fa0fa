//! An agent that speaks the Agent Client Protocol, seen from between it and its editor: what each line means for its session (`watcher`),
//! and how that is said to `git axiom hook acp` (`hook_call`), which does for it what a hook of a program does.
//!
//! Begin reading with `watcher`.

pub mod hook_call;
mod newest_by_id;
mod watched_session;
pub mod watcher;
#[cfg(test)]
mod watcher_tests;
