//! Operations and transactions: what is journaled before refs or files change, and the decisions of rollback and undo. Pure.
//!
//! Carrying them out is `safety::operation`.
//!
//! Begin reading with `journaled`.

pub mod change_json;
pub mod deinit_branches;
pub mod operation_record;
pub mod restore_words;
pub mod rollback;
pub mod task_rollback;
pub mod touched;
pub mod undo;
