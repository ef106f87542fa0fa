//! Ending all descendants of a keeper, and recording them for a process that comes after the keeper. Ending one child with all
//! of its own.

use std::collections::HashSet;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::sys::{self, ProcessEntry, ProcessTable};
use crate::os::process_id::ProcessId;
use axiom_base::{env, files, platform};

/// The file name, in the runtime folder, of the list of descendants: a hint for whoever comes after a keeper, not durable.
pub const FAMILY: &str = "family.json";

/// After this time, processes that are still alive are stuck in the kernel, and no signal will end them soon.
const GIVE_UP: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(5);

/// The result of ending processes.
#[derive(Debug, Default)]
pub(crate) struct EndedFamily {
    /// How many processes were sent a signal.
    pub count: u64,
    /// Those that could not be ended.
    pub survivors: Vec<i32>,
}

/// A program that was started, and how what it leaves is known where orphans come to nobody.
#[derive(Debug, Clone)]
pub(crate) struct FamilyHead {
    /// Its number, which is that of its process group.
    pub pid: i32,
    /// A variable that it was started with, and nobody else, as `NAME=value`.
    pub mark: String,
}

impl FamilyHead {
    /// Gives a program that has no variable of its own one, where it is needed. Returns it as `NAME=value`.
    pub fn mark(command: &mut Command) -> String {
        let value = env::fresh_id();
        if !platform::ADOPTS_ORPHANS {
            command.env("AXIOM_FAMILY", &value);
        }
        format!("AXIOM_FAMILY={value}")
    }
}

/// The living descendants of this process, in whatever session, each after its parent. Where it adopts orphans, they are among them;
/// elsewhere those are found by the program's process group and by its variable.
pub(super) fn living(table: &ProcessTable, head: Option<&FamilyHead>) -> Vec<ProcessEntry> {
    let mut found = table.descendants(&[sys::own_pid()]);
    if let Some(head) = head.filter(|_| !platform::ADOPTS_ORPHANS) {
        let mut orphans: Vec<ProcessEntry> = table.all().iter().filter(|process| process.session == head.pid).copied().collect();
        orphans.extend(sys::started_with(head.mark.as_bytes()));
        let roots: Vec<i32> = orphans.iter().map(|process| process.id.pid).collect();
        orphans.extend(table.descendants(&roots));
        let mut known: HashSet<i32> = found.iter().map(|process| process.id.pid).collect();
        found.extend(orphans.into_iter().filter(|process| known.insert(process.id.pid)));
    }
    found.retain(|process| !process.is_gone() && process.id.pid != sys::own_pid());
    found
}

/// Ends all descendants: SIGTERM, `grace`, then SIGKILL again and again until none is left. `reap` waits for those that have
/// ended; it is called often.
pub(crate) fn end_all(head: &FamilyHead, grace: Duration, reap: &mut dyn FnMut()) -> EndedFamily {
    let begun = Instant::now();
    let mut asked: HashSet<ProcessId> = HashSet::new();
    loop {
        reap();
        let left = living(&ProcessTable::read(), Some(head));
        if left.is_empty() {
            return EndedFamily { count: asked.len() as u64, survivors: Vec::new() };
        }
        if begun.elapsed() > GIVE_UP {
            return EndedFamily { count: asked.len() as u64, survivors: left.iter().map(|process| process.id.pid).collect() };
        }
        let gently = begun.elapsed() < grace;
        for process in &left {
            let first = asked.insert(process.id);
            if !gently {
                sys::send(process.id, Signal::KILL);
            } else if first {
                sys::send(process.id, Signal::TERM);
                // A stopped process only reacts to SIGTERM when it is continued.
                sys::send(process.id, Signal::CONT);
            }
        }
        std::thread::sleep(PAUSE);
    }
}

/// Ends a child that leads a process group of its own, with that group and all of its descendants: SIGTERM to it, `grace`, then
/// SIGKILL to all. `None` where it has not ended even so: it is stuck in the kernel.
pub fn end_with_family(child: &mut Child, grace: Duration) -> Option<ExitStatus> {
    let pid = i32::try_from(child.id()).ok()?;
    // Looked at while it lives: later nobody knows whose children they were.
    let family = ProcessTable::read().descendants(&[pid]);
    let group = rustix::process::Pid::from_raw(pid)?;
    let asked = Instant::now();
    let _ = rustix::process::kill_process(group, Signal::TERM);
    // It is not waited for yet: while it is in the table, its number means nobody else.
    while sys::look(pid).is_some_and(|process| !process.is_gone()) && asked.elapsed() < grace {
        std::thread::sleep(PAUSE);
    }
    let _ = rustix::process::kill_process_group(group, Signal::KILL);
    for process in family {
        sys::send(process.id, Signal::KILL);
    }
    let (mut ended, killed) = (None, Instant::now());
    while ended.is_none() && killed.elapsed() < Duration::from_secs(2) {
        std::thread::sleep(PAUSE);
        ended = child.try_wait().ok().flatten();
    }
    ended
}

/// Writes the list of living descendants to the runtime folder if it has changed, and returns whether it has. Not durable: it
/// only matters while the processes live, and what would lose it (a restart) ends them too.
pub(crate) fn note(runtime: &Path, head: &FamilyHead, last: &mut Vec<ProcessId>) -> bool {
    let living = sys::offspring(sys::own_pid()).unwrap_or_else(|| living(&ProcessTable::read(), Some(head)));
    let now: Vec<ProcessId> = living.iter().filter(|process| !process.is_gone()).map(|process| process.id).collect();
    if now == *last {
        return false;
    }
    let Ok(json) = serde_json::to_vec(&now) else { return true };
    // A failure only costs the hint.
    if files::write_atomic_unsynced(&runtime.join(FAMILY), &json).is_ok() {
        *last = now;
    }
    true
}
