//! Ending the processes of a keeper that died without recording an end.
//!
//! These are no children of this process, so nothing tells their end: it looks every few milliseconds. Mostly that is three times;
//! where the kernel holds a process, at most for half a minute. That is rare.

use crate::client::proof_of_life::{lived_until, note_alive};
use crate::client::state::is_kept;
use std::collections::HashSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use rustix::process::Signal;

use crate::os::family::FAMILY;
use crate::os::foreground::is_alive;
use crate::os::process_id::ProcessId;
use crate::os::sys::{self, ProcessEntry, ProcessTable};
use crate::run_folder::record_files;
use crate::run_folder::records::{KeeperRecord, KeeperState};
use crate::run_folder::spec;
use axiom_base::error::{Code, Error, Result};
use axiom_base::{env, files};
use axiom_model::base::forms::plural::count_of;

/// After this time, processes that are still alive are stuck in the kernel.
const GIVE_UP: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(10);
/// How many times in a row no process must be found. Between fork and exec, a process is for a moment not recognisable in
/// the process table.
const QUIET: u32 = 3;
/// The name of the folder of a run that is no iteration.
pub const RUN: &str = "run";

/// The result of [`end_leftovers`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftoversOutcome {
    /// The processes that were ended.
    pub ended: Vec<i32>,
    /// Those that could not be ended (stuck in the kernel, or without permission).
    pub survivors: Vec<i32>,
}

impl LeftoversOutcome {
    /// The result in words, for people.
    pub fn in_words(&self) -> String {
        let ended = match self.ended.len() {
            0 => "it left no process".to_owned(),
            some => format!("{} that it had left ended", count_of(some, "process", "processes")),
        };
        match self.survivors.as_slice() {
            [] => ended,
            stuck => format!(
                "{ended}, {} could not be (see 'ps {}')",
                stuck.len(),
                axiom_base::error::some_of(stuck, 20).replace(", ", " ")
            ),
        }
    }
}

/// Ends, with SIGKILL, all processes that the dead keeper of `record` left: those started with its token in their
/// environment, those in its list of descendants, those in the same session as one of these, and all their descendants.
/// Never this process, its ancestors, or its descendants. Then removes the keeper's runtime folder. Safe to repeat.
pub fn end_leftovers(record: &KeeperRecord) -> Result<LeftoversOutcome> {
    if files::is_locked(&record.dir.join(spec::KEEPER_LOCK))? {
        return Err(Error::new(Code::KeeperFailed, format!("the keeper of {} still lives", record.agent)));
    }
    let (marker, noted) = (marker(record), noted(record)?);
    let done = end_all(&|table| find(table, &marker, &noted));
    if record.program.is_some_and(|program| done.ended.contains(&program.pid)) {
        note_alive(&record.dir);
    }
    // Only scratch files: a failure, such as a mount in it, must not stop the task.
    if let Err(error) = files::remove_scratch(&record.runtime) {
        tracing::warn!(%error, "a temporary folder of a keeper stays");
    }
    Ok(done)
}

/// Ends, with SIGKILL, all processes that were started with `assignment` (`NAME=value`) in their environment, and their
/// descendants, even in other sessions. Never this process, its ancestors, or its descendants.
pub fn end_marked(assignment: &[u8]) -> Result<LeftoversOutcome> {
    // Not other processes in the same session: that may be the user's terminal.
    Ok(end_all(&|table| {
        let spared = spared(table);
        with_descendants(table, sys::started_with(assignment), &spared)
    }))
}

/// Removes the runtime folder of a keeper that has ended. Returns whether it has. A keeper does this itself, but may die
/// just before.
pub fn clear_runtime(dir: &Path) -> Result<bool> {
    if is_kept(dir)? {
        return Ok(false);
    }
    if let Some(record) = record_files::read_record::<KeeperRecord>(&dir.join(spec::KEEPER))?.filter(|record| is_of(record, dir))
    {
        files::remove_scratch(&record.runtime)?;
    }
    Ok(true)
}

/// Ends what is left of an earlier run in a folder for whose end nobody waits any more: whoever had started its keeper has died, and
/// the keeper may not have noticed yet. Then its runtime folder is gone. Safe to repeat.
pub fn end_forsaken(dir: &Path) -> Result<()> {
    let begun = Instant::now();
    while begun.elapsed() < GIVE_UP {
        match super::state::keeper_state(dir)? {
            KeeperState::Alive(record) => drop(sys::send(record.keeper, Signal::KILL)),
            KeeperState::Dead(record) | KeeperState::Unproved(record) => return end_leftovers(&record).map(drop),
            KeeperState::Ended(_) if clear_runtime(dir)? => return Ok(()),
            // It is about to go, or to tell who it is.
            KeeperState::Ended(_) | KeeperState::Starting => {}
            KeeperState::NotStarted => return Ok(()),
        }
        std::thread::sleep(PAUSE);
    }
    Err(Error::new(Code::KeeperFailed, format!("the keeper of an earlier run in '{}' does not end", dir.display())))
}

/// The runs whose keepers have a runtime folder in the temporary folder, whether those keepers are alive or not.
pub fn runs_with_runtime(agents: &Path, checks: &Path) -> Result<Vec<PathBuf>> {
    let mut found = runs(agents)?;
    found.extend(runs_of_checks(checks)?);
    found.retain(|run| {
        let record = record_files::read_record::<KeeperRecord>(&run.join(spec::KEEPER)).ok().flatten();
        record.is_some_and(|record| is_of(&record, run) && record.runtime.exists())
    });
    Ok(found)
}

