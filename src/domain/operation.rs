//! Operations: what is journaled before refs or files change, so that a crash can be finished or reversed.
//!
//! An operation records old and new of everything it changes. Each change expects the old value, finds the new one
//! where it was made already, and can be turned round: the same data serves to finish, to abort, and to undo.

use serde::{Deserialize, Serialize};

use super::ids::{AgentId, CaseId, CheckpointName, TxnId};
use super::names::{Oid, RefName};
use super::text::Change;

/// What an operation is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OperationKind {
    /// A task's branch goes into the target.
    Merge {
        /// Which task.
        task: CaseId,
    },
    /// Back to a checkpoint.
    RollbackCheckpoint {
        /// Which.
        checkpoint: CheckpointName,
    },
    /// One task's commits are reverted.
    RollbackTask {
        /// Which, and what depends on it.
        tasks: Vec<CaseId>,
    },
    /// A transaction is taken back.
    Undo {
        /// Which.
        of: TxnId,
    },
}

/// A planned change of refs, worktrees, workspaces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Operation {
    /// What it is for.
    pub kind: OperationKind,
    /// One line for `log`.
    pub title: String,
    /// The checkpoint made before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub safety: Option<CheckpointName>,
    /// Refs that move, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refs: Vec<RefChange>,
    /// Worktrees whose files, index or HEAD change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub worktrees: Vec<WorktreeChange>,
    /// Workspaces that are put aside or brought back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workspaces: Vec<WorkspaceChange>,
}

/// A ref that moves. `None` is: there is no such ref.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RefChange {
    /// Its full name.
    pub name: RefName,
    /// Its value before and after.
    pub value: Change<Option<Oid>>,
}

/// What a worktree has checked out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum HeadState {
    /// A branch, perhaps unborn.
    Branch(RefName),
    /// A commit.
    Detached(Oid),
}

/// The change of one worktree: by the trees before and after, so only paths that differ between them are touched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorktreeChange {
    /// Its absolute path.
    pub path: String,
    /// Trees of the files.
    pub files: Change<Oid>,
    /// Trees of the index.
    pub index: Change<Oid>,
    /// What is checked out.
    pub head: Change<HeadState>,
    /// The captures that hold conflict stages, flags and operations in progress; none where files and index say it all.
    pub captures: Change<Option<Oid>>,
}

/// A workspace that goes to the trash or comes back from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceChange {
    /// Its absolute path.
    pub path: String,
    /// Its place in the trash.
    pub trash: String,
    /// Which way it goes.
    pub way: Way,
    /// The capture that it is made from again, where the trash was emptied.
    pub capture: Oid,
    /// The agent it belongs to.
    pub agent: Option<AgentId>,
    /// The task it belongs to.
    pub task: Option<CaseId>,
}

/// Which way a workspace goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Way {
    /// To the trash.
    PutAside,
    /// Back from the trash, or made again.
    BringBack,
}

impl Operation {
    /// The operation's changes turned round, last first, for aborting and undoing.
    #[must_use]
    pub fn inverse(self, kind: OperationKind, title: String) -> Self {
        let refs = self.refs.into_iter().rev().map(|r| RefChange { name: r.name, value: r.value.inverse() });
        let worktrees = self.worktrees.into_iter().rev().map(|w| WorktreeChange {
            path: w.path,
            files: w.files.inverse(),
            index: w.index.inverse(),
            head: w.head.inverse(),
            captures: w.captures.inverse(),
        });
        let workspaces = self.workspaces.into_iter().rev().map(|w| WorkspaceChange {
            way: match w.way {
                Way::PutAside => Way::BringBack,
                Way::BringBack => Way::PutAside,
            },
            ..w
        });
        Self { kind, title, safety: None, refs: refs.collect(), worktrees: worktrees.collect(), workspaces: workspaces.collect() }
    }
}
