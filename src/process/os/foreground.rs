//! A program of the caller's in the foreground: in place of this process, or as a child for which this process stands.
//!
//! It gets the caller's whole environment: git axiom is only on the way to it, as `env` or `nohup` would be.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};

use rustix::io::{FdFlags, fcntl_dupfd_cloexec, fcntl_setfd};
use rustix::process::Signal;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::Signals;

use super::command::command_with_callers_repository;
use super::sys;
use crate::os::process_id::ProcessId;
use axiom_base::own_process::end_signals::is_ignored;

/// Descriptors below this number are those that shell scripts open by number (`exec 3> file`), which would close another one.
const FIRST_DESCRIPTOR: i32 = 10;

/// The program to run.
#[derive(Debug)]
pub struct ForegroundProgram {
    /// The program, looked for in `PATH`, and its arguments; not empty.
    pub command: Vec<OsString>,
    /// Its working directory.
    pub folder: PathBuf,
    /// Variables in addition to the inherited ones.
    pub env: Vec<(&'static str, OsString)>,
}

impl ForegroundProgram {
    fn command(&self) -> Command {
        let (program, arguments) =
            self.command.split_first().map_or((OsString::new(), &[][..]), |(one, rest)| (one.clone(), rest));
        let mut command = command_with_callers_repository(program);
        command.args(arguments).current_dir(&self.folder).envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs it in place of this process, with a copy of the descriptor `kept`. Returns only if that fails; then the copy is
    /// closed. The other threads of this process end.
    pub fn take_our_place(&self, kept: BorrowedFd<'_>) -> io::Error {
        let inherited = fcntl_dupfd_cloexec(kept, FIRST_DESCRIPTOR);
        match inherited.and_then(|copy| fcntl_setfd(&copy, FdFlags::empty()).map(|()| copy)) {
            Ok(_copy) => self.command().exec(),
            Err(e) => e.into(),
        }
    }

    /// Runs it in place of this process, with nothing of ours. Returns only if that fails.
    pub fn replace_us(&self) -> io::Error {
        self.command().exec()
    }

    /// Runs it as a child, to its end. Signals that ask this process to end, and SIGUSR1 and SIGUSR2, are passed on to it.
    /// Ctrl+C and Ctrl+\ of a terminal reach it anyway, so SIGINT and SIGQUIT are not, while this process is in the foreground.
    pub fn wait_for(&self) -> io::Result<ExitStatus> {
        // What is ignored (`nohup`) stays ignored.
        let heard = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2].into_iter().filter(|signal| !is_ignored(*signal));
        // From here on no signal ends this process: what comes before the child runs is passed on when it does.
        let mut signals = Signals::new(heard)?;
        let mut child = self.command().spawn()?;
        let (handle, to) = (signals.handle(), id_of(&child));
        let pass_on = std::thread::Builder::new().name("signals".into()).spawn(move || {
            for signal in signals.forever() {
                if !matches!(signal, SIGINT | SIGQUIT) || !is_in_the_foreground() {
                    pass(signal, to);
                }
            }
        });
        let ended = child.wait();
        handle.close();
        if let Ok(thread) = pass_on {
            let _ = thread.join();
        }
        ended
    }
}

/// The exit status with which a shell would report this end.
pub fn status_of(ended: ExitStatus) -> u8 {
    let status = ended.code().or_else(|| ended.signal().map(|signal| 128 + signal));
    status.and_then(|status| u8::try_from(status).ok()).unwrap_or(u8::MAX)
}

pub(super) fn id_of(child: &Child) -> ProcessId {
    let pid = i32::try_from(child.id()).unwrap_or(0);
    sys::look(pid).map_or(ProcessId { pid, start: 0 }, |process| process.id)
}

fn pass(signal: i32, to: ProcessId) {
    if let Some(signal) = Signal::from_named_raw(signal) {
        sys::send(to, signal);
    }
}

/// Whether a key of the terminal sends its signal to this process's group.
pub fn is_in_the_foreground() -> bool {
    let group = File::open("/dev/tty").map(|terminal| rustix::termios::tcgetpgrp(&terminal));
    matches!(group, Ok(Ok(group)) if group == rustix::process::getpgrp())
}

/// This process, to be recognised later; `None` where the system does not show it. A program that takes its place is the same
/// process.
pub fn own_id() -> Option<ProcessId> {
    sys::look(sys::own_pid()).map(|process| process.id)
}

/// Whether this very process still runs.
pub fn is_alive(id: ProcessId) -> bool {
    sys::look(id.pid).is_some_and(|now| now.id == id && !now.is_gone())
}
