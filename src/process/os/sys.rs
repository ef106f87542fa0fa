//! The process table: which processes are alive, which descends from which, and sending signals that cannot reach a later
//! process with the same number.
//!
//! How a system is asked is in `platform`. Where there is only `ps`, it is slower, and leaves a moment in which
//! a process id may be reused.

use crate::os::process_id::ProcessId;
use std::collections::{HashMap, HashSet};

use axiom_base::platform::{self, RunningProcess};
use rustix::process::Signal;

/// One process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProcessEntry {
    /// Its id.
    pub id: ProcessId,
    /// Its parent's number.
    pub parent: i32,
    /// Its session's number (elsewhere than on Linux: its process group's).
    pub session: i32,
    /// Its state: the letter that `ps` shows.
    pub state: char,
}

impl From<RunningProcess> for ProcessEntry {
    fn from(found: RunningProcess) -> Self {
        let RunningProcess { pid, start, parent, session, state } = found;
        Self { id: ProcessId { pid, start }, parent, session, state }
    }
}

impl ProcessEntry {
    /// Whether it has ended and was not waited for yet.
    pub fn is_gone(&self) -> bool {
        matches!(self.state, 'Z' | 'X' | 'x')
    }

    /// Whether it is stopped by a signal or a tracer.
    pub fn is_stopped(&self) -> bool {
        matches!(self.state, 'T' | 't')
    }
}

/// All processes at one moment.
#[derive(Debug, Default)]
pub(crate) struct ProcessTable {
    all: Vec<ProcessEntry>,
}

impl ProcessTable {
    /// Reads the table. Processes that end meanwhile are left out.
    pub fn read() -> Self {
        Self { all: platform::processes().into_iter().map(ProcessEntry::from).collect() }
    }

    /// Every process.
    pub fn all(&self) -> &[ProcessEntry] {
        &self.all
    }

    /// The process with this number.
    pub fn get(&self, pid: i32) -> Option<&ProcessEntry> {
        self.all.iter().find(|process| process.id.pid == pid)
    }

    /// All descendants of `roots`, parents before children, without the roots themselves.
    pub fn descendants(&self, roots: &[i32]) -> Vec<ProcessEntry> {
        let mut children: HashMap<i32, Vec<&ProcessEntry>> = HashMap::new();
        for process in &self.all {
            children.entry(process.parent).or_default().push(process);
        }
        let mut seen: HashSet<i32> = roots.iter().copied().collect();
        let mut found = Vec::new();
        let mut next: Vec<i32> = roots.to_vec();
        while !next.is_empty() {
            let mut after = Vec::new();
            for child in next.iter().filter_map(|pid| children.get(pid)).flatten() {
                if seen.insert(child.id.pid) {
                    found.push(**child);
                    after.push(child.id.pid);
                }
            }
            next = after;
        }
        found
    }

    /// `pid` and all its ancestors, nearest first.
    pub fn lineage(&self, pid: i32) -> Vec<i32> {
        let mut line = vec![pid];
        let mut at = pid;
        while let Some(process) = self.get(at) {
            if process.parent <= 0 || line.contains(&process.parent) {
                break;
            }
            at = process.parent;
            line.push(at);
        }
        line
    }
}

/// The process id of this process.
pub(crate) fn own_pid() -> i32 {
    rustix::process::getpid().as_raw_nonzero().get()
}

/// Sends `signal` to exactly this process. Returns whether it was delivered: not where the process has ended.
pub(crate) fn send(to: ProcessId, signal: Signal) -> bool {
    to.pid > 1 && platform::send_exactly(to.pid, to.start, signal)
}

/// The process with this number now.
pub(crate) fn look(pid: i32) -> Option<ProcessEntry> {
    platform::process(pid).map(ProcessEntry::from)
}

/// The descendants of a process as the system lists children, without a look at any other process; `None` where it does not
/// list them. One that is just being started may be missing.
pub(crate) fn offspring(of: i32) -> Option<Vec<ProcessEntry>> {
    platform::offspring(of).map(|all| all.into_iter().map(ProcessEntry::from).collect())
}

/// The running processes that were started with this variable, as `NAME=value`.
pub(crate) fn started_with(assignment: &[u8]) -> Vec<ProcessEntry> {
    let found = platform::processes_started_with(assignment).into_iter().map(ProcessEntry::from);
    found.filter(|process| !process.is_gone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_in_the_table_below_its_parent() {
        let table = ProcessTable::read();
        let own = own_pid();
        let parent = table.get(own).unwrap().parent;
        assert!(table.lineage(own).contains(&parent));
        assert!(table.descendants(&[parent]).iter().any(|process| process.id.pid == own));
        assert_eq!(look(own).unwrap().id, table.get(own).unwrap().id);
    }

    #[test]
    fn a_number_that_was_reused_gets_no_signal() {
        let own = look(own_pid()).unwrap().id;
        assert!(!send(ProcessId { start: own.start + 1, ..own }, Signal::KILL));
        assert!(!send(ProcessId { pid: 1, start: 0 }, Signal::KILL));
    }
}
