//! Crashes in the middle of sessions: supervisors, keepers, agents, recovery and everything at once, at seeded moments and at
//! every fault point.
//!
//! `AXIOM_ROUNDS=50 cargo test --test it chaos::supervisor` kills that often; `AXIOM_SEED=n` repeats a run; `AXIOM_ROUNDS=all` stops the
//! recovering session at every point too, for every point.

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
