//! How much space former notes need: each commit of the notes keeps the one before it alive.

use super::notes::NotesSnapshot;
use crate::repo::handles::NoteStore;
use axiom_base::error::{Code, Error, Result};

/// The history of the notes, without the notes that there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NotesHistory {
    /// How many former commits there are.
    pub commits: u64,
    /// What they need on disk, with the trees and notes that only they have.
    pub bytes: u64,
}

impl NoteStore<'_> {
    /// The size of the history of the notes.
    pub fn history_size(&self, notes: &NotesSnapshot) -> Result<NotesHistory> {
        let (Some(parent), Some(tree)) = (notes.parent(), notes.tree()) else { return Ok(NotesHistory::default()) };
        let without = format!("^{tree}");
        let number = |args: &[&str]| -> Result<u64> {
            let output = self.repo.git().arg("rev-list").args(args).run_ok()?;
            let said = output.text()?;
            said.trim().parse().map_err(|_| Error::new(Code::GitFailed, format!("git says no number but '{said}'")))
        };
        Ok(NotesHistory {
            commits: number(&["--count", parent.as_str()])?,
            bytes: number(&["--objects", "--disk-usage", parent.as_str(), &without])?,
        })
    }
}
