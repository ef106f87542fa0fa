//! What belongs to a checkpoint, made anew for its new capture: the commit with its document, its note, texts of tasks.

use std::collections::BTreeMap;

use super::notes::NotesSnapshot;
use super::record::JSON;
use crate::TEXT_LIMIT;
use crate::base::limits;
use crate::base::modes::TREE;
use crate::capture::rewrite::RewrittenCapture;
use crate::objects::database::NewCommit;
use crate::refs::edits::{ExpectedRefValue, RefEdit};
use crate::repo::handles::{Checkpoints, NoteStore};
use axiom_base::error::Result;
use axiom_model::base::names::{Oid, RefName};
use axiom_model::base::own_names::{NOTES, TEXTS};
use axiom_model::checkpoint::purge::{CaptureRemovals, TextMasks};

/// The largest note that is read.
const NOTE_LIMIT: u64 = 2 * limits::DOCUMENT;

/// Long texts that were masked.
#[derive(Debug)]
pub struct MaskedTexts {
    /// The change of their ref.
    pub edit: RefEdit,
    /// The old and the new ids of those that changed.
    pub renamed: Vec<(Oid, Oid)>,
}

impl Checkpoints<'_> {
    /// The capture of a checkpoint without what `cut` takes, with this document, and with new captures of other worktrees: `captures` has
    /// their old ids. `None` where nothing changes.
    pub fn checkpoint_without(
        &self,
        capture: &Oid,
        cut: &CaptureRemovals,
        document: &[u8],
        captures: &BTreeMap<Oid, Oid>,
    ) -> Result<Option<RewrittenCapture>> {
        self.repo.capture_rewrites().without(capture, cut, |parent| self.record_again(parent, document, captures))
    }

    fn record_again(&self, commit: &Oid, document: &[u8], captures: &BTreeMap<Oid, Oid>) -> Result<Oid> {
        let objects = self.repo.objects();
        let data = objects.read_commit(commit)?;
        let mut entries = self.repo.trees().read_tree(&data.tree)?;
        let Some(json) = entries.iter_mut().find(|entry| entry.name == JSON) else { return Ok(commit.clone()) };
        json.oid = objects.write_blob(document)?;
        let parents: Vec<Oid> = data.parents.iter().map(|parent| captures.get(parent).unwrap_or(parent).clone()).collect();
        let tree = self.repo.trees().write_tree(&entries)?;
        if tree == data.tree && parents == data.parents {
            Ok(commit.clone())
        } else {
            objects.commit_with(commit, &tree, &parents)
        }
    }
}

impl NoteStore<'_> {
    /// A note with another document of ours at its beginning; what others wrote below it stays, masked.
    pub fn note_with(&self, note: &Oid, old: &[u8], new: &[u8], masks: &TextMasks) -> Result<Oid> {
        let bytes = self.repo.objects().read_blob(note, NOTE_LIMIT)?;
        let text = match bytes.strip_prefix(old) {
            Some(rest) => [new, masks.applied(rest).as_deref().unwrap_or(rest)].concat(),
            None => masks.applied(&bytes).unwrap_or(bytes),
        };
        self.repo.objects().write_blob(&text)
    }

    /// The change of the notes ref that sets these notes, and leaves no history.
    pub fn edit_without_history(&self, notes: &NotesSnapshot, changes: &BTreeMap<Oid, Option<Oid>>) -> Result<Option<RefEdit>> {
        let name = RefName::new(NOTES);
        let Some(old) = self.repo.refs().read_ref(&name)? else { return Ok(None) };
        let edits = self.edit_notes(notes, changes)?;
        let Some(new) = edits.into_iter().find(|edit| edit.name == name).and_then(|edit| edit.new) else { return Ok(None) };
        let tree = self.repo.objects().read_commit(&new)?.tree;
        let who = self.repo.objects().signature()?;
        let commit = NewCommit { tree: &tree, parents: Vec::new(), who: &who, message: "git axiom: notes, compacted" };
        let new = self.repo.objects().write_commit(&commit)?;
        Ok(Some(RefEdit { name, expected: ExpectedRefValue::Value(old), new: Some(new) }))
    }

    /// The change of the ref of long texts that masks them, and the new ids of those that were masked, which `masks` gets too. `None`
    /// where none has to be.
    pub fn masked_texts(&self, masks: &mut TextMasks) -> Result<Option<MaskedTexts>> {
        let (name, objects) = (RefName::new(TEXTS), self.repo.objects());
        let Some(old) = self.repo.refs().read_ref(&name)? else { return Ok(None) };
        let data = objects.read_commit(&old)?;
        let mut blobs = Vec::new();
        let mut renamed = Vec::new();
        for folder in self.repo.trees().read_tree(&data.tree)?.into_iter().filter(|entry| entry.mode == TREE) {
            for entry in self.repo.trees().read_tree(&folder.oid)? {
                let text = objects.read_blob(&entry.oid, TEXT_LIMIT)?;
                blobs.push(match masks.applied(&text) {
                    Some(text) => {
                        let new = objects.write_blob(&text)?;
                        renamed.push((entry.oid, new.clone()));
                        new
                    }
                    None => entry.oid,
                });
            }
        }
        if renamed.is_empty() {
            return Ok(None);
        }
        renamed.iter().for_each(|(old, new)| masks.rename(old, new));
        let tree = self.with_texts(None, &blobs)?;
        let new = objects.commit_with(&old, &tree, &[])?;
        let edit = RefEdit { name, expected: ExpectedRefValue::Value(old), new: Some(new) };
        Ok(Some(MaskedTexts { edit, renamed }))
    }
}
