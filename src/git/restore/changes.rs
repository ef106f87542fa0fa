//! The file changes that a restore makes.

use axiom_base::error::Result;

use super::types::WorktreeRestore;
use crate::base::tree_change::TreeChange;
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
