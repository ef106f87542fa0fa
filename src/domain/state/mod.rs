//! The state: what all events give, what each event does to it, and the events themselves. Pure.
//!
//! Where events are kept is `store`.
//!
//! Begin reading with `event`, then `whole` and `apply`.

pub mod apply;
pub mod audit;
pub mod event;
pub mod place;
pub mod wedge;
pub mod whole;
