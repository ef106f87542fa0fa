//! Processes by `/proc` and pidfds.

use std::collections::HashSet;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::platform::unix::processes::RunningProcess;

/// Whether orphans of a process that wants it become its children.
pub const ADOPTS_ORPHANS: bool = true;

/// Makes this process the parent of descendants that lose theirs, in whatever session they are.
pub fn adopt_orphans() {
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// Has this process asked to end when the thread that started it ends. Returns whether it is.
pub fn end_with_parent() -> bool {
    rustix::process::set_parent_process_death_signal(Some(Signal::TERM)).is_ok()
}

/// Sends `signal` to exactly this process. Returns whether it was delivered: not where the process has ended.
pub fn send_exactly(pid: i32, start: u64, signal: Signal) -> bool {
    let Some(to) = Pid::from_raw(pid) else { return false };
    let is_it = || process(pid).is_some_and(|now| now.start == start);
    match pidfd_open(to, PidfdFlags::empty()) {
        // The descriptor pins the process: if the process with this number still has the same start time, it is the right one.
        Ok(fd) => is_it() && pidfd_send_signal(&fd, signal).is_ok(),
        Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM | rustix::io::Errno::MFILE) => {
            is_it() && rustix::process::kill_process(to, signal).is_ok()
        }
        Err(_) => false,
    }
}

/// The beginning of a file that the kernel makes when it is read: a line about a process, or the first words of a command line with
/// two paths. One call, where the standard library asks for its size and reads it in pieces.
#[allow(clippy::disallowed_methods)]
fn of_kernel(path: &str) -> Option<Vec<u8>> {
    use rustix::fs::{CWD, Mode, OFlags};
    use rustix::io::retry_on_intr;
    let file = retry_on_intr(|| rustix::fs::openat(CWD, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())).ok()?;
    let mut text = vec![0; 3 * 4096];
    let length = retry_on_intr(|| rustix::io::read(&file, &mut text[..])).ok()?;
    text.truncate(length);
    Some(text)
}

/// The process with this number now.
pub fn process(pid: i32) -> Option<RunningProcess> {
    parse_stat(&of_kernel(&format!("/proc/{pid}/stat"))?)
}

/// Every process. Those that end meanwhile are left out.
pub fn processes() -> Vec<RunningProcess> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries.flatten().filter_map(|entry| process(entry.file_name().to_str()?.parse().ok()?)).collect()
}

/// The descendants of a process as the kernel lists children, without a look at any other process; `None` where it does not
/// list them. One that is just being started may be missing.
pub fn offspring(of: i32) -> Option<Vec<RunningProcess>> {
    let children = |pid: i32| {
        let threads = std::fs::read_dir(format!("/proc/{pid}/task")).ok()?;
        // A thread that ends meanwhile hands its children to another one.
        let lists: Vec<String> =
            threads.flatten().filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok()).collect();
        Some(lists).filter(|lists| !lists.is_empty())
    };
    let (mut found, mut seen, mut todo) = (Vec::new(), HashSet::new(), children(of)?);
    while let Some(list) = todo.pop() {
        for one in list.split_ascii_whitespace().filter_map(|pid| process(pid.parse().ok()?)) {
            if seen.insert((one.pid, one.start)) {
                found.push(one);
                // One that has ended meanwhile has none any more.
                todo.extend(children(one.pid).unwrap_or_default());
            }
        }
    }
    found.sort_unstable_by_key(|process: &RunningProcess| process.pid);
    Some(found)
}

/// Reads a line of `/proc/<pid>/stat`. The program's name is in parentheses and may contain any character, parentheses too.
fn parse_stat(line: &[u8]) -> Option<RunningProcess> {
    let line = String::from_utf8_lossy(line);
    let (pid, rest) = line.split_once(' ')?;
    let fields: Vec<&str> = rest.get(rest.rfind(')')? + 1..)?.split_ascii_whitespace().collect();
    Some(RunningProcess {
        pid: pid.parse().ok()?,
        start: fields.get(19)?.parse().ok()?,
        state: fields.first()?.chars().next()?,
        parent: fields.get(1)?.parse().ok()?,
        session: fields.get(3)?.parse().ok()?,
    })
}

