//! Recovery: finding and repairing what a crash, a power loss or damage left.
//!
//! Not here: the rules, which are in `domain`, and reading a damaged log, which is in `store`.
//!
//! Begin reading with `survey`, then `repair`.

pub mod all_repositories;
pub mod crash_leftovers;
pub mod earlier_attempts;
pub mod export;
pub mod interrupted_groups;
pub mod log_recovery;
pub mod lost_files;
pub mod mend;
pub mod missing_workspaces;
pub mod orphans;
pub mod repair;
pub mod resume;
pub mod scan;
pub mod survey;
mod verified;
pub mod wedged;
