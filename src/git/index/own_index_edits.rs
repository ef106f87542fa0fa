//! Edits of a worktree's own index without git, where nothing forbids that: read, edited, put into place.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;

use super::edit::{CachedTreeUpdate, IndexEntryEdit, IndexEntryEditKind, edit, tree_of};
use super::file::write_as_of;
use super::lock::IndexLock;
use crate::base::path_inspection::FileTouchStamp;
use crate::base::tree_change::TreeChange;
use crate::index::placed_file::PlacedFile;
use crate::repo::handles::IndexEdits;
use crate::repo::shortcuts::FastWay;
use axiom_base::error::{Error, Result};
use axiom_base::files;
use axiom_model::base::names::{Oid, RepoPath};

impl IndexEdits<'_> {
    /// Makes a worktree's index hold `tree`, if the index is a plain tree now. Returns `false` if git has to do it.
    pub(crate) fn edit_whole_index(&self, tree: &Oid, lock: &IndexLock, placed: &[PlacedFile]) -> Result<bool> {
        let Some((bytes, meta)) = self.index_bytes() else { return Ok(false) };
        let Some(now) = tree_of(&bytes, self.repo.hash()) else { return Ok(false) };
        let changes = self.repo.history().diff_trees(&now, tree)?;
        let trees = CachedTreeUpdate { repository: self.repo, old: &now, new: tree };
        self.install_edited((&bytes, &meta), &changes, &trees, lock, placed)
    }

    /// Replaces the entries of a worktree's index that differ between two trees. Returns `false` if git has to do it.
    pub(crate) fn edit_index(
        &self,
        changes: &[TreeChange],
        (old, new): (&Oid, &Oid),
        lock: &IndexLock,
        placed: &[PlacedFile],
    ) -> Result<bool> {
        let Some((bytes, meta)) = self.index_bytes() else { return Ok(false) };
        // With only some of the changes, the new tree of a changed folder is unknown.
        if self.repo.history().diff_trees(old, new)? != changes {
            return Ok(false);
        }
        let trees = CachedTreeUpdate { repository: self.repo, old, new };
        self.install_edited((&bytes, &meta), changes, &trees, lock, placed)
    }

    fn index_bytes(&self) -> Option<(Vec<u8>, std::fs::Metadata)> {
        if !self.repo.shortcuts().allow_in(FastWay::EditIndex, self.worktree) {
            return None;
        }
        let place = self.worktree.index_file();
        let meta = std::fs::symlink_metadata(&place).ok().filter(|meta| meta.is_file())?;
        Some((std::fs::read(&place).ok()?, meta))
    }

    fn install_edited(
        &self,
        (bytes, meta): (&[u8], &std::fs::Metadata),
        changes: &[TreeChange],
        trees: &CachedTreeUpdate<'_>,
        lock: &IndexLock,
        placed: &[PlacedFile],
    ) -> Result<bool> {
        let is = |placed: &&PlacedFile| -> Option<std::fs::Metadata> {
            let meta = std::fs::symlink_metadata(self.worktree.path().join(placed.path.to_path())).ok()?;
            (FileTouchStamp::of(&meta) == placed.stamp).then_some(meta)
        };
        let mut edits: BTreeMap<&RepoPath, IndexEntryEdit<'_>> = BTreeMap::new();
        for one in placed {
            if let Some(meta) = is(&one) {
                edits.insert(
                    &one.path,
                    IndexEntryEdit { path: &one.path, kind: IndexEntryEditKind::Look(&one.file, meta), is_new: false },
                );
            }
        }
        for change in changes {
            let path = &change.path;
            let kind = match (&change.new, edits.remove(path).map(|edit| edit.kind)) {
                (Some(new), Some(IndexEntryEditKind::Look(file, meta))) if file == new => {
                    IndexEntryEditKind::Set(new, Some(meta))
                }
                (Some(new), _) => IndexEntryEditKind::Set(new, None),
                (None, _) => IndexEntryEditKind::Remove,
            };
            edits.insert(path, IndexEntryEdit { path, kind, is_new: change.old.is_none() });
        }
        if edits.is_empty() {
            return Ok(true);
        }
        let edits: Vec<IndexEntryEdit<'_>> = edits.into_values().collect();
        let Some(edited) = edit(bytes, self.repo.hash(), meta.mtime(), &edits, trees) else { return Ok(false) };
        self.worktree.verify()?;
        lock.clear_new_index()?;
        let place = lock.new_index();
        if edited.is_racy {
            let time = meta.modified().map_err(|e| Error::io("access", &self.worktree.index_file(), e))?;
            write_as_of(place, &edited.bytes, self.repo.hash(), time)?;
        } else {
            files::write_scratch(place, &edited.bytes)?;
        }
        lock.install()?;
        Ok(true)
    }
}
