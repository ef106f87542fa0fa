//! The process table: which processes are alive, which descends from which, and sending signals that cannot reach a later
//! process with the same number.
//!
//! On Linux, `/proc` and pidfds are used. On other systems `ps` is used: it is slower, shows no environments, and leaves a
//! moment in which a process id may be reused.

use crate::os::process_id::ProcessId;
use std::collections::{HashMap, HashSet};

use rustix::process::{Pid, Signal};

/// One process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProcessEntry {
    /// Its id.
    pub id: ProcessId,
    /// Its parent's number.
    pub parent: i32,
    /// Its session's number (elsewhere than on Linux: its process group's).
    pub session: i32,
    /// Its state: the letter that `ps` shows.
    pub state: char,
}

impl ProcessEntry {
    /// Whether it has ended and was not waited for yet.
    pub fn is_gone(&self) -> bool {
        matches!(self.state, 'Z' | 'X' | 'x')
    }

    /// Whether it is stopped by a signal or a tracer.
    pub fn is_stopped(&self) -> bool {
        matches!(self.state, 'T' | 't')
    }
}

/// All processes at one moment.
#[derive(Debug, Default)]
pub(crate) struct ProcessTable {
    all: Vec<ProcessEntry>,
}

impl ProcessTable {
    /// Reads the table. Processes that end meanwhile are left out.
    pub fn read() -> Self {
        Self { all: list() }
    }

    /// Every process.
    pub fn all(&self) -> &[ProcessEntry] {
        &self.all
    }

    /// The process with this number.
    pub fn get(&self, pid: i32) -> Option<&ProcessEntry> {
        self.all.iter().find(|process| process.id.pid == pid)
    }

    /// All descendants of `roots`, parents before children, without the roots themselves.
    pub fn descendants(&self, roots: &[i32]) -> Vec<ProcessEntry> {
        let mut children: HashMap<i32, Vec<&ProcessEntry>> = HashMap::new();
        for process in &self.all {
            children.entry(process.parent).or_default().push(process);
        }
        let mut seen: HashSet<i32> = roots.iter().copied().collect();
        let mut found = Vec::new();
        let mut next: Vec<i32> = roots.to_vec();
        while !next.is_empty() {
            let mut after = Vec::new();
            for child in next.iter().filter_map(|pid| children.get(pid)).flatten() {
                if seen.insert(child.id.pid) {
                    found.push(**child);
                    after.push(child.id.pid);
                }
            }
            next = after;
        }
        found
    }

    /// `pid` and all its ancestors, nearest first.
    pub fn lineage(&self, pid: i32) -> Vec<i32> {
        let mut line = vec![pid];
        let mut at = pid;
        while let Some(process) = self.get(at) {
            if process.parent <= 0 || line.contains(&process.parent) {
                break;
            }
            at = process.parent;
            line.push(at);
        }
        line
    }
}

/// The process id of this process.
pub(crate) fn own_pid() -> i32 {
    rustix::process::getpid().as_raw_nonzero().get()
}

/// Sends `signal` to exactly this process. Returns whether it was delivered: not where the process has ended.
pub(crate) fn send(to: ProcessId, signal: Signal) -> bool {
    let Some(pid) = Pid::from_raw(to.pid).filter(|pid| pid.as_raw_nonzero().get() > 1) else { return false };
    deliver(to, pid, signal)
}

#[cfg(target_os = "linux")]
fn deliver(to: ProcessId, pid: Pid, signal: Signal) -> bool {
    use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};
    match pidfd_open(pid, PidfdFlags::empty()) {
        // The descriptor pins the process: if the process with this number still has the same start time, it is the right
        // one.
        Ok(fd) => look(to.pid).is_some_and(|now| now.id == to) && pidfd_send_signal(&fd, signal).is_ok(),
        Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM | rustix::io::Errno::MFILE) => {
            look(to.pid).is_some_and(|now| now.id == to) && rustix::process::kill_process(pid, signal).is_ok()
        }
        Err(_) => false,
    }
}

