//! A process, as the functions of each system tell of it.

/// One process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunningProcess {
    /// Its number.
    pub pid: i32,
    /// When it started, in the system's own unit: tells it from a later one with its number.
    pub start: u64,
    /// Its parent's number.
    pub parent: i32,
    /// Its session's number (elsewhere than on Linux: its process group's).
    pub session: i32,
    /// Its state: the letter that `ps` shows.
    pub state: char,
}
