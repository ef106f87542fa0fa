//! Finding processes that were started with a certain variable, wherever they are in the process tree now.

use rustix::process::Signal;

use super::sys;
use crate::os::process_id::ProcessId;

/// The running processes whose environment has `name=value`, except this one.
pub fn started_with(name: &str, value: &str) -> Vec<i32> {
    find(name, value).iter().map(|process| process.pid).collect()
}

/// Sends SIGKILL to all processes that [`started_with`] finds. Returns to how many. Processes that are just being started
/// may be missed: call it again.
pub fn kill_started_with(name: &str, value: &str) -> usize {
    find(name, value).into_iter().filter(|process| sys::send(*process, Signal::KILL)).count()
}

fn find(name: &str, value: &str) -> Vec<ProcessId> {
    let found = sys::started_with(format!("{name}={value}").as_bytes()).into_iter().map(|process| process.id);
    found.filter(|process| process.pid != sys::own_pid()).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use super::*;

    #[test]
    fn a_marked_process_is_found_and_ended() {
        if std::env::var_os("AXIOM_MARKED").is_some() {
            std::thread::sleep(std::time::Duration::from_secs(60));
            return;
        }
        let value = axiom_base::env::fresh_id();
        // This very program: macOS shows nobody the environment of those that came with it.
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "os::by_environment::tests::a_marked_process_is_found_and_ended"]);
        let mut child = command.env("AXIOM_MARKED", &value).stdout(std::process::Stdio::null()).spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        // Between fork and exec the environment is still this process's own.
        let seen = (0..200).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            started_with("AXIOM_MARKED", &value) == [pid]
        });
        assert!(seen);
        assert!(started_with("AXIOM_MARKED", "other").is_empty());
        assert_eq!(kill_started_with("AXIOM_MARKED", &value), 1);
        assert!(!child.wait().unwrap().success());
        assert!(started_with("AXIOM_MARKED", &value).is_empty());
    }
}
