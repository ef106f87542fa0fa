//! `git axiom`: the safety net and control room for people who let coding agents work in their git repository.
//!
//! Dependencies point one way:
//!
//! ```text
//! main → commands → ops → { store, git, process, config, hook } → files, env
//!        commands → panel → wording, ops, cli
//!        commands → wording → ops, cli, hook
//!        commands → cli → files, env
//!        commands → demo → cli, process
//! domain, error, own_process: used by all; domain imports no file system, clock, process or git
//! ```
//!
//! `store`, `git`, `process`, `config` and `hook` do not know each other, except that `git` starts programs through `process`.
//! Only `ops` combines them, and only `ops` appends events. A [`git::Repository`] has only facts; what can be done with it is in
//! its handles, such as `repo.refs()`. Begin reading with `ops`; the map of the rooms is docs/ARCHITECTURE.md.

pub mod cli;
pub mod commands;
pub mod config;
pub mod demo;
pub mod domain;
pub mod env;
pub mod error;
pub mod files;
pub mod git;
pub mod hook;
pub mod ops;
pub mod own_process;
pub mod panel;
pub mod process;
pub mod store;
pub mod wording;

#[cfg(test)]
#[path = "../tests/support/skipped.rs"]
mod skipped;
