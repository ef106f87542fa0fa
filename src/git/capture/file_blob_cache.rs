//! Remembers the blobs of files by their stat data, as an index does: of untracked files, and of those tracked files whose stat data
//! the user's index does not have (after `touch`, `cp -a`, a restored backup, a checkout by another tool). This only saves reading
//! them again: without it, all of them are read.
//!
//! What is remembered is of a file's own bytes, so it does not depend on configuration or attributes. Whether git would convert the file
//! is for the caller to know, and whether the blob still exists. Which files can be remembered: `stat_moment`.
//!
//! Of several captures at once the last one's memory stays. A memory that is torn, damaged or of another version is none.

use std::sync::OnceLock;

use crate::objects::new_blobs::NewBlobs;
use crate::repo::repository::Repository;
use crate::repo::worktrees::Worktree;
use axiom_base::error::Result;
use axiom_model::base::names::RepoPath;

use super::capture_cache::CaptureCacheKind;
use super::file_stat::{FileStat, SeenFile};
use super::stat_moment::StatMoment;
use crate::base::long_hash::long_hash;

/// The first line of the file.
const HEADER: &[u8] = b"git axiom: file blobs 3\n";
/// The length of a path's hash, of stat data, of the number of a file system, and of the facts of the content, in bytes.
const PATH: usize = 16;
const STAT: usize = 24;
const DEVICE: usize = 8;
const FACTS: usize = 1;
/// Of a line but for the blob.
const LINE: usize = PATH + STAT + DEVICE + FACTS;

/// The hash of a path. Two files with the same stat data, the number of the file included, are one file with two names: so
/// nothing wrong is remembered even if two hashes were the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct FilePathHash([u8; PATH]);

/// What is known of the bytes of a file without reading them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KnownContent {
    /// The blob of the bytes as they are.
    pub blob: gix::ObjectId,
    /// Which ends of lines are among them.
    pub has_returns: bool,
    pub has_feeds: bool,
}

impl KnownContent {
    /// Adds the blob of these bytes to others.
    pub fn add(bytes: Vec<u8>, blobs: &mut NewBlobs<'_>) -> Result<Self> {
        let has = |byte| memchr::memchr(byte, &bytes).is_some();
        let (has_returns, has_feeds) = (has(b'\r'), has(b'\n'));
        Ok(Self { blob: blobs.add(bytes)?, has_returns, has_feeds })
    }
}

/// A remembered file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RememberedFile {
    path: FilePathHash,
    stat: FileStat,
    device: u64,
    pub content: KnownContent,
    /// Whether it certainly has no ACL and no attributes: a change of those changes its stat data as well.
    is_bare: bool,
}

/// What is remembered of one worktree, in the order in which a capture saw the files: the next one sees them in the same.
#[derive(Debug, Default)]
pub(crate) struct FileBlobCache {
    /// The header, and a line for each file.
    content: Vec<u8>,
    /// The length of a line.
    width: usize,
    /// The first bytes of each hash and its place, in order, for files that are at another place than the last time.
    by_hash: OnceLock<Vec<(u32, usize)>>,
}

impl RememberedFile {
    /// `None` if its stat data do not prove later that it is the same.
    pub fn of(path: &RepoPath, seen: &SeenFile, content: KnownContent, since: &StatMoment) -> Option<Self> {
        since.proves(seen).then(|| Self {
            path: FilePathHash::of(path),
            stat: seen.stat,
            device: seen.device,
            content,
            is_bare: false,
        })
    }

    fn decode(line: &[u8]) -> Option<Self> {
        let (path, rest) = line.split_first_chunk()?;
        let (stat, rest) = rest.split_first_chunk()?;
        let (device, rest) = rest.split_first_chunk()?;
        let (facts, id) = rest.split_first()?;
        let blob = gix::ObjectId::try_from(id).ok()?;
        let content = KnownContent { blob, has_returns: facts & 1 != 0, has_feeds: facts & 2 != 0 };
        let (stat, device) = (FileStat::from_bytes(stat), u64::from_be_bytes(*device));
        Some(Self { path: FilePathHash(*path), stat, device, content, is_bare: facts & 4 != 0 })
    }

    /// The same file, which was found to have no ACL and no attributes.
    pub fn bare(self) -> Self {
        Self { is_bare: true, ..self }
    }

    /// The permissions of the file, which has this mode, where it has no attributes beside them.
    pub fn permissions(&self, mode: u32) -> Option<u32> {
        self.is_bare.then_some(mode)
    }

    /// How many bytes it has, but for multiples of 4 GiB.
    pub fn size(&self) -> u64 {
        u64::from(self.stat.size)
    }

    fn encode(&self, into: &mut Vec<u8>) {
        into.extend(self.path.0);
        into.extend(self.stat.to_bytes());
        into.extend(self.device.to_be_bytes());
        let facts = [self.content.has_returns, self.content.has_feeds, self.is_bare];
        into.push(facts.iter().rev().fold(0, |bits, fact| bits << 1 | u8::from(*fact)));
        into.extend(self.content.blob.as_slice());
    }
}

impl FileBlobCache {
    /// What is remembered of a worktree; nothing if it cannot be read.
    pub fn read(repository: &Repository, worktree: &Worktree) -> Self {
        Self::decode(repository, worktree).unwrap_or_default()
    }

