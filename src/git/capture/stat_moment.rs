//! Whose stat data prove later that a file is as it was read: the one rule for everything that is remembered of files.
//!
//! A file is believed to be what it was if its size, both of its times, its number and its file system are as they were, whatever git is
//! configured to ignore of these. That holds only if a change certainly changes one of them. So nothing is remembered of
//!
//! - a file whose times are as young as the look at it, or in the future: a change in the same moment would not show (git calls such
//!   files racy, and reads them again);
//! - a file on a file system that is not known to keep the time at which a file was changed and its number, or where a probe shows that
//!   it does not: there an edit whose time is set back does not show.

use std::cell::OnceCell;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use axiom_base::error::{Error, Result};
use axiom_base::{files, platform};

use super::file_stat::{FileStat, SeenFile};
use crate::repo::own_scratch::ScratchFolder;
use crate::repo::repository::Repository;

/// The moment before files are read, by the clock of the file system.
pub(crate) struct StatMoment {
    /// In nanoseconds since 1970.
    now: i128,
    scratch: ScratchFolder,
    /// The file system that was probed; `None` where it is not reliable.
    device: OnceCell<Option<u64>>,
}

impl StatMoment {
    /// Begins before anything is read.
    pub fn begin(repository: &Repository) -> Result<Self> {
        let scratch = repository.scratch_folders().make()?;
        let meta = scratch.path().metadata().map_err(|e| Error::io("access", scratch.path(), e))?;
        let now = i128::from(meta.mtime()) * 1_000_000_000 + i128::from(meta.mtime_nsec());
        Ok(Self { now, scratch, device: OnceCell::new() })
    }

    /// Whether the stat data of a file that is looked at from now on tell it apart from what will be in its place.
    pub fn is_past(&self, stat: &FileStat) -> bool {
        stat.is_older_than(self.now)
    }

    /// As [`StatMoment::is_past`], where that is all that shows that a file need not be read.
    pub fn proves(&self, seen: &SeenFile) -> bool {
        self.is_past(&seen.stat) && self.device() == Some(seen.device)
    }

    /// The file system whose stat data can be believed.
    fn device(&self) -> Option<u64> {
        *self.device.get_or_init(|| reliable_device(self.scratch.path(), self.now))
    }
}

/// The file system of a folder, if it keeps when a file was changed even though the file's time is set back.
fn reliable_device(folder: &Path, now: i128) -> Option<u64> {
    if !platform::keeps_times(folder) {
        return None;
    }
    let probe = folder.join("probe");
    files::write_scratch(&probe, b"").ok()?;
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    if !files::set_times(&probe, long_ago) {
        return None;
    }
    let meta = probe.symlink_metadata().ok()?;
    let changed = i128::from(meta.ctime()) * 1_000_000_000 + i128::from(meta.ctime_nsec());
    (meta.mtime() == 1_000_000_000 && changed >= now).then(|| meta.dev())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use super::*;
    use crate::repo::scratch::ScratchRepository;

    #[test]
    fn old_files_of_the_own_file_system_are_proved_and_others_are_not() {
        let scratch = ScratchRepository::new(&[]);
        let seen = |path: &str| SeenFile::of(&scratch.path().join(path).symlink_metadata().unwrap());
        std::thread::sleep(Duration::from_millis(250));
        let moment = StatMoment::begin(&scratch.repo()).unwrap();
        assert!(moment.proves(&seen("a.txt")));
        assert!(!moment.proves(&SeenFile { device: seen("a.txt").device + 1, ..seen("a.txt") }), "on another file system");
        scratch.write("young", b"y");
        assert!(!moment.proves(&seen("young")));
        let later = SystemTime::now() + Duration::from_secs(3600);
        files::set_modified(&scratch.path().join("a.txt"), later).unwrap();
        assert!(!moment.proves(&seen("a.txt")), "in the future");
    }

    #[test]
    fn a_file_system_of_the_kernel_that_keeps_no_times_is_not_reliable() {
        // Its files have no times of their own.
        assert_eq!(reliable_device(Path::new("/proc/self"), 0), None);
        let folder = tempfile::tempdir().unwrap();
        assert!(reliable_device(folder.path(), 0).is_some(), "where tests run");
        assert_eq!(reliable_device(folder.path(), i128::MAX), None, "the time of the change is not kept");
    }
}
