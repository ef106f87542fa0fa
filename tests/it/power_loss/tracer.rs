//! Runs a program and tells of every call by which it, or anything that it starts, changes files.
//!
//! Of the calls that change files one is let through at a time, so that they are told in the order in which they took effect.

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use nix::sys::ptrace::{self, Options};
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::power_loss::calls::{At, Call, decode};

/// A change that took effect. Paths have no symbolic link in them, except for their last name.
#[derive(Debug)]
pub enum Change {
    /// There is a file under this name, new or emptied or neither; without a name it has none yet.
    Opened(Option<PathBuf>, File),
    /// The file has this content now.
    Written(File),
    /// As `Written`, by its path.
    WrittenAt(PathBuf),
    /// A name was moved, or two were exchanged.
    Renamed(PathBuf, PathBuf, bool),
    /// This name was made: a link, a symbolic link or a folder.
    Made(PathBuf),
    /// This name is gone.
    Removed(PathBuf),
    /// A file or folder was synced.
    Synced(File),
    /// All was synced.
    SyncedAll,
}

/// A call under way.
enum Doing {
    Open(PathBuf, i32),
    Write(File),
    WriteAt(PathBuf),
    Rename(PathBuf, PathBuf, bool),
    Make(PathBuf),
    Remove(PathBuf),
    Sync(File),
    SyncAll,
}

/// Starts a program, watched, that waits for a line on its standard input, and has none after that.
pub fn start_watched(command: &Command, prepare: impl FnOnce(&mut Command)) -> (Child, Pid) {
    let mut waiting = Command::new("/bin/sh");
    waiting.args(["-c", "read -r go; exec \"$0\" \"$@\" </dev/null"]).arg(command.get_program()).args(command.get_args());
    waiting.env_clear();
    waiting.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    waiting.current_dir(command.get_current_dir().unwrap()).stdin(Stdio::piped());
    prepare(waiting.stdout(Stdio::null()).stderr(Stdio::null()));
    let child = waiting.spawn().unwrap();
    let first = Pid::from_raw(child.id() as i32);
    let options = Options::PTRACE_O_TRACESYSGOOD
        | Options::PTRACE_O_TRACECLONE
        | Options::PTRACE_O_TRACEFORK
        | Options::PTRACE_O_TRACEVFORK
        | Options::PTRACE_O_TRACEEXEC
        | Options::PTRACE_O_TRACESECCOMP
        | Options::PTRACE_O_EXITKILL;
    ptrace::seize(first, options).unwrap();
    ptrace::interrupt(first).unwrap();
    (child, first)
}

/// What the first program came to: its exit code. Whoever watches a program waits for it, and for all that it starts.
#[allow(clippy::zombie_processes)]
pub fn run(command: Command, root: &Path, mut tell: impl FnMut(Change)) -> Option<i32> {
    let (mut child, first) = start_watched(&command, |_| {});
    let mut tracer = Tracer { root, doing: HashMap::new(), busy: None, parked: VecDeque::new() };
    let mut code = None;
    let mut go = child.stdin.take();
    loop {
        match waitpid(None, Some(WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD)) {
            Ok(WaitStatus::Exited(pid, status)) => {
                tracer.gone(pid);
                if pid == first {
                    code = Some(status);
                }
            }
            Ok(WaitStatus::Signaled(pid, ..)) => tracer.gone(pid),
            Ok(WaitStatus::PtraceSyscall(pid)) => tracer.stopped(pid, &mut tell),
            // A stop of the whole program, which lasts until it is continued; or the beginning of one that is watched.
            Ok(WaitStatus::PtraceEvent(pid, signal, libc::PTRACE_EVENT_STOP)) if signal != Signal::SIGTRAP => listen(pid),
            Ok(WaitStatus::PtraceEvent(pid, ..)) => {
                drop(go.take().map(|mut pipe| std::io::Write::write_all(&mut pipe, b"\n")));
                resume(pid, None);
            }
            Ok(WaitStatus::Stopped(pid, signal)) => resume(pid, Some(signal)),
            Ok(_) => {}
            Err(nix::errno::Errno::EINTR) => {}
            Err(nix::errno::Errno::ECHILD) => return code,
            Err(error) => panic!("{error}"),
        }
    }
}

/// Goes on until the next call.
fn resume(pid: Pid, signal: Option<Signal>) {
    // It may have been killed meanwhile.
    let _ = ptrace::syscall(pid, signal);
}

/// Leaves a whole program stopped until it is continued.
#[allow(unsafe_code)]
pub fn listen(pid: Pid) {
    const LISTEN: libc::c_uint = 0x4208;
    let nothing = std::ptr::null_mut::<libc::c_void>();
    // SAFETY: neither address nor data is used by this request.
    let _ = unsafe { libc::ptrace(LISTEN, pid.as_raw(), nothing, nothing) };
}

/// Where the program stopped: before a call, or after it with its result.
enum Stop {
    Before(u64, [u64; 6]),
    After(i64),
}

#[allow(unsafe_code)]
fn where_stopped(pid: Pid) -> Option<Stop> {
    let info = ptrace::syscall_info(pid).ok()?;
    // SAFETY: `op` says which part of the union the kernel has filled.
    match info.op {
        libc::PTRACE_SYSCALL_INFO_ENTRY => unsafe { Some(Stop::Before(info.u.entry.nr, info.u.entry.args)) },
        libc::PTRACE_SYSCALL_INFO_EXIT => unsafe { Some(Stop::After(info.u.exit.sval)) },
        _ => None,
    }
}

