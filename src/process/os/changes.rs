//! What changes in watched folders, as the system tells it, and waiting for it or for a signal. Where the system tells nothing (another
//! system, no watches left), [`FolderWatcher::watch`] says so, and the caller has to look by itself.

use std::ffi::OsString;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use axiom_base::error::{Code, Error, Result};

/// A number of the system for a watched folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct WatchedFolderId(i32);

/// Something that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FolderChange {
    /// An entry of a folder came, or was changed.
    There {
        /// The folder.
        folder: WatchedFolderId,
        /// The name of the entry.
        name: OsString,
        /// Whether the entry is a folder.
        is_folder: bool,
        /// Whether it was not there before under this name.
        is_new: bool,
    },
    /// An entry of a folder went.
    Gone {
        /// The folder.
        folder: WatchedFolderId,
        /// The name of the entry.
        name: OsString,
        /// Whether the entry was a folder.
        is_folder: bool,
    },
    /// A watched folder is no longer watched: it was deleted.
    Ended(WatchedFolderId),
    /// A watched folder has another place now.
    Moved(WatchedFolderId),
    /// So much changed that the system did not keep all of it.
    Lost,
}

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
        Ok(Self { watches: sys::start(), heard, rope })
    }

    /// From now on a signal ends a wait, and no longer this process.
    pub fn wake_on(&self, signal: i32) -> Result<()> {
        let rope = self.rope.try_clone().map_err(|e| failed().because(e))?;
        signal_hook::low_level::pipe::register(signal, rope).map(drop).map_err(|e| failed().because(e))
    }

    /// Watches the entries of a folder, which is no link; the same folder has the same number. `None` where that cannot be done.
    pub fn watch(&self, folder: &Path) -> Option<WatchedFolderId> {
        sys::add(self.watches.as_ref()?, folder).map(WatchedFolderId)
    }

    /// Watches a folder no more.
    pub fn forget(&self, folder: WatchedFolderId) {
        if let Some(watches) = &self.watches {
            sys::remove(watches, folder.0);
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
        self.watches.as_ref().map(sys::read).unwrap_or_default()
    }
}

/// How many folders the user of this process may watch on this machine: the system's limit, or that of the user namespace.
pub fn of_user() -> u64 {
    let limit = |file: &str| std::fs::read_to_string(file).ok()?.trim().parse::<u64>().ok();
    let all = ["/proc/sys/fs/inotify/max_user_watches", "/proc/sys/user/max_inotify_watches"].into_iter().filter_map(limit);
    all.min().unwrap_or(0)
}

fn failed() -> Error {
    Error::new(Code::IoFailed, "cannot wait for changes")
}

#[cfg(target_os = "linux")]
mod sys {
    use std::ffi::OsStr;
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    use rustix::fs::inotify::{self, CreateFlags, Event, ReadFlags, Reader, WatchFlags};

    use super::{FolderChange, WatchedFolderId};

    pub(super) fn start() -> Option<OwnedFd> {
        inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()
    }

    pub(super) fn add(watches: &OwnedFd, path: &Path) -> Option<i32> {
        let entries = WatchFlags::CREATE
            | WatchFlags::MOVED_TO
            | WatchFlags::DELETE
            | WatchFlags::MOVED_FROM
            | WatchFlags::MODIFY
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::ATTRIB;
        let itself = WatchFlags::MOVE_SELF | WatchFlags::ONLYDIR | WatchFlags::DONT_FOLLOW | WatchFlags::EXCL_UNLINK;
        inotify::add_watch(watches, path, entries | itself).ok()
    }

    pub(super) fn remove(watches: &OwnedFd, watch: i32) {
        // One whose folder is gone is gone already.
        let _ = inotify::remove_watch(watches, watch);
    }

    pub(super) fn read(watches: &OwnedFd) -> Vec<FolderChange> {
        let mut buffer = [const { MaybeUninit::<u8>::uninit() }; 16 * 1024];
        let mut reader = Reader::new(watches, &mut buffer);
        let mut all = Vec::new();
        while let Ok(event) = reader.next() {
            all.extend(change(&event));
        }
        all
    }

    fn change(event: &Event<'_>) -> Option<FolderChange> {
        let (flags, folder) = (event.events(), WatchedFolderId(event.wd()));
        if flags.contains(ReadFlags::QUEUE_OVERFLOW) {
            return Some(FolderChange::Lost);
        }
        if flags.contains(ReadFlags::IGNORED) {
            return Some(FolderChange::Ended(folder));
        }
        if flags.contains(ReadFlags::MOVE_SELF) {
            return Some(FolderChange::Moved(folder));
        }
        // Without a name it is about the folder itself, of which the folder above tells.
        let name = OsStr::from_bytes(event.file_name()?.to_bytes()).to_owned();
        let is_folder = flags.contains(ReadFlags::ISDIR);
        let is_new = flags.intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO);
        match flags.intersects(ReadFlags::DELETE | ReadFlags::MOVED_FROM) {
            true => Some(FolderChange::Gone { folder, name, is_folder }),
            false => Some(FolderChange::There { folder, name, is_folder, is_new }),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod sys {
    use std::os::fd::OwnedFd;
    use std::path::Path;

    use super::FolderChange;

    pub(super) fn start() -> Option<OwnedFd> {
        None
    }

    pub(super) fn add(_watches: &OwnedFd, _path: &Path) -> Option<i32> {
        None
    }

    pub(super) fn remove(_watches: &OwnedFd, _watch: i32) {}

    pub(super) fn read(_watches: &OwnedFd) -> Vec<FolderChange> {
        Vec::new()
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use super::*;

    #[test]
    fn what_comes_changes_and_goes_is_told_with_its_name() {
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
