//! Finding processes that were started with a certain variable, wherever they are in the process tree now.

use std::path::Path;

use axiom_base::platform;
use rustix::process::Signal;

use super::sys::{self, ProcessEntry};
use crate::os::process_id::ProcessId;

/// The running processes whose environment has `name=value`, except this one.
///
/// Where environments cannot be read, it finds the processes that have the folder `below` in their command line. Keepers are always
/// among them, but other processes may be missed.
pub fn started_with(name: &str, value: &str, below: &Path) -> Vec<i32> {
    find(name, value, below).iter().map(|process| process.pid).collect()
}

/// Sends SIGKILL to all processes that [`started_with`] finds. Returns to how many. Processes that are just being started
/// may be missed: call it again.
pub fn kill_started_with(name: &str, value: &str, below: &Path) -> usize {
    find(name, value, below).into_iter().filter(|process| sys::send(*process, Signal::KILL)).count()
}

fn find(name: &str, value: &str, below: &Path) -> Vec<ProcessId> {
    let marker = format!("{name}={value}").into_bytes();
    let found = platform::processes_started_with(&marker, below).into_iter().map(ProcessEntry::from);
    found.filter(|process| !process.is_gone() && process.id.pid != sys::own_pid()).map(|process| process.id).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use super::*;

    #[test]
    fn a_marked_process_is_found_and_ended() {
        let value = axiom_base::env::fresh_id();
        if !platform::has_in_environment(sys::own_pid(), b"PATH=") && platform::SYSTEM == "portable" {
            return;
        }
        let mut child = std::process::Command::new("sleep").arg("60").env("AXIOM_MARKED", &value).spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        // Between fork and exec the environment is still this process's own.
        let seen = (0..200).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            started_with("AXIOM_MARKED", &value, Path::new("/nowhere")) == [pid]
        });
        assert!(seen);
        assert!(started_with("AXIOM_MARKED", "other", Path::new("/nowhere")).is_empty());
        assert_eq!(kill_started_with("AXIOM_MARKED", &value, Path::new("/nowhere")), 1);
        assert!(!child.wait().unwrap().success());
        assert!(started_with("AXIOM_MARKED", &value, Path::new("/nowhere")).is_empty());
    }
}
