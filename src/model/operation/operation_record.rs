//! Transactions, computed from events: a transaction is one user command or supervisor step, with the recorded old and new
//! value of everything it changed.
//!
//! The fold replays the state, so it knows exactly how a transaction changed tasks, whichever events did it.

mod operation_fold;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use jiff::Timestamp;
use operation_fold::is_work;
use serde::Serialize;

use crate::base::ids::{CheckpointName, OperationId, TaskId};
use crate::base::ref_change::RefChange;
use crate::base::text::ValueChange;
use crate::checkpoint::branch_config::BranchConfigChange;
use crate::journal::journaled_changes::{
    BranchAdvance, GateChange, StashChange, SubmoduleChange, TrashChange, WorkspaceChange, WorktreeChange,
};
use crate::state::event_envelope::{EventAuthor, EventEnvelope};
use crate::work::restorable::standing_changes::TaskStandingChanges;
use crate::work::sessions::session::SessionMode;
use crate::work::tasks::task::{MergedTaskWork, TaskChangeSet, TaskStatus};
pub use operation_fold::OperationFold;

/// How many tasks are named in how a request is taken back.
const NAMED: usize = 10;

/// The progress of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum OperationRecordState {
    /// It is finished.
    Done,
    /// Its operation has begun and has not ended.
    Open,
    /// Its operation was reversed.
    #[serde(rename = "reversed")]
    Aborted,
}

/// One user command or supervisor step.
#[derive(Debug, Clone, PartialEq)]
pub struct OperationRecord {
    /// Its id.
    pub id: OperationId,
    /// When it began.
    pub at: Timestamp,
    /// Who did it.
    pub by: EventAuthor,
    /// One line on what it did.
    pub what: String,
    /// How far it has come.
    pub progress: OperationRecordState,
    /// Refs that it moved.
    pub refs: Vec<RefChange>,
    /// Configuration of branches that it removed or brought back.
    pub branch_configs: Vec<BranchConfigChange>,
    /// Stash entries that it removed or brought back.
    pub stash: Vec<StashChange>,
    /// Branches that it moved together with the worktree in which they are checked out.
    pub advances: Vec<BranchAdvance>,
    /// Worktrees that it changed.
    pub worktrees: Vec<WorktreeChange>,
    /// Submodules that it changed.
    pub submodules: Vec<SubmoduleChange>,
    /// Workspaces that it moved to the trash or brought back.
    pub workspaces: Vec<WorkspaceChange>,
    /// Files that were in its way and are in the trash.
    pub asides: Vec<TrashChange>,
    /// Gates on tasks that it opened or closed.
    pub gates: Vec<GateChange>,
    /// What it changed of what was reported of tasks, and of the gates at which they wait.
    pub standing: TaskStandingChanges,
    /// Tasks that it added.
    pub added: Vec<TaskId>,
    /// The status and merge of those tasks when the transaction had ended.
    pub added_as: BTreeMap<TaskId, TaskAsAdded>,
    /// Fields that it changed in tasks that existed before.
    pub edits: Vec<TaskChangeSet>,
    /// The change of the mode, where it changed the mode.
    pub mode: Option<ValueChange<SessionMode>>,
    /// The change of the mode, where the mode changed as part of a rollback, or of the undo of one. An undo inverts that
    /// too.
    pub mode_restored: Option<ValueChange<SessionMode>>,
    /// The checkpoint to which it went back with all files of its worktrees.
    pub went_back_to: Option<CheckpointName>,
    /// Checkpoints that it made.
    pub checkpoints: Vec<CheckpointName>,
    /// The transaction that it undid, where it is an undo.
    pub undo_of: Option<OperationId>,
    /// The transaction that undid it, where that was not undone itself.
    pub undone_by: Option<OperationId>,
    /// The number of its first event.
    pub first_seq: u64,
    /// The number of its last event; of one that carried out an operation, of the end of that.
    pub last_seq: u64,
    /// What kind of a step it is.
    nature: OperationNature,
}

/// What kind of a step an operation is, for what is listed and what can be undone.
#[derive(Debug, Clone, PartialEq, Default)]
struct OperationNature {
    /// Whether it carried out an operation. Before an operation, the agents concerned are stopped.
    operates: bool,
    /// Whether a session began or ended in it.
    bounds_session: bool,
    /// Whether it is automatic retention, prepares the work of an agent, or records what one said: no user asked for it.
    is_housekeeping: bool,
    /// Whether it is automatic retention: it deleted checkpoints that had expired.
    is_retention: bool,
    /// Whether the only refs that it moved are branches of tasks that were merged before.
    only_tidies: bool,
    /// Whether a new log begins with it.
    begins_anew: bool,
    /// What a human asked the session for in it, as how that is taken back.
    asked: Option<String>,
    rank: u8,
}

