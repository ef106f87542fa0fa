//! A program with its whole family, between two pipes: started by a small process of ours, the guard, which adopts its orphans, ends all
//! of them when the program or whoever wanted it has ended, however that came, and reports the program's exit status.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, ChildStdout, ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;

use super::child_reaper::ChildReaper;
use super::command::command_with_callers_repository;
use super::family::{self, FamilyHead};
use super::process_id::ProcessId;
use super::{foreground, sys};
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_base::own_process::session;
use axiom_base::platform;

/// How long a family has between being asked to end and being ended.
const GRACE: Duration = Duration::from_secs(3);
/// The exit status where a program cannot be found, and where it cannot be started.
const NOT_FOUND: u8 = 127;
const NOT_STARTED: u8 = 126;

/// A program behind its guard.
#[derive(Debug)]
pub struct GuardedProgram {
    child: Child,
    id: ProcessId,
}

/// The guard, to be asked to end what it guards.
#[derive(Debug, Clone, Copy)]
pub struct ProgramGuard(ProcessId);

impl GuardedProgram {
    /// Starts this program with these arguments, which begin the guard and name what it starts. Called by the first thread: the guard ends
    /// with the thread that started it.
    pub fn start(arguments: &[OsString], variables: &[(&str, &str)]) -> Result<Self> {
        let program = env::own_image()?;
        let mut command = command_with_callers_repository(&program);
        command.arg0("git-axiom").args(arguments).envs(variables.iter().copied());
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let child = child.map_err(|e| Error::io("start", &program, e))?;
        Ok(Self { id: foreground::id_of(&child), child })
    }

    /// The pipe to the program, and the one from it.
    pub fn pipes(&mut self) -> Option<(ChildStdin, ChildStdout)> {
        self.child.stdin.take().zip(self.child.stdout.take())
    }

    /// Its guard.
    pub fn guard(&self) -> ProgramGuard {
        ProgramGuard(self.id)
    }

    /// Waits for the end of it and its family.
    pub fn wait(mut self) -> io::Result<ExitStatus> {
        self.child.wait()
    }
}

impl ProgramGuard {
    /// A child that guards nothing, to be ended with what is below it.
    pub fn of_child(child: &Child) -> Self {
        Self(foreground::id_of(child))
    }

    /// The family is asked to end, and ended after a while.
    pub fn end(self) {
        sys::send(self.0, Signal::TERM);
    }

    /// The guard itself is ended, and what is below it.
    pub fn kill(self) {
        let below = sys::ProcessTable::read().descendants(&[self.0.pid]);
        for id in below.iter().map(|process| process.id).chain([self.0]) {
            sys::send(id, Signal::KILL);
        }
    }
}

/// The number of this process, by which a guard knows who wanted it.
pub fn own_number() -> i32 {
    sys::own_pid()
}

/// The guard, in a process of its own: runs `command` until it or the process `wanted_by` has ended, ends the rest of its family, and
/// returns the exit status.
pub fn guard(wanted_by: i32, command: &[OsString]) -> Result<u8> {
    platform::adopt_orphans();
    if !platform::end_with_parent() {
        tracing::debug!("an agent may outlive its editor");
    }
    let failed = |e: io::Error| Error::new(Code::Internal, "cannot watch for signals").because(e);
    let mut signals = Signals::new([SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM]).map_err(failed)?;
    let Some((program, arguments)) = command.split_first() else { return Ok(NOT_STARTED) };
    let mut command = command_with_callers_repository(program);
    let mark = FamilyHead::mark(command.args(arguments));
    let child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            let is_missing = error.kind() == io::ErrorKind::NotFound;
            // The editor shows what its agent complains of.
            let words = format!("git axiom: cannot start '{}': {error}\n", program.to_string_lossy());
            drop(io::Write::write_all(&mut io::stderr(), words.as_bytes()));
            return Ok(if is_missing { NOT_FOUND } else { NOT_STARTED });
        }
    };
    // They are the program's alone: that it has closed one is seen at its other end.
    drop(session::leave_pipes());
    let pid = i32::try_from(child.id()).unwrap_or_default();
    let mut reaper = ChildReaper { program: Pid::from_raw(pid), status: None };
    let is_wanted = || rustix::process::getppid().is_some_and(|parent| parent.as_raw_nonzero().get() == wanted_by);
    while reaper.status.is_none() && is_wanted() {
        let mut ends = false;
        for signal in signals.wait() {
            // A key of the terminal reaches the program itself.
            ends |=
                matches!(signal, SIGHUP | SIGTERM) || (matches!(signal, SIGINT | SIGQUIT) && !foreground::is_in_the_foreground());
        }
        reaper.collect();
        if ends {
            break;
        }
    }
    family::end_all(&FamilyHead { pid, mark }, GRACE, &mut || reaper.collect());
    reaper.collect();
    Ok(reaper.status.map_or(u8::MAX, |ended| foreground::status_of(ExitStatus::from_raw(ended.as_raw()))))
}