/// Whether a record was written by the keeper of this very run. In a copied repository, it has the folder of the original,
/// and the runtime folder of a keeper that may be alive.
fn is_of(record: &KeeperRecord, run: &Path) -> bool {
    let place = |path: &Path| std::fs::metadata(path).map(|meta| (meta.dev(), meta.ino()));
    matches!((place(&record.dir), place(run)), (Ok(noted), Ok(here)) if noted == here)
}

/// The folders of all runs below the agents' folder.
pub fn runs(agents: &Path) -> Result<Vec<PathBuf>> {
    folders(agents, 3, |path| path.parent().is_some_and(|up| up.ends_with("runs")))
}

/// As [`runs`], of the personas and planners whose files are below the folder of the checks.
pub fn runs_of_checks(checks: &Path) -> Result<Vec<PathBuf>> {
    folders(checks, 4, |path| path.ends_with(RUN))
}

/// The same of one task, whose folder this is.
pub fn runs_of_checks_of(task: &Path) -> Result<Vec<PathBuf>> {
    folders(task, 3, |path| path.ends_with(RUN))
}

fn folders(root: &Path, depth: usize, is_one: impl Fn(&Path) -> bool) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in walkdir::WalkDir::new(root).min_depth(depth).max_depth(depth) {
        match entry {
            Ok(entry) if entry.file_type().is_dir() && is_one(entry.path()) => found.push(entry.into_path()),
            Ok(_) => {}
            Err(e) if e.io_error().is_some_and(|e| e.kind() == std::io::ErrorKind::NotFound) => {}
            Err(e) => return Err(Error::io("list", root, std::io::Error::other(e))),
        }
    }
    Ok(found)
}

fn end_all(find: &dyn Fn(&ProcessTable) -> Vec<ProcessEntry>) -> LeftoversOutcome {
    let mut done = LeftoversOutcome::default();
    let begun = Instant::now();
    let mut quiet = 0;
    while quiet < QUIET {
        let left = find(&ProcessTable::read());
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
    done
}

/// How many processes of these dead keepers are still alive: those that [`end_leftovers`] would end. Ends none.
pub fn count_left(records: &[KeeperRecord]) -> Result<usize> {
    if records.is_empty() {
        return Ok(0);
    }
    let (table, mut left) = (ProcessTable::read(), HashSet::new());
    for record in records {
        let found = find(&table, &marker(record), &noted(record)?);
        left.extend(found.iter().map(|process| process.id.pid));
    }
    Ok(left.len())
}

/// Whether one of these processes of a dead keeper is still alive.
pub fn is_any_left(record: &KeeperRecord) -> Result<bool> {
    Ok(count_left(std::slice::from_ref(record))? > 0)
}

/// Until when the program of an iteration worked at least, whose last sign of life was at `sign`; `None` where it still works, be it without
/// its keeper. A server that it started and left does not.
pub fn worked_until(run: &Path, state: &KeeperState, sign: Timestamp) -> Option<Timestamp> {
    match state {
        KeeperState::Ended(exit) => Some(exit.ended_at),
        KeeperState::Starting | KeeperState::Alive(_) => None,
        KeeperState::Dead(record) if record.program.is_some_and(is_alive) => None,
        KeeperState::Dead(_) | KeeperState::Unproved(_) | KeeperState::NotStarted => Some(lived_until(run, sign)),
    }
}

fn marker(record: &KeeperRecord) -> Vec<u8> {
    format!("AXIOM_TOKEN={}", record.token).into_bytes()
}

/// The keeper's list of descendants. Process ids from before a restart of the machine are not valid.
fn noted(record: &KeeperRecord) -> Result<Vec<ProcessId>> {
    if env::boot_id() != record.boot {
        return Ok(Vec::new());
    }
    let bytes = files::read_optional(&record.runtime.join(FAMILY), 16 * 1024 * 1024)?;
    let mut noted: Vec<ProcessId> = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    noted.extend(record.program);
    Ok(noted)
}

fn find(table: &ProcessTable, marker: &[u8], noted: &[ProcessId]) -> Vec<ProcessEntry> {
    let own = sys::own_pid();
    let spared = spared(table);
    let mut roots = sys::started_with(marker);
    roots.extend(table.all().iter().filter(|process| noted.contains(&process.id)));
    // The session's number stays in use as long as the session has members, so processes in the same session as a known one
    // belong to it. The session of this process is left out: it may run below the agent.
    let own_session = table.get(own).map_or(0, |process| process.session);
    let sessions: Vec<i32> = roots
        .iter()
        .filter(|process| !spared.contains(&process.id.pid))
        .map(|process| process.session)
        .filter(|session| *session > 1 && *session != own_session)
        .collect();
    roots.extend(table.all().iter().filter(|process| sessions.contains(&process.session)));
    with_descendants(table, roots, &spared)
}

/// This process, its ancestors and its descendants.
fn spared(table: &ProcessTable) -> Vec<i32> {
    let own = sys::own_pid();
    let mut spared = table.lineage(own);
    spared.extend(table.descendants(&[own]).iter().map(|process| process.id.pid));
    spared
}

fn with_descendants(table: &ProcessTable, mut roots: Vec<ProcessEntry>, spared: &[i32]) -> Vec<ProcessEntry> {
    // What began after the table was read may be below this process: the next look tells.
    roots.retain(|process| !spared.contains(&process.id.pid) && table.get(process.id.pid).is_some());
    let below = table.descendants(&roots.iter().map(|process| process.id.pid).collect::<Vec<_>>());
    let mut all: Vec<ProcessEntry> = Vec::new();
    for process in roots.into_iter().chain(below) {
        if !process.is_gone() && !spared.contains(&process.id.pid) && !all.iter().any(|other| other.id == process.id) {
            all.push(process);
        }
    }
    all
}
