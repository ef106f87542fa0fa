//! The protocols: what a verb does, step by step, over store, git and processes.
//!
//! Only this layer composes them, and only it appends events. Decisions are asked of `domain`.

pub mod cases;
pub mod checkpoint;
pub mod context;
pub mod history;
pub mod keeper;
pub mod merge;
pub mod operation;
pub mod recover;
pub mod revert_task;
pub mod rollback;
pub mod signing;
pub mod steps;
pub mod supervise;
pub mod tidy;
pub mod trash;
pub mod undo;
pub mod workspaces;
