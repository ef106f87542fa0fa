//! The state: its data, the events that change it, and how each event does so. Pure.
//!
//! Storing events is in `store`.
//!
//! Begin reading with `event`, then `whole` and `apply`.

pub mod apply;
pub mod attempt;
#[cfg(test)]
mod attempts_tests;
pub mod audit;
pub mod changes;
pub mod event;
pub mod folded;
pub mod place;
pub mod traced;
pub mod version;
pub mod wedge;
pub mod whole;
