//! Crashes in the middle of sessions: supervisors, keepers, agents, recovery and everything at once, at seeded moments and at
//! every fault point.
//!
//! `AXIOM_ROUNDS=50 cargo test --test chaos supervisor` kills that often; `AXIOM_SEED=n` repeats a run; `AXIOM_ROUNDS=all` stops the
//! recovering session at every point too, for every point.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods
)]

#[path = "../common/mod.rs"]
mod common;
#[path = "../session_support/mod.rs"]
mod session_support;

mod before_after;
mod crowd;
mod driver;
mod faults;
mod keepers;
mod measured;
mod merged;
mod planner;
mod supervisor;
mod victims;
mod whatever;
