//! The index of a worktree at one moment, and whether its stat data prove a file unchanged.

use std::ops::Range;

use gix::index::entry::Mode;
use rustix::fs::{FileType, Stat};

use crate::capture::file_stat::FileStat;
use crate::index::file;
use crate::repo::repository::Repository;
use crate::repo::shortcuts::FastWay;
use crate::repo::shortcuts::read::forbidding_part;
use crate::repo::worktrees::Worktree;

/// How many nanoseconds older than the index a file must be to count as unchanged: file systems round times, some to 10 ms.
const MARGIN: i64 = 100_000_000;

const NANOS: i64 = 1_000_000_000;

/// An index that lists plain files and links only.
pub(super) struct LiveIndex {
    file: gix::index::File,
    /// When the index file was written, in nanoseconds since 1970.
    written: i64,
    empty_blob: gix::ObjectId,
}

impl LiveIndex {
    /// Reads the index; `None` if there is none, or if it holds more than plain entries.
    pub fn read(repository: &Repository, worktree: &Worktree) -> Option<Self> {
        let hash = repository.hash().gix();
        let file = file::read(repository, &worktree.index_file())?;
        if forbidding_part(FastWay::CaptureFiles, &file).is_some() {
            return None;
        }
        let time = file.timestamp();
        let written = time.unix_seconds().checked_mul(NANOS)?.checked_add(i64::from(time.nanoseconds()))?;
        Some(Self { file, written, empty_blob: gix::ObjectId::empty_blob(hash) })
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.file.entries().len()
    }

    /// The path of an entry.
    pub fn path(&self, number: usize) -> &[u8] {
        self.file.entries()[number].path(&self.file)
    }

    /// The mode of an entry.
    pub fn mode(&self, number: usize) -> u32 {
        self.file.entries()[number].mode.bits()
    }

    /// The blob of an entry.
    pub fn id(&self, number: usize) -> &gix::oid {
        &self.file.entries()[number].id
    }

    /// The stat data of an entry's file, as they were when git last looked at it.
    pub fn stat(&self, number: usize) -> FileStat {
        FileStat::of_entry(&self.file.entries()[number].stat)
    }

    /// The cached trees of the index.
    pub fn cached_trees(&self) -> Option<&gix::index::extension::Tree> {
        self.file.tree()
    }

    /// The end of the entries at the beginning of `within` whose paths begin with `prefix`.
    pub fn run_end(&self, within: Range<usize>, prefix: &[u8]) -> usize {
        let entries = &self.file.entries()[within.clone()];
        within.start + entries.partition_point(|entry| entry.path(&self.file).starts_with(prefix))
    }

    /// The entry of exactly this path.
    pub fn find(&self, path: &[u8]) -> Option<usize> {
        self.file.entries().binary_search_by(|entry| entry.path(&self.file).cmp(path.into())).ok()
    }

    /// The entries below a path.
    pub fn below(&self, path: &[u8]) -> Range<usize> {
        let prefix = [path, b"/"].concat();
        let entries = self.file.entries();
        let start = entries.partition_point(|entry| entry.path(&self.file) < prefix.as_slice());
        start..self.run_end(start..entries.len(), &prefix)
    }

    /// Whether one of the entries `within`, whose paths have their first `skip` bytes in common, continues with exactly
    /// `name`.
    pub fn has_file(&self, within: Range<usize>, skip: usize, name: &[u8]) -> bool {
        self.file.entries()[within].binary_search_by(|entry| entry.path(&self.file)[skip..].cmp(name.into())).is_ok()
    }

    /// Whether the file on disk certainly is what the entry says: everything that a change would affect is the same, and the
    /// index was written later than the file. Stat data that git may be configured to ignore are compared too: if in doubt,
    /// the file is only read once more.
    pub fn is_unchanged(&self, number: usize, now: &Stat) -> bool {
        let entry = &self.file.entries()[number];
        let kind = FileType::from_raw_mode(now.st_mode);
        let mode = match kind {
            FileType::RegularFile if now.st_mode & 0o100 != 0 => Mode::FILE_EXECUTABLE,
            FileType::RegularFile => Mode::FILE,
            FileType::Symlink => Mode::SYMLINK,
            FileType::Directory
            | FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => return false,
        };
        let then = &entry.stat;
        // An index keeps the low 32 bits; nanoseconds that it does not keep are 0.
        let same_time = |time: gix::index::entry::stat::Time, now: (i64, i64)| {
            i64::from(time.secs) == now.0 & 0xffff_ffff && (time.nsecs == 0 || i64::from(time.nsecs) == now.1)
        };
        let (modified, changed) = times(now);
        // git sets the size to 0 if it could not be sure of an entry.
        let marked = then.size == 0 && entry.id != self.empty_blob;
        entry.mode == mode
            && !marked
            && i64::from(then.size) == now.st_size
            && same_time(then.mtime, modified)
            && same_time(then.ctime, changed)
            && u64::from(then.ino) == now.st_ino & 0xffff_ffff
            && then.uid == now.st_uid
            && then.gid == now.st_gid
            && !self.is_racy(then.mtime.nsecs, modified)
    }

    /// Whether a file may have changed after the index was written without a visible change of its time.
    fn is_racy(&self, kept_nsecs: u32, (secs, nsecs): (i64, i64)) -> bool {
        if kept_nsecs == 0 {
            return secs >= self.written.div_euclid(NANOS);
        }
        secs.saturating_mul(NANOS).saturating_add(nsecs).saturating_add(MARGIN) >= self.written
    }
}

/// When a file's content and its inode were changed: seconds and nanoseconds. Their types differ between systems.
#[allow(clippy::unnecessary_cast)]
fn times(stat: &Stat) -> ((i64, i64), (i64, i64)) {
    ((stat.st_mtime as i64, stat.st_mtime_nsec as i64), (stat.st_ctime as i64, stat.st_ctime_nsec as i64))
}
