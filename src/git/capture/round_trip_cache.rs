//! Remembers which unchanged files of a worktree a checkout gives back. This only saves asking git about each file again:
//! without it, or if configuration or attributes have changed, all files are decided again.

use std::collections::BTreeMap;

use axiom_base::error::Result;
use axiom_model::base::forms::hex::to_hex;
use axiom_model::base::names::Oid;

use super::capture_cache::CaptureCacheKind;
use super::file_stat::FileStat;
use crate::base::long_hash::long_hash;
use crate::repo::handles::KeptBytes;
use crate::repo::repository::Repository;
use crate::repo::worktrees::Worktree;

/// The first line of the file.
const HEADER: &str = "git axiom: given back 1";
/// A hash of a file's path, blob and stat data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RoundTripKey(u128);

impl RoundTripKey {
    pub fn of(path: &[u8], oid: &gix::oid, stat: &FileStat) -> Self {
        Self(long_hash((path, oid.as_bytes(), stat)))
    }
}

/// What is remembered of one worktree.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct RoundTripCache {
    /// A digest of everything that decides about conversions.
    rules: String,
    /// Files that a checkout gives back; sorted once all are added.
    given_back: Vec<RoundTripKey>,
    /// Files that a checkout does not give back, with the blobs of their bytes.
    differing: BTreeMap<RoundTripKey, Oid>,
}

impl RoundTripCache {
    /// Reads what is remembered of a worktree; `None` if there is nothing or it cannot be read.
    pub fn read(repository: &Repository, worktree: &Worktree) -> Option<Self> {
        let body = CaptureCacheKind::GivenBack.read(repository, worktree)?;
        let (lines, keys) = body.split_at(memchr::memmem::find(&body, b"\n\n")? + 1);
        let mut lines = std::str::from_utf8(lines).ok()?.lines();
        if lines.next() != Some(HEADER) {
            return None;
        }
        let mut memory = Self { rules: lines.next()?.to_owned(), ..Self::default() };
        for line in lines {
            let (key, oid) = line.split_once(' ')?;
            memory.differing.insert(RoundTripKey(u128::from_str_radix(key, 16).ok()?), Oid::new(oid).ok()?);
        }
        let keys = keys[1..].chunks_exact(16).map(|key| RoundTripKey(u128::from_le_bytes(key.try_into().unwrap_or_default())));
        memory.given_back.extend(keys);
        Some(memory)
    }

    /// What is remembered of a file: `None` if nothing, `Some(None)` if a checkout gives it back, otherwise the blob of its
    /// bytes.
    pub fn recall(&self, rules: &str, key: RoundTripKey) -> Option<Option<&Oid>> {
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

    pub fn given_back(&mut self, key: RoundTripKey) {
        self.given_back.push(key);
    }

    pub fn differs(&mut self, key: RoundTripKey, bytes: Oid) {
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
        CaptureCacheKind::GivenBack.write(content, repository, worktree);
    }
}

impl KeptBytes<'_> {
    /// A digest of the rules that decide about conversions.
    pub(crate) fn rules_digest(&self, rules: &[u8]) -> Result<String> {
        // Another version of git axiom may compute other keys: then the digest is another one too.
        let probe = RoundTripKey::of(
            b"probe",
            gix::hash::ObjectId::null(self.repo.hash().gix()).as_ref(),
            &FileStat::default_for_probe(),
        );
        let digest = self.repo.hash().digest(&[&probe.0.to_le_bytes(), rules].concat())?;
        Ok(to_hex(&digest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::scratch::ScratchRepository;

    fn key(number: u32) -> RoundTripKey {
        let stat = FileStat { size: number, ..FileStat::default_for_probe() };
        RoundTripKey::of(b"path", gix::hash::ObjectId::null(gix::hash::Kind::Sha1).as_ref(), &stat)
    }

    #[test]
    fn what_is_remembered_is_read_back_whole_or_not_at_all() {
        for kind in [&[][..], &["--object-format=sha256"]] {
            let scratch = ScratchRepository::new(kind);
            let (repo, main) = (scratch.repo(), scratch.main());
            let blob = Oid::new(scratch.git(&["rev-parse", "HEAD:a.txt"])).unwrap();
            assert_eq!(RoundTripCache::read(&repo, &main), None);
            let mut memory = RoundTripCache::default().successor("rules");
            (0..100).for_each(|number| memory.given_back(key(number)));
            memory.differs(key(100), blob.clone());
            memory.write_unless(&RoundTripCache::default(), &repo, &main);
            let read = RoundTripCache::read(&repo, &main).unwrap();
            assert!((0..100).all(|number| read.recall("rules", key(number)) == Some(None)));
            assert_eq!(read.recall("rules", key(100)), Some(Some(&blob)));
            assert_eq!(read.recall("rules", key(101)), None);
            assert_eq!(read.recall("other rules", key(1)), None);
        }
    }

    #[test]
    fn files_are_told_apart_by_everything_that_a_change_touches() {
        let (stat, oid) = (FileStat::default_for_probe(), gix::hash::ObjectId::null(gix::hash::Kind::Sha1));
        let one = RoundTripKey::of(b"path", oid.as_ref(), &stat);
        let FileStat { modified: (seconds, nanos), changed, inode, .. } = stat;
        let others = [
            FileStat { size: 9, ..stat },
            FileStat { modified: (seconds + 1, nanos), ..stat },
            FileStat { modified: (seconds, nanos + 1), ..stat },
            FileStat { changed: (changed.0, changed.1 + 1), ..stat },
            FileStat { inode: inode + 1, ..stat },
        ];
        assert!(others.iter().all(|other| RoundTripKey::of(b"path", oid.as_ref(), other) != one));
        assert_ne!(RoundTripKey::of(b"other", oid.as_ref(), &stat), one);
    }
}
