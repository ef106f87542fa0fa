//! Long texts of tasks and of the audit: blobs that one ref keeps reachable.

use std::collections::BTreeMap;

use axiom_base::error::{Code, Error, Result};
use axiom_model::base::names::{Oid, RefName};
use axiom_model::base::own_names::TEXTS;

use crate::base::modes::TREE;
use crate::base::tries::{TRIES, wait_a_little};
use crate::objects::database::{NewCommit, TreeEntry};
use crate::refs::edits::{ExpectedRefValue, RefEdit};
use crate::repo::handles::NoteStore;
use crate::repo::person_ident::PersonIdent;

/// The largest text that is read.
pub const TEXT_LIMIT: u64 = 64 * 1024 * 1024;

impl NoteStore<'_> {
    /// Stores texts and returns their ids, in order; the texts survive a power loss once this returns. Texts that other
    /// processes store at the same time are kept. A crash leaves the old or the new set.
    pub fn store_texts(&self, texts: &[&[u8]]) -> Result<Vec<Oid>> {
        let blobs = texts.iter().map(|text| self.repo.objects().write_blob(text)).collect::<Result<Vec<_>>>()?;
        let name = RefName::new(TEXTS);
        let mut last = None;
        for _ in 0..TRIES {
            let old = self.repo.refs().read_ref(&name)?;
            let old_tree =
                old.as_ref().map(|commit| self.repo.objects().read_commit(commit)).transpose()?.map(|commit| commit.tree);
            let tree = self.with_texts(old_tree.as_ref(), &blobs)?;
            if old_tree.as_ref() == Some(&tree) {
                return Ok(blobs);
            }
            // A root commit: texts are only added, so a history would keep nothing more.
            let who = PersonIdent::fixed();
            let commit = NewCommit { tree: &tree, parents: Vec::new(), who: &who, message: "long texts" };
            let new = Some(self.repo.objects().write_commit(&commit)?);
            let edit = RefEdit { name: name.clone(), expected: ExpectedRefValue::from_old(old), new };
            match self.repo.refs().update_refs(&[edit], "git axiom: texts") {
                Ok(()) => return Ok(blobs),
                Err(e) if matches!(e.code(), Code::ChangedMeanwhile | Code::GitLocked) => {
                    last = Some(e);
                    wait_a_little();
                }
                Err(e) => return Err(e),
            }
        }
        Err(self.others_were_first(&name, last))
    }

    /// Reads a text.
    pub fn load_text(&self, id: &Oid) -> Result<Vec<u8>> {
        self.repo.objects().read_blob(id, TEXT_LIMIT)
    }

    /// The error for a ref of ours that could not be changed at any try: another process holds its lock, a killed git left
    /// the lock, or other processes changed the ref each time.
    pub(crate) fn others_were_first(&self, name: &RefName, last: Option<Error>) -> Error {
        let lock = self.repo.refs().lock_of_ref(name);
        match last {
            Some(error) if error.code() == Code::GitLocked || lock.exists() => {
                let what = format!("'{}' exists, and was not removed while we waited", lock.display());
                Error::new(Code::GitLocked, what)
                    .why("another git command holds it, or was killed and left it")
                    .hint("git axiom recover --yes    removes it if nobody owns it, or says what you can do")
            }
            Some(_) | None => Error::new(Code::Busy, format!("{name} keeps being changed by other processes")).hint("try again"),
        }
    }

    pub(super) fn with_texts(&self, old: Option<&Oid>, blobs: &[Oid]) -> Result<Oid> {
        let mut top = self.entries(old)?;
        let mut by_folder: BTreeMap<Vec<u8>, Vec<&Oid>> = BTreeMap::new();
        for blob in blobs {
            by_folder.entry(blob.as_str().as_bytes()[..2].to_vec()).or_default().push(blob);
        }
        for (folder, blobs) in by_folder {
            let mut inner = self.entries(top.get(&folder).map(|entry| &entry.oid))?;
            for blob in blobs {
                let name = blob.as_str().as_bytes()[2..].to_vec();
                inner.insert(name.clone(), TreeEntry { mode: 0o100_644, oid: blob.clone(), name });
            }
            let oid = self.repo.trees().write_tree(&inner.into_values().collect::<Vec<_>>())?;
            top.insert(folder.clone(), TreeEntry { mode: TREE, oid, name: folder });
        }
        self.repo.trees().write_tree(&top.into_values().collect::<Vec<_>>())
    }

    fn entries(&self, tree: Option<&Oid>) -> Result<BTreeMap<Vec<u8>, TreeEntry>> {
        let Some(tree) = tree else { return Ok(BTreeMap::new()) };
        Ok(self.repo.trees().read_tree(tree)?.into_iter().map(|entry| (entry.name.clone(), entry)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::scratch::ScratchRepository;

    #[test]
    fn texts_of_several_writers_at_once_are_all_kept_through_a_gc() {
        for kind in [&[][..], &["--ref-format=reftable"], &["--object-format=sha256"]] {
            let scratch = ScratchRepository::new(kind);
            let texts: Vec<String> = (0..12).map(|n| format!("text {n}")).collect();
            let ids: Vec<Oid> = std::thread::scope(|scope| {
                let writers: Vec<_> = texts
                    .chunks(3)
                    .map(|part| {
                        let repo = scratch.repo();
                        scope.spawn(move || {
                            part.iter().flat_map(|text| repo.notes().store_texts(&[text.as_bytes()]).unwrap()).collect::<Vec<_>>()
                        })
                    })
                    .collect();
                writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
            });
            scratch.git(&["gc", "-q", "--prune=now"]);
            let repo = scratch.repo();
            for (id, text) in ids.iter().zip(&texts) {
                assert_eq!(repo.notes().load_text(id).unwrap(), text.as_bytes());
            }
            assert_eq!(repo.notes().store_texts(&[b"text 0"]).unwrap(), ids[..1]);
        }
    }
}
