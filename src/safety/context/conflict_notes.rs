//! Notes in the git directories of worktrees in which a user resolves the conflict of a task's rollback: what each worktree is for.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_model::base::ids::TaskId;
use axiom_model::base::names::RefName;

/// The name of the note in the worktree's git directory.
const NOTE: &str = "axiom-resolve.json";

/// The largest size of a note, in bytes.
const LIMIT: u64 = 64 * 1024;

/// A conflict that a user is resolving.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RevertConflictWorktree {
    /// The task that is rolled back.
    pub task_id: TaskId,
    /// The branch on which its commits are reverted.
    pub target: RefName,
    /// The path of the worktree.
    pub path: String,
    /// The command that goes on once the conflict is resolved.
    #[serde(default)]
    pub resolve: String,
}

/// The notes in the git directories of linked worktrees, with the paths as they were written.
pub fn noted(common_dir: &Path) -> Result<Vec<(PathBuf, RevertConflictWorktree)>> {
    let mut found = Vec::new();
    for entry in files::list(&common_dir.join("worktrees"))? {
        // A file that cannot be parsed is no note of ours.
        found.extend(read(&entry.path())?.map(|note| (entry.path(), note)));
    }
    Ok(found)
}

/// The note in a git directory.
pub fn read(git_dir: &Path) -> Result<Option<RevertConflictWorktree>> {
    let bytes = files::read_optional(&git_dir.join(NOTE), LIMIT)?;
    Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

/// Writes a note into the git directory of a worktree.
pub fn write(git_dir: &Path, note: &RevertConflictWorktree) -> Result<()> {
    let json = serde_json::to_vec_pretty(note);
    let json = json.map_err(|e| Error::new(Code::Internal, "a note cannot be written as JSON").because(e))?;
    files::write_atomic(&git_dir.join(NOTE), &json)
}
