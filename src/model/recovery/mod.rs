//! What becomes of a task whose iteration was cut off by a crash. Pure.
//!
//! `marker` is where its program was; `decide` says what follows, `evaluator` how a program of the user's is asked, `files` what
//! kinds of files there are. Begin reading with [`decide::certain`]. Not here: going on with a program's own session, which is in
//! `work::resuming`.

pub mod decide;
pub mod estimate;
pub mod evaluator;
pub mod files;
pub mod git_damage;
pub mod human_choice;
pub mod last_signals;
pub mod lost;
pub mod mask;
#[cfg(test)]
mod scenarios;
#[cfg(test)]
mod tests;
pub mod torn;
