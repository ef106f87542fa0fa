//! Locks for programs of the user's: one command, or so many, at a time over all worktrees and clones of one user on one
//! machine. Needs no repository, and writes none.
//!
//! A slot is a file that its holder has locked, so it is free when the last process with its descriptor has ended, however
//! that was. `take` gets a slot, this file runs the command, [`list`] looks.

pub mod list;
mod take;

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::Duration;

use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files::PrivateFolder;
use axiom_model::base::ids::LockName;
use axiom_model::work::sessions::lock::LockSlots;
use axiom_process::os::foreground::{ForegroundProgram, status_of};

/// The variable that tells the command which slot it has.
const SLOT: &str = "AXIOM_LOCK_SLOT";

/// The exit statuses of a shell for a program that it does not find, or cannot execute.
const NOT_FOUND: u8 = 127;
const NOT_EXECUTABLE: u8 = 126;

/// What is to be run, and how.
#[derive(Debug)]
pub struct LockJob {
    /// The lock.
    pub name: LockName,
    /// How many may hold it at once.
    pub slots: LockSlots,
    /// How long to wait for it.
    pub patience: LockPatience,
    /// Who holds it.
    pub holder: LockHeldBy,
    /// The command and its arguments; not empty.
    pub command: Vec<OsString>,
    /// Its working directory.
    pub folder: PathBuf,
}

/// How long to wait for a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockPatience {
    /// As long as it takes.
    Endless,
    /// At most so long.
    AtMost(Duration),
}

/// Who holds a lock while a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockHeldBy {
    /// The command and every process that inherits its descriptors.
    ItsProcesses,
    /// This process, until the command has ended.
    UsAlone,
}

/// How a job ended that got its lock.
#[derive(Debug)]
pub enum LockJobOutcome {
    /// The command ended with this exit status, a signal counted as shells do.
    Command(u8),
    /// It could not be started, and what a shell would exit with.
    NotStarted(Error, u8),
}

/// Takes the lock and runs the command. Where the command holds the lock itself ([`LockHeldBy::ItsProcesses`]), it takes the place
/// of this process, and this returns only if it cannot be started. `tell` is called with what the user should know
/// meanwhile.
///
/// A crash frees the lock; a file that stays says nothing.
///
/// # Errors
/// `BUSY` where it was not free in time; `NOT_PRIVATE` where somebody else made the folder of the locks; `IO_FAILED`,
/// `DISK_FULL`.
pub fn run(job: &LockJob, tell: &mut dyn FnMut(&str)) -> Result<LockJobOutcome> {
    let taken = take::take(job, tell)?;
    let slot = taken.slot.to_string();
    let program =
        ForegroundProgram { command: job.command.clone(), folder: job.folder.clone(), env: vec![(SLOT, OsString::from(slot))] };
    let failure = match job.holder {
        LockHeldBy::ItsProcesses => program.take_our_place(taken.lock.descriptor()),
        LockHeldBy::UsAlone => match program.wait_for() {
            Ok(ended) => return Ok(LockJobOutcome::Command(status_of(ended))),
            Err(e) => e,
        },
    };
    Ok(not_started(job, failure))
}

fn not_started(job: &LockJob, failure: std::io::Error) -> LockJobOutcome {
    let program = job.command.first().map(|word| word.to_string_lossy()).unwrap_or_default();
    let status = if failure.kind() == ErrorKind::NotFound { NOT_FOUND } else { NOT_EXECUTABLE };
    let error = Error::new(Code::ProgramNotFound, format!("'{program}' cannot be started")).because(failure);
    LockJobOutcome::NotStarted(error.hint("the lock is free again"), status)
}

/// The path of the folder with the locks, below [`env::shared_temp_dir`]. `TMPDIR` is not asked: all clones must meet here.
fn folder_parts() -> [String; 2] {
    [format!("git-axiom-{}", rustix::process::geteuid().as_raw()), "locks".to_owned()]
}

/// The folder with the locks, made where it is missing.
fn folder() -> Result<PrivateFolder> {
    let [own, locks] = folder_parts();
    PrivateFolder::make(&env::shared_temp_dir(), &[&own, &locks])
}

/// The folder with the locks, if there ever was one.
fn folder_if_there() -> Result<Option<PrivateFolder>> {
    let [own, locks] = folder_parts();
    PrivateFolder::find(&env::shared_temp_dir(), &[&own, &locks])
}
