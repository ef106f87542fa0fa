//! Taking a slot of a lock.
//!
//! Whoever does not want to wait tries the slots and that is all. All others queue first: the queue is a file that is locked by
//! the first of them, and the system wakes one of the rest when that one leaves. Only the first one waits for a slot. It is
//! woken when a file in the folder of the locks is closed, and looks once a second besides. So a slot that becomes free wakes
//! one process, not all that wait, and nobody is passed over for long.

use std::ffi::OsStr;
use std::fs::File;
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use super::list::{self, LockSlotHold, LockSlotState};
use super::{LockJob, LockPatience};
use axiom_base::env;
use axiom_base::error::{Code, Error, Result, some_of};
use axiom_base::files::{FileLock, LockAttempt, PrivateFolder};
use axiom_model::work::sessions::lock::{LockHolderRecord, command_line, queue_file, slot_file};
use axiom_process::os::bell::{FolderTrigger, LONGEST, WakeListener};
use axiom_process::os::foreground;

/// The first pause before the slots are looked at again; doubled each time. The system says that a file was closed just before
/// it frees the lock, so the first look may come too early.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
/// How many holders are named in a message.
const NAMED: usize = 3;

/// A slot that this process holds.
#[derive(Debug)]
pub(super) struct HeldLockSlot {
    /// The lock.
    pub lock: FileLock,
    /// The number of the slot, from 1.
    pub slot: u32,
}

/// When the patience ends; `None` for never.
type LockDeadline = Option<Instant>;

/// Takes a slot and describes this process in its file.
pub(super) fn take(job: &LockJob, tell: &mut dyn FnMut(&str)) -> Result<HeldLockSlot> {
    let taken = match job.patience {
        LockPatience::AtMost(Duration::ZERO) => free_slot(job)?.ok_or_else(|| busy(job))?,
        LockPatience::AtMost(most) => in_turn(job, Instant::now().checked_add(most), tell)?,
        LockPatience::Endless => in_turn(job, None, tell)?,
    };
    warn_of_other_numbers(job, &taken, tell);
    describe(job, &taken, tell);
    Ok(taken)
}

/// The first free slot, without waiting.
fn free_slot(job: &LockJob) -> Result<Option<HeldLockSlot>> {
    // The folder is opened anew each time: a cleaner of temporary files may have removed it.
    let folder = super::folder()?;
    for slot in job.slots.each() {
        // Looked at first: closing a file that could be written to would wake those who wait.
        if matches!(list::state_of(&folder, &job.name, slot)?, Some(LockSlotState::Held(_))) {
            continue;
        }
        if let Some(lock) = lock_file(&folder, &slot_file(&job.name, slot))? {
            return Ok(Some(HeldLockSlot { lock, slot }));
        }
    }
    Ok(None)
}

/// The lock on a file, if it is free and the file is still there when it is locked.
fn lock_file(folder: &PrivateFolder, name: &str) -> Result<Option<FileLock>> {
    let path = folder.path().join(name);
    let file = folder.make_file(OsStr::new(name))?;
    match FileLock::try_on(file, &path)? {
        LockAttempt::Taken(lock) if lock.is_on(&path) => Ok(Some(lock)),
        LockAttempt::Taken(_) | LockAttempt::Held => Ok(None),
    }
}

/// A slot, after all who came before.
fn in_turn(job: &LockJob, until: LockDeadline, tell: &mut dyn FnMut(&str)) -> Result<HeldLockSlot> {
    let name = queue_file(&job.name, job.slots);
    let mut told = false;
    let mut say_that_it_waits = || {
        if !std::mem::replace(&mut told, true) {
            tell(&format!("waiting for lock '{}': {}", job.name, held_by(job)));
        }
    };
    let first = loop {
        let folder = super::folder()?;
        if let Some(first) = lock_file(&folder, &name)? {
            break first;
        }
        say_that_it_waits();
        let path = folder.path().join(&name);
        let waited = queue(folder.make_file(OsStr::new(&name))?, path.clone(), until)?.ok_or_else(|| busy(job))?;
        if waited.is_on(&path) {
            break waited;
        }
    };
    let taken = as_the_first(job, until, &mut say_that_it_waits)?;
    drop(first);
    Ok(taken)
}

