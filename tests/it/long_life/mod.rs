//! A long life: rounds of everything, after which nothing has grown that nobody asked for.
//!
//! `AXIOM_ROUNDS=2000 cargo test --test it long_life::` lives that many rounds; a plain test run a few.

mod counts;
mod rounds;
mod session;

/// How many rounds are lived: those asked for, at least `few`.
fn rounds_of(few: usize) -> usize {
    few.max(crate::common::trials::AskedCases::read().rounds(0) as usize)
}
