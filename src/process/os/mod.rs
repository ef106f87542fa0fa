//! Processes of the operating system: starting, finding, holding and ending them, and signals.
//!
//! What a keeper does with them is in `keeper`.
//!
//! Begin reading with `command` and `sys`.

pub mod bell;
pub mod by_environment;
pub mod caller;
pub mod changes;
pub mod child_reaper;
pub mod command;
pub mod detached;
pub mod family;
pub mod foreground;
pub mod guarded;
pub(super) mod hold;
pub(super) mod os_string_json;
pub mod process_id;
pub(super) mod sys;
