//! What is kept of prompts to attached sessions: their first lines, and those before which nothing could be saved.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{AttachFiles, LIMIT};
use axiom_base::error::{Code, Error, Result};
use axiom_base::files::{AppendFile, FileLock, LockAttempt};
use axiom_base::{files, platform};
use axiom_model::agent::attached_program::AttachedProgram;

/// The first line of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptLine {
    /// Its number.
    pub number: u32,
    /// The line, masked.
    pub text: String,
}

/// A prompt before which nothing could be saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NotSavedPromptLine {
    /// When it was sent.
    pub at: Timestamp,
    /// Until when its checkpoint was waited for.
    pub until: Timestamp,
    /// The program.
    pub program: AttachedProgram,
    /// Its session.
    pub session: String,
    /// The worktree of the session.
    pub worktree: String,
    /// Its first line, masked; `None` where it is not kept.
    pub text: Option<String>,
    /// Why.
    pub why: String,
}

/// What is kept of prompts.
#[derive(Debug, Clone, Copy)]
pub struct PromptFiles<'f> {
    pub(super) files: &'f AttachFiles,
}

impl PromptFiles<'_> {
    /// The first lines of prompts that are kept, each number once. What a power loss left of a line is passed over.
    pub fn lines(&self) -> Result<Vec<PromptLine>> {
        let bytes = files::read_optional(&self.text_file(), LIMIT)?.unwrap_or_default();
        let read = bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<PromptLine>(line).ok());
        Ok(read.map(|line| (line.number, line)).collect::<BTreeMap<_, _>>().into_values().collect())
    }

    /// Adds the first line of a prompt, in place of one with its number. It is synced with whatever syncs the file system next.
    pub fn add_line(&self, prompt: &PromptLine) -> Result<()> {
        self.locked(|| {
            let mut file = AppendFile::open(&self.text_file())?;
            file.append(&as_line(prompt))?;
            if platform::SYNCS_WHOLE_FILE_SYSTEM { Ok(()) } else { file.sync() }
        })
    }

    /// Replaces the first lines of prompts; what was left out is gone. The caller holds the lock of prompts.
    pub fn write_lines(&self, prompts: &[PromptLine]) -> Result<()> {
        files::write_atomic(&self.text_file(), &prompts.iter().flat_map(as_line).collect::<Vec<u8>>())
    }

    fn text_file(&self) -> PathBuf {
        self.files.below("prompts.jsonl")
    }

    /// The prompts before which nothing could be saved, the newest last.
    pub fn not_saved(&self) -> Vec<NotSavedPromptLine> {
        let bytes = files::read_optional(&self.files.below("not-saved.json"), LIMIT).ok().flatten().unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    /// Replaces them. The caller holds the lock of prompts.
    pub fn write_not_saved(&self, prompts: &[NotSavedPromptLine]) -> Result<()> {
        let json = serde_json::to_vec(prompts).unwrap_or_default();
        files::write_atomic(&self.files.below("not-saved.json"), &json)
    }

    /// Changes what is kept of prompts while nobody else does.
    pub fn locked(&self, change: impl FnOnce() -> Result<()>) -> Result<()> {
        match FileLock::take(&self.files.below("prompts.lock"), Duration::from_secs(2))? {
            LockAttempt::Taken(_lock) => change(),
            LockAttempt::Held => Err(Error::new(Code::Busy, "the list of prompts is being changed")),
        }
    }
}

/// A line of the file; its end stands before it, so that half a line does not take the next one with it.
fn as_line(prompt: &PromptLine) -> Vec<u8> {
    [b"\n", serde_json::to_vec(prompt).unwrap_or_default().as_slice()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::StoreLayout;

    #[test]
    fn half_a_line_costs_no_other_and_the_newest_of_a_number_counts() {
        let dir = tempfile::tempdir().unwrap();
        let files = AttachFiles::of(&StoreLayout::new(dir.path()));
        files.ensure().unwrap();
        let line = |number: u32, text: &str| PromptLine { number, text: text.into() };
        let add = |number, text| files.prompts().add_line(&line(number, text)).unwrap();
        add(1, "one\nof two");
        add(2, "dropped");
        AppendFile::open(&files.prompts().text_file()).unwrap().append(b"\n{\"number\":3,\"te").unwrap();
        add(2, "two");
        assert_eq!(files.prompts().lines().unwrap(), [line(1, "one\nof two"), line(2, "two")]);
        files.prompts().write_lines(&[line(2, "two")]).unwrap();
        add(4, "four");
        assert_eq!(files.prompts().lines().unwrap(), [line(2, "two"), line(4, "four")]);
    }
}
