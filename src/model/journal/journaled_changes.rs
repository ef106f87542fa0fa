//! The changes that an operation makes: of branches, stashes, worktrees, submodules, workspaces, the trash, gates. And what takes each back.

use serde::{Deserialize, Serialize};

use crate::base::ids::TaskId;
use crate::base::names::{Oid, RefName, RepoPath};
use crate::base::ref_change::{ChangeDirection, RefChange};
use crate::base::text::ValueChange;
use crate::checkpoint::local_refs::StashEntry;
use crate::checkpoint::submodules::HeldSubmodule;
use crate::work::agent::Workspace;
use crate::work::gates::gate::Gate;

/// A branch that moves together with the worktree in which it is checked out. Only paths that differ between the two commits
/// are touched; the user's other changes stay, staged or not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BranchAdvance {
    /// The worktree's absolute path.
    pub path: String,
    /// The branch.
    pub branch: RefName,
    /// Its commit before and after.
    pub commit: ValueChange<Oid>,
}

impl BranchAdvance {
    /// The change of the branch's ref alone.
    pub fn ref_change(&self) -> RefChange {
        let ValueChange { old, new } = &self.commit;
        RefChange { name: self.branch.clone(), value: ValueChange::new(Some(old.clone()), Some(new.clone())) }
    }
}

/// A stash entry that is removed or brought back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StashChange {
    /// The entry.
    #[serde(flatten)]
    pub entry: StashEntry,
    /// The direction: [`ChangeDirection::PutAside`] removes it from the stash.
    pub way: ChangeDirection,
}

/// What a worktree has checked out: one of the two.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum HeadState {
    /// A branch, perhaps unborn.
    Branch(RefName),
    /// A commit.
    Detached(Oid),
}

/// The change of one worktree. It is given by the trees before and after, so only paths that differ between them are
/// touched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorktreeChange {
    /// Its absolute path.
    pub path: String,
    /// The trees of the files.
    pub files: ValueChange<Oid>,
    /// The trees of the index.
    pub index: ValueChange<Oid>,
    /// What is checked out.
    pub head: ValueChange<HeadState>,
    /// The captures with conflict stages, index flags and operations in progress; `None` where the trees of files and index
    /// are enough.
    pub captures: ValueChange<Option<Oid>>,
}

/// The change of one submodule, in its own repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SubmoduleChange {
    /// Its files, index and HEAD, with its absolute path.
    #[serde(flatten)]
    pub worktree: WorktreeChange,
    /// Its git directory, absolute.
    pub git_dir: String,
    /// Its branches that move.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refs: Vec<RefChange>,
    /// Whether its folder has its `.git`: it has none while the submodule is deleted from the worktree.
    pub checked_out: ValueChange<bool>,
}

impl SubmoduleChange {
    /// The change back.
    #[must_use]
    pub fn inverse(self) -> Self {
        let refs = self.refs.into_iter().rev().map(|r| RefChange { name: r.name, value: r.value.inverse() });
        Self {
            refs: refs.collect(),
            worktree: self.worktree.inverse(),
            checked_out: self.checked_out.inverse(),
            git_dir: self.git_dir,
        }
    }
}

impl WorktreeChange {
    /// The change back.
    #[must_use]
    pub fn inverse(self) -> Self {
        Self {
            path: self.path,
            files: self.files.inverse(),
            index: self.index.inverse(),
            head: self.head.inverse(),
            captures: self.captures.inverse(),
        }
    }
}

/// A workspace that goes to the trash or comes back from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceChange {
    /// The task it belongs to.
    pub task: TaskId,
    /// The workspace, as the state knows it.
    pub workspace: Workspace,
    /// The place of its folder in the trash.
    pub trash: String,
    /// Its git directory.
    pub git_dir: String,
    /// The place of its git directory while it is in the trash.
    pub git_dir_trash: String,
    /// The direction.
    pub way: ChangeDirection,
    /// What it has checked out when it is not in the trash.
    pub head: HeadState,
    /// The commit that is checked out in it.
    pub commit: Option<Oid>,
    /// The capture from which it is made again if the trash was emptied.
    pub capture: Oid,
    /// Whether the workspace was already broken before the operation: its folder was missing, or had lost its link to git.
    /// What is left of it is moved, and comes back just as broken. `capture` is then a commit of its branch.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lost: bool,
    /// The submodules that are made again with it, the outer ones first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub submodules: Vec<HeldSubmodule>,
}

/// A file or folder that no capture holds, and that goes to the trash or comes back from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrashChange {
    /// The worktree's absolute path.
    pub worktree: String,
    /// Its path in the worktree.
    pub path: RepoPath,
    /// The folder in the trash that holds it, at the same relative path.
    pub trash: String,
    /// The direction.
    pub way: ChangeDirection,
}

/// A gate on a task that opens or closes with an operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GateChange {
    /// The gate, as it is while it is open.
    pub gate: Gate,
    /// The direction: [`ChangeDirection::PutAside`] closes it.
    pub way: ChangeDirection,
}
