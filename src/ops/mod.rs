//! The protocols: what a verb does, step by step, over store, git and processes.
//!
//! Only this layer composes them, and only it appends events. Decisions are asked of `domain`.

pub mod checkpoint;
pub mod context;
pub mod journal;
pub mod merge;
pub mod rollback;
