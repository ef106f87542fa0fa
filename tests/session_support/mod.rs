//! The basis of tests of whole sessions: supervisors in the background, the user's files, and remaining processes.
//!
//! Agents are shell scripts, and processes are real. Everything that a test starts has the test's home folder in its
//! environment, so that every process that a session leaves can be found, whatever its parent is.

#![allow(dead_code, clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod live;
mod world;

use std::path::Path;
use std::time::{Duration, Instant};

#[allow(unused_imports)] // as below
pub use crate::common::random::Random;
#[allow(unused_imports)] // as below
pub use live::{Ended, Live};
#[allow(unused_imports)] // not every file that uses this needs both
pub use world::{UsersThings, World};

/// How long a test waits at most: a machine that is used for other things too takes ten times longer than one at rest.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// Waits until `holds` returns true; panics with `what` after [`PATIENCE`].
#[track_caller]
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Calls `each` for all of `work`, four at a time: sessions mostly wait for disks and agents.
pub fn several_at_a_time<T: Send>(work: Vec<T>, each: impl Fn(T) + Sync) {
    let work = std::sync::Mutex::new(work);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let Some(next) = work.lock().unwrap().pop() else { break };
                    each(next);
                }
            });
        }
    });
}

/// Processes that were started with this home: their process id and command line. Zombies are not included.
pub fn processes_of(home: &Path) -> Vec<(i32, String)> {
    let marker = format!("HOME={}", home.display()).into_bytes();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        if environment.split(|byte| *byte == 0).any(|variable| variable == marker) {
            let words = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            found.push((pid, String::from_utf8_lossy(&words).replace('\0', " ")));
        }
    }
    found
}

/// Sends SIGKILL. Returns whether there was such a process.
pub fn kill(pid: i32) -> bool {
    signal(pid, rustix::process::Signal::KILL)
}

/// Sends a signal. Returns whether there was such a process.
pub fn signal(pid: i32, signal: rustix::process::Signal) -> bool {
    rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), signal).is_ok()
}
