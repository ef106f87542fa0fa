//! The protocols: what a verb does, step by step, over store, git and processes.
//!
//! Only this layer composes them, and only it appends events. Decisions are asked of `domain`.

pub mod context;
pub mod log_recovery;
