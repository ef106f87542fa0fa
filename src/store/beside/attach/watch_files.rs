//! The watches of worktrees for what has no hooks: what is known of each, and its lock.

use std::path::PathBuf;

use super::{AttachFiles, key_of, names_in};
use axiom_base::error::Result;
use axiom_base::files;

/// The watches of worktrees.
#[derive(Debug, Clone, Copy)]
pub struct WatchFiles<'f> {
    pub(super) files: &'f AttachFiles,
}

impl WatchFiles<'_> {
    /// Held by the watch of a worktree while it works.
    pub fn lock(&self, worktree: &str) -> PathBuf {
        self.files.below("watches").join(format!("{}.lock", key_of(worktree)))
    }

    /// The locks of all watches.
    pub fn locks(&self) -> Vec<PathBuf> {
        let is_lock = |path: &PathBuf| path.extension().is_some_and(|end| end == "lock");
        names_in(&self.files.below("watches")).into_iter().filter(is_lock).collect()
    }

    /// The file of the watch of a worktree.
    pub fn file(&self, worktree: &str) -> PathBuf {
        self.files.below("watches").join(format!("{}.json", key_of(worktree)))
    }

    /// What is known of each watch.
    pub fn all(&self) -> Vec<Vec<u8>> {
        self.files.json_in("watches")
    }

    /// Replaces what is known of the watch of a worktree.
    pub fn write(&self, worktree: &str, json: &[u8]) -> Result<()> {
        self.files.put(&self.files.below("watches"), &format!("{}.json", key_of(worktree)), json)
    }

    /// Forgets the watch of a worktree, which then ends; returns whether there was one.
    pub fn forget(&self, worktree: &str) -> Result<bool> {
        let file = self.file(worktree);
        let was_there = files::metadata(&file)?.is_some();
        if was_there {
            files::remove_file(&file)?;
        }
        Ok(was_there)
    }
}