/// Whether the environment that the process was started with has `NAME=value`. Always `false` where the environment cannot
/// be read (other users' processes).
fn has_in_environment(pid: i32, assignment: &[u8]) -> bool {
    std::fs::read(format!("/proc/{pid}/environ")).is_ok_and(|all| all.split(|byte| *byte == 0).any(|var| var == assignment))
}

/// The running processes whose environment has `NAME=value`.
pub fn processes_started_with(assignment: &[u8]) -> Vec<RunningProcess> {
    processes().into_iter().filter(|process| has_in_environment(process.pid, assignment)).collect()
}

/// The name of the program that a process runs.
pub fn process_name(pid: i32) -> Option<String> {
    std::fs::read_to_string(format!("/proc/{pid}/comm")).ok().map(|name| name.trim().to_owned())
}

/// The command lines of the processes above this one, nearest first; their words end with a zero. Of a long one the first words.
pub fn command_lines_above() -> Vec<Vec<u8>> {
    /// A limit to the number of ancestors.
    const MOST: usize = 256;
    let mut found = Vec::new();
    let mut above = rustix::process::getppid().map(|parent| parent.as_raw_nonzero().get());
    for _ in 0..MOST {
        let Some(pid) = above.filter(|pid| *pid > 1) else { break };
        found.extend(of_kernel(&format!("/proc/{pid}/cmdline")));
        above = process(pid).map(|process| process.parent);
    }
    found
}

/// The process at the other end.
pub fn peer(stream: &UnixStream) -> Option<i32> {
    rustix::net::sockopt::socket_peercred(stream).ok().map(|peer| peer.pid.as_raw_nonzero().get())
}

/// The processes that can be examined; `None` where the system does not show who has files open.
pub fn examinable() -> Option<Vec<ExaminedProcess>> {
    let listing = std::fs::read_dir("/proc").ok().filter(|_| Path::new("/proc/self").exists())?;
    let mut found = Vec::new();
    for entry in listing {
        let folder = entry.ok()?.path();
        let pid = folder.file_name().and_then(|name| name.to_str()?.parse().ok());
        found.extend(pid.map(|pid| ExaminedProcess { pid, folder: folder.clone() }));
    }
    Some(found)
}

/// A process whose files are looked at.
#[derive(Debug)]
pub struct ExaminedProcess {
    /// Its number.
    pub pid: i32,
    folder: PathBuf,
}

impl ExaminedProcess {
    /// The name of its program.
    pub fn name(&self) -> Vec<u8> {
        std::fs::read(self.folder.join("comm")).unwrap_or_default()
    }

    /// Whether it has ended and only waits for its parent to collect it: `pid (name) Z …`.
    pub fn is_zombie(&self) -> bool {
        let stat = std::fs::read(self.folder.join("stat")).unwrap_or_default();
        let end = stat.iter().rposition(|byte| *byte == b')');
        end.is_some_and(|end| stat.get(end + 2) == Some(&b'Z'))
    }

    /// Its arguments.
    pub fn words(&self) -> Vec<Vec<u8>> {
        let line = std::fs::read(self.folder.join("cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect()
    }

    /// Its command line, and the environment that it was started with.
    pub fn words_and_environment(&self) -> [Vec<u8>; 2] {
        ["cmdline", "environ"].map(|name| std::fs::read(self.folder.join(name)).unwrap_or_default())
    }

    /// The files that it has open.
    pub fn open_files(&self) -> std::io::Result<Vec<PathBuf>> {
        let links = std::fs::read_dir(self.folder.join("fd"))?;
        Ok(links.filter_map(|link| std::fs::read_link(link.ok()?.path()).ok()).collect())
    }

    /// The folder in which it works. That none is found means that it is ending: it runs no code any more, and its files are closed
    /// before its entry in the table goes.
    pub fn working_folder(&self) -> std::io::Result<PathBuf> {
        std::fs::read_link(self.folder.join("cwd"))
    }

    /// Whether it is still in the table.
    pub fn is_there(&self) -> bool {
        self.folder.exists()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_does_not_confuse() {
        let line = b"42 (a) R (b) S 7 42 9 0 -1 0 0 0 0 0 1 2 3 4 20 0 1 0 777 0";
        let expected = RunningProcess { pid: 42, start: 777, parent: 7, session: 9, state: 'S' };
        assert_eq!(parse_stat(line), Some(expected));
    }
}
