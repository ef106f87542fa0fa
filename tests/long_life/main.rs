//! A long life: rounds of everything, after which nothing has grown that nobody asked for.
//!
//! `AXIOM_ROUNDS=2000 cargo test --test long_life` lives that many rounds; a plain test run a few.
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
mod counts;
mod rounds;
mod session;
#[path = "../session_support/mod.rs"]
mod session_support;

/// How many rounds are lived: those asked for, at least `few`.
fn rounds_of(few: usize) -> usize {
    few.max(common::trials::AskedCases::read().rounds(0) as usize)
}
