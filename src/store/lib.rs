//! The state on disk: layout, event log, snapshot, backups, tasks, and the repository's identity.
//!
//! This folder defines how events and states are stored and read, under which locks, and how damage is detected. It does not
//! know git, and does not decide what to append: those above do. Begin reading with `layout` and `handle`.

pub mod beside;
pub mod identity;
pub mod layout;
pub mod log_files;
pub mod states;
