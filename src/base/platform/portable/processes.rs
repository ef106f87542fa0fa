//! Processes by `ps`: slower, and with a moment in which a process id may be used again.

#![allow(clippy::disallowed_methods)] // `ps` is the one program that this crate starts

use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal};

use crate::platform::unix::processes::RunningProcess;

/// Whether orphans of a process that wants it become its children.
pub const ADOPTS_ORPHANS: bool = false;

/// What is asked of `ps` of each process. Where `=` takes the rest of a word as a heading, each needs a word of its own.
const COLUMNS: [&str; 10] = ["-o", "pid=", "-o", "ppid=", "-o", "pgid=", "-o", "state=", "-o", "lstart="];

/// The most levels of processes that are looked up.
const MOST_ABOVE: usize = 256;

/// Not possible.
pub fn adopt_orphans() {}

/// Not possible: what it reads from its parent ends, and nothing else tells it.
pub fn end_with_parent() -> bool {
    false
}

/// Sends `signal` to this process, if its number still means it. Returns whether it was delivered.
pub fn send_exactly(pid: i32, start: u64, signal: Signal) -> bool {
    let Some(to) = Pid::from_raw(pid) else { return false };
    process(pid).is_some_and(|now| now.start == start) && rustix::process::kill_process(to, signal).is_ok()
}

/// What `ps` prints, and its own number. In the language and time zone that are always the same, whoever calls.
fn ps(arguments: &[&str]) -> Option<(String, i32)> {
    let mut command = Command::new("/bin/ps");
    command.args(arguments).env("LC_ALL", "C").env("TZ", "UTC").env_remove("PS_FORMAT").env_remove("PS_PERSONALITY");
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let own = i32::try_from(child.id()).ok()?;
    let output = child.wait_with_output().ok()?;
    Some((String::from_utf8_lossy(&output.stdout).into_owned(), own))
}

/// The process with this number now.
pub fn process(pid: i32) -> Option<RunningProcess> {
    let (text, _) = ps(&[&COLUMNS[..], &["-p", &pid.to_string()]].concat())?;
    parse_ps(&text).into_iter().find(|process| process.pid == pid)
}

/// Every process but the `ps` that lists them: it is a child of this one, and gone by now.
pub fn processes() -> Vec<RunningProcess> {
    let Some((text, own)) = ps(&[&["-ax"], &COLUMNS[..]].concat()) else { return Vec::new() };
    let mut all = parse_ps(&text);
    all.retain(|process| process.pid != own);
    all
}

/// The table has to be read.
pub fn offspring(_of: i32) -> Option<Vec<RunningProcess>> {
    None
}

/// Parses the output of `ps` with [`COLUMNS`]. The start is in seconds since 1970.
fn parse_ps(text: &str) -> Vec<RunningProcess> {
    let line = |line: &str| {
        let mut fields = line.split_ascii_whitespace();
        let mut number = || fields.next()?.parse::<i32>().ok();
        let (pid, parent, session) = (number()?, number()?, number()?);
        let state = fields.next()?.chars().next()?;
        // The day of the week says nothing more.
        let start = seconds_of(&fields.skip(1).collect::<Vec<_>>().join(" "))?;
        Some(RunningProcess { pid, start, parent, session, state })
    };
    text.lines().filter_map(line).collect()
}

/// Seconds since 1970 of a time as `ps` prints it: `Nov 21 22:00:01 2026`.
fn seconds_of(text: &str) -> Option<u64> {
    let time = jiff::fmt::strtime::parse("%b %d %H:%M:%S %Y", text).ok()?.to_datetime().ok()?;
    u64::try_from(time.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_second()).ok()
}

/// The running processes of this user whose environment has `NAME=value`, where `ps` shows it. It does so behind the command line: one
/// that has it as an argument counts too.
pub fn processes_started_with(assignment: &[u8]) -> Vec<RunningProcess> {
    let assignment = String::from_utf8_lossy(assignment);
    let lines = command_lines("axeww").into_iter().filter(|line| line.text.split(' ').any(|word| word == assignment));
    let marked: Vec<i32> = lines.map(|line| line.pid).collect();
    let all = if marked.is_empty() { Vec::new() } else { processes() };
    all.into_iter().filter(|process| marked.contains(&process.pid)).collect()
}

/// A process by its command line.
struct CommandLine {
    pid: i32,
    parent: i32,
    text: String,
}

