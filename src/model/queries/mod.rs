//! Questions over a whole state: which task is next and why another is not, what a group amounts to, what waits, what may be
//! dropped. Pure; nothing here changes a state.
//!
//! Begin reading with `ready`, then `view`.
pub mod choices;
pub mod displayed_status;
pub mod expired_checkpoints;
pub mod gate_line;
pub mod gate_use;
pub mod groups;
pub mod known_paths;
pub mod needs;
pub mod old_logs;
pub mod plan_check;
pub mod project;
pub mod ready;
pub mod reported_work;
pub mod retention;
pub mod stats;
pub mod task_checks;
pub mod task_standing;
pub mod task_work_facts;
pub mod unblocking;
pub mod view;
