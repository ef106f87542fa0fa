//! Planning: how a goal becomes tasks, phase by phase.
//!
//! Here: what is known of a plan (`plan`), how each step changes it (`step`), what comes next (`next`), its gates (`gates`), what a
//! planner is told (`prompt`) and how its output is read (`reply`), the check of what was planned (`check`), what becomes of a plan
//! that was cut off (`recover`), and the forms in which it is shown and written (`document`, `tree`).
//!
//! Not here: running a planner, files, the task store (`agents::plan`).
//!
//! Begin reading with `plan`.

pub mod document;
pub mod gates;
pub mod next;
pub mod plan;
pub mod prompt;
pub mod recover;
pub mod reply;
pub mod step;
#[cfg(test)]
mod tests;
pub mod tree;