struct Tracer<'a> {
    root: &'a Path,
    doing: HashMap<Pid, Doing>,
    busy: Option<Pid>,
    parked: VecDeque<(Pid, Doing)>,
}

impl Tracer<'_> {
    fn stopped(&mut self, pid: Pid, tell: &mut impl FnMut(Change)) {
        match where_stopped(pid) {
            Some(Stop::Before(number, arguments)) => {
                let Some(doing) = decode(number, arguments).and_then(|call| self.looked_up(pid, call)) else {
                    return resume(pid, None);
                };
                if self.busy.is_some() {
                    return self.parked.push_back((pid, doing));
                }
                self.let_through(pid, doing);
            }
            Some(Stop::After(result)) => {
                if let Some(doing) = self.doing.remove(&pid)
                    && result >= 0
                {
                    finished(pid, result as i32, doing).into_iter().for_each(tell);
                }
                self.gone(pid);
                resume(pid, None);
            }
            None => resume(pid, None),
        }
    }

    fn let_through(&mut self, pid: Pid, doing: Doing) {
        self.busy = Some(pid);
        self.doing.insert(pid, doing);
        resume(pid, None);
    }

    /// The program ended, or its call did: the next one's turn.
    fn gone(&mut self, pid: Pid) {
        self.parked.retain(|(parked, _)| *parked != pid);
        self.doing.remove(&pid);
        if self.busy == Some(pid) {
            self.busy = None;
            if let Some((next, doing)) = self.parked.pop_front() {
                self.let_through(next, doing);
            }
        }
    }

    /// The call with its files; `None` where it is about nothing below the root.
    fn looked_up(&self, pid: Pid, call: Call) -> Option<Doing> {
        let path = |at: At| path(pid, at).filter(|path| path.starts_with(self.root));
        let file = |descriptor: i32| {
            let link = PathBuf::from(format!("/proc/{pid}/fd/{descriptor}"));
            let target = std::fs::read_link(&link).ok()?;
            target.starts_with(self.root).then(|| open(&link)).flatten()
        };
        Some(match call {
            Call::Open(at, flags) => Doing::Open(path(at)?, flags),
            Call::Write(descriptor) => Doing::Write(file(descriptor)?),
            Call::Truncate(at) => Doing::WriteAt(path(at)?),
            Call::Rename(from, to, exchange) => Doing::Rename(path(from)?, path(to)?, exchange),
            Call::Make(at) => Doing::Make(path(at)?),
            Call::Remove(at) => Doing::Remove(path(at)?),
            Call::Sync(descriptor) => Doing::Sync(file(descriptor)?),
            Call::SyncAll => Doing::SyncAll,
        })
    }
}

/// Opened for reading, whatever it is opened for by the program. No sockets and the like.
fn open(link: &Path) -> Option<File> {
    let kind = std::fs::metadata(link).ok()?.file_type();
    (kind.is_file() || kind.is_dir()).then(|| File::open(link).unwrap_or_else(|e| panic!("{}: {e}", link.display())))
}

fn finished(pid: Pid, result: i32, doing: Doing) -> Option<Change> {
    Some(match doing {
        Doing::Open(path, flags) => {
            let unnamed = flags & libc::O_TMPFILE == libc::O_TMPFILE;
            let link = PathBuf::from(format!("/proc/{pid}/fd/{result}"));
            // Where a symbolic link is followed, the name is another one.
            let path = if unnamed { None } else { Some(std::fs::read_link(&link).unwrap_or(path)) };
            Change::Opened(path, open(&link)?)
        }
        Doing::Write(file) => Change::Written(file),
        Doing::WriteAt(path) => Change::WrittenAt(path),
        Doing::Rename(from, to, exchange) => Change::Renamed(from, to, exchange),
        Doing::Make(path) => Change::Made(path),
        Doing::Remove(path) => Change::Removed(path),
        Doing::Sync(file) => Change::Synced(file),
        Doing::SyncAll => Change::SyncedAll,
    })
}

/// The path as the program means it, without symbolic links before the last name.
pub fn path(pid: Pid, at: At) -> Option<PathBuf> {
    let memory = File::open(format!("/proc/{pid}/mem")).ok()?;
    let mut bytes = vec![0_u8; 4096];
    // A string may end just before memory that is not there.
    let first = 4096 - (at.text % 4096) as usize;
    let mut read = memory.read_at(&mut bytes[..first], at.text).ok()?;
    if !bytes[..read].contains(&0) {
        read += memory.read_at(&mut bytes[first..], at.text + first as u64).unwrap_or(0);
    }
    let end = bytes[..read].iter().position(|byte| *byte == 0)?;
    let text = PathBuf::from(std::ffi::OsStr::from_bytes(&bytes[..end]));
    let base = match at.folder {
        libc::AT_FDCWD => format!("/proc/{pid}/cwd"),
        folder => format!("/proc/{pid}/fd/{folder}"),
    };
    let whole = if text.is_absolute() { text } else { std::fs::read_link(base).ok()?.join(text) };
    Some(whole.parent()?.canonicalize().ok()?.join(whole.file_name()?))
}

/// All bytes of a file.
pub fn content(file: &mut File) -> Vec<u8> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).unwrap();
    bytes
}
