//! `git axiom`: the safety net and control room for people who let coding agents work in their git repository.
//!
//! Dependencies point one way:
//!
//! ```text
//! main → cli, commands → ops → { store, git, hook, process, config } → files, env
//! domain, error: used by all; domain imports no file system, clock, process or git
//! ```
//!
//! `store`, `git`, `hook`, `process` and `config` know nothing of one another, except that `hook` and `git` start
//! programs through `process`. Only `ops` composes them, and only `ops` appends events.

pub mod cli;
pub mod commands;
pub mod config;
pub mod demo;
pub mod domain;
pub mod env;
pub mod error;
pub mod files;
pub mod git;
pub mod ops;
pub mod own_process;
pub mod process;
pub mod store;

#[cfg(test)]
#[path = "../tests/support/skipped.rs"]
mod skipped;
