//! Recovery: finding and repairing what a crash, a power loss or damage left.
//!
//! Not here: the rules, which are in `domain`, and reading a damaged log, which is in `store`.
//!
//! Begin reading with `survey`, then `repair`.

pub mod everywhere;
pub mod export;
pub mod left;
pub mod log_recovery;
pub mod lost_files;
pub mod mend;
pub mod orphans;
pub mod parts;
pub mod repair;
pub mod resume;
pub mod scan;
pub mod survey;
pub mod told;
pub mod vanished;
mod verified;
pub mod wedged;
