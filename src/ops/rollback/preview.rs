//! What a rollback shows to whoever decides.

use std::path::Path;

use jiff::Timestamp;
use serde::Serialize;

use crate::domain::base::ids::{CaseId, CheckpointName};
use crate::domain::base::listed::{self, FileChange, WorkspaceFate};
use crate::domain::base::names::{Oid, RefName, RepoPath};
use crate::domain::base::text::Change;
use crate::domain::checkpoint::branch_config::BranchConfigChange;
use crate::domain::checkpoint::document::CheckpointRecord;
use crate::domain::checkpoint::known_paths::OnlyCount;
use crate::domain::checkpoint::local_refs::StashEntry;
use crate::domain::operation::journaled::{HeadState, RefChange};
use crate::domain::operation::rollback::TaskChange;
use crate::domain::state::whole::State;
use crate::domain::work::session::Mode;
use crate::git::TreeChange;
use crate::ops::operation::in_progress::OperationLine;

use super::refs::{MovedRef, RefLeft, RefLine};
use crate::ops::operation::stop_agents::AgentLine;

/// A commit that a rollback takes out of its branch.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CommitLine {
    /// Its id.
    pub id: Oid,
    /// Its subject.
    pub subject: String,
    /// The branch that had it; `None` where only a detached HEAD had it.
    pub branch: Option<RefName>,
}

/// A file that changes.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileLine {
    /// The worktree; `None` where the branch that changes is checked out nowhere.
    pub worktree: Option<String>,
    /// The file.
    pub path: RepoPath,
    /// What becomes of it.
    pub change: FileChange,
    /// Whether its content, as it is now, is in no commit of the branch (the safety checkpoint holds it).
    pub uncommitted: bool,
}

impl FileLine {
    pub(in crate::ops) fn of(worktree: Option<String>, file: TreeChange, uncommitted: bool) -> Self {
        Self { worktree, change: file.what(), path: file.path, uncommitted }
    }

    /// Its absolute path, or its path in the branch.
    pub fn place(&self) -> String {
        let inside = self.path.to_path();
        self.worktree.as_ref().map_or(inside.clone(), |worktree| Path::new(worktree).join(inside)).display().to_string()
    }
}

/// A HEAD that changes to another branch or commit.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HeadLine {
    /// The worktree.
    pub worktree: String,
    /// What is checked out now, and what will be.
    #[serde(flatten)]
    pub head: Change<HeadState>,
}

/// A worktree of the user's own that the checkpoint holds and that is gone.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GoneLine {
    /// Where it was.
    pub path: String,
    /// What makes it again, empty of what the checkpoint holds.
    pub made_by: String,
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

/// Something that a rollback does not bring back.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NotRestored {
    /// The worktree.
    pub worktree: String,
    /// The file or folder.
    pub path: RepoPath,
    /// Why: the key of the coverage that lists it.
    #[serde(rename = "reason")]
    pub why: &'static str,
}

impl NotRestored {
    /// Its absolute path, and why.
    pub fn text(&self) -> String {
        let place = Path::new(&self.worktree).join(self.path.to_path());
        let why = match self.why {
            "excluded" => "checkpoints.exclude keeps it out",
            "ignored" => "ignored, and not in checkpoints.include",
            "overIncludeLimit" => "beyond what checkpoints.include may hold",
            "tooLarge" => "over checkpoints.maxFileSize",
            "nestedRepositories" => "a repository of its own",
            "special" => "no file",
            "unreadable" => "it could not be read",
            "sparse" => "outside the sparse checkout: git sparse-checkout add brings it back",
            "refusedNames" => "git refuses its name",
            other => other,
        };
        format!("{} ({why})", place.display())
    }
}

/// What becomes of a workspace, in words.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceLine {
    /// Its path.
    pub path: String,
    /// What becomes of it.
    pub action: WorkspaceFate,
    /// The task.
    pub task_id: CaseId,
}

impl WorkspaceLine {
    /// Of a workspace that goes to the trash: where its folder is gone already, or never was made, it is only forgotten.
    pub fn going(path: &str, task_id: &CaseId) -> Self {
        let is_gone = Path::new(path).symlink_metadata().is_err();
        let action = if is_gone { WorkspaceFate::Forgotten } else { WorkspaceFate::PutAside };
        Self { path: path.to_owned(), action, task_id: task_id.clone() }
    }
}

/// The checkpoint to go back to.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Goal {
    /// Its name.
    pub name: CheckpointName,
    /// When it was made.
    pub created_at: Timestamp,
    /// Where only known paths were looked at: how many, and of which one all else is.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "listed::only")]
    pub only: Option<OnlyCount>,
}