#[cfg(not(target_os = "linux"))]
fn deliver(to: ProcessId, pid: Pid, signal: Signal) -> bool {
    look(to.pid).is_some_and(|now| now.id == to) && rustix::process::kill_process(pid, signal).is_ok()
}

/// The beginning of a file that the kernel makes when it is read: a line about a process, or the first words of a command line with
/// two paths. One call, where the standard library asks for its size and reads it in pieces.
#[cfg(target_os = "linux")]
pub(crate) fn of_kernel(path: &str) -> Option<Vec<u8>> {
    use rustix::fs::{CWD, Mode, OFlags};
    let file = axiom_base::files::open_at(CWD, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut text = vec![0; 3 * 4096];
    let length = rustix::io::retry_on_intr(|| rustix::io::read(&file, &mut text[..])).ok()?;
    text.truncate(length);
    Some(text)
}

/// The process with this number now.
#[cfg(target_os = "linux")]
pub(crate) fn look(pid: i32) -> Option<ProcessEntry> {
    parse_stat(&of_kernel(&format!("/proc/{pid}/stat"))?)
}

/// The process with this number now.
#[cfg(not(target_os = "linux"))]
pub(crate) fn look(pid: i32) -> Option<ProcessEntry> {
    list().into_iter().find(|process| process.id.pid == pid)
}

/// The descendants of a process as the kernel lists children, without a look at any other process; `None` where it does not
/// list them. One that is just being started may be missing.
#[cfg(target_os = "linux")]
pub(crate) fn offspring(of: i32) -> Option<Vec<ProcessEntry>> {
    let children = |pid: i32| {
        let threads = std::fs::read_dir(format!("/proc/{pid}/task")).ok()?;
        // A thread that ends meanwhile hands its children to another one.
        let lists: Vec<String> =
            threads.flatten().filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok()).collect();
        Some(lists).filter(|lists| !lists.is_empty())
    };
    let (mut found, mut seen, mut todo) = (Vec::new(), HashSet::new(), children(of)?);
    while let Some(list) = todo.pop() {
        for process in list.split_ascii_whitespace().filter_map(|pid| look(pid.parse().ok()?)) {
            if seen.insert(process.id) {
                found.push(process);
                // One that has ended meanwhile has none any more.
                todo.extend(children(process.id.pid).unwrap_or_default());
            }
        }
    }
    found.sort_unstable_by_key(|process: &ProcessEntry| process.id.pid);
    Some(found)
}

/// Other systems have no such lists.
#[cfg(not(target_os = "linux"))]
pub(crate) fn offspring(_of: i32) -> Option<Vec<ProcessEntry>> {
    None
}

#[cfg(target_os = "linux")]
fn list() -> Vec<ProcessEntry> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries.flatten().filter_map(|entry| look(entry.file_name().to_str()?.parse().ok()?)).collect()
}

#[cfg(not(target_os = "linux"))]
fn list() -> Vec<ProcessEntry> {
    let output = super::command::command("ps").args(["-axo", "pid=,ppid=,pgid=,state=,lstart="]).output();
    output.map(|output| parse_ps(&String::from_utf8_lossy(&output.stdout))).unwrap_or_default()
}

/// Reads a line of `/proc/<pid>/stat`. The program's name is in parentheses and may contain any character, parentheses too.
#[cfg(target_os = "linux")]
fn parse_stat(line: &[u8]) -> Option<ProcessEntry> {
    let line = String::from_utf8_lossy(line);
    let (pid, rest) = line.split_once(' ')?;
    let fields: Vec<&str> = rest.get(rest.rfind(')')? + 1..)?.split_ascii_whitespace().collect();
    Some(ProcessEntry {
        id: ProcessId { pid: pid.parse().ok()?, start: fields.get(19)?.parse().ok()? },
        state: fields.first()?.chars().next()?,
        parent: fields.get(1)?.parse().ok()?,
        session: fields.get(3)?.parse().ok()?,
    })
}

