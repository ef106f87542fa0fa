//! A checkpoint's document, and the objects kept with it, found from its capture. No tag or note is needed.

use std::collections::BTreeSet;

use axiom_base::error::{Code, Error, Result};
use axiom_model::base::names::Oid;

use crate::base::limits;
use crate::objects::database::{CommitContent, TreeEntry};
use crate::repo::handles::Checkpoints;

/// The name of the JSON document in the tree of its commit.
pub(crate) const JSON: &[u8] = b"checkpoint.json";

impl Checkpoints<'_> {
    /// The commits that a checkpoint keeps reachable in addition to its own: captures of other worktrees, and targets of
    /// refs.
    pub fn kept_by_checkpoint(&self, capture: &Oid) -> Result<BTreeSet<Oid>> {
        let Some(index) = self.repo.objects().read_commit(capture)?.parents.into_iter().nth(1) else {
            return Ok(BTreeSet::new());
        };
        let mut kept = BTreeSet::new();
        for further in self.repo.objects().read_commit(&index)?.parents.iter().skip(1).take(2) {
            kept.extend(self.repo.objects().read_commit(further)?.parents);
        }
        Ok(kept)
    }

    /// The id and content of a checkpoint's document, from its capture: no tag or note is needed.
    pub fn checkpoint_json(&self, capture: &Oid) -> Result<(Oid, Vec<u8>)> {
        let id = self.checkpoint_json_id(capture)?;
        match self.repo.objects().read_blob(&id, limits::DOCUMENT) {
            Ok(bytes) => Ok((id, bytes)),
            Err(e) => Err(no_json(capture).because(e)),
        }
    }

    /// The id of a checkpoint's document, without reading it.
    pub fn checkpoint_json_id(&self, capture: &Oid) -> Result<Oid> {
        match self.record_of(capture) {
            Ok(found) => {
                let json = found.and_then(|(_, entries)| entries.into_iter().find(|entry| entry.name == JSON));
                json.map(|entry| entry.oid).ok_or_else(|| no_json(capture))
            }
            Err(e) => Err(no_json(capture).because(e)),
        }
    }

    /// The commit with a checkpoint's document, and the entries of its tree.
    pub(crate) fn record_of(&self, capture: &Oid) -> Result<Option<(CommitContent, Vec<TreeEntry>)>> {
        let Some(index) = self.repo.objects().read_commit(capture)?.parents.into_iter().nth(1) else { return Ok(None) };
        // The record is the second or third parent of the index commit: after the commit, and after the extras if there are
        // any.
        for parent in self.repo.objects().read_commit(&index)?.parents.iter().skip(1).take(2) {
            let record = self.repo.objects().read_commit(parent)?;
            let entries = self.repo.trees().read_tree(&record.tree)?;
            if entries.iter().any(|entry| entry.name == JSON) {
                return Ok(Some((record, entries)));
            }
        }
        Ok(None)
    }
}

fn no_json(capture: &Oid) -> Error {
    Error::new(Code::CheckpointDamaged, format!("capture {} has no checkpoint.json", capture.short()))
}
