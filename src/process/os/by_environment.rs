//! Finding processes that were started with a certain variable, wherever they are in the process tree now.

use std::path::Path;

use rustix::process::Signal;

use super::sys::{self, ProcessTable};
use crate::os::process_id::ProcessId;

/// The running processes whose environment has `name=value`, except this one.
///
/// On other systems than Linux, environments cannot be read: there it finds the processes that have the folder `below` in
/// their command line. Keepers are always among them, but other processes may be missed.
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
    let table = ProcessTable::read();
    let living = table.all().iter().filter(|process| !process.is_gone() && process.id.pid != sys::own_pid());
    if cfg!(target_os = "linux") {
        living.filter(|process| sys::started_with(process.id.pid, &marker)).map(|process| process.id).collect()
    } else {
        let lines = sys::command_lines();
        let below = below.to_string_lossy().into_owned();
        let named = |pid: i32| lines.iter().any(|(of, line)| *of == pid && line.contains(&below));
        living.filter(|process| named(process.id.pid)).map(|process| process.id).collect()
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use super::*;

    #[test]
    fn a_marked_process_is_found_and_ended() {
        let value = axiom_base::env::fresh_id();
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
