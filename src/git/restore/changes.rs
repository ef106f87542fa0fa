//! The file changes that a restore makes.

use std::collections::BTreeSet;

use axiom_base::error::Result;
use axiom_model::base::names::RepoPath;

use super::types::{DifferingSubmodule, WorktreeRestore};
use crate::base::tree_change::{FileId, TreeChange};
use crate::repo::handles::Restores;

impl Restores<'_> {
    /// The changes from the present files to the restored ones.
    pub(crate) fn changes_of(&self, restore: &WorktreeRestore<'_>) -> Result<Vec<TreeChange>> {
        match &restore.beside {
            Some(beside) => self.repo.captures().changed_files((restore.from, beside.old), (restore.to, beside.new)),
            None => self.repo.history().diff_trees(restore.from, restore.to),
        }
    }
}

/// The changes of files only. Submodules are taken out and added to `submodules`.
pub(crate) fn without_submodules(changes: &[TreeChange], submodules: &mut Vec<DifferingSubmodule>) -> Vec<TreeChange> {
    let mut kept = Vec::new();
    for change in changes {
        let mut change = change.clone();
        let is_submodule = |file: &Option<FileId>| file.as_ref().is_some_and(FileId::is_submodule);
        let (was, will_be) = (is_submodule(&change.old), is_submodule(&change.new));
        if was || will_be {
            submodules.push(DifferingSubmodule { path: change.path.clone(), comes: will_be && !was, goes: was && !will_be });
            change.old = change.old.filter(|file| !file.is_submodule());
            change.new = change.new.filter(|file| !file.is_submodule());
        }
        if change.old.is_some() || change.new.is_some() {
            kept.push(change);
        }
    }
    kept
}

/// The folders that the target needs.
pub(crate) fn wanted_folders(changes: &[TreeChange]) -> BTreeSet<RepoPath> {
    changes.iter().filter(|change| change.new.is_some()).flat_map(|change| change.path.folders_above()).collect()
}