/// What a rollback will do, exactly.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Preview {
    /// The checkpoint.
    pub checkpoint: Goal,
    /// The one worktree that goes back, everything else left alone.
    pub worktree: Option<String>,
    /// Agents that are stopped first.
    pub agents: Vec<AgentLine>,
    /// HEADs that change.
    pub heads: Vec<HeadLine>,
    /// Commits that leave their branches, newest first; those that only a detached HEAD has too.
    pub commits: Vec<CommitLine>,
    /// Those of them that are merges.
    pub merges: Vec<CommitLine>,
    /// Branches that are kept for undo and deleted.
    pub branches: Vec<RefName>,
    /// Every ref that changes, those of all other lists among them.
    #[serde(serialize_with = "listed::refs")]
    pub refs: Vec<RefChange>,
    /// Whether the checkpoint holds local refs; one of an older version does not, and none comes back.
    pub refs_held: bool,
    /// Local refs that were deleted since and come back.
    pub refs_back: Vec<RefLine>,
    /// Local refs that moved since.
    pub refs_moved: Vec<MovedRef>,
    /// Local refs that were deleted since and do not come back.
    pub refs_left: Vec<RefLeft>,
    /// Configuration that comes back with branches that do.
    #[serde(rename = "branchConfigs", serialize_with = "listed::branch_configs")]
    pub configs_back: Vec<BranchConfigChange>,
    /// Branches that come back, of which something else is configured by now: that stays.
    #[serde(rename = "branchConfigsLeft")]
    pub configs_left: Vec<RefName>,
    /// Entries of the stash that come back, newest first.
    #[serde(rename = "stash", serialize_with = "listed::stash_back")]
    pub stash_back: Vec<StashEntry>,
    /// Branches that get a reverting commit, because an upstream has commits that would leave them.
    pub reverted: Vec<RefName>,
    /// The commits that are reverted by that and stay, newest first.
    pub reverted_commits: Vec<CommitLine>,
    /// How many commits that are of each of them, and how many of these an upstream has.
    #[serde(skip)]
    pub on_upstream: Vec<(RefName, usize, usize)>,
    /// Where only some files go back: they and all below them, in that worktree.
    pub paths: Vec<RepoPath>,
    /// Tasks whose state goes back.
    pub tasks: Vec<TaskChange>,
    /// The mode, where it goes back.
    pub mode: Option<Change<Mode>>,
    /// Files that change.
    pub files: Vec<FileLine>,
    /// Files and folders that stay, and get the permissions, ACL or attributes that the checkpoint has of them.
    pub permissions: Vec<FileLoss>,
    /// What is staged and will not be, or otherwise (the safety checkpoint holds it).
    pub staged: Vec<FileLoss>,
    /// What will be staged and is not, or otherwise.
    pub staged_back: Vec<FileLoss>,
    /// Operations of git's that end, or come back.
    pub operations: Vec<OperationLine>,
    /// What no capture holds and will be in the way: it is moved to the trash, and undo puts it back. Found out only for a
    /// preview.
    #[serde(skip)]
    pub moves_aside: Vec<FileLoss>,
    /// What was there then and does not come back: the checkpoint does not hold it and it is gone, or it is excluded now and
    /// left as it is.
    pub not_restored: Vec<NotRestored>,
    /// Submodules that stay at the commit that is checked out in them, though the checkpoint has another.
    pub submodules: Vec<FileLoss>,
    /// Worktrees of the user's that stay as they are, though the checkpoint has them otherwise: their paths.
    pub left_alone: Vec<String>,
    /// Those of them that are gone.
    pub gone: Vec<GoneLine>,
    /// Workspaces that change.
    pub workspaces: Vec<WorkspaceLine>,
    /// Whether everything is as it would be already. Found out only for a preview.
    #[serde(skip)]
    pub changes_nothing: bool,
    /// What is in conflict: a rollback to a checkpoint has none.
    pub conflicts: Vec<String>,
}

impl Preview {
    /// Of a rollback that does nothing yet.
    pub(super) fn of(state: &State, record: &CheckpointRecord) -> Self {
        Self {
            checkpoint: Goal {
                name: record.name.clone(),
                created_at: record.created_at,
                only: record.only.as_ref().map(|only| only.shown(state)),
            },
            worktree: None,
            agents: Vec::new(),
            heads: Vec::new(),
            commits: Vec::new(),
            merges: Vec::new(),
            branches: Vec::new(),
            refs: Vec::new(),
            refs_held: true,
            refs_back: Vec::new(),
            refs_moved: Vec::new(),
            refs_left: Vec::new(),
            configs_back: Vec::new(),
            configs_left: Vec::new(),
            stash_back: Vec::new(),
            reverted: Vec::new(),
            reverted_commits: Vec::new(),
            on_upstream: Vec::new(),
            paths: Vec::new(),
            tasks: Vec::new(),
            mode: None,
            files: Vec::new(),
            permissions: Vec::new(),
            staged: Vec::new(),
            staged_back: Vec::new(),
            operations: Vec::new(),
            moves_aside: Vec::new(),
            not_restored: Vec::new(),
            submodules: Vec::new(),
            left_alone: Vec::new(),
            gone: Vec::new(),
            workspaces: Vec::new(),
            changes_nothing: false,
            conflicts: Vec::new(),
        }
    }
}
