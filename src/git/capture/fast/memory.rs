//! Which files a capture need not read, since they are as they were at the last one (`file_blob_cache`), and what the next one need not.

use std::collections::HashSet;

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
    next: Vec<RememberedFile>,
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
            Self { repository, worktree, scope, was, next: Vec::new(), learned: Vec::new(), since: None }
        })
    }

    /// What is remembered of a file, if it is as it was.
    pub fn recall(&self, path: &RepoPath, seen: &SeenFile) -> Option<RememberedFile> {
        self.was.recall(path, seen)
    }

    /// What was remembered before.
    pub fn was(&self) -> &FileBlobCache {
        &self.was
    }

    /// Goes on remembering a file.
    pub fn keep(&mut self, one: RememberedFile) {
        self.next.push(one);
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

    /// Which of these blobs exist, and stay for as long as new ones do.
    pub fn fresh(&self, blobs: &HashSet<gix::ObjectId>) -> HashSet<gix::ObjectId> {
        let durability = self.repository.durability();
        let fresh = durability.freshen_all(blobs);
        fresh.iter().for_each(|id| durability.note_written(*id));
        fresh
    }

    /// Ends the capture, of which the unusual permissions of all `edits` are known. One of some paths would forget the others, so it
    /// remembers nothing.
    pub fn write(mut self, edits: &[PathEdit], unusual: &[RecordedPermissions]) {
        let is_the_same = self.learned.is_empty() && self.next.len() == self.was.len();
        if is_the_same || self.scope == CaptureScope::Part {
            return;
        }
        let is_bare = |path: &RepoPath| {
            is_among(edits, path) && recorded(unusual, path).is_none_or(|permissions| permissions.attributes.is_empty())
        };
        self.next.extend(self.learned.into_iter().map(|(path, one)| if is_bare(&path) { one.bare() } else { one }));
        FileBlobCache::of(self.next).write_unless(&self.was, self.repository, self.worktree);
    }
}
