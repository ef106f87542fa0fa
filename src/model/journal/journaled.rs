//! Operations: the journal written before refs or files change, so that an operation can be finished or reversed after a
//! crash.
//!
//! An operation records the old and the new value of everything it changes. Each change expects to find the old value, or
//! the new one if it was already made, and each change can be inverted: the same data serves to finish, to abort, and to
//! undo.

use crate::base::ref_change::{ChangeDirection, RefChange};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::journaled_changes::{
    BranchAdvance, GateChange, StashChange, SubmoduleChange, TrashChange, WorkspaceChange, WorktreeChange,
};
use crate::base::ids::{CheckpointName, GateId, OperationId, TaskId};
use crate::base::names::Oid;
use crate::base::text::ValueChange;
use crate::checkpoint::branch_config::BranchConfigChange;
use crate::work::restorable::restorable_changes::RestorableChanges;
use crate::work::restorable::standing_changes::TaskStandingChanges;
use crate::work::sessions::session::SessionMode;
use crate::work::tasks::task::{TaskChangeSet, TaskFieldChange};

/// What an operation is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OperationKind {
    /// A task's branch is merged into the target branch.
    Merge {
        /// Which task.
        task: TaskId,
    },
    /// Rollback to a checkpoint.
    RollbackCheckpoint {
        /// Whether only some paths go back.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        partly: bool,
        /// The checkpoint.
        checkpoint: CheckpointName,
    },
    /// One task's commits are reverted.
    RollbackTask {
        /// The tasks: the given one and those that depend on it.
        tasks: Vec<TaskId>,
    },
    /// Checkpoints are deleted: this deletes their capture refs; tags and notes are removed afterwards.
    DeleteCheckpoints {
        /// Until when they can be brought back.
        until: Timestamp,
    },
    /// The merge of the target is begun in a task's workspace, with the conflicts marked in its files, for an agent to settle.
    BeginMerge {
        /// Which task.
        task: TaskId,
    },
    /// Files of a workspace that were lost come back from a capture.
    RecoverFiles {
        /// Whose workspace it is.
        task: TaskId,
    },
    /// Entries of the user's stash went while an agent worked on a task: nothing more is changed, but it is undone like a change.
    StashTaken {
        /// Which task.
        task: TaskId,
    },
    /// A transaction is undone.
    Undo {
        /// The transaction.
        of: OperationId,
    },
}

impl OperationKind {
    /// Whether the next session finishes it without asking. That is so for what a session does on its own. What a human
    /// asked for waits for a human, who may want to abort it instead.
    pub fn is_finished_unasked(&self) -> bool {
        match self {
            Self::Merge { .. }
            | Self::BeginMerge { .. }
            | Self::DeleteCheckpoints { .. }
            | Self::RecoverFiles { .. }
            | Self::StashTaken { .. } => true,
            Self::RollbackCheckpoint { .. } | Self::RollbackTask { .. } | Self::Undo { .. } => false,
        }
    }
}

/// A planned change of refs, worktrees, workspaces.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JournaledOperation {
    /// What it is for.
    pub kind: OperationKind,
    /// One line for `log`.
    pub title: String,
    /// The checkpoint made before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub safety: Option<CheckpointName>,
    /// Commits that no other ref would reach any more: `refs/axiom/kept/<transaction>` keeps them for undo.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<Oid>,
    /// Branches that move together with the worktree in which they are checked out; the user's own changes are kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advances: Vec<BranchAdvance>,
    /// Refs that move, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refs: Vec<RefChange>,
    /// Configuration of branches that is removed or brought back, after the refs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub branch_configs: Vec<BranchConfigChange>,
    /// Stash entries that are removed or brought back, in this order, after the refs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stash: Vec<StashChange>,
    /// Worktrees whose files, index or HEAD change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub worktrees: Vec<WorktreeChange>,
    /// Submodules whose files, index, HEAD or branches change, after the worktrees that they are in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub submodules: Vec<SubmoduleChange>,
    /// Workspaces that go to the trash or come back from it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workspaces: Vec<WorkspaceChange>,
    /// Files that an earlier operation moved to the trash because they were in its way. They come back where their place is
    /// free.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asides: Vec<TrashChange>,
    /// Fields of tasks that change when it ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<TaskChangeSet>,
    /// Gates on tasks that open or close when it ends, in this order, after everything else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<GateChange>,
    /// What was reported of tasks and the gates at which they wait, which an undo of a rollback brings back when it ends.
    #[serde(default, skip_serializing_if = "TaskStandingChanges::is_empty")]
    pub standing: TaskStandingChanges,
    /// What changes in the restorable state when it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<Box<RestorableChanges>>,
    /// The mode that it sets when it ends, where it restores no whole state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<ValueChange<SessionMode>>,
}

impl JournaledOperation {
    /// Whether it moves the workspace at this path to the trash: then another one may come to its place.
    pub fn puts_aside(&self, path: &str) -> bool {
        self.workspaces.iter().any(|change| change.way == ChangeDirection::PutAside && change.workspace.path == path)
    }