/// Waits in the queue. `None` where it is not this process's turn in time.
fn queue(file: File, path: PathBuf, until: LockDeadline) -> Result<Option<FileLock>> {
    let (sender, turn) = channel();
    // The thread cannot be called back: it ends with this process, or when a command takes its place.
    let wait = move || drop(sender.send(FileLock::wait_on(file, &path)));
    std::thread::Builder::new().name("queue".into()).spawn(wait).map_err(|e| Error::cannot_start("a thread", e))?;
    let turn = match until {
        None => turn.recv().map_err(|_| RecvTimeoutError::Disconnected),
        Some(until) => turn.recv_timeout(until.saturating_duration_since(Instant::now())),
    };
    match turn {
        Ok(lock) => lock.map(Some),
        Err(RecvTimeoutError::Timeout) => Ok(None),
        Err(RecvTimeoutError::Disconnected) => Err(Error::new(Code::Internal, "the thread that waits for a lock has ended")),
    }
}

/// Waits for a slot, as the first of all who wait.
fn as_the_first(job: &LockJob, until: LockDeadline, say_that_it_waits: &mut dyn FnMut()) -> Result<HeldLockSlot> {
    let mut bell: Option<WakeListener> = None;
    let mut pause = FIRST_PAUSE;
    loop {
        if let Some(bell) = &mut bell {
            let folder = super::folder()?.path().to_owned();
            bell.watch_only(vec![(folder, FolderTrigger::Closes)]);
        }
        if let Some(taken) = free_slot(job)? {
            return Ok(taken);
        }
        let left = until.map_or(LONGEST, |until| until.saturating_duration_since(Instant::now()));
        if left.is_zero() {
            return Err(busy(job));
        }
        match &mut bell {
            Some(bell) => {
                let rang = bell.wait(pause.min(left));
                pause = if rang { FIRST_PAUSE } else { (pause * 2).min(LONGEST) };
            }
            // Looked at once more before the first pause: a slot may have become free before the folder was watched.
            None => {
                say_that_it_waits();
                bell = Some(WakeListener::new()?);
            }
        }
    }
}

fn describe(job: &LockJob, taken: &HeldLockSlot, tell: &mut dyn FnMut(&str)) {
    let own = foreground::own_id();
    let holder = LockHolderRecord {
        pid: own.map_or_else(|| rustix::process::getpid().as_raw_nonzero().get(), |own| own.pid),
        start: own.map_or(0, |own| own.start),
        slots: job.slots.count(),
        command: command_line(&job.command),
        folder: job.folder.to_string_lossy().into_owned(),
        taken_at: env::now(),
    };
    let described = super::folder().and_then(|folder| {
        let path = folder.path().join(slot_file(&job.name, taken.slot));
        taken.lock.describe(&holder.to_line()?, &path)
    });
    if let Err(error) = described {
        // The lock is held all the same, and that is what it is for.
        tell(&format!("'git axiom lock --list' will not say who holds lock '{}': {error}", job.name));
    }
}

/// Whoever asks for another number of slots at the same time does not mean the same by this name.
fn warn_of_other_numbers(job: &LockJob, taken: &HeldLockSlot, tell: &mut dyn FnMut(&str)) {
    let holders = super::folder().and_then(|folder| list::holders(&folder, &job.name)).unwrap_or_default();
    let others = holders.iter().filter(|(slot, _)| *slot != taken.slot).filter_map(|(_, held)| held.as_ref());
    let other = others.into_iter().find(|held| held.by.slots != job.slots.count());
    if let Some(LockSlotHold { by, .. }) = other {
        tell(&format!(
            "process {} took lock '{}' with --slots {}, this command has --slots {}: the smaller number does not limit the other",
            by.pid, job.name, by.slots, job.slots
        ));
    }
}

/// Who holds the slots that the job could use, for messages.
fn held_by(job: &LockJob) -> String {
    let holders = super::folder().and_then(|folder| list::holders(&folder, &job.name)).unwrap_or_default();
    let mut usable: Vec<_> = holders.into_iter().filter(|(slot, _)| *slot <= job.slots.count()).collect();
    usable.sort_unstable_by_key(|(slot, _)| *slot);
    let known: Vec<String> = usable.iter().filter_map(|(_, held)| held.as_ref()).map(LockSlotHold::in_words).collect();
    match known.is_empty() {
        true => "another process was first".to_owned(),
        false => format!("held by {}", some_of(&known, NAMED)),
    }
}

fn busy(job: &LockJob) -> Error {
    let error = Error::new(Code::Busy, format!("lock '{}' is not free", job.name)).why(held_by(job));
    error
        .hint("git axiom lock --list    shows who holds what")
        .hint("--wait 5min waits longer; without --wait it waits as long as it takes")
}
