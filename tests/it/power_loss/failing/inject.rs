//! Runs a program of ours, and lets one of its system calls that change files fail, or all from there on.
//!
//! Ours are the program itself, its threads, and every `git-axiom` that it starts; git, agents and shells are left alone.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use nix::sys::ptrace;
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::filter;
use crate::power_loss::calls::{Call, decode};
use crate::power_loss::tracer::{listen, path, start_watched};
use crate::session_support::{kill, processes_of};

/// How long what a program has started may outlive it.
const AFTERWARDS: Duration = Duration::from_secs(15);

/// What goes wrong with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It fails with this error.
    Once(i32),
    /// It fails, and so does every later one.
    On(i32),
    /// It is interrupted this often.
    Interrupted(u32),
    /// Half of what was to be written is written.
    Short,
    /// From then on half is written each time.
    ShortOn,
}

impl Fault {
    /// Every one.
    pub const ALL: [Self; 8] = [
        Self::Once(libc::ENOSPC),
        Self::On(libc::ENOSPC),
        Self::Once(libc::EIO),
        Self::On(libc::EIO),
        Self::Interrupted(1),
        Self::Interrupted(100),
        Self::Short,
        Self::ShortOn,
    ];

    /// Whether a call of this kind can have it.
    pub fn fits(self, kind: Kind) -> bool {
        match self {
            Self::Once(_) | Self::On(_) => true,
            // What no file system on a disk interrupts.
            Self::Interrupted(_) => matches!(kind, Kind::Open | Kind::Write | Kind::Sync),
            Self::Short | Self::ShortOn => kind == Kind::Write,
        }
    }

    /// Whether the program has to cope with it, as if nothing had happened.
    pub fn is_harmless(self) -> bool {
        matches!(self, Self::Interrupted(_) | Self::Short | Self::ShortOn)
    }
}

/// Kinds of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Makes or empties a file.
    Open,
    /// Changes a file's content or length.
    Write,
    /// Moves, makes or removes a name.
    Name,
    /// Makes durable.
    Sync,
}

/// What becomes of a call.
enum Fate {
    Works,
    Fails(i32),
    WritesHalf,
}

/// A call that could fail.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Its kind.
    pub kind: Kind,
    /// What it is about.
    pub what: String,
}

/// What came of it.
#[derive(Debug)]
pub struct Outcome {
    /// Exit code; `None` where a signal ended it.
    pub code: Option<i32>,
    /// Standard output and standard error.
    pub said: String,
    /// The calls that could fail, in order.
    pub calls: Vec<Seen>,
    /// It did not end by itself.
    pub hung: bool,
    /// What it started and what did not end by itself: command lines.
    pub lingering: Vec<String>,
}

/// Runs a program in which the call of this number has the fault. What is below `root` counts; the outputs go to `answers`. It is
/// killed after `patience`, and what it has started [`AFTERWARDS`].
#[allow(clippy::zombie_processes)]
pub fn run(command: &Command, [root, answers]: [&Path; 2], fault: Option<(usize, Fault)>, patience: Duration) -> Outcome {
    let [out, err] = ["out", "err"].map(|name| answers.join(name));
    let (mut child, first) = start_watched(command, |waiting| {
        waiting.stdout(File::create(&out).unwrap()).stderr(File::create(&err).unwrap());
        filter::stop_at_changes(waiting);
    });
    let mut injector = Injector { root, fault, calls: Vec::new(), again: None };
    let mut go = child.stdin.take();
    let (ended, end) = mpsc::channel::<()>();
    let home = root.join("home");
    let watch = std::thread::spawn(move || watch(first, &home, &end, patience));
    let mut code = None;
    loop {
        match waitpid(None, Some(WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD)) {
            Ok(WaitStatus::Exited(pid, status)) if pid == first => {
                code = Some(status);
                let _ = ended.send(());
            }
            Ok(WaitStatus::Signaled(pid, ..)) if pid == first => drop(ended.send(())),
            Ok(WaitStatus::PtraceEvent(pid, _, libc::PTRACE_EVENT_SECCOMP)) => {
                injector.before(pid);
                go_on(pid, None);
            }
            Ok(WaitStatus::PtraceEvent(pid, signal, libc::PTRACE_EVENT_STOP)) if signal != Signal::SIGTRAP => listen(pid),
            Ok(WaitStatus::PtraceEvent(pid, ..)) => {
                drop(go.take().map(|mut pipe| std::io::Write::write_all(&mut pipe, b"\n")));
                go_on(pid, None);
            }
            Ok(WaitStatus::Stopped(pid, signal)) => go_on(pid, Some(signal)),
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(nix::errno::Errno::ECHILD) => break,
            Err(error) => panic!("{error}"),
        }
    }
    drop(ended);
    let said = [out, err].map(|path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned()).concat();
    let (hung, lingering) = watch.join().unwrap();
    Outcome { code, said, calls: injector.calls, hung, lingering }
}

