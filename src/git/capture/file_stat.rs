//! Stat data by which a file is told apart from what was or will be in its place.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

use rustix::fs::{FileType, Stat};

/// How many nanoseconds old a file must be before its times distinguish it from its successor.
const OLD: i128 = 100_000_000;
/// The same for file systems that store whole seconds only.
const OLD_IN_SECONDS: i128 = 2_000_000_000;

/// Stat data that distinguish a file from what was or will be in its place, as far as an index keeps them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct FileStat {
    pub size: u32,
    pub(super) modified: (u32, u32),
    pub(super) changed: (u32, u32),
    pub(super) inode: u32,
}

impl FileStat {
    pub fn of(meta: &Metadata) -> Self {
        let bits = |number: i64| Self::low_bits(number.cast_unsigned());
        Self {
            size: Self::low_bits(meta.size()),
            modified: (bits(meta.mtime()), bits(meta.mtime_nsec())),
            changed: (bits(meta.ctime()), bits(meta.ctime_nsec())),
            inode: Self::low_bits(meta.ino()),
        }
    }

    pub fn of_entry(stat: &gix::index::entry::Stat) -> Self {
        let time = |time: gix::index::entry::stat::Time| (time.secs, time.nsecs);
        Self { size: stat.size, modified: time(stat.mtime), changed: time(stat.ctime), inode: stat.ino }
    }

    /// The low 32 bits: what an index keeps of a number.
    pub fn low_bits(number: u64) -> u32 {
        (number & 0xffff_ffff) as u32
    }

    /// Whether the file is so much older than `moment` that any later change also changes its times. `moment` is in
    /// nanoseconds since 1970.
    pub fn is_older_than(&self, moment: i128) -> bool {
        let is_old = |(seconds, nanos): (u32, u32)| {
            let margin = if nanos == 0 { OLD_IN_SECONDS } else { OLD };
            i128::from(seconds) * 1_000_000_000 + i128::from(nanos) + margin < moment
        };
        is_old(self.modified) && is_old(self.changed)
    }

    /// The numbers one after the other.
    pub fn to_bytes(self) -> [u8; 24] {
        let mut bytes = [0; 24];
        let numbers = [self.size, self.modified.0, self.modified.1, self.changed.0, self.changed.1, self.inode];
        bytes.chunks_exact_mut(4).zip(numbers).for_each(|(to, number)| to.copy_from_slice(&number.to_be_bytes()));
        bytes
    }

    /// The opposite of [`FileStat::to_bytes`].
    pub fn from_bytes(bytes: &[u8; 24]) -> Self {
        let number = |at: usize| u32::from_be_bytes([bytes[4 * at], bytes[4 * at + 1], bytes[4 * at + 2], bytes[4 * at + 3]]);
        Self { size: number(0), modified: (number(1), number(2)), changed: (number(3), number(4)), inode: number(5) }
    }

    /// Some stat data, for digests of how they are used and for tests.
    pub const fn default_for_probe() -> Self {
        Self { size: 1, modified: (2, 3), changed: (4, 5), inode: 6 }
    }
}

/// What one look at a regular file showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SeenFile {
    pub stat: FileStat,
    /// The file system that it is on.
    pub device: u64,
    /// All its bytes: [`FileStat::size`] has the low bits.
    pub size: u64,
    /// Its permissions, with the kind of the file.
    pub mode: u32,
}

impl SeenFile {
    pub fn of(meta: &Metadata) -> Self {
        Self { stat: FileStat::of(meta), device: meta.dev(), size: meta.size(), mode: meta.mode() }
    }

    /// `None` if it is no regular file.
    #[allow(clippy::unnecessary_cast, reason = "the types of the numbers differ between systems")]
    pub fn of_stat(stat: &Stat) -> Option<Self> {
        let bits = |number: i64| FileStat::low_bits(number.cast_unsigned());
        let file = FileStat {
            size: bits(stat.st_size as i64),
            modified: (bits(stat.st_mtime as i64), bits(stat.st_mtime_nsec as i64)),
            changed: (bits(stat.st_ctime as i64), bits(stat.st_ctime_nsec as i64)),
            inode: FileStat::low_bits(stat.st_ino as u64),
        };
        let seen = Self { stat: file, device: stat.st_dev as u64, size: stat.st_size as u64, mode: stat.st_mode as u32 };
        (FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile).then_some(seen)
    }

    /// The mode that git gives it.
    pub fn git_mode(&self) -> u32 {
        git_mode(self.mode)
    }
}

/// The mode that git gives a regular file with these permissions.
pub(crate) fn git_mode(mode: u32) -> u32 {
    if mode & 0o100 == 0 { 0o100_644 } else { 0o100_755 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_data_are_the_same_as_bytes_and_back() {
        let one = FileStat::default_for_probe();
        assert_eq!(FileStat::from_bytes(&one.to_bytes()), one);
    }

    #[test]
    fn a_file_as_young_as_the_look_at_it_is_not_remembered() {
        let at = |seconds: u32, nanos: u32| FileStat {
            modified: (seconds, nanos),
            changed: (seconds, nanos),
            ..FileStat::default_for_probe()
        };
        let moment = 100 * 1_000_000_000;
        assert!(at(99, 1).is_older_than(moment) && !at(99, 950_000_000).is_older_than(moment));
        assert!(!at(99, 0).is_older_than(moment) && at(97, 0).is_older_than(moment), "whole seconds");
        let edited = FileStat { changed: (100, 1), ..at(1, 1) };
        assert!(!edited.is_older_than(moment), "its time was set back");
    }
}
