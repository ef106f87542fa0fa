//! What a restore changes, in terms of files.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::base::names::RepoPath;
use crate::error::Result;

use super::types::Restore;
use crate::git::history::questions::TreeChange;
use crate::git::repo::handles::Restores;

impl Restores<'_> {
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
            for (path, file) in self.repo.history().files_of(restore.to)?.into_iter().filter(|(path, _)| one_side.contains(path))
            {
                all.insert(path.clone(), TreeChange { path, old: Some(file.clone()), new: Some(file) });
            }
        }
        for change in all.values_mut() {
            change.old = change.old.take().filter(|_| !from.contains(&change.path));
            change.new = change.new.take().filter(|_| !to.contains(&change.path));
        }
        Ok(all.into_values().filter(|change| change.old.is_some() || change.new.is_some()).collect())
    }
}
