//! Waiting for what other processes record in the log. A watch only saves looks: without one, the caller looks as often as it
//! always could.

use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::time::Duration;

use super::handle::Context;
use axiom_base::error::Result;
use axiom_process::os::bell::{FolderTrigger, LONGEST, WakeListener};
pub use axiom_process::os::bell::{TerminalInput, WakeOutcome, WakeSender};

/// How often to look where nothing can be watched.
const LOOK: Duration = Duration::from_millis(25);

/// Waits for new events, again and again.
#[derive(Debug)]
pub struct LogEventWaiter {
    bell: Option<WakeListener>,
}

impl LogEventWaiter {
    /// Nothing is watched yet.
    pub fn begin() -> Self {
        Self { bell: WakeListener::new().ok() }
    }

    /// Waits until an event may have come, at most a second, and reads what has come. The first wait is short: what came before
    /// it was watched rings nothing.
    pub fn for_events(&mut self, ctx: &mut Context) -> Result<bool> {
        self.for_the_log(ctx);
        ctx.store.refresh()
    }

    /// Waits until an event may have come, at most a second, and reads nothing.
    pub fn for_the_log(&mut self, ctx: &Context) {
        self.for_the_log_or(ctx, Vec::new());
    }

    /// As [`LogEventWaiter::for_the_log`]; changes in these folders count too, as far as they exist.
    pub fn for_the_log_or(&mut self, ctx: &Context, mut folders: Vec<PathBuf>) {
        folders.retain(|folder| folder.is_dir());
        folders.push(ctx.layout().state_dir());
        self.for_changes(folders);
    }

    /// As [`LogEventWaiter::for_the_log_or`], at most this long; what is typed at a terminal ends the wait too.
    pub fn for_the_log_or_keys(
        &mut self,
        ctx: &Context,
        mut folders: Vec<PathBuf>,
        keys: BorrowedFd<'_>,
        most: Duration,
    ) -> WakeOutcome {
        folders.retain(|folder| folder.is_dir());
        folders.push(ctx.layout().state_dir());
        match &mut self.bell {
            None => {
                std::thread::sleep(LOOK);
                WakeOutcome { rang: true, input: TerminalInput::Ready }
            }
            Some(bell) => {
                let is_watched = bell.watch_only(folders.into_iter().map(|folder| (folder, FolderTrigger::Changes)).collect());
                bell.wait_or_read(if is_watched { most } else { LOOK.min(most) }, Some(keys))
            }
        }
    }

    /// For other threads: it ends a wait. `None` where nothing can ring.
    pub fn rope(&self) -> Option<WakeSender> {
        self.bell.as_ref().and_then(|bell| bell.rope().ok())
    }

    /// From now on this signal ends a wait, where that is possible.
    pub fn also_for(&self, signal: i32) {
        let _ = self.bell.as_ref().map(|bell| bell.ring_on(signal));
    }

    fn for_changes(&mut self, folders: Vec<PathBuf>) {
        match &mut self.bell {
            None => std::thread::sleep(LOOK),
            Some(bell) => {
                let is_watched = bell.watch_only(folders.into_iter().map(|folder| (folder, FolderTrigger::Changes)).collect());
                bell.wait(if is_watched { LONGEST } else { LOOK });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use std::time::Instant;

    use super::*;

    /// Also where nobody waits when it comes.
    #[test]
    fn what_changes_after_the_last_look_ends_the_next_wait() {
        if !axiom_base::platform::TELLS_CHANGES {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let mut waiting = LogEventWaiter::begin();
        let mut wait = || {
            let begun = Instant::now();
            waiting.for_changes(vec![dir.path().to_owned()]);
            begun.elapsed() < LONGEST
        };
        assert!(wait(), "the first wait is short");
        std::fs::write(dir.path().join("new"), "").unwrap();
        assert!(wait(), "it rings");
        assert!(!wait(), "and rings no more");
    }
}
