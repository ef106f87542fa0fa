//! The state on disk: layout, event log, snapshot, backups, cases.
//!
//! Knows how events and states are stored and read back, under which locks, and what damage looks like. Does not know
//! git, and never decides what to append: that is for `ops`.

pub mod adopt;
mod ahead;
pub mod backup;
pub mod cases;
pub mod handle;
mod head;
pub mod identity;
pub mod inspect;
pub mod layout;
pub mod line;
pub mod log;
pub mod rebuild;
pub mod segments;
pub mod snapshot;
