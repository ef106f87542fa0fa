//! Sparse checkouts: files that a tree has and the worktree leaves out, by the user's wish.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::base::names::{Oid, RepoPath};
use crate::error::Result;

use super::file::{IndexExtras, IndexFacts, copy_index, facts_by_gix, in_folder, index_facts};
use crate::git::capture::extras::CaptureExtras;
use crate::git::history::questions::{FileId, TreeChange};
use crate::git::repo::handles::Indexes;
use crate::git::repo::worktrees::Worktree;
use crate::git::restore::run::Restore;

impl IndexExtras {
    /// The paths that a sparse checkout leaves out: in the capture's tree, but no file is there.
    pub fn left_out(&self) -> BTreeSet<&RepoPath> {
        if !self.sparse {
            return BTreeSet::new();
        }
        let present: BTreeSet<&RepoPath> = self.present.iter().collect();
        self.skip_worktree.iter().filter(|path| !present.contains(path)).collect()
    }
}

impl Indexes<'_> {
    /// Whether only a part of the files is checked out, by the user's wish.
    ///
    /// # Errors
    /// `GIT_MISSING`, `GIT_FAILED`.
    pub(in crate::git) fn is_sparse(&self, worktree: &Worktree) -> Result<bool> {
        let output = self.repo.git_in(worktree).args(["config", "--type=bool", "--get", "core.sparseCheckout"]).run()?;
        Ok(output.ok() && output.text()? == "true")
    }

    /// What a capture says, for a worktree that may be no sparse checkout any more: all files come then, for nobody would see
    /// that some are left out.
    ///
    /// # Errors
    /// `GIT_MISSING`, `GIT_FAILED`.
    pub fn for_checkout_of_now(&self, worktree: &Worktree, mut extras: CaptureExtras) -> Result<CaptureExtras> {
        if extras.index.sparse && !self.is_sparse(worktree)? {
            extras.index.sparse = false;
            extras.index.skip_worktree = std::mem::take(&mut extras.index.present);
        }
        Ok(extras)
    }

    /// What a worktree's own index lists beside plain entries; nothing is written beside it.
    ///
    /// # Errors
    /// `GIT_FAILED`, `IO_FAILED`.
    pub(in crate::git) fn own_index_facts(&self, worktree: &Worktree) -> Result<IndexFacts> {
        if let Some(facts) = facts_by_gix(self.repo, &worktree.index_file()) {
            return Ok(facts);
        }
        let folder = self.repo.scratch_folder()?;
        let copy = in_folder(&folder, "facts");
        copy_index(&worktree.index_file(), &copy)?;
        index_facts(self.repo, worktree, &copy)
    }

    /// What a sparse checkout leaves out at this moment; nothing where it is none.
    ///
    /// # Errors
    /// `GIT_FAILED`, `IO_FAILED`.
    pub fn left_out_now(&self, worktree: &Worktree) -> Result<IndexExtras> {
        self.left_out_of(worktree, self.own_index_facts(worktree)?)
    }

    /// As [`Indexes::left_out_now`], by facts that were read.
    ///
    /// # Errors
    /// `GIT_FAILED`.
    pub(in crate::git) fn left_out_of(&self, worktree: &Worktree, facts: IndexFacts) -> Result<IndexExtras> {
        if facts.skip_worktree.is_empty() || !self.is_sparse(worktree)? {
            return Ok(IndexExtras::default());
        }
        let is_there = |path: &&RepoPath| std::fs::symlink_metadata(worktree.path().join(path.to_path())).is_ok();
        let present = facts.skip_worktree.iter().filter(is_there).cloned().collect();
        Ok(IndexExtras { sparse: true, present, skip_worktree: facts.skip_worktree, ..IndexExtras::default() })
    }

    /// What a restore changes.
    ///
    /// # Errors
    /// `GIT_FAILED`.
    pub(in crate::git) fn changes_of(&self, restore: &Restore<'_>) -> Result<Vec<TreeChange>> {
        self.without_left_out(restore, self.repo.captures().differing(restore.had().files(), restore.will_have().files())?)
    }

    /// The changes in terms of files: what one side leaves out is no file on that side.
    ///
    /// # Errors
    /// `GIT_FAILED`.
    fn without_left_out(&self, restore: &Restore<'_>, changes: Vec<TreeChange>) -> Result<Vec<TreeChange>> {
        let Some(beside) = &restore.beside else { return Ok(changes) };
        let (from, to) = (beside.old.index.left_out(), beside.new.index.left_out());
        if from.is_empty() && to.is_empty() {
            return Ok(changes);
        }
        let mut all: BTreeMap<RepoPath, TreeChange> = changes.into_iter().map(|change| (change.path.clone(), change)).collect();
        let one_side: BTreeSet<&RepoPath> =
            from.symmetric_difference(&to).copied().filter(|path| !all.contains_key(path)).collect();
        if !one_side.is_empty() {
            // The trees say the same of these.
            for (path, file) in self.files_of(restore.to)?.into_iter().filter(|(path, _)| one_side.contains(path)) {
                all.insert(path.clone(), TreeChange { path, old: Some(file.clone()), new: Some(file) });
            }
        }
        for change in all.values_mut() {
            change.old = change.old.take().filter(|_| !from.contains(&change.path));
            change.new = change.new.take().filter(|_| !to.contains(&change.path));
        }
        Ok(all.into_values().filter(|change| change.old.is_some() || change.new.is_some()).collect())
    }

    /// All files of a tree.
    ///
    /// # Errors
    /// `GIT_FAILED`.
    pub(in crate::git) fn files_of(&self, tree: &Oid) -> Result<Vec<(RepoPath, FileId)>> {
        let changes = self.repo.history().diff_trees(&self.repo.objects().empty_tree()?, tree)?.into_iter();
        Ok(changes.filter_map(|change| Some((change.path, change.new?))).collect())
    }
}
