//! The verb `recover`: what a crash, a power loss or damage left, and what a human decides of it.
//!
//! Not here: the rules, which are in `domain`; the repairs that sessions make too, which are in `ops::repair`; what a crash left of a
//! task, which is in `ops::crashed_tasks`; a damaged log, which is in `ops::log_recovery`.
//!
//! Begin reading with `survey`.

pub mod all_repositories;
pub mod export;
pub mod interrupted_groups;
pub mod resume;
pub mod survey;
pub mod wedged;