/// Kills the program if it does not end, and then what is left of it. Hears first that it ended, then that all did.
fn watch(first: Pid, home: &Path, end: &mpsc::Receiver<()>, patience: Duration) -> (bool, Vec<String>) {
    let hung = end.recv_timeout(patience) == Err(mpsc::RecvTimeoutError::Timeout);
    if hung {
        kill(first.as_raw());
        let _ = end.recv_timeout(AFTERWARDS);
    }
    let mut lingering = Vec::new();
    let mut patience = AFTERWARDS;
    while end.recv_timeout(patience) == Err(mpsc::RecvTimeoutError::Timeout) {
        for (pid, words) in processes_of(home) {
            kill(pid);
            lingering.push(words);
        }
        // Until nobody is left who could start another.
        patience = Duration::from_millis(100);
    }
    (hung, lingering)
}

fn go_on(pid: Pid, signal: Option<Signal>) {
    // It may have been killed meanwhile.
    let _ = ptrace::cont(pid, signal);
}

struct Injector<'a> {
    root: &'a Path,
    fault: Option<(usize, Fault)>,
    calls: Vec<Seen>,
    /// Who is interrupted again, in which call, and how often.
    again: Option<(Pid, u64, u32)>,
}

impl Injector<'_> {
    /// A program, one of its threads or a child of it is about to make a call.
    fn before(&mut self, pid: Pid) {
        let program = std::fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
        if program != Path::new(env!("CARGO_BIN_EXE_git-axiom")) {
            return;
        }
        let Ok(mut now) = ptrace::getregs(pid) else { return };
        let number = now.orig_rax;
        let arguments = [now.rdi, now.rsi, now.rdx, now.r10, now.r8, now.r9];
        let Some(seen) = decode(number, arguments).and_then(|call| self.looked_up(pid, call)) else { return };
        match self.fate(pid, number, seen) {
            Fate::Works => return,
            // It is not made, and this is its result.
            Fate::Fails(error) => (now.orig_rax, now.rax) = (u64::MAX, i64::from(-error) as u64),
            Fate::WritesHalf => match number as libc::c_long {
                libc::SYS_write | libc::SYS_pwrite64 if now.rdx > 1 => now.rdx /= 2,
                libc::SYS_copy_file_range if now.r8 > 1 => now.r8 = now.r8.min(1 << 12) / 2,
                _ => return,
            },
        }
        let _ = ptrace::setregs(pid, now);
    }

    fn fate(&mut self, pid: Pid, number: u64, seen: Seen) -> Fate {
        if let Some((who, call, left)) = self.again
            && (who, call) == (pid, number)
        {
            self.again = (left > 1).then_some((who, call, left - 1));
            return Fate::Fails(libc::EINTR);
        }
        let at = self.calls.len();
        let (kind, removes) = (seen.kind, seen.what.starts_with("remove "));
        self.calls.push(seen);
        let Some((chosen, fault)) = self.fault else { return Fate::Works };
        match fault {
            Fault::Once(error) if at == chosen => Fate::Fails(error),
            // A full disk lets names be removed.
            Fault::On(error) if at >= chosen && !(error == libc::ENOSPC && removes) => Fate::Fails(error),
            Fault::Interrupted(times) if at == chosen && fault.fits(kind) => {
                self.again = (times > 1).then_some((pid, number, times - 1));
                Fate::Fails(libc::EINTR)
            }
            Fault::Short if at == chosen => Fate::WritesHalf,
            Fault::ShortOn if at >= chosen => Fate::WritesHalf,
            Fault::Once(_) | Fault::On(_) | Fault::Interrupted(_) | Fault::Short | Fault::ShortOn => Fate::Works,
        }
    }

    /// A call with what it is about; `None` where it is about nothing below the root.
    fn looked_up(&self, pid: Pid, call: Call) -> Option<Seen> {
        let below = |path: PathBuf| Some(path.strip_prefix(self.root).ok()?.display().to_string());
        let at = |at| path(pid, at).and_then(below);
        let file = |descriptor: i32| std::fs::read_link(format!("/proc/{pid}/fd/{descriptor}")).ok().and_then(below);
        let (kind, word, what) = match call {
            Call::Open(place, _) => (Kind::Open, "open", at(place)?),
            Call::Write(descriptor) => (Kind::Write, "write", file(descriptor)?),
            Call::Truncate(place) => (Kind::Write, "truncate", at(place)?),
            Call::Rename(from, to, _) => (Kind::Name, "rename", format!("{} to {}", at(from)?, at(to)?)),
            Call::Make(place) => (Kind::Name, "make", at(place)?),
            Call::Remove(place) => (Kind::Name, "remove", at(place)?),
            Call::Sync(descriptor) => (Kind::Sync, "sync", file(descriptor)?),
            Call::SyncAll => (Kind::Sync, "sync", "all".into()),
        };
        Some(Seen { kind, what: format!("{word} {what}") })
    }
}