/// What `ps` prints with these letters.
fn command_lines(which: &str) -> Vec<CommandLine> {
    let line = |line: &str| {
        let (pid, rest) = line.trim_start().split_once(' ')?;
        let (parent, text) = rest.trim_start().split_once(' ')?;
        Some(CommandLine { pid: pid.parse().ok()?, parent: parent.parse().ok()?, text: text.to_owned() })
    };
    let Some((text, own)) = ps(&[which, "-o", "pid=", "-o", "ppid=", "-o", "command="]) else { return Vec::new() };
    text.lines().filter_map(line).filter(|line| line.pid != own).collect()
}

/// The command lines of the processes above this one, nearest first; their words end with a zero. `ps` writes blanks between words: the
/// first three are told apart, what follows counts as one.
pub fn command_lines_above() -> Vec<Vec<u8>> {
    let all = command_lines("axww");
    let mut found = Vec::new();
    let mut above = rustix::process::getppid().map(|parent| parent.as_raw_nonzero().get());
    for _ in 0..MOST_ABOVE {
        let Some(pid) = above.filter(|pid| *pid > 1) else { break };
        let Some(line) = all.iter().find(|line| line.pid == pid) else { break };
        found.push(line.text.replacen(' ', "\0", 3).into_bytes());
        above = Some(line.parent);
    }
    found
}

/// The name of the program that a process runs.
pub fn process_name(pid: i32) -> Option<String> {
    let (text, _) = ps(&["-o", "comm=", "-p", &pid.to_string()])?;
    // Some systems print the whole path, and a `-` before the name of a login shell.
    let name = text.trim().rsplit('/').next()?.trim_start_matches('-');
    Some(name.to_owned()).filter(|name| !name.is_empty())
}

/// Unknown: what the request says is believed.
pub fn peer(_stream: &UnixStream) -> Option<i32> {
    None
}

/// Nobody shows who has files open.
pub fn examinable() -> Option<Vec<ExaminedProcess>> {
    None
}

/// A process whose files are looked at: there is none.
#[derive(Debug)]
pub struct ExaminedProcess {
    /// Its number.
    pub pid: i32,
}

impl ExaminedProcess {
    /// The name of its program.
    pub fn name(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Whether it has ended and only waits for its parent to collect it.
    pub fn is_zombie(&self) -> bool {
        false
    }

    /// Its arguments.
    pub fn words(&self) -> Vec<Vec<u8>> {
        Vec::new()
    }

    /// Its command line, and the environment that it was started with.
    pub fn words_and_environment(&self) -> [Vec<u8>; 2] {
        [Vec::new(), Vec::new()]
    }

    /// The files that it has open.
    pub fn open_files(&self) -> std::io::Result<Vec<PathBuf>> {
        Err(std::io::ErrorKind::Unsupported.into())
    }

    /// The folder in which it works.
    pub fn working_folder(&self) -> std::io::Result<PathBuf> {
        Err(std::io::ErrorKind::Unsupported.into())
    }

    /// Whether it is still in the table.
    pub fn is_there(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ps_lines() {
        let read = parse_ps("  12   1  10 Ss   Sat Nov 21 22:00:01 2026\n  13  12  10 T+ Sat Nov  1 22:00:02 2026\nrubbish\n");
        assert_eq!(read.len(), 2, "{read:?}");
        assert_eq!((read[1].pid, read[1].parent, read[1].session, read[1].state), (13, 12, 10, 'T'));
        assert_eq!(read[0].start, 1_795_298_401);
    }

    #[test]
    fn the_program_that_lists_them_is_none_of_them() {
        let own = rustix::process::getpid().as_raw_nonzero().get();
        let all = processes();
        assert!(all.iter().any(|process| process.pid == own), "{all:?}");
        // Other tests start it at the same moment, and it is gone before they go on.
        let is_left = |_: &i32| processes().iter().any(|process| process.parent == own && !matches!(process.state, 'Z'));
        assert!((0..50).any(|look| !is_left(&look)));
        assert_eq!(process(own).unwrap().start, all.iter().find(|process| process.pid == own).unwrap().start);
        assert!(process_name(own).is_some() && !command_lines_above().is_empty());
    }

    #[test]
    fn a_number_that_was_used_again_gets_no_signal() {
        let own = process(rustix::process::getpid().as_raw_nonzero().get()).unwrap();
        assert!(!send_exactly(own.pid, own.start + 1, Signal::KILL));
    }
}
