//! Remembers which unchanged files of a worktree a checkout gives back. This only saves asking git about each file again:
//! without it, or if configuration or attributes have changed, all files are decided again.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use crate::domain::base::hex::to_hex;
use crate::domain::base::names::Oid;
use crate::error::{Code, Error, Result};
use crate::files;

use crate::git::repo::handles::Captures;
use crate::git::repo::repository::Repository;
use crate::git::repo::worktrees::Worktree;

/// The first line of the file.
const HEADER: &str = "git axiom: given back 1";
/// The largest such file that is read, in bytes.
const LIMIT: u64 = 256 * 1024 * 1024;
/// How many nanoseconds old a file must be before its times distinguish it from its successor.
const OLD: i128 = 100_000_000;
/// The same for file systems that store whole seconds only.
const OLD_IN_SECONDS: i128 = 2_000_000_000;

/// Stat data that distinguish a file from what was or will be in its place, as far as an index keeps them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::git) struct FileStat {
    pub size: u32,
    modified: (u32, u32),
    changed: (u32, u32),
    inode: u32,
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
}

/// A hash of a file's path, blob and stat data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::git) struct Key(u128);

impl Key {
    pub fn of(path: &[u8], oid: &gix::oid, stat: &FileStat) -> Self {
        let half = |salt: u8| {
            let mut hasher = DefaultHasher::new();
            (salt, path, oid.as_bytes(), stat).hash(&mut hasher);
            u128::from(hasher.finish())
        };
        Self(half(0) << 64 | half(1))
    }
}

/// What is remembered of one worktree.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::git) struct Memory {
    /// A digest of everything that decides about conversions.
    rules: String,
    /// Files that a checkout gives back; sorted once all are added.
    given_back: Vec<Key>,
    /// Files that a checkout does not give back, with the blobs of their bytes.
    differing: BTreeMap<Key, Oid>,
}

impl Memory {
    /// Reads what is remembered of a worktree; `None` if there is nothing or it cannot be read.
    pub fn read(repository: &Repository, worktree: &Worktree) -> Option<Self> {
        let content = files::read_optional(&place(repository, worktree), LIMIT).ok()??;
        let (body, sum) = content.split_at_checked(content.len().checked_sub(repository.hash().bytes())?)?;
        if digest(repository, body).ok()?.as_slice() != sum {
            return None;
        }
        let (lines, keys) = body.split_at(memchr::memmem::find(body, b"\n\n")? + 1);
        let mut lines = std::str::from_utf8(lines).ok()?.lines();
        if lines.next() != Some(HEADER) {
            return None;
        }
        let mut memory = Self { rules: lines.next()?.to_owned(), ..Self::default() };
        for line in lines {
            let (key, oid) = line.split_once(' ')?;
            memory.differing.insert(Key(u128::from_str_radix(key, 16).ok()?), Oid::new(oid).ok()?);
        }
        let keys = keys[1..].chunks_exact(16).map(|key| Key(u128::from_le_bytes(key.try_into().unwrap_or_default())));
        memory.given_back.extend(keys);
        Some(memory)
    }

    /// What is remembered of a file: `None` if nothing, `Some(None)` if a checkout gives it back, otherwise the blob of its
    /// bytes.
    pub fn recall(&self, rules: &str, key: Key) -> Option<Option<&Oid>> {
        if self.rules != rules {
            return None;
        }
        match self.given_back.binary_search(&key) {
            Ok(_) => Some(None),
            Err(_) => self.differing.get(&key).map(Some),
        }
    }

    /// An empty memory that will replace this one.
    pub fn successor(&self, rules: &str) -> Self {
        Self { rules: rules.to_owned(), given_back: Vec::with_capacity(self.given_back.len()), differing: BTreeMap::new() }
    }

    pub fn given_back(&mut self, key: Key) {
        self.given_back.push(key);
    }

    pub fn differs(&mut self, key: Key, bytes: Oid) {
        self.differing.insert(key, bytes);
    }

