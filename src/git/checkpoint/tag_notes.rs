//! The notes on the tags of checkpoints: our document first, and below it text that others wrote.

use std::collections::BTreeMap;

use axiom_base::error::{Code, Result};
use axiom_model::base::names::{Oid, RefName};
use axiom_model::base::own_names::NOTES;

use crate::base::limits;
use crate::base::tries::{TRIES, wait_a_little};
use crate::repo::handles::NoteStore;

/// The largest note: our document, and text that others wrote below it.
const NOTE_LIMIT: u64 = 2 * limits::DOCUMENT;

impl NoteStore<'_> {
    /// Whether a note is the document of a checkpoint, perhaps with text of others below it.
    pub fn note_begins_with(&self, note: &Oid, json: &Oid) -> Result<bool> {
        Ok(note == json
            || self
                .repo
                .objects()
                .read_blob(note, NOTE_LIMIT)?
                .starts_with(&self.repo.objects().read_blob(json, limits::DOCUMENT)?))
    }

    /// The note with our document first, followed by the existing note's text. An existing note that cannot be read is
    /// replaced by ours.
    pub(crate) fn note_with_ours(&self, there: &Oid, json: &Oid) -> Result<Oid> {
        if there == json {
            return Ok(json.clone());
        }
        let theirs = match self.repo.objects().read_blob(there, NOTE_LIMIT) {
            Ok(theirs) => theirs,
            Err(e) if e.code() == Code::TooLarge => return Ok(there.clone()),
            Err(_) => return Ok(json.clone()),
        };
        let mut ours = self.repo.objects().read_blob(json, limits::DOCUMENT)?;
        if theirs.starts_with(&ours) {
            return Ok(there.clone());
        }
        if !theirs.is_empty() {
            // The way `git notes append` joins texts.
            ours.push(b'\n');
            ours.extend_from_slice(&theirs);
        }
        self.repo.objects().write_blob(&ours)
    }

    /// Sets or removes the notes of some objects; all other notes are kept.
    pub fn set_notes(&self, notes: &BTreeMap<Oid, Option<Oid>>) -> Result<()> {
        let mut last = None;
        for _ in 0..TRIES {
            let edits = self.edit_notes(&self.load()?, notes)?;
            match self.repo.refs().update_refs(&edits, "git axiom: notes") {
                Ok(()) => return Ok(()),
                Err(e) if matches!(e.code(), Code::ChangedMeanwhile | Code::GitLocked) => {
                    last = Some(e);
                    wait_a_little();
                }
                Err(e) => return Err(e),
            }
        }
        Err(self.others_were_first(&RefName::new(NOTES), last))
    }
}
