//! Rollback and undo where a worktree is more than files: sparse checkouts, submodules, repositories within, what was in
//! the way, permissions. Through the binary, on real repositories.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods
)]

#[path = "../support/mod.rs"]
mod support;

mod aside;
mod circumstances;
mod elsewhere;
mod file_systems;
mod kept;
mod meanwhile;
mod modes;
mod repositories;
mod sparse;
mod worktrees;
