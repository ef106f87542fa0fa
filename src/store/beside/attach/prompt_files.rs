//! What is kept of prompts to attached sessions: their first lines, and those before which nothing could be saved.

use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{AttachFiles, LIMIT};
use axiom_base::error::Result;
use axiom_base::files;
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
    /// The first lines of prompts that are kept.
    pub fn lines(&self) -> Result<Vec<PromptLine>> {
        let bytes = files::read_optional(&self.files.below("prompts.json"), LIMIT)?.unwrap_or_default();
        Ok(serde_json::from_slice(&bytes).unwrap_or_default())
    }

    /// Replaces the first lines of prompts; what was left out is gone. One process at a time: the caller holds a lock.
    pub fn write_lines(&self, prompts: &[PromptLine]) -> Result<()> {
        let json = serde_json::to_vec(prompts).unwrap_or_default();
        files::write_atomic(&self.files.below("prompts.json"), &json)
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

    /// Held while the first lines of prompts are changed.
    pub fn lock(&self) -> PathBuf {
        self.files.below("prompts.lock")
    }
}
