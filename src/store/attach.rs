//! What is kept of attached sessions beside the log: files of this machine alone, mode 0600, below `axiom/attach`. None of them is needed
//! after a crash but the first lines of prompts, which are nowhere else.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::layout::Layout;
use crate::env;
use crate::error::Result;
use crate::files;

/// The largest file of ours that is read.
const LIMIT: u64 = 4 * 1024 * 1024;
/// How a line that is being written begins.
const HALF: &str = ".half-";

/// The first line of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptLine {
    /// Its number.
    pub number: u32,
    /// The line, masked.
    pub text: String,
}

/// The files of attached sessions of one repository.
#[derive(Debug, Clone)]
pub struct AttachFiles {
    root: PathBuf,
}

impl AttachFiles {
    /// Those below a repository's folder of ours.
    pub fn of(layout: &Layout) -> Self {
        Self { root: layout.root().join("attach") }
    }

    fn below(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Makes the folders; safe to repeat.
    ///
    /// # Errors
    /// `IO_FAILED`.
    pub fn ensure(&self) -> Result<()> {
        if self.below("spool").is_dir() {
            return Ok(());
        }
        ["sessions", "spool"].into_iter().try_for_each(|name| files::create_dirs_unsynced(&self.below(name)))
    }

    /// Held by the joiner while it works.
    pub fn joiner_lock(&self) -> PathBuf {
        self.below("joiner.lock")
    }

    /// The file whose time says when a worktree was last looked at for an attached session: a file that is older has been saved.
    pub fn looked_at(&self) -> PathBuf {
        self.below("looked-at")
    }

    /// What is known of a session.
    pub fn session(&self, key: &str) -> Option<Vec<u8>> {
        files::read_optional(&self.below("sessions").join(format!("{key}.json")), LIMIT).ok().flatten()
    }

    /// What is known of each session.
    pub fn sessions(&self) -> Vec<Vec<u8>> {
        let names = names_in(&self.below("sessions"));
        let plain = names.into_iter().filter(|path| path.extension().is_some_and(|end| end == "json"));
        plain.filter_map(|path| files::read_optional(&path, LIMIT).ok().flatten()).collect()
    }

    /// Replaces what is known of a session.
    ///
    /// # Errors
    /// `IO_FAILED`, `DISK_FULL`.
    pub fn write_session(&self, key: &str, json: &[u8]) -> Result<()> {
        self.put(&self.below("sessions"), &format!("{key}.json"), json)
    }

    /// Hands a line to the joiner.
    ///
    /// # Errors
    /// `IO_FAILED`, `DISK_FULL`.
    pub fn hand_over(&self, line: &[u8]) -> Result<()> {
        let name = format!("{:024}-{}", env::now().as_nanosecond().max(0), env::fresh_id());
        self.put(&self.below("spool"), &name, line)
    }

    /// The lines that wait for the joiner, oldest first, with their files.
    pub fn lines(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let read = |path: PathBuf| Some((path.clone(), files::read_optional(&path, LIMIT).ok().flatten()?));
        names_in(&self.below("spool")).into_iter().filter_map(read).collect()
    }

    /// Takes away lines that were carried out.
    pub fn carried_out(&self, lines: &[PathBuf]) {
        for path in lines {
            if let Err(error) = files::remove_file(path) {
                tracing::debug!(%error, "a line of the joiner stays");
            }
        }
    }

    /// The first lines of prompts that are kept.
    ///
    /// # Errors
    /// `IO_FAILED`, `TOO_LARGE`.
    pub fn prompts(&self) -> Result<Vec<PromptLine>> {
        let bytes = files::read_optional(&self.below("prompts.json"), LIMIT)?.unwrap_or_default();
        Ok(serde_json::from_slice(&bytes).unwrap_or_default())
    }

    /// Replaces the first lines of prompts; what was left out is gone. One process at a time: the caller holds a lock.
    ///
    /// # Errors
    /// `IO_FAILED`, `DISK_FULL`.
    pub fn write_prompts(&self, prompts: &[PromptLine]) -> Result<()> {
        let json = serde_json::to_vec(prompts).unwrap_or_default();
        files::write_atomic(&self.below("prompts.json"), &json)
    }

    /// Held while the first lines of prompts are changed.
    pub fn prompts_lock(&self) -> PathBuf {
        self.below("prompts.lock")
    }

    fn put(&self, folder: &Path, name: &str, bytes: &[u8]) -> Result<()> {
        let half = folder.join(format!("{HALF}{}", env::fresh_id()));
        files::create_if_free(&half, bytes)?;
        files::replace_unsynced(&half, &folder.join(name))
    }
}

/// The whole files in a folder, sorted by name.
fn names_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let is_whole = |path: &PathBuf| path.file_name().is_some_and(|name| !name.to_string_lossy().starts_with(HALF));
    let mut names: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(is_whole).collect();
    names.sort();
    names
}
