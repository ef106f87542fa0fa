//! Waiting for children of this process, among them such as it has adopted.

use rustix::process::{Pid, WaitOptions, WaitStatus};

use axiom_base::platform;

/// Waits for ended children: the program, and orphans that this process has adopted.
#[derive(Debug)]
pub(crate) struct ChildReaper {
    pub program: Option<Pid>,
    pub status: Option<WaitStatus>,
}

/// Waits for those children of this process that have ended and that nobody else waits for: it has no others just now.
pub fn collect_ended() {
    while let Ok(Some(_)) = rustix::process::wait(WaitOptions::NOHANG) {}
}

impl ChildReaper {
    /// Where this process adopts orphans, all that have ended. Elsewhere there is only the program: other children, such as `ps`, are
    /// left to their `Command`.
    pub fn collect(&mut self) {
        if platform::ADOPTS_ORPHANS {
            while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
                if Some(pid) == self.program {
                    self.status = Some(status);
                }
            }
        } else if let (None, Some(pid)) = (self.status, self.program)
            && let Ok(Some((_, status))) = rustix::process::waitpid(Some(pid), WaitOptions::NOHANG)
        {
            self.status = Some(status);
        }
    }
}
