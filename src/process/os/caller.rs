//! The program that has called this one, past the shells between.

use rustix::process::Signal;

use super::sys;
use crate::os::process_id::ProcessId;

/// The most shells that are passed.
const MOST: usize = 8;

/// The nearest process above this one that is no shell; `None` where the system does not show it.
pub fn caller() -> Option<ProcessId> {
    let mut pid = sys::look(sys::own_pid())?.parent;
    for _ in 0..MOST {
        let process = sys::look(pid).filter(|process| process.id.pid > 1)?;
        let name = axiom_base::platform::process_name(pid).unwrap_or_default();
        if !matches!(name.as_str(), "sh" | "bash" | "dash" | "zsh" | "ash" | "fish" | "git" | "timeout") {
            return Some(process.id);
        }
        pid = process.parent;
    }
    None
}

/// Asks a process of git axiom to end, as a closed terminal would. The caller knows that the number is still that of this process.
pub fn ask_to_end(pid: i32) {
    if let Some(process) = sys::look(pid) {
        sys::send(process.id, Signal::TERM);
    }
}
