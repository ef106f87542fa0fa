//! How much something adds to the repository.

use std::collections::BTreeSet;

use crate::domain::names::Oid;
use crate::error::Result;

use super::objects::{GITLINK, TREE};
use super::repository::Repository;

impl Repository {
    /// The bytes on disk of what a capture adds to the commit that was checked out: its own commits and trees, the files
    /// that differ, and what its index commit keeps beside them. What is packed already adds nothing.
    ///
    /// # Errors
    /// `GIT_FAILED` where an object is missing.
    pub fn added_by_capture(&self, capture: &Oid) -> Result<u64> {
        let mut seen = BTreeSet::new();
        let commit = self.read_commit(capture)?;
        let mut size = self.on_disk(capture);
        let base = match commit.parents.first() {
            Some(base) => Some(self.read_commit(base)?.tree),
            None => None,
        };
        size += self.added_by_tree(base.as_ref(), &commit.tree, &mut seen)?;
        let Some(index) = commit.parents.get(1) else { return Ok(size) };
        size += self.on_disk(index);
        let index = self.read_commit(index)?;
        size += self.added_by_tree(base.as_ref(), &index.tree, &mut seen)?;
        // Extras and document; captures of other worktrees and refs are further parents of the document.
        for further in index.parents.iter().skip(1).take(2) {
            size += self.on_disk(further);
            size += self.added_by_tree(None, &self.read_commit(further)?.tree, &mut seen)?;
        }
        Ok(size)
    }

    fn added_by_tree(&self, base: Option<&Oid>, tree: &Oid, seen: &mut BTreeSet<Oid>) -> Result<u64> {
        if base == Some(tree) || !seen.insert(tree.clone()) {
            return Ok(0);
        }
        let mut size = self.on_disk(tree);
        let old = match base {
            Some(base) => self.read_tree(base)?,
            None => Vec::new(),
        };
        for entry in self.read_tree(tree)? {
            let before = old.iter().find(|old| old.name == entry.name);
            if before.is_some_and(|before| before.oid == entry.oid) || entry.mode == GITLINK {
                continue;
            }
            if entry.mode == TREE {
                let before = before.filter(|before| before.mode == TREE).map(|before| &before.oid);
                size += self.added_by_tree(before, &entry.oid, seen)?;
            } else if seen.insert(entry.oid.clone()) {
                size += self.on_disk(&entry.oid);
            }
        }
        Ok(size)
    }

    /// The size of a loose object; 0 for one in a pack.
    fn on_disk(&self, oid: &Oid) -> u64 {
        let (folder, name) = oid.as_str().split_at(2);
        let path = self.common_dir().join("objects").join(folder).join(name);
        path.metadata().map_or(0, |meta| meta.len())
    }
}
