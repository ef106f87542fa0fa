//! Transactions, computed from events: a transaction is one user command or supervisor step, with the recorded old and new
//! value of everything it changed.
//!
//! The fold replays the state, so it knows exactly how a transaction changed tasks, whichever events did it.

mod journaled_changes;
mod operation_fold;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use jiff::Timestamp;
use operation_fold::is_work;
use serde::Serialize;

use crate::base::ids::{CheckpointName, OperationId, TaskId};
use crate::base::text::ValueChange;
use crate::state::event_envelope::{EventAuthor, EventEnvelope};
use crate::work::restorable::standing_changes::TaskStandingChanges;
use crate::work::sessions::session::SessionMode;
use crate::work::tasks::task::{MergedTaskWork, TaskChangeSet, TaskStatus};
pub use journaled_changes::JournaledChanges;
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
    /// What it changed by its journal.
    pub changes: JournaledChanges,
    /// The tasks that it changed.
    pub tasks: ChangedTasks,
    /// What it brought back, where it is a rollback, or the undo of one.
    pub brought_back: BroughtBackState,
    /// Checkpoints that it made.
    pub checkpoints: Vec<CheckpointName>,
    /// The undo that it is, and the one of it.
    pub undo: UndoLinks,
    /// Its events.
    pub events: EventSpan,
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
    /// Whether the mode was changed in it, by itself.
    changes_mode: bool,
    /// Whether a new log begins with it.
    begins_anew: bool,
    /// Whether the session refused what was asked for in it.
    was_refused: bool,
    /// What a human asked the session for in it, as how that is taken back.
    asked: Option<String>,
    /// Whether that was to block what agents worked on.
    asked_to_block: bool,
    /// Whether the session did what was asked for in it.
    was_done: bool,
    rank: u8,
}

/// The tasks that an operation changed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ChangedTasks {
    /// Those that it added, as they were when it had ended.
    pub added: BTreeMap<TaskId, TaskAsAdded>,
    /// Fields that it changed in tasks that existed before.
    pub edits: Vec<TaskChangeSet>,
}

impl ChangedTasks {
    /// Whether it changed none.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.edits.is_empty()
    }

    /// Each of them.
    pub fn ids(&self) -> impl Iterator<Item = &TaskId> {
        self.added.keys().chain(self.edits.iter().map(|edit| &edit.id))
    }
}

/// What a rollback brought back, or the undo of one. An undo inverts that too.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BroughtBackState {
    /// The checkpoint to which it went back with all files of its worktrees.
    pub checkpoint: Option<CheckpointName>,
    /// The change of the mode.
    pub mode: Option<ValueChange<SessionMode>>,
    /// What it changed of what was reported of tasks, and of the gates at which they wait.
    pub standing: TaskStandingChanges,
}

impl BroughtBackState {
    /// Whether it brought back a mode, reports or gates.
    pub fn is_any(&self) -> bool {
        self.mode.is_some() || !self.standing.is_empty()
    }
}

/// How an operation and undos belong together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UndoLinks {
    /// The operation that it undid, where it is an undo.
    pub of: Option<OperationId>,
    /// The operation that undid it, where that was not undone itself.
    pub by: Option<OperationId>,
}

/// The numbers of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventSpan {
    /// That of the first one.
    pub first: u64,
    /// That of the last one; of what carried out an operation, of the end of that.
    pub last: u64,
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
            changes: JournaledChanges::default(),
            tasks: ChangedTasks::default(),
            brought_back: BroughtBackState::default(),
            checkpoints: Vec::new(),
            undo: UndoLinks::default(),
            events: EventSpan { first: envelope.seq, last: envelope.seq },
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
        if self.undo.by.is_some() {
            return Some("it was undone already");
        }
        if self.nature.begins_anew {
            return Some("the log was restarted here: the older log is kept as a file, see 'git axiom recover'");
        }
        let is_work = self.tasks.edits.iter().any(is_work);
        let nothing = !self.moves() && self.tasks.is_empty() && !self.brought_back.is_any();
        if nothing && self.nature.changes_mode {
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
        self.changes.moves()
    }

    /// Whether it changed refs, files or tasks permanently, and because a user asked for it. Claims, iterations, gates,
    /// captures and automatic retention do not count.
    pub fn changes_for_good(&self) -> bool {
        let tasks = !self.tasks.added.is_empty() || self.tasks.edits.iter().any(|edit| !is_work(edit));
        let moves = self.moves() && !self.nature.only_tidies;
        // The agent's work on it ends with that, which is recorded apart from it where a session does it.
        let blocks = self.nature.asked_to_block && self.nature.was_done;
        self.progress == OperationRecordState::Done
            && !self.nature.is_housekeeping
            && (moves || tasks || blocks || self.brought_back.is_any())
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
            // Whoever was refused may have done it without a session then.
            EventAuthor::User | EventAuthor::Agent(_) => !self.nature.was_refused || self.events.first != self.events.last,
            EventAuthor::Recovery => !self.nature.is_housekeeping,
            EventAuthor::Supervisor | EventAuthor::Attached => false,
        };
        // A task that has nothing to merge counts as merged in the step that tidies up after it.
        let only_tidies = self.nature.only_tidies && self.tasks.added.is_empty() && self.tasks.edits.iter().all(is_work);
        let tidies = self.nature.is_retention || only_tidies;
        let changes = !tidies && (self.nature.operates || self.moves() || self.undoable());
        asked
            || changes
            || self.progress != OperationRecordState::Done
            || self.nature.bounds_session
            || !self.checkpoints.is_empty()
    }
}
