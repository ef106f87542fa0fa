//! Remembers the blobs of untracked files by their stat data, as an index does for tracked ones. This only saves reading them
//! again: without it, all of them are read.
//!
//! What is remembered is the blob of a file's own bytes, so it does not depend on configuration or attributes. Whether git
//! would convert the file is for the caller to know, and whether the blob still exists.

use crate::repo::repository::Repository;
use crate::repo::worktrees::Worktree;
use axiom_model::base::names::RepoPath;

use super::capture_cache::CaptureCacheKind;
use super::file_stat::FileStat;
use crate::base::long_hash::long_hash;

/// The first line of the file.
const HEADER: &[u8] = b"git axiom: untracked 1\n";
/// The length of a path's hash, and of stat data, in bytes.
const PATH: usize = 16;
const STAT: usize = 24;

/// The hash of a path. Two files with the same stat data, the number of the file included, are one file with two names: so
/// nothing wrong is remembered even if two hashes were the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct FilePathHash([u8; PATH]);

/// What is remembered of one worktree.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FileBlobCache {
    /// Ordered by the hash of the path.
    files: Vec<(FilePathHash, FileStat, gix::ObjectId)>,
}

impl FileBlobCache {
    /// What is remembered of a worktree; nothing if it cannot be read.
    pub fn read(repository: &Repository, worktree: &Worktree) -> Self {
        Self { files: Self::decode(repository, worktree).unwrap_or_default() }
    }

    fn decode(repository: &Repository, worktree: &Worktree) -> Option<Vec<(FilePathHash, FileStat, gix::ObjectId)>> {
        let content = CaptureCacheKind::FileBlobs.read(repository, worktree)?;
        let lines = content.strip_prefix(HEADER)?.chunks_exact(PATH + STAT + repository.hash().bytes());
        let files = lines.map(|line| {
            let (path, rest) = line.split_first_chunk()?;
            let (stat, id) = rest.split_first_chunk()?;
            Some((FilePathHash(*path), FileStat::from_bytes(stat), gix::ObjectId::try_from(id).ok()?))
        });
        let files: Vec<_> = files.collect::<Option<_>>()?;
        files.is_sorted_by_key(|(path, ..)| *path).then_some(files)
    }

    /// The blob of a file, if the file is as it was.
    pub fn recall(&self, path: &RepoPath, stat: &FileStat) -> Option<gix::ObjectId> {
        let hash = FilePathHash::of(path);
        let at = self.files.binary_search_by(|(one, ..)| one.cmp(&hash)).ok()?;
        self.files.get(at).filter(|(_, then, _)| then == stat).map(|(_, _, id)| *id)
    }

    /// A memory of these files. Of two with the same hash, one is remembered.
    pub fn of<'p>(files: impl Iterator<Item = (&'p RepoPath, FileStat, gix::ObjectId)>) -> Self {
        let mut files: Vec<_> = files.map(|(path, stat, id)| (FilePathHash::of(path), stat, id)).collect();
        files.sort_unstable_by_key(|(path, ..)| *path);
        files.dedup_by_key(|(path, ..)| *path);
        Self { files }
    }

    /// Writes this memory unless it equals the old one. A failure does no harm: the next capture reads the files again.
    pub fn write_unless(&self, was: &Self, repository: &Repository, worktree: &Worktree) {
        if self == was {
            return;
        }
        let mut content = HEADER.to_vec();
        for (path, stat, id) in &self.files {
            content.extend(path.0);
            content.extend(stat.to_bytes());
            content.extend(id.as_slice());
        }
        CaptureCacheKind::FileBlobs.write(content, repository, worktree);
    }
}

impl FilePathHash {
    fn of(path: &RepoPath) -> Self {
        Self(long_hash(path.as_bytes()).to_be_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::scratch::ScratchRepository;

    #[test]
    fn what_is_remembered_is_recalled_for_the_same_file_only() {
        for kind in [&[][..], &["--object-format=sha256"]] {
            let scratch = ScratchRepository::new(kind);
            let (repo, main) = (scratch.repo(), scratch.main());
            let id = gix::ObjectId::from_hex(scratch.git(&["rev-parse", "HEAD:a.txt"]).as_bytes()).unwrap();
            let (path, stat) = (|number: u32| RepoPath::new(format!("new/{number}").as_bytes()), FileStat::default_for_probe());
            let stat = |number: u32| FileStat { size: number, ..stat };
            let paths: Vec<_> = (0..100).map(path).collect();
            let empty = FileBlobCache::read(&repo, &main);
            assert_eq!(empty.recall(&paths[0], &stat(0)), None);
            let files = paths.iter().zip(0..).map(|(path, number)| (path, stat(number), id));
            FileBlobCache::of(files).write_unless(&empty, &repo, &main);
            let read = FileBlobCache::read(&repo, &main);
            assert!((0..100).all(|number| read.recall(&path(number), &stat(number)) == Some(id)));
            assert_eq!(read.recall(&path(1), &stat(2)), None);
            assert_eq!(read.recall(&path(100), &stat(1)), None);
            // The same again writes nothing.
            let place = CaptureCacheKind::FileBlobs.place(&repo, &main);
            axiom_base::files::remove_file(&place).unwrap();
            let files = paths.iter().zip(0..).map(|(path, number)| (path, stat(number), id));
            FileBlobCache::of(files).write_unless(&read, &repo, &main);
            assert!(!place.exists());
        }
    }
}
