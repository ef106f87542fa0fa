//! The control room: tasks, the session that runs agents on them side by side, gates, merges, and what a crash of it leaves.
//!
//! The rooms are floors, held by the test `floors`: each uses only those below it. From above:
//!
//! | floor | rooms |
//! | --- | --- |
//! | what a human does to a session; small verbs | `interventions`, `keeper`, `learnings`, `open_panels` |
//! | verbs above sessions | `agent_list`, `purge`, `recover` |
//! | the session | `supervise`; `deinit` |
//! | what there was before it | `crashed_tasks` |
//! | repairs | `repair` |
//! | work of a task | `revert_task`, `task_diff`; `disk` |
//! | into the target | `merge` |
//! | goals become tasks | `plan` |
//! | tasks | `tasks` |
//!
//! Everything that saves or goes back is `safety`'s. Begin reading with `supervise`, then `merge`.

pub mod agent_list;
pub mod crashed_tasks;
pub mod deinit;
pub mod disk;
pub mod interventions;
pub mod keeper;
pub mod learnings;
pub mod merge;
pub mod open_panels;
pub mod plan;
pub mod purge;
pub mod recover;
pub mod repair;
pub mod revert_task;
pub mod supervise;
pub mod task_diff;
pub mod tasks;

#[cfg(test)]
#[path = "../../tests/support/scratch.rs"]
mod scratch;
