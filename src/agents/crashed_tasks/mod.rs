//! What a crash left of tasks: how far their last iterations had come, by what is on the disk and in the log. Nothing is changed here;
//! sessions and `recover` decide by it.
//!
//! Begin reading with `scan`.
pub mod earlier_attempts;
pub mod orphans;
pub mod scan;
pub(crate) mod verified;
