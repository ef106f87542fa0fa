//! The trees and commits of a capture: of the files, and of the index.

use std::path::Path;

use super::super::captured::WorktreeCapture;
use super::super::coverage::CaptureCoverage;
use super::super::extras::CaptureExtras;
use super::super::lost_contents::LostContents;
use super::super::raw_file::RawFile;
use crate::base::head::Head;
use crate::capture::staged_paths::StagedPaths;
use crate::index::changed_paths::ChangedPaths;
use crate::index::file::IndexInfoInput;
use crate::objects::database::{NewCommit, gix_id};
use crate::repo::handles::Captures;
use crate::repo::worktrees::Worktree;
use axiom_base::error::Result;
use axiom_model::base::names::{Oid, RepoPath};

/// How the message of a capture's index commit begins.
pub(in crate::capture) const INDEX_OF: &str = "index of ";

/// The commits of a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaptureCommits {
    /// The commit of the files, in the shape of a stash: its parents are what was checked out, and `index`.
    pub commit: Oid,
    /// The commit of the index.
    pub index: Oid,
}

/// The files of a worktree as a tree.
pub(super) struct FilesTree {
    pub(super) tree: Oid,
    /// The bytes that are kept beside it.
    pub(super) raw: Vec<RawFile>,
    /// Files that are left out, because only their plain text could be held: as much out of reach as what cannot be read.
    pub(super) encrypted: Vec<RepoPath>,
}

impl Captures<'_> {
    /// The tree of the files, and the bytes that are held beside it.
    pub(super) fn files_tree(
        &self,
        worktree: &Worktree,
        index: &Path,
        (changed, staged): (&ChangedPaths, StagedPaths),
        coverage: &mut CaptureCoverage,
    ) -> Result<FilesTree> {
        let StagedPaths { refused, unfiltered, encrypted, lfs } = staged;
        refused.into_iter().for_each(|path| coverage.refused_names.add(path));
        let tree = self.write_tree(worktree, index)?;
        encrypted.iter().for_each(|path| coverage.encrypted.add(path.clone()));
        let held: Vec<RawFile> = held_as_they_are(unfiltered, coverage).chain(lfs).collect();
        let decided = held.iter().map(|one| &one.path).chain(&encrypted).cloned().collect();
        let mut raw = self.repo.kept_bytes().raw_files(worktree, index, &changed.without(&decided), coverage)?;
        raw.extend(held);
        Ok(FilesTree { tree, raw, encrypted })
    }

    /// The tree of the index, with our side of conflicts, and what stands in the place of lost contents.
    pub(super) fn staged_tree(
        &self,
        worktree: &Worktree,
        staged: &Path,
        (head, lost, extras): (&Head, &LostContents, &CaptureExtras),
        coverage: &mut CaptureCoverage,
    ) -> Result<Oid> {
        let mut info = IndexInfoInput::default();
        lost.put_in_place((self.repo, worktree), head, &mut info, coverage)?;
        for stage in &extras.index.unmerged {
            info.remove(&stage.path, &stage.oid);
        }
        for stage in extras.index.unmerged.iter().filter(|stage| stage.stage == 2) {
            info.set(&stage.path, stage.mode, &stage.oid, 0);
        }
        info.apply(self.repo, worktree, staged)?;
        self.write_tree(worktree, staged)
    }

    /// The tree of a private index. In a partial clone a remote may have what is not here: nothing is fetched for a capture.
    fn write_tree(&self, worktree: &Worktree, index: &Path) -> Result<Oid> {
        let git = self.repo.git_in(worktree).index(index).config("core.splitIndex=false").making_objects();
        let git = git.fetching_nothing().arg("write-tree");
        Oid::new(if self.repo.connectivity().is_partial() { git.arg("--missing-ok") } else { git }.text()?)
    }

    /// Writes the commits of a capture, in the shape of a stash. The index commit gets the `further` parents, to keep them
    /// alive. Nothing refers to the commits yet.
    pub fn commit_capture(&self, capture: &WorktreeCapture, message: &str, further: &[Oid]) -> Result<CaptureCommits> {
        let who = self.repo.objects().signature()?;
        // git may have written these objects, and perhaps nothing else refers to the checked-out commit.
        for oid in [&capture.tree, &capture.index_tree].into_iter().chain(capture.head.commit()) {
            self.repo.durability().note_written([gix_id(oid)?]);
        }
        let base = match capture.head.commit() {
            Some(commit) => commit.clone(),
            None => self.repo.objects().root_commit()?,
        };
        let mut parents = vec![base.clone()];
        parents.extend(capture.extras.commit(self.repo, &who)?);
        parents.extend(further.iter().cloned());
        let note = format!("{INDEX_OF}{message}");
        let index =
            self.repo.objects().write_commit(&NewCommit { tree: &capture.index_tree, parents, who: &who, message: &note })?;
        let parents = vec![base, index.clone()];
        let commit = self.repo.objects().write_commit(&NewCommit { tree: &capture.tree, parents, who: &who, message })?;
        Ok(CaptureCommits { commit, index })
    }
}

/// The kept bytes of files whose filter did not run. Where such bytes are kept, no filter runs when they are written either.
fn held_as_they_are(unfiltered: Vec<(RepoPath, Oid)>, coverage: &mut CaptureCoverage) -> impl Iterator<Item = RawFile> {
    unfiltered.iter().for_each(|(path, _)| coverage.unfiltered.add(path.clone()));
    unfiltered.into_iter().map(|(path, oid)| RawFile { path, held_as: oid.clone(), oid, lfs: None })
}
