//! What a capture does not hold, so that a checkpoint can say so.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};
use walkdir::WalkDir;

use crate::domain::names::RepoPath;
use crate::error::{Code, Error, Result};

/// How many paths of one kind are listed; the rest is only counted.
pub const LISTED: usize = 200;

/// Paths of one kind: how many, and the first of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathSample {
    /// How many there are.
    pub count: u64,
    /// The first [`LISTED`] of them.
    pub paths: Vec<RepoPath>,
}

impl PathSample {
    /// Counts a path, and lists it while there is room.
    pub fn add(&mut self, path: RepoPath) {
        self.count += 1;
        if self.paths.len() < LISTED {
            self.paths.push(path);
        }
    }
}

/// What a capture does not hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Coverage {
    /// Ignored files and folders, the topmost ones.
    pub ignored: PathSample,
    /// Repositories within the worktree that are no submodules.
    pub nested_repositories: PathSample,
    /// Submodules with changes of their own; of a submodule only its commit is held.
    pub dirty_submodules: PathSample,
    /// Untracked files over the size limit.
    pub too_large: PathSample,
    /// Sockets, fifos and devices.
    pub special: PathSample,
}

impl Coverage {
    /// Whether the capture holds everything that is in the worktree.
    pub fn is_complete(&self) -> bool {
        let parts = [&self.ignored, &self.nested_repositories, &self.dirty_submodules, &self.too_large, &self.special];
        parts.iter().all(|part| part.count == 0)
    }
}

/// Finds sockets, fifos and devices: git does not mention them. `skipped` are folders (without `/` at the end) that are
/// counted otherwise.
///
/// # Errors
/// `FILE_UNREADABLE` where a folder cannot be read.
pub(super) fn find_special(root: &Path, skipped: &BTreeSet<RepoPath>) -> Result<Vec<RepoPath>> {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::FileTypeExt;
    let mut found = Vec::new();
    let inside = |path: &Path| RepoPath::new(path.strip_prefix(root).unwrap_or(path).as_os_str().as_bytes());
    let walk = WalkDir::new(root).sort_by_file_name().into_iter();
    let walk = walk.filter_entry(|entry| entry.file_name() != ".git" && !skipped.contains(&inside(entry.path())));
    for entry in walk {
        let entry = match entry {
            Ok(entry) => entry,
            // Gone between listing and looking.
            Err(e) if e.io_error().is_some_and(|e| e.kind() == std::io::ErrorKind::NotFound) => continue,
            Err(e) => {
                let path = e.path().unwrap_or(root).display().to_string();
                return Err(Error::new(Code::FileUnreadable, format!("'{path}' cannot be read")).because(e));
            }
        };
        let kind = entry.file_type();
        if kind.is_socket() || kind.is_fifo() || kind.is_block_device() || kind.is_char_device() {
            found.push(inside(entry.path()));
        }
    }
    Ok(found)
}
