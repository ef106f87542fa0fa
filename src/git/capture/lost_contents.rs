//! Contents that an index names and that are not there: lost, or damaged by a power loss. They cost the capture nothing else: the files
//! are read from disk, whatever the index says of them, and in the index that is held HEAD's content stands in the place of each one, or
//! nothing. The coverage names them.

use std::collections::BTreeSet;
use std::path::Path;

use axiom_base::error::{Code, Error, Result, some_of};
use axiom_model::base::names::{Oid, RepoPath};

use super::captured::WorktreeCapture;
use super::coverage::CaptureCoverage;
use super::file_differences::TreeEntryCache;
use crate::base::head::Head;
use crate::base::modes::{GITLINK, TREE};
use crate::index::file::{IndexFacts, IndexInfoInput, read};
use crate::repo::repository::Repository;
use crate::repo::worktrees::Worktree;

/// What an index has at a path whose content is lost.
#[derive(Debug)]
struct LostIndexEntry {
    path: RepoPath,
    /// Mode and content; `None` of a path in conflict.
    entry: Option<(u32, Oid)>,
}

/// The contents that a private index does without.
#[derive(Debug, Default)]
pub(super) struct LostContents(Vec<LostIndexEntry>);

impl LostContents {
    /// Takes the lost contents at these paths out of a private index: an empty file stands in the place of each one, so that git takes
    /// the path for one that it tracks, and the file on disk for changed.
    pub fn take_out(
        r: &Repository,
        (worktree, index): (&Worktree, &Path),
        facts: &mut IndexFacts,
        paths: &BTreeSet<RepoPath>,
    ) -> Result<Self> {
        let mut lost = Self::default();
        let Some(file) = read(r, index).filter(|_| !paths.is_empty()) else { return Ok(lost) };
        let nothing = r.objects().write_blob(b"")?;
        let mut info = IndexInfoInput::default();
        for entry in file.entries().iter().filter(|entry| entry.stage_raw() == 0) {
            let path = RepoPath::new(entry.path(&file).to_vec());
            if paths.contains(&path) {
                let (mode, oid) = (entry.mode.bits(), Oid::from_bytes(entry.id.as_bytes())?);
                info.set(&path, mode, &nothing, 0);
                lost.0.push(LostIndexEntry { path, entry: Some((mode, oid)) });
            }
        }
        facts.unmerged.retain(|stage| {
            let is_here = !paths.contains(&stage.path) || r.connectivity().holds(&stage.oid);
            if !is_here && !lost.0.iter().any(|one| one.path == stage.path) {
                lost.0.push(LostIndexEntry { path: stage.path.clone(), entry: None });
            }
            is_here
        });
        facts.tree = None;
        info.apply(r, worktree, index)?;
        Ok(lost)
    }

    /// What stands in the place of lost contents in the index that is held: those that came back with the files, else HEAD's. The others
    /// are named.
    pub fn put_in_place(
        &self,
        (r, worktree): (&Repository, &Worktree),
        head: &Head,
        info: &mut IndexInfoInput,
        coverage: &mut CaptureCoverage,
    ) -> Result<()> {
        let tree = head.commit().and_then(|commit| r.objects().read_commit(commit).ok()).map(|commit| commit.tree);
        let mut folders = TreeEntryCache::default();
        for LostIndexEntry { path, entry } in &self.0 {
            if let Some((mode, oid)) = entry.as_ref().filter(|(_, oid)| r.index(worktree).is_there_whole(oid)) {
                info.set(path, *mode, oid, 0);
                continue;
            }
            coverage.staged_not_held.add(path.clone());
            let of_head = tree.as_ref().and_then(|tree| folders.file_at(r, tree, path).ok().flatten());
            match of_head.filter(|file| !file.is_submodule() && r.index(worktree).is_there_whole(&file.oid)) {
                Some(file) => info.set(path, file.mode, &file.oid, 0),
                None => info.remove(path, &r.trees().empty_tree()?),
            }
        }
        Ok(())
    }
}

impl crate::repo::handles::Captures<'_> {
    /// The paths of contents that a capture takes over from the index and that cannot be read.
    pub(crate) fn lost_in(&self, worktree: &Worktree, capture: &WorktreeCapture) -> Result<BTreeSet<RepoPath>> {
        let mut lost = self.repo.index(worktree).unreadable_staged(capture)?;
        // No tree has the sides of a conflict.
        let mut sides = capture.extras.index.unmerged.iter().filter(|stage| stage.mode != GITLINK);
        let is_lost = sides.any(|stage| !self.repo.connectivity().holds(&stage.oid));
        if is_lost || !self.repo.power_losses().lost_objects()?.is_empty() {
            lost.extend(self.lost_of_index(worktree)?);
        }
        Ok(lost)
    }

    /// Checks that no file at these paths is held as an object that cannot be read: where nothing is staged, git writes none again that seems
    /// to be there.
    pub(super) fn none_is_damaged(
        &self,
        worktree: &Worktree,
        capture: &WorktreeCapture,
        paths: &BTreeSet<RepoPath>,
    ) -> Result<()> {
        let (mut folders, mut damaged) = (TreeEntryCache::default(), Vec::new());
        for path in paths {
            let file = folders.file_at(self.repo, &capture.tree, path)?.filter(|file| !file.is_submodule());
            if file.is_some_and(|file| !self.repo.index(worktree).is_there_whole(&file.oid)) {
                damaged.push(path);
            }
        }
        if damaged.is_empty() {
            return Ok(());
        }
        let what = format!("content of files in '{}' is a damaged object, and git writes none again", worktree.path().display());
        Err(Error::new(Code::CheckpointDamaged, what)
            .why(some_of(&damaged, 10))
            .hint("git fsck    shows the object; without its file below .git/objects it is written again"))
    }

    /// The paths of contents that an index names and that are not here. In a partial clone a remote may have them.
    pub(super) fn lost_of_index(&self, worktree: &Worktree) -> Result<BTreeSet<RepoPath>> {
        if self.repo.connectivity().is_partial() {
            return Ok(BTreeSet::new());
        }
        let Some(file) = read(self.repo, &worktree.index_file()) else { return Ok(BTreeSet::new()) };
        let mut lost = BTreeSet::new();
        let has_content = |entry: &&gix::index::Entry| !matches!(entry.mode.bits(), GITLINK | TREE);
        for entry in file.entries().iter().filter(has_content) {
            if !self.repo.connectivity().holds(&Oid::from_bytes(entry.id.as_bytes())?) {
                lost.insert(RepoPath::new(entry.path(&file).to_vec()));
            }
        }
        Ok(lost)
    }
}