/// Parses the output of `ps -axo pid=,ppid=,pgid=,state=,lstart=`. The start is a hash of the printed time.
#[cfg(any(test, not(target_os = "linux")))]
fn parse_ps(text: &str) -> Vec<ProcessEntry> {
    let line = |line: &str| {
        let mut fields = line.split_ascii_whitespace();
        let mut number = || fields.next()?.parse::<i32>().ok();
        let (pid, parent, group) = (number()?, number()?, number()?);
        let state = fields.next()?.chars().next()?;
        let start = u64::from(crc32c::crc32c(fields.collect::<Vec<_>>().join(" ").as_bytes()));
        Some(ProcessEntry { id: ProcessId { pid, start }, parent, session: group, state })
    };
    text.lines().filter_map(line).collect()
}

/// Whether the environment that the process was started with has `NAME=value`. Always `false` where the environment cannot
/// be read (other users' processes, other systems than Linux).
pub(crate) fn started_with(pid: i32, assignment: &[u8]) -> bool {
    if !cfg!(target_os = "linux") {
        return false;
    }
    std::fs::read(format!("/proc/{pid}/environ")).is_ok_and(|all| all.split(|byte| *byte == 0).any(|var| var == assignment))
}

/// The command lines of all processes, from `ps`; empty where it fails.
pub(crate) fn command_lines() -> Vec<(i32, String)> {
    let output = super::command::command("ps").args(["-axww", "-o", "pid=,command="]).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let line = |line: &str| {
        let (pid, rest) = line.trim_start().split_once(' ')?;
        Some((pid.parse().ok()?, rest.to_owned()))
    };
    text.lines().filter_map(line).collect()
}

/// The processor time of all children of this process that were waited for, in milliseconds.
pub(crate) fn children_cpu_millis() -> Option<u64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.get(stat.rfind(')')? + 1..)?.split_ascii_whitespace().collect();
    let ticks = fields.get(13)?.parse::<u64>().ok()? + fields.get(14)?.parse::<u64>().ok()?;
    ticks.checked_mul(1000)?.checked_div(rustix::param::clock_ticks_per_second())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_in_the_table_below_its_parent() {
        let table = ProcessTable::read();
        let own = own_pid();
        let parent = table.get(own).unwrap().parent;
        assert!(table.lineage(own).contains(&parent));
        assert!(table.descendants(&[parent]).iter().any(|process| process.id.pid == own));
        assert_eq!(look(own).unwrap().id, table.get(own).unwrap().id);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_name_with_brackets_does_not_confuse() {
        let line = b"42 (a) R (b) S 7 42 9 0 -1 0 0 0 0 0 1 2 3 4 20 0 1 0 777 0";
        let expected = ProcessEntry { id: ProcessId { pid: 42, start: 777 }, parent: 7, session: 9, state: 'S' };
        assert_eq!(parse_stat(line), Some(expected));
    }

    #[test]
    fn ps_lines() {
        let read = parse_ps("  12   1  10 Ss   Sat Nov 21 22:00:01 2026\n  13  12  10 T+ Sat Nov 21 22:00:02 2026\nrubbish\n");
        assert_eq!(read.len(), 2);
        assert_eq!((read[1].id.pid, read[1].parent, read[1].session, read[1].state), (13, 12, 10, 'T'));
        assert_ne!(read[0].id.start, read[1].id.start);
    }

    #[test]
    fn a_number_that_was_reused_gets_no_signal() {
        let own = look(own_pid()).unwrap().id;
        assert!(!send(ProcessId { start: own.start + 1, ..own }, Signal::KILL));
        assert!(!send(ProcessId { pid: 1, start: 0 }, Signal::KILL));
    }
}
