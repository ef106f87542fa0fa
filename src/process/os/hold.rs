//! Stopping processes for a moment, for a consistent capture.
//!
//! Each hold records which processes it stopped. Processes that were stopped before do not belong to it, and stay stopped. A
//! process continues when no hold has it any more.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::family::{self, FamilyHead};
use super::sys::{self, ProcessEntry, ProcessTable};
use crate::os::process_id::ProcessId;

/// How long stopping may take before the hold is reported as unstable.
const PATIENCE: Duration = Duration::from_secs(2);

/// The holds of one keeper.
#[derive(Debug, Default)]
pub(crate) struct ProcessHolds {
    family: Option<FamilyHead>,
    held: HashMap<u64, Vec<ProcessId>>,
    last: u64,
    closed: bool,
}

/// The result of a hold.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProcessHold {
    /// The id of the hold, for [`ProcessHolds::release`].
    pub id: u64,
    /// How many processes it stopped.
    pub count: usize,
    /// Whether every descendant is known to be stopped (except the requester, its ancestors and its descendants).
    pub stable: bool,
}

impl ProcessHolds {
    /// The program was started: what it leaves behind is held too, where orphans come to nobody.
    pub fn watch(&mut self, head: FamilyHead) {
        self.family = Some(head);
    }

    /// Stops all descendants of this process, repeatedly until no new ones appear, because a process may start another one
    /// before it is stopped itself. Parents first, so that none sees its child stop. The requester, its ancestors and its
    /// descendants are left out: the requester has to release the hold. `None` after [`ProcessHolds::close`].
    pub fn hold(&mut self, requester: Option<i32>) -> Option<ProcessHold> {
        if self.closed {
            return None;
        }
        self.last += 1;
        let id = self.last;
        let mut stopped: Vec<ProcessId> = Vec::new();
        let others: Vec<ProcessId> = self.held.values().flatten().copied().collect();
        let begun = Instant::now();
        let mut quiet = 0;
        while quiet < 2 && begun.elapsed() < PATIENCE {
            let table = ProcessTable::read();
            let spared = spared(&table, requester);
            let mut moving = false;
            for process in family::living(&table, self.family.as_ref()) {
                let ours = stopped.contains(&process.id);
                if spared.contains(&process.id.pid) {
                    continue;
                }
                if !ours && (!process.is_stopped() || others.contains(&process.id)) {
                    // Recorded before it is stopped: a process that is not recorded would never be continued.
                    stopped.push(process.id);
                }
                if !process.is_stopped() {
                    sys::send(process.id, Signal::STOP);
                    moving |= !waits_for_a_stopped_child(&table, &process);
                }
            }
            quiet = if moving { 0 } else { quiet + 1 };
            std::thread::sleep(Duration::from_millis(1));
        }
        let count = stopped.len();
        self.held.insert(id, stopped);
        Some(ProcessHold { id, count, stable: quiet >= 2 })
    }

    /// Continues the processes that the hold `id` stopped and that no other hold has. Children first, so that no parent sees
    /// a stopped child. Returns whether the hold had lasted until now.
    pub fn release(&mut self, id: u64) -> bool {
        let Some(stopped) = self.held.remove(&id) else { return false };
        for process in stopped.iter().rev() {
            if !self.held.values().any(|other| other.contains(process)) {
                sys::send(*process, Signal::CONT);
            }
        }
        true
    }

    /// Whether something holds them now.
    pub fn is_any(&self) -> bool {
        !self.held.is_empty()
    }

    /// Releases all holds and allows no new ones: the program is about to be ended.
    pub fn close(&mut self) {
        self.closed = true;
        let ids: Vec<u64> = self.held.keys().copied().collect();
        for id in ids {
            self.release(id);
        }
    }
}

/// Whether the process is in a `vfork` whose child was stopped before its exec. It waits in the kernel, where it cannot be
/// stopped, and does nothing until the child continues.
fn waits_for_a_stopped_child(table: &ProcessTable, process: &ProcessEntry) -> bool {
    process.state == 'D' && table.all().iter().any(|child| child.parent == process.id.pid && child.is_stopped())
}

fn spared(table: &ProcessTable, requester: Option<i32>) -> Vec<i32> {
    let Some(pid) = requester else { return Vec::new() };
    let mut spared = table.lineage(pid);
    spared.extend(table.descendants(&[pid]).iter().map(|process| process.id.pid));
    spared
}
