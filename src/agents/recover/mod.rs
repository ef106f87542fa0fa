//! The verb `recover`: what a crash, a power loss or damage left, and what a human decides of it.
//!
//! Not here: the rules, which are in `model`; the repairs that sessions make too, which are in `agents::repair`; what a crash left of a
//! task, which is in `agents::crashed_tasks`; a damaged log, which is in `safety::upkeep::log_recovery`.
//!
//! Begin reading with `survey`.

pub mod all_repositories;
pub mod earlier_tasks;
pub mod export;
pub mod interrupted_groups;
pub mod resume;
pub mod survey;
pub mod wedged;
