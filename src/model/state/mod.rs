//! The state: its data, the events that change it, and how each event does so. Pure.
//!
//! Storing events is in `store`.
//!
//! Begin reading with `event`, then `current_state` and `apply`.

pub mod apply;
pub mod attempt;
#[cfg(test)]
mod attempts_tests;
pub mod audit;
pub mod blocking_condition;
pub mod current_state;
#[cfg(test)]
mod current_state_tests;
pub mod delayed_steps;
pub mod event;
pub mod event_envelope;
pub mod event_facts;
pub mod folded;
pub mod graph;
pub mod known_ids;
pub mod repository_location;
pub mod settle;
pub mod task_branches;
pub mod task_record;
pub mod trace_facts;
