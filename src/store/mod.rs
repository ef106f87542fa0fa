//! The state on disk: layout, event log, snapshot, backups, tasks, and the repository's identity.
//!
//! This folder defines how events and states are stored and read, under which locks, and how damage is detected. It does not
//! know git, and does not decide what to append: `ops` does. Begin reading with `layout` and `handle`.

pub mod adopt;
pub mod agent_logs;
pub mod anchors;
pub mod attach;
pub mod backup;
pub mod checkpoints;
pub mod config_backup;
mod decode_ahead;
pub mod doing;
pub mod fired;
pub mod handle;
mod head;
pub mod identity;
pub mod inspect;
pub mod known_repositories;
pub mod layout;
pub mod learnings;
pub mod line;
pub mod log;
pub mod of_process;
pub mod planning;
pub mod rebuild;
mod reserve;
pub mod segments;
pub mod snapshot;
pub mod tasks;
pub mod unsaved_prompts;