    fn decode(repository: &Repository, worktree: &Worktree) -> Option<Self> {
        let content = CaptureCacheKind::FileBlobs.read(repository, worktree)?;
        let is_ours = content.starts_with(HEADER);
        is_ours.then(|| Self { content, width: LINE + repository.hash().bytes(), by_hash: OnceLock::new() })
    }

    fn lines(&self) -> std::slice::ChunksExact<'_, u8> {
        self.content.get(HEADER.len()..).unwrap_or_default().chunks_exact(self.width.max(1))
    }

    /// How many files are remembered.
    pub fn len(&self) -> usize {
        self.lines().len()
    }

    /// The place of what is remembered of a file, if it is as it was. Looks first where it is `likely` to be.
    pub fn recall(&self, path: &RepoPath, seen: &SeenFile, likely: usize) -> Option<usize> {
        let hash = FilePathHash::of(path);
        let is_here = |place: usize| self.lines().nth(place).is_some_and(|line| line.starts_with(&hash.0));
        let place = if is_here(likely) { likely } else { self.place_of(&hash, is_here)? };
        self.file(place).filter(|one| one.stat == seen.stat && one.device == seen.device).map(|_| place)
    }

    fn place_of(&self, hash: &FilePathHash, is_here: impl Fn(usize) -> bool) -> Option<usize> {
        let by_hash = self.by_hash.get_or_init(|| {
            let first = |line: &[u8]| line.first_chunk().map_or(0, |first| u32::from_be_bytes(*first));
            let mut all: Vec<_> = self.lines().enumerate().map(|(place, line)| (first(line), place)).collect();
            all.sort_unstable();
            all
        });
        let from = by_hash.partition_point(|(first, _)| *first < hash.first());
        let alike = by_hash[from..].iter().take_while(|(first, _)| *first == hash.first());
        alike.map(|(_, place)| *place).find(|place| is_here(*place))
    }

    /// What is remembered at a place.
    pub fn file(&self, place: usize) -> Option<RememberedFile> {
        self.lines().nth(place).and_then(RememberedFile::decode)
    }

    /// A memory of these files.
    pub fn of(files: impl Iterator<Item = RememberedFile>) -> Self {
        let (mut content, mut width) = (HEADER.to_vec(), 0);
        for file in files {
            let begin = content.len();
            file.encode(&mut content);
            width = content.len() - begin;
        }
        Self { content, width, by_hash: OnceLock::new() }
    }

    /// Writes this memory unless it equals the old one. A failure does no harm: the next capture reads the files again.
    pub fn write_unless(self, was: &Self, repository: &Repository, worktree: &Worktree) {
        if self.content != was.content {
            CaptureCacheKind::FileBlobs.write(self.content, repository, worktree);
        }
    }
}

impl FilePathHash {
    fn of(path: &RepoPath) -> Self {
        Self(long_hash(path.as_bytes()).to_be_bytes())
    }

    fn first(&self) -> u32 {
        self.0.first_chunk().map_or(0, |first| u32::from_be_bytes(*first))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::repo::scratch::ScratchRepository;

    #[test]
    fn what_is_remembered_is_recalled_for_the_same_file_only() {
        for kind in [&[][..], &["--object-format=sha256"]] {
            let scratch = ScratchRepository::new(kind);
            std::thread::sleep(Duration::from_millis(250));
            let (repo, main) = (scratch.repo(), scratch.main());
            let blob = gix::ObjectId::from_hex(scratch.git(&["rev-parse", "HEAD:a.txt"]).as_bytes()).unwrap();
            let path = |number: u32| RepoPath::new(format!("new/{number}").as_bytes());
            let seen = SeenFile::of(&scratch.path().join("a.txt").symlink_metadata().unwrap());
            let of_size = |size: u32| SeenFile { stat: FileStat { size, ..seen.stat }, ..seen };
            let content =
                |number: u32| KnownContent { blob, has_returns: number.is_multiple_of(2), has_feeds: number.is_multiple_of(3) };
            let since = StatMoment::begin(&repo).unwrap();
            let files = |numbers: std::ops::Range<u32>| {
                let of = |number| RememberedFile::of(&path(number), &of_size(number), content(number), &since).unwrap();
                FileBlobCache::of(numbers.map(of))
            };
            let empty = FileBlobCache::read(&repo, &main);
            assert_eq!(empty.recall(&path(0), &of_size(0), 0), None);
            files(0..100).write_unless(&empty, &repo, &main);
            let read = FileBlobCache::read(&repo, &main);
            let recalled =
                |number, likely| read.recall(&path(number), &of_size(number), likely).and_then(|place| read.file(place));
            for likely in [|number| number as usize, |number| 99 - number as usize, |number| 1000 + number as usize] {
                assert!((0..100).all(|number| recalled(number, likely(number)).unwrap().content == content(number)));
            }
            assert_eq!(read.recall(&path(1), &of_size(2), 1), None);
            assert_eq!(read.recall(&path(100), &of_size(1), 100), None);
            assert_eq!(read.recall(&path(1), &SeenFile { device: seen.device + 1, ..of_size(1) }, 1), None);
            // The same again writes nothing.
            let place = CaptureCacheKind::FileBlobs.place(&repo, &main);
            axiom_base::files::remove_file(&place).unwrap();
            files(0..100).write_unless(&read, &repo, &main);
            assert!(!place.exists());
        }
    }
}
