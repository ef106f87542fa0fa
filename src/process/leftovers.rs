//! Ending what a keeper left behind that died without recording an end.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::spec::{self, FAMILY, KeeperRecord, ProcessId};
use super::sys::{self, Process, Table};
use crate::error::{Code, Error, Result};
use crate::files;

/// After this, what still lives is stuck in the kernel.
const GIVE_UP: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(10);
/// How often nothing must be found before it is believed: a process is in the table under no name we know between fork and
/// exec only for a moment.
const QUIET: u32 = 3;

/// What [`end_leftovers`] did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftoversEnded {
    /// The processes that were ended.
    pub ended: Vec<i32>,
    /// Those that could not be (stuck in the kernel, or not ours to kill).
    pub survivors: Vec<i32>,
}

/// Ends, with SIGKILL, all that the dead keeper of `record` left: processes started with its token in their environment,
/// those it had noted as its descendants, those that share a session with one of these, and all descendants of any.
/// Never this process, its ancestors, or its descendants. Then removes the keeper's runtime folder. Doing it again does no harm.
///
/// Elsewhere than on Linux environments cannot be read: there it finds what the keeper had noted, and its process groups.
///
/// # Errors
/// `KEEPER_FAILED` where the keeper still lives; `IO_FAILED`.
pub fn end_leftovers(record: &KeeperRecord) -> Result<LeftoversEnded> {
    if files::is_locked(&record.dir.join(spec::KEEPER_LOCK))? {
        return Err(Error::new(Code::KeeperFailed, format!("the keeper of {} still lives", record.agent)));
    }
    let marker = format!("AXIOM_TOKEN={}", record.token).into_bytes();
    let noted = noted(record)?;
    let mut done = LeftoversEnded::default();
    let begun = Instant::now();
    let mut quiet = 0;
    while quiet < QUIET {
        let left = find(&Table::read(), &marker, &noted);
        if begun.elapsed() > GIVE_UP {
            done.survivors = left.iter().map(|process| process.id.pid).collect();
            done.ended.retain(|pid| !done.survivors.contains(pid));
            break;
        }
        quiet = if left.is_empty() { quiet + 1 } else { 0 };
        for process in left {
            if sys::send(process.id, Signal::KILL) && !done.ended.contains(&process.id.pid) {
                done.ended.push(process.id.pid);
            }
        }
        std::thread::sleep(PAUSE);
    }
    files::remove_scratch(&record.runtime)?;
    Ok(done)
}

/// What the keeper had noted. Numbers of an earlier start of the machine mean nothing.
fn noted(record: &KeeperRecord) -> Result<Vec<ProcessId>> {
    if sys::boot_id() != record.boot {
        return Ok(Vec::new());
    }
    let bytes = files::read_optional(&record.runtime.join(FAMILY), 16 * 1024 * 1024)?;
    let mut noted: Vec<ProcessId> = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    noted.extend(record.program);
    Ok(noted)
}

fn find(table: &Table, marker: &[u8], noted: &[ProcessId]) -> Vec<Process> {
    let own = sys::own_pid();
    let mut spared = table.lineage(own);
    spared.extend(table.descendants(&[own]).iter().map(|process| process.id.pid));
    let known =
        |process: &&Process| noted.contains(&process.id) || (!process.is_gone() && sys::started_with(process.id.pid, marker));
    let mut roots: Vec<Process> = table.all().iter().filter(known).copied().collect();
    // A session's number stays taken while it has members. So whoever shares one with a known process belongs to it,
    // which could not be said of the number alone. Ours is left out: we may run below the agent.
    let own_session = table.get(own).map_or(0, |process| process.session);
    let sessions: Vec<i32> = roots
        .iter()
        .filter(|process| !spared.contains(&process.id.pid))
        .map(|process| process.session)
        .filter(|session| *session > 1 && *session != own_session)
        .collect();
    roots.extend(table.all().iter().filter(|process| sessions.contains(&process.session)));
    roots.retain(|process| !spared.contains(&process.id.pid));
    let below = table.descendants(&roots.iter().map(|process| process.id.pid).collect::<Vec<_>>());
    let mut all: Vec<Process> = Vec::new();
    for process in roots.into_iter().chain(below) {
        if !process.is_gone() && !spared.contains(&process.id.pid) && !all.iter().any(|other| other.id == process.id) {
            all.push(process);
        }
    }
    all
}
