//! Bringing an index up to what is in the worktree, for named paths.

use std::path::Path;

use crate::domain::names::RepoPath;
use crate::error::{Code, Error, Result};

use super::index_file::nul_list;
use super::place::{Found, look};
use super::repository::Repository;
use super::worktree_list::Worktree;

/// Paths whose index entries shall become what is on disk.
#[derive(Debug, Default)]
pub(super) struct ChangedPaths {
    update: Vec<RepoPath>,
    remove: Vec<RepoPath>,
}

impl ChangedPaths {
    /// Looks which of the paths are there.
    ///
    /// # Errors
    /// `IO_FAILED`.
    pub fn sort(worktree: &Worktree, paths: Vec<RepoPath>) -> Result<Self> {
        let mut sorted = Self::default();
        for path in paths {
            // git refuses to remove by name what is now below a link, so what is gone is said to be gone.
            let keep = match look(worktree.path(), &path)? {
                Found::File(_) | Found::Link(..) => true,
                Found::Folder => worktree.path().join(path.to_path()).join(".git").exists(),
                Found::Missing | Found::Below(_) | Found::Special => false,
            };
            if keep { sorted.update.push(path) } else { sorted.remove.push(path) }
        }
        Ok(sorted)
    }

    /// Those that are there.
    pub fn there(&self) -> impl Iterator<Item = &RepoPath> {
        self.update.iter()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.update.is_empty() && self.remove.is_empty()
    }

    /// Updates `index`, or the worktree's own.
    ///
    /// # Errors
    /// `FILE_UNREADABLE`, `GIT_LOCKED`, `DISK_FULL`, `GIT_FAILED`.
    pub fn stage(&self, repository: &Repository, worktree: &Worktree, index: Option<&Path>) -> Result<()> {
        let git = |arguments: &[&str]| {
            let git = repository.git_in(worktree).arg("update-index").args(arguments).args(["-z", "--stdin"]);
            match index {
                // A private index is thrown away, and objects are synced together before a ref names them.
                Some(index) => git.index(index).config("core.splitIndex=false").config("core.fsync=none"),
                None => git.writing(),
            }
        };
        if !self.remove.is_empty() {
            git(&["--force-remove"]).stdin(nul_list(&self.remove)).run_ok()?;
        }
        if !self.update.is_empty() {
            let output = git(&["--add", "--remove", "--replace"]).stdin(nul_list(&self.update)).run()?;
            if !output.ok() {
                return Err(unreadable_file(output.error(), &output.stderr));
            }
        }
        Ok(())
    }
}

fn unreadable_file(error: Error, stderr: &str) -> Error {
    if error.code() == Code::GitFailed && stderr.contains("filter '") {
        return error.hint("make the filter work (git config --get-regexp '^filter'), or take its attribute away");
    }
    let signs =
        ["Permission denied", "unable to index file", "Unable to process path", "unsupported file type", "failed to insert"];
    if error.code() == Code::GitFailed && signs.iter().any(|sign| stderr.contains(sign)) {
        return Error::new(Code::FileUnreadable, "a file of the worktree cannot be read")
            .why(stderr.trim().replace('\n', "; "))
            .hint("make it readable, or add it to .gitignore; --allow-unreadable makes a checkpoint without it, and says so");
    }
    error
}
