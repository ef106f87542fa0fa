//! Hooks at work: what may run at an event, how it is run, and what is recorded.
//!
//! Events of the log become due by themselves ([`approved_hooks::RepositoryHooks::note`], called for each append); verbs run what is due at their
//! end ([`report`]), a session beside its work (`ops::supervise::hooks`). Hooks that decide are asked by the claim and the
//! merge. While a hook runs, no lock but that of the session is held. Begin reading with `approved_hooks`.

pub mod approved_hooks;
pub mod commit_hooks;
pub mod hook_runs;
pub mod install;
pub mod kept;
pub mod listing;
pub mod report;
pub mod trial;
