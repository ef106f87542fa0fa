//! The protocols: what a verb does, step by step, over store, git and processes.
//!
//! Only this layer composes them, and only it appends events. Decisions are asked of `domain`.

pub mod cases;
pub mod checkpoint;
pub mod configure;
pub mod context;
pub mod detach;
mod differences;
pub mod history;
pub mod import;
pub mod in_progress;
pub mod interventions;
pub mod journal;
pub mod live;
pub mod log_recovery;
pub mod mend;
pub mod merge;
pub mod output;
pub mod ownership;
pub mod placement;
pub mod recover;
pub mod repair;
pub mod rollback;
pub mod rollback_task;
pub mod signing;
mod staged;
pub mod status;
pub mod steps;
pub mod supervise;
pub mod texts;
pub mod tidy;
pub mod trash;
pub mod undo;
pub mod wedged;
pub mod workspaces;
