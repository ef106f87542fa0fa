//! A file that was just put into a worktree: its entry in the index needs no other look at it.

use crate::base::path_inspection::FileTouchStamp;
use crate::base::tree_change::FileId;
use axiom_model::base::names::RepoPath;

/// A file that was put into place, with a stamp that shows whether it is still the same file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedFile {
    /// Its path.
    pub path: RepoPath,
    /// Its mode and blob in the tree.
    pub file: FileId,
    pub(crate) stamp: FileTouchStamp,
}
