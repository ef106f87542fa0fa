//! Which files a capture need not read, since they are as they were at the last one (`file_blob_cache`), and what the next one need not.

use crate::capture::file_blob_cache::{FileBlobCache, KnownContent, RememberedFile};
use crate::capture::file_stat::SeenFile;
use crate::capture::permissions::{RecordedPermissions, recorded};
use crate::capture::round_trip::CaptureScope;
use crate::capture::stat_moment::StatMoment;
use crate::repo::repository::Repository;
use crate::repo::worktrees::Worktree;
use axiom_base::error::Result;
use axiom_model::base::names::RepoPath;

use super::is_among;
use super::tree_edit::PathEdit;

/// Fewer files are read faster than what is remembered of them (in debug builds very few, so that tests have something remembered),
pub(super) const FEW: usize = if cfg!(debug_assertions) { 3 } else { 100 };
/// unless they have so many bytes.
pub(super) const LIGHT: u64 = 1024 * 1024;

/// What is remembered of a worktree's files, and what will be.
pub(super) struct FileMemory<'a> {
    repository: &'a Repository,
    worktree: &'a Worktree,
    scope: CaptureScope,
    was: FileBlobCache,
    /// The places of what stays remembered.
    kept: Vec<usize>,
    /// What was not remembered before.
    learned: Vec<(RepoPath, RememberedFile)>,
    /// From before anything was read.
    since: Option<StatMoment>,
}

impl<'a> FileMemory<'a> {
    /// `None` where so many files, with so many bytes, are read faster than what is remembered of them.
    pub fn of(
        repository: &'a Repository,
        worktree: &'a Worktree,
        scope: CaptureScope,
        (files, bytes): (usize, u64),
    ) -> Option<Self> {
        let many = files >= FEW || bytes >= LIGHT;
        many.then(|| {
            let was = FileBlobCache::read(repository, worktree);
            Self { repository, worktree, scope, was, kept: Vec::new(), learned: Vec::new(), since: None }
        })
    }

    /// What was remembered before.
    pub fn was(&self) -> &FileBlobCache {
        &self.was
    }

    /// Where the next file is likely to be remembered: captures see the same files in the same order.
    pub fn likely(&self) -> usize {
        self.kept.last().map_or(0, |place| place + 1)
    }

    /// Goes on remembering what was remembered at a place.
    pub fn keep(&mut self, place: usize) {
        self.kept.push(place);
    }

    /// Says that files are going to be read.
    pub fn begin_to_read(&mut self) -> Result<()> {
        if self.since.is_none() {
            self.since = Some(StatMoment::begin(self.repository)?);
        }
        Ok(())
    }

    /// Remembers a file that was read, if it can be told apart from what will be in its place. `seen` is from before it was read.
    pub fn learn(&mut self, path: &RepoPath, seen: &SeenFile, content: KnownContent) {
        let since = self.since.as_ref();
        let one = since.and_then(|since| RememberedFile::of(path, seen, content, since));
        self.learned.extend(one.map(|one| (path.clone(), one)));
    }

    /// Whether each of these blobs exists, and stays for as long as new ones do.
    pub fn fresh(&self, blobs: &[gix::ObjectId]) -> Vec<bool> {
        let durability = self.repository.durability();
        let fresh = durability.freshen_all(blobs);
        durability.note_written(blobs.iter().zip(&fresh).filter(|(_, fresh)| **fresh).map(|(id, _)| *id));
        fresh
    }

    /// Ends the capture, of which the unusual permissions of all `edits` are known. One of some paths would forget the others, so it
    /// remembers nothing.
    pub fn write(self, edits: &[PathEdit], unusual: &[RecordedPermissions]) {
        let is_the_same = self.learned.is_empty() && self.kept.len() == self.was.len();
        if is_the_same || self.scope == CaptureScope::Part {
            return;
        }
        let is_bare = |path: &RepoPath| {
            is_among(edits, path) && recorded(unusual, path).is_none_or(|permissions| permissions.attributes.is_empty())
        };
        let learned = self.learned.into_iter().map(|(path, one)| if is_bare(&path) { one.bare() } else { one });
        let kept = self.kept.iter().filter_map(|place| self.was.file(*place));
        FileBlobCache::of(kept.chain(learned)).write_unless(&self.was, self.repository, self.worktree);
    }
}
