//! Hooks at work: how one is run, and what is recorded.
//!
//! Which may run is known to the context (`safety::context::approved_hooks`), where events of the log become due by themselves, at each
//! append. Verbs run what is due at their end ([`report`]), a session beside its work (`agents::supervise::hooks`). Hooks that decide are
//! asked by the claim and the merge. While a hook runs, no lock but that of the session is held. Begin reading with `hook_runs`.

pub mod commit_hooks;
pub mod hook_runs;
pub mod install;
pub mod kept;
pub mod listing;
pub mod report;
pub mod trial;
