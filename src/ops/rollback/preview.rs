//! What a rollback shows to whoever decides.

use std::path::Path;

use serde::Serialize;

use crate::domain::checkpoint::CheckpointRecord;
use crate::domain::ids::{CaseId, CheckpointName};
use crate::domain::known_paths::OnlyCount;
use crate::domain::names::{Oid, RefName, RepoPath};
use crate::domain::rollback::TaskChange;

/// A commit that a rollback takes out of its branch.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CommitLine {
    /// Its id.
    pub id: Oid,
    /// Its subject.
    pub subject: String,
}

/// Something in a worktree that a rollback touches.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileLoss {
    /// The worktree.
    pub worktree: String,
    /// The file.
    pub path: RepoPath,
}

impl FileLoss {
    /// Its absolute path.
    pub fn place(&self) -> String {
        Path::new(&self.worktree).join(self.path.to_path()).display().to_string()
    }
}

/// What becomes of a workspace, in words.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceLine {
    /// Its path.
    pub path: String,
    /// `restored`, `putAside` or `madeAgain`.
    pub action: &'static str,
    /// The task.
    pub task_id: CaseId,
}

/// What a rollback will do, exactly.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Preview {
    /// The checkpoint.
    pub checkpoint: CheckpointName,
    /// Commits that leave their branches, newest first.
    pub commits: Vec<CommitLine>,
    /// Those of them that are merges.
    pub merges: Vec<CommitLine>,
    /// Tasks whose state goes back.
    pub tasks: Vec<TaskChange>,
    /// Uncommitted content that is replaced (the safety checkpoint holds it).
    pub files: Vec<FileLoss>,
    /// What no capture holds and will be in the way: it is moved to the trash, and undo puts it back. Found out only for a
    /// preview.
    #[serde(skip)]
    pub moves_aside: Vec<FileLoss>,
    /// Submodules that stay at the commit that is checked out in them, though the checkpoint has another.
    pub submodules: Vec<FileLoss>,
    /// Worktrees of the user's that stay as they are, though the checkpoint has them otherwise: their paths.
    pub left_alone: Vec<String>,
    /// Workspaces that change.
    pub workspaces: Vec<WorkspaceLine>,
    /// Branches that get a reverting commit, because an upstream has their commits.
    pub reverted: Vec<RefName>,
    /// Where only known paths were looked at for the checkpoint: how many, and of which one all else is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<OnlyCount>,
    /// What is in conflict: a rollback to a checkpoint has none.
    pub conflicts: Vec<String>,
}

impl Preview {
    /// Of a rollback that does nothing yet.
    pub(super) fn of(record: &CheckpointRecord) -> Self {
        Self {
            checkpoint: record.name.clone(),
            only: record.only.clone(),
            commits: Vec::new(),
            merges: Vec::new(),
            tasks: Vec::new(),
            files: Vec::new(),
            moves_aside: Vec::new(),
            submodules: Vec::new(),
            left_alone: Vec::new(),
            workspaces: Vec::new(),
            reverted: Vec::new(),
            conflicts: Vec::new(),
        }
    }
}
