//! A process by its id and its start, so that an id that is used again is another process.

use serde::{Deserialize, Serialize};

/// A process, distinguished from a later one with the same number by its start time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProcessId {
    /// The process id.
    pub pid: i32,
    /// When it started: on Linux in clock ticks since the machine booted.
    pub start: u64,
}