/// A task as it was added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskAsAdded {
    /// Its status.
    pub status: TaskStatus,
    /// Where its work is, for a task that was imported as done.
    pub merged: Option<MergedTaskWork>,
}

impl OperationRecord {
    fn begin(envelope: &EventEnvelope) -> Self {
        Self {
            id: envelope.txn.clone(),
            at: envelope.happened_at(),
            by: envelope.by.clone(),
            what: String::new(),
            progress: OperationRecordState::Done,
            refs: Vec::new(),
            branch_configs: Vec::new(),
            stash: Vec::new(),
            advances: Vec::new(),
            worktrees: Vec::new(),
            submodules: Vec::new(),
            workspaces: Vec::new(),
            asides: Vec::new(),
            gates: Vec::new(),
            standing: TaskStandingChanges::default(),
            added: Vec::new(),
            added_as: BTreeMap::new(),
            edits: Vec::new(),
            mode: None,
            mode_restored: None,
            checkpoints: Vec::new(),
            undo_of: None,
            undone_by: None,
            went_back_to: None,
            first_seq: envelope.seq,
            last_seq: envelope.seq,
            nature: OperationNature::default(),
        }
    }

    /// Why the transaction cannot be undone, as far as the log shows; `None` where it can. Whether anything has changed
    /// since is checked by undo.
    pub fn obstacle(&self) -> Option<&str> {
        match self.progress {
            OperationRecordState::Open => return Some("it is not finished: see 'git axiom recover'"),
            OperationRecordState::Aborted => return Some("it was reversed already"),
            OperationRecordState::Done => {}
        }
        if self.undone_by.is_some() {
            return Some("it was undone already");
        }
        if self.nature.begins_anew {
            return Some("the log was restarted here: the older log is kept as a file, see 'git axiom recover'");
        }
        let is_work = self.edits.iter().any(is_work);
        let nothing = !self.moves() && self.added.is_empty() && self.edits.is_empty() && !self.goes_back();
        if nothing && self.mode.is_some() {
            return Some("it changed the mode: change that back with 'git axiom mode'");
        }
        if let Some(asked) = self.nature.asked.as_deref().filter(|_| nothing || is_work) {
            return Some(asked);
        }
        if nothing {
            return Some("it changed no ref, file or task");
        }
        if is_work {
            return Some("it is an agent's work on a task: stop the agent, or roll the task back");
        }
        None
    }

    /// Whether it moved refs, stash entries, files or workspaces.
    pub fn moves(&self) -> bool {
        !(self.refs.is_empty()
            && self.stash.is_empty()
            && self.advances.is_empty()
            && self.worktrees.is_empty()
            && self.submodules.is_empty()
            && self.workspaces.is_empty())
    }

    /// Whether it changed refs, files or tasks permanently, and because a user asked for it. Claims, iterations, gates,
    /// captures and automatic retention do not count.
    pub fn changes_for_good(&self) -> bool {
        let tasks = !self.added.is_empty() || self.edits.iter().any(|edit| !is_work(edit));
        let moves = self.moves() && !self.nature.only_tidies;
        self.progress == OperationRecordState::Done && !self.nature.is_housekeeping && (moves || tasks || self.goes_back())
    }

    /// Whether it brought back a mode, reports or gates.
    pub fn goes_back(&self) -> bool {
        self.mode_restored.is_some() || !self.standing.is_empty()
    }

    /// Whether it can be undone, as far as the log shows.
    pub fn undoable(&self) -> bool {
        self.obstacle().is_none()
    }

    /// Whether it is more than an intermediate step: a user, agent or recovery did it, a session began or ended, a
    /// checkpoint was made, or it changed refs, files or tasks. What only takes away what has had its time is no more, though it can be
    /// undone.
    pub fn matters(&self) -> bool {
        let asked = match &self.by {
            EventAuthor::User | EventAuthor::Agent(_) => true,
            EventAuthor::Recovery => !self.nature.is_housekeeping,
            EventAuthor::Supervisor | EventAuthor::Attached => false,
        };
        // A task that has nothing to merge counts as merged in the step that tidies up after it.
        let only_tidies = self.nature.only_tidies && self.added.is_empty() && self.edits.iter().all(is_work);
        let tidies = self.nature.is_retention || only_tidies;
        let changes = !tidies && (self.nature.operates || self.moves() || self.undoable());
        asked
            || changes
            || self.progress != OperationRecordState::Done
            || self.nature.bounds_session
            || !self.checkpoints.is_empty()
    }
}
