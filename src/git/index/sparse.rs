//! Sparse checkouts: files that a tree has and that, by the user's choice, are not in the worktree.

use std::collections::BTreeSet;

use axiom_base::error::Result;
use axiom_model::base::names::RepoPath;

use super::file::{IndexExtras, IndexFacts, copy_index, facts_by_gix, in_folder, index_facts};
use crate::repo::handles::Index;

impl IndexExtras {
    /// The paths that a sparse checkout leaves out: the capture's tree has them, but the worktree has no file there.
    pub fn left_out(&self) -> BTreeSet<&RepoPath> {
        if !self.sparse {
            return BTreeSet::new();
        }
        let present: BTreeSet<&RepoPath> = self.present.iter().collect();
        self.skip_worktree.iter().filter(|path| !present.contains(path)).collect()
    }
}

impl Index<'_> {
    /// Whether the worktree is a sparse checkout.
    pub(crate) fn is_sparse(&self) -> Result<bool> {
        let output = self.repo.git_in(self.worktree).args(["config", "--type=bool", "--get", "core.sparseCheckout"]).run()?;
        Ok(output.ok() && output.text()? == "true")
    }

    /// What a worktree's own index contains in addition to plain entries. Nothing is written next to the index.
    pub(crate) fn own_index_facts(&self) -> Result<IndexFacts> {
        if let Some(facts) = facts_by_gix(self.repo, &self.worktree.index_file()) {
            return Ok(facts);
        }
        let folder = self.repo.scratch_folders().make()?;
        let copy = in_folder(&folder, "facts");
        copy_index(self.repo.hash(), &self.worktree.index_file(), &copy)?;
        index_facts(self.repo, self.worktree, &copy)
    }

    /// What a sparse checkout leaves out now; empty if the worktree is not a sparse checkout.
    pub fn left_out_now(&self) -> Result<IndexExtras> {
        self.left_out_of(self.own_index_facts()?)
    }

    /// As [`Index::left_out_now`], from facts that were already read.
    pub(crate) fn left_out_of(&self, facts: IndexFacts) -> Result<IndexExtras> {
        if facts.skip_worktree.is_empty() || !self.is_sparse()? {
            return Ok(IndexExtras::default());
        }
        let is_there = |path: &&RepoPath| std::fs::symlink_metadata(self.worktree.path().join(path.to_path())).is_ok();
        let present = facts.skip_worktree.iter().filter(is_there).cloned().collect();
        Ok(IndexExtras { sparse: true, present, skip_worktree: facts.skip_worktree, ..IndexExtras::default() })
    }
}
