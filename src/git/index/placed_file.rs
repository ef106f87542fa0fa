//! A file that was just put into a worktree: its entry in the index needs no other look at it.

use crate::domain::base::names::RepoPath;
use crate::git::base::path_inspection::FileTouchStamp;
use crate::git::base::tree_change::FileId;

/// A file that was put into place, with a stamp that shows whether it is still the same file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedFile {
    /// Its path.
    pub path: RepoPath,
    /// Its mode and blob in the tree.
    pub file: FileId,
    pub(in crate::git) stamp: FileTouchStamp,
}