    /// Whether it changes a ref, the stash, a file, a workspace, a task, what was reported of one, or the mode.
    pub fn changes_anything(&self) -> bool {
        let Self { refs, stash, advances, worktrees, submodules, workspaces, edits, standing, mode, .. } = self;
        let moves = !(refs.is_empty() && stash.is_empty() && advances.is_empty() && worktrees.is_empty());
        moves || !(submodules.is_empty() && workspaces.is_empty() && edits.is_empty()) || mode.is_some() || !standing.is_empty()
    }

    /// An operation that changes nothing yet.
    pub fn new(kind: OperationKind, title: impl Into<String>) -> Self {
        Self {
            kind,
            title: title.into(),
            safety: None,
            kept: Vec::new(),
            advances: Vec::new(),
            refs: Vec::new(),
            branch_configs: Vec::new(),
            stash: Vec::new(),
            worktrees: Vec::new(),
            submodules: Vec::new(),
            workspaces: Vec::new(),
            asides: Vec::new(),
            edits: Vec::new(),
            gates: Vec::new(),
            standing: TaskStandingChanges::default(),
            changes: None,
            mode: None,
        }
    }

    /// The inverse of the operation's changes of refs, files, workspaces, task fields and mode, last first, for aborting and
    /// undoing. The whole state that it restored is not inverted: that is undone field by field.
    #[must_use]
    pub fn inverse(self, kind: OperationKind, title: String) -> Self {
        let refs = self.refs.into_iter().rev().map(|r| RefChange { name: r.name, value: r.value.inverse() });
        let advances = self.advances.into_iter().rev().map(|a| BranchAdvance { commit: a.commit.inverse(), ..a });
        let worktrees = self.worktrees.into_iter().rev().map(WorktreeChange::inverse);
        let submodules = self.submodules.into_iter().rev().map(SubmoduleChange::inverse);
        let workspaces = self.workspaces.into_iter().rev().map(|w| WorkspaceChange { way: w.way.opposite(), ..w });
        let stash = self.stash.into_iter().rev().map(|s| StashChange { way: s.way.opposite(), ..s });
        let configs = self.branch_configs.into_iter().rev();
        let configs = configs.map(|c| BranchConfigChange { way: c.way.opposite(), ..c });
        let asides = self.asides.into_iter().rev().map(|a| TrashChange { way: a.way.opposite(), ..a });
        let mut inverse = Self::new(kind, title);
        inverse.asides = asides.collect();
        inverse.refs = refs.collect();
        inverse.branch_configs = configs.collect();
        inverse.stash = stash.collect();
        inverse.advances = advances.collect();
        inverse.worktrees = worktrees.collect();
        inverse.submodules = submodules.collect();
        inverse.workspaces = workspaces.collect();
        inverse.edits = inverse_edits(self.edits);
        inverse.gates = inverse_gates(self.gates);
        inverse.standing = self.standing.inverse();
        inverse.mode = self.mode.map(ValueChange::inverse);
        inverse
    }

    /// The gates that the operation opens when it ends.
    pub fn opened_gates(&self) -> Vec<GateId> {
        let opened = self.gates.iter().filter(|change| change.way == ChangeDirection::BringBack);
        opened.map(|change| change.gate.id.clone()).collect()
    }

    /// Whether no ref, stash entry, file or workspace changes.
    pub fn is_state_only(&self) -> bool {
        self.refs.is_empty()
            && self.stash.is_empty()
            && self.advances.is_empty()
            && self.worktrees.is_empty()
            && self.submodules.is_empty()
            && self.workspaces.is_empty()
    }
}

/// The inverse of changes of gates, last first.
fn inverse_gates(gates: Vec<GateChange>) -> Vec<GateChange> {
    gates.into_iter().rev().map(|change| GateChange { way: change.way.opposite(), ..change }).collect()
}

/// The inverse of edits, last first.
pub fn inverse_edits(edits: Vec<TaskChangeSet>) -> Vec<TaskChangeSet> {
    let turn = |edit: TaskChangeSet| TaskChangeSet {
        id: edit.id,
        changes: edit.changes.into_iter().rev().map(TaskFieldChange::inverse).collect(),
    };
    edits.into_iter().rev().map(turn).collect()
}

/// How an operation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OperationEnd {
    /// Its changes were made.
    Done,
    /// It was reversed: everything is as before it.
    Aborted,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::names::RefName;

    #[test]
    fn an_inverse_turned_round_again_is_the_operation() {
        let oid = |digit: &str| Oid::new(digit.repeat(40)).unwrap();
        let kind = OperationKind::Merge { task: TaskId::new("t").unwrap() };
        let mut operation = JournaledOperation::new(kind.clone(), "x");
        operation.refs = vec![
            RefChange { name: RefName::branch("a"), value: ValueChange::new(None, Some(oid("1"))) },
            RefChange { name: RefName::branch("b"), value: ValueChange::new(Some(oid("1")), Some(oid("2"))) },
        ];
        let commit = ValueChange::new(oid("1"), oid("2"));
        operation.advances = vec![BranchAdvance { path: "/r".into(), branch: RefName::branch("b"), commit }];
        let inverse = operation.clone().inverse(kind.clone(), "x".into());
        assert_eq!(inverse.refs[0].value, ValueChange::new(Some(oid("2")), Some(oid("1"))));
        assert_eq!(inverse.inverse(kind, "x".into()), operation);
    }
}
