//! Processes by libproc.

use std::os::unix::net::UnixStream;

use rustix::process::{Pid, Signal};

use super::of_kernel;
pub use crate::platform::portable::processes::{
    ADOPTS_ORPHANS, ExaminedProcess, adopt_orphans, end_with_parent, examinable, offspring,
};
use crate::platform::unix::processes::RunningProcess;

/// The most levels of processes that are looked up.
const MOST_ABOVE: usize = 256;

/// Sends `signal` to this process, if its number still means it. Returns whether it was delivered.
pub fn send_exactly(pid: i32, start: u64, signal: Signal) -> bool {
    let Some(to) = Pid::from_raw(pid) else { return false };
    process(pid).is_some_and(|now| now.start == start) && rustix::process::kill_process(to, signal).is_ok()
}

/// The process with this number now. It started so many microseconds after the beginning of 1970.
pub fn process(pid: i32) -> Option<RunningProcess> {
    let found = of_kernel::process(pid)?;
    let state = match found.pbi_status {
        libc::SSTOP => 'T',
        libc::SZOMB => 'Z',
        _ => 'S',
    };
    Some(RunningProcess {
        pid,
        start: found.pbi_start_tvsec.checked_mul(1_000_000)?.checked_add(found.pbi_start_tvusec)?,
        parent: i32::try_from(found.pbi_ppid).ok()?,
        session: i32::try_from(found.pbi_pgid).ok()?,
        state,
    })
}

/// Every process that this user may look at.
pub fn processes() -> Vec<RunningProcess> {
    of_kernel::pids().into_iter().filter(|pid| *pid > 0).filter_map(process).collect()
}

/// The arguments and, after them, the environment that a process was started with.
fn words(pid: i32) -> Option<(Vec<Vec<u8>>, Vec<Vec<u8>>)> {
    let all = of_kernel::arguments(pid)?;
    let many = usize::try_from(i32::from_ne_bytes(all.get(..4)?.try_into().ok()?)).ok()?;
    // The path of the program, with zeros up to the first argument.
    let rest = all.get(4..)?;
    let end = rest.iter().position(|byte| *byte == 0)?;
    let begin = end + rest[end..].iter().position(|byte| *byte != 0)?;
    let mut words: Vec<Vec<u8>> = rest[begin..].split(|byte| *byte == 0).map(<[u8]>::to_vec).collect();
    let environment = words.split_off(many.min(words.len()));
    Some((words, environment))
}

/// Whether the environment that the process was started with has `NAME=value`. `false` where it cannot be read: processes of other
/// users, and programs of the system, which it protects.
fn has_in_environment(pid: i32, assignment: &[u8]) -> bool {
    words(pid).is_some_and(|(_, environment)| environment.iter().any(|variable| variable == assignment))
}

/// The running processes whose environment has `NAME=value`.
pub fn processes_started_with(assignment: &[u8]) -> Vec<RunningProcess> {
    processes().into_iter().filter(|process| has_in_environment(process.pid, assignment)).collect()
}

/// The command lines of the processes above this one, nearest first; their words end with a zero.
pub fn command_lines_above() -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    let mut above = rustix::process::getppid().map(|parent| parent.as_raw_nonzero().get());
    for _ in 0..MOST_ABOVE {
        let Some(pid) = above.filter(|pid| *pid > 1) else { break };
        found.extend(words(pid).map(|(words, _)| words.join(&0)));
        above = process(pid).map(|process| process.parent);
    }
    found
}

/// The name of the program that a process runs.
pub fn process_name(pid: i32) -> Option<String> {
    let name = of_kernel::text(&of_kernel::process(pid)?.pbi_comm);
    Some(String::from_utf8_lossy(&name).into_owned()).filter(|name| !name.is_empty())
}

/// The process at the other end.
pub fn peer(stream: &UnixStream) -> Option<i32> {
    of_kernel::peer(stream)
}
