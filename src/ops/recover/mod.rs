//! What a crash, a power loss or damage left, found and put right.
//!
//! The decisions are in `domain`; damaged logs are read by `store`.
//!
//! Begin reading with `survey`, then `repair`.

pub mod log_recovery;
pub mod mend;
pub mod repair;
pub mod survey;
pub mod wedged;
