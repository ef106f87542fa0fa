//! What changes in watched folders, as the system tells it, and waiting for it or for a signal. Where the system tells nothing (another
//! system, no watches left), [`FolderWatcher::watch`] says so, and the caller has to look by itself.

use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use axiom_base::error::{Code, Error, Result};
use axiom_base::platform;
pub use axiom_base::platform::{FolderChange, WatchedFolderId};

/// Why a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WakeReason {
    /// Something changed.
    Changed,
    /// A signal came.
    Signal,
    /// The time is over.
    Elapsed,
}

/// The watched folders of this process.
#[derive(Debug)]
pub struct FolderWatcher {
    watches: Option<OwnedFd>,
    heard: UnixStream,
    rope: UnixStream,
}

impl FolderWatcher {
    /// Watches nothing yet.
    pub fn new() -> Result<Self> {
        let pair = UnixStream::pair().and_then(|(heard, rope)| {
            heard.set_nonblocking(true)?;
            rope.set_nonblocking(true)?;
            Ok((heard, rope))
        });
        let (heard, rope) = pair.map_err(|e| failed().because(e))?;
        Ok(Self { watches: platform::start_watching(), heard, rope })
    }

    /// From now on a signal ends a wait, and no longer this process.
    pub fn wake_on(&self, signal: i32) -> Result<()> {
        let rope = self.rope.try_clone().map_err(|e| failed().because(e))?;
        signal_hook::low_level::pipe::register(signal, rope).map(drop).map_err(|e| failed().because(e))
    }

    /// Watches the entries of a folder, which is no link; the same folder has the same number. `None` where that cannot be done.
    pub fn watch(&self, folder: &Path) -> Option<WatchedFolderId> {
        platform::watch_entries(self.watches.as_ref()?, folder)
    }

    /// Watches a folder no more.
    pub fn forget(&self, folder: WatchedFolderId) {
        if let Some(watches) = &self.watches {
            platform::forget_watch(watches, folder.0);
        }
    }

    /// Waits until something changes or a signal comes, at most this long.
    pub fn wait(&self, most: Duration) -> WakeReason {
        let seconds = i64::try_from(most.as_secs()).unwrap_or(i64::MAX);
        let timeout = Timespec { tv_sec: seconds, tv_nsec: i64::from(most.subsec_nanos()) };
        let mut polled = vec![PollFd::from_borrowed_fd(self.heard.as_fd(), PollFlags::IN)];
        polled.extend(self.watches.iter().map(|watches| PollFd::from_borrowed_fd(watches.as_fd(), PollFlags::IN)));
        let rang = poll(&mut polled, Some(&timeout));
        let mut bytes = [0; 64];
        match rang {
            _ if matches!((&self.heard).read(&mut bytes), Ok(1..)) => WakeReason::Signal,
            Ok(1..) => WakeReason::Changed,
            Ok(0) | Err(_) => WakeReason::Elapsed,
        }
    }

    /// All that has changed since the last call.
    pub fn read(&self) -> Vec<FolderChange> {
        self.watches.as_ref().map(platform::read_changes).unwrap_or_default()
    }
}

fn failed() -> Error {
    Error::new(Code::IoFailed, "cannot wait for changes")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use std::ffi::OsString;

    use super::*;

    #[test]
    fn what_comes_changes_and_goes_is_told_with_its_name() {
        if !platform::TELLS_CHANGES {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let changes = FolderWatcher::new().unwrap();
        let folder = changes.watch(dir.path()).unwrap();
        assert_eq!(changes.watch(dir.path()), Some(folder));
        assert_eq!(changes.wait(Duration::ZERO), WakeReason::Elapsed);
        let (file, sub) = (dir.path().join("a"), dir.path().join("d"));
        std::fs::write(&file, "x").unwrap();
        assert_eq!(changes.wait(Duration::from_secs(10)), WakeReason::Changed);
        let name = |name: &str| OsString::from(name);
        let there = |what: &str, is_folder, is_new| FolderChange::There { folder, name: name(what), is_folder, is_new };
        let told = changes.read();
        assert!(told.starts_with(&[there("a", false, true), there("a", false, false)]), "{told:?}");
        std::fs::create_dir(&sub).unwrap();
        assert_eq!(changes.read(), [there("d", true, true)]);
        std::fs::remove_dir(&sub).unwrap();
        std::fs::remove_file(&file).unwrap();
        let gone = |what: &str, is_folder| FolderChange::Gone { folder, name: name(what), is_folder };
        assert_eq!(changes.read(), [gone("d", true), gone("a", false)]);
        let place = dir.path().with_extension("moved");
        std::fs::rename(dir.path(), &place).unwrap();
        assert_eq!(changes.read(), [FolderChange::Moved(folder)]);
        std::fs::rename(&place, dir.path()).unwrap();
        changes.read();
        changes.forget(folder);
        assert_eq!(changes.read(), [FolderChange::Ended(folder)]);
        std::os::unix::fs::symlink("nowhere", &file).unwrap();
        assert_eq!((changes.read(), changes.watch(&file)), (vec![], None));
    }
}
