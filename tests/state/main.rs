//! The store of events by itself, through the library: replay, recovery, several processes at once, stored logs.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods
)]

mod fixtures;
mod loads;
mod newest;
mod older_checkpoints;
mod processes;
#[path = "../common/random.rs"]
mod random;
mod recovery;
mod replay;
mod support;
#[path = "../common/trials.rs"]
mod trials;