    /// Writes this memory unless it equals the old one. A failure does no harm: the next capture decides again.
    pub fn write_unless(mut self, was: &Self, repository: &Repository, worktree: &Worktree) {
        self.given_back.sort_unstable();
        if self == *was {
            return;
        }
        let mut content = format!("{HEADER}\n{}\n", self.rules).into_bytes();
        for (key, oid) in &self.differing {
            content.extend_from_slice(format!("{:032x} {oid}\n", key.0).as_bytes());
        }
        content.push(b'\n');
        content.extend(self.given_back.iter().flat_map(|key| key.0.to_le_bytes()));
        let written = digest(repository, &content).and_then(|sum| {
            content.extend(sum);
            let folder = repository.scratch_folder()?;
            let new = folder.path().join("given-back");
            files::write_scratch(&new, &content)?;
            files::replace_unsynced(&new, &place(repository, worktree))
        });
        if let Err(error) = written {
            tracing::warn!(%error, "which files a checkout gives back is not remembered");
        }
    }
}

impl Captures<'_> {
    /// A digest of the rules that decide about conversions.
    ///
    /// # Errors
    /// `GIT_FAILED`.
    pub(in crate::git) fn rules_digest(&self, rules: &[u8]) -> Result<String> {
        // Another version of git axiom may compute other keys: then the digest is another one too.
        let probe = Key::of(b"probe", gix::hash::ObjectId::null(self.repo.hash().gix()).as_ref(), &FileStat::default_for_probe());
        let digest = digest(self.repo, &[&probe.0.to_le_bytes(), rules].concat())?;
        Ok(to_hex(&digest))
    }
}

impl FileStat {
    fn default_for_probe() -> Self {
        Self { size: 1, modified: (2, 3), changed: (4, 5), inode: 6 }
    }
}

fn digest(repository: &Repository, bytes: &[u8]) -> Result<Vec<u8>> {
    let mut hasher = gix::hash::hasher(repository.hash().gix());
    hasher.update(bytes);
    let failed = |e| Error::new(Code::GitFailed, "cannot make a digest").because(e);
    Ok(hasher.try_finalize().map_err(failed)?.as_slice().to_vec())
}

/// The file of a worktree's memory. A linked worktree's file is removed together with the worktree.
fn place(repository: &Repository, worktree: &Worktree) -> PathBuf {
    if worktree.is_main() { repository.own_scratch().join("given-back") } else { worktree.git_dir().join("axiom-given-back") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::repo::scratch::Scratch;

    fn key(number: u32) -> Key {
        let stat = FileStat { size: number, ..FileStat::default_for_probe() };
        Key::of(b"path", gix::hash::ObjectId::null(gix::hash::Kind::Sha1).as_ref(), &stat)
    }

    #[test]
    fn what_is_remembered_is_read_back_whole_or_not_at_all() {
        for kind in [&[][..], &["--object-format=sha256"]] {
            let scratch = Scratch::new(kind);
            let (repo, main) = (scratch.repo(), scratch.main());
            let blob = Oid::new(scratch.git(&["rev-parse", "HEAD:a.txt"])).unwrap();
            assert_eq!(Memory::read(&repo, &main), None);
            let mut memory = Memory::default().successor("rules");
            (0..100).for_each(|number| memory.given_back(key(number)));
            memory.differs(key(100), blob.clone());
            memory.write_unless(&Memory::default(), &repo, &main);
            let read = Memory::read(&repo, &main).unwrap();
            assert!((0..100).all(|number| read.recall("rules", key(number)) == Some(None)));
            assert_eq!(read.recall("rules", key(100)), Some(Some(&blob)));
            assert_eq!(read.recall("rules", key(101)), None);
            assert_eq!(read.recall("other rules", key(1)), None);
            let place = place(&repo, &main);
            let whole = std::fs::read(&place).unwrap();
            for cut in [0, 10, whole.len() / 2, whole.len() - 1] {
                files::write_scratch(&place, &whole[..cut]).unwrap();
                assert_eq!(Memory::read(&repo, &main), None, "{cut}");
            }
        }
    }

    #[test]
    fn files_are_told_apart_by_everything_that_a_change_touches() {
        let (stat, oid) = (FileStat::default_for_probe(), gix::hash::ObjectId::null(gix::hash::Kind::Sha1));
        let one = Key::of(b"path", oid.as_ref(), &stat);
        let FileStat { modified: (seconds, nanos), changed, inode, .. } = stat;
        let others = [
            FileStat { size: 9, ..stat },
            FileStat { modified: (seconds + 1, nanos), ..stat },
            FileStat { modified: (seconds, nanos + 1), ..stat },
            FileStat { changed: (changed.0, changed.1 + 1), ..stat },
            FileStat { inode: inode + 1, ..stat },
        ];
        assert!(others.iter().all(|other| Key::of(b"path", oid.as_ref(), other) != one));
        assert_ne!(Key::of(b"other", oid.as_ref(), &stat), one);
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
