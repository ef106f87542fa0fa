//! How much disk space a capture adds to the repository.

use std::collections::BTreeSet;

use axiom_base::error::{Code, Error, Result};
use axiom_model::base::names::Oid;
use axiom_model::base::own_names;

use super::database::gix_id;
use crate::base::loose::loose_file;
use crate::repo::handles::Objects;

impl Objects<'_> {
    /// The bytes on disk of what these captures reach and nothing of the user's does: no branch, tag, other ref, HEAD or index.
    pub fn held_alone(&self, captures: &[Oid]) -> Result<u64> {
        if captures.is_empty() {
            return Ok(0);
        }
        let but_ours = format!("--exclude={}*", own_names::REFS);
        let others = ["--disk-usage", "--not", but_ours.as_str(), "--all", "--indexed-objects"];
        let said = self.repo.connectivity().walk(captures, &[]).args(others).text()?;
        said.trim().parse().map_err(|_| Error::new(Code::GitFailed, format!("git did not say how much it is: {said}")))
    }

    /// The bytes on disk that a capture adds to the commit that was checked out: its own commits and trees, the files that
    /// differ, and what its index commit contains in addition. Packed objects count as 0, and so does everything in
    /// `shared`, a tree that an earlier checkpoint holds.
    pub fn added_by_capture(&self, capture: &Oid, shared: Option<&Oid>) -> Result<u64> {
        let mut seen: BTreeSet<Oid> = shared.into_iter().cloned().collect();
        let mut added = Vec::new();
        let commit = self.read_commit(capture)?;
        added.push(gix_id(capture)?);
        let base = match commit.parents.first() {
            Some(base) => Some(self.read_commit(base)?.tree),
            None => None,
        };
        self.added_by_tree(base.as_ref(), &commit.tree, &mut seen, &mut added)?;
        let Some(index) = commit.parents.get(1) else { return self.on_disk(added) };
        added.push(gix_id(index)?);
        let index = self.read_commit(index)?;
        self.added_by_tree(base.as_ref(), &index.tree, &mut seen, &mut added)?;
        // The extras and the document. Further parents of the document, the captures of other worktrees and refs, are not
        // counted.
        for further in index.parents.iter().skip(1).take(2) {
            added.push(gix_id(further)?);
            self.added_by_tree(None, &self.read_commit(further)?.tree, &mut seen, &mut added)?;
        }
        self.on_disk(added)
    }

    /// Adds what a tree has and `base` does not have at the same place, and what was not seen before.
    fn added_by_tree(
        &self,
        base: Option<&Oid>,
        tree: &Oid,
        seen: &mut BTreeSet<Oid>,
        added: &mut Vec<gix::ObjectId>,
    ) -> Result<()> {
        if base == Some(tree) || !seen.insert(tree.clone()) {
            return Ok(());
        }
        added.push(gix_id(tree)?);
        let old = base.map(|base| self.repo.trees().read_raw_tree(base)).transpose()?;
        let old = old.as_deref().unwrap_or_default();
        let mut before =
            gix::objs::TreeRefIter::from_bytes(old, self.repo.hash().gix()).filter_map(std::result::Result::ok).peekable();
        let new = self.repo.trees().read_raw_tree(tree)?;
        for entry in gix::objs::TreeRefIter::from_bytes(&new, self.repo.hash().gix()).filter_map(std::result::Result::ok) {
            // Both trees are in the same order.
            while before.next_if(|old| *old < entry).is_some() {}
            let same_name = before.next_if(|old| old.filename == entry.filename && old.mode.is_tree() == entry.mode.is_tree());
            if same_name.is_some_and(|old| old.oid == entry.oid) || entry.mode.is_commit() {
                continue;
            }
            if entry.mode.is_tree() {
                let old = same_name.map(|old| Oid::from_bytes(old.oid.as_bytes())).transpose()?;
                self.added_by_tree(old.as_ref(), &Oid::from_bytes(entry.oid.as_bytes())?, seen, added)?;
            } else {
                added.push(entry.oid.to_owned());
            }
        }
        Ok(())
    }

    /// The size of those objects that are loose.
    fn on_disk(&self, mut ids: Vec<gix::ObjectId>) -> Result<u64> {
        self.repo.durability().leave_unpacked(&mut ids)?;
        let objects = self.repo.common_dir().join("objects");
        let mut size = 0;
        let stage = self.repo.objects.stage.get();
        for id in ids {
            if let Some(landed) = stage.and_then(|stage| stage.size_landed(&id)) {
                size += landed;
                continue;
            }
            match loose_file(&objects, &id).metadata() {
                Ok(meta) => size += meta.len(),
                // It may have been packed just now; and a partial clone does not have all of its objects.
                Err(_) if self.repo.durability().is_there_now(&id)? || self.repo.connectivity().is_partial() => {}
                Err(_) => return Err(Error::new(Code::GitFailed, format!("object {id} is missing"))),
            }
        }
        Ok(size)
    }
}
