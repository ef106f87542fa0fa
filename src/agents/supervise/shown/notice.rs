//! Notices of the supervisor to its watcher, as data. Not here: how they are shown.

use jiff::Timestamp;

use axiom_model::base::ids::{AgentId, CheckpointName, SessionId, TaskId};
use axiom_model::base::names::{Oid, RefName};
use axiom_model::work::sessions::session::SessionMode;
use axiom_model::work::tasks::task::TaskStatus;

/// One notice, shown as one line.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)] // the fields say what they are
pub enum SessionNotice {
    Started {
        session: SessionId,
        target: String,
        slots: u32,
        program: String,
        mode: SessionMode,
    },
    Recovered {
        what: String,
    },
    Claimed {
        agent: AgentId,
        task: TaskId,
        title: String,
        workspace: String,
    },
    IterationStarted {
        agent: AgentId,
        task: TaskId,
        iteration: u32,
    },
    Progress {
        agent: AgentId,
        task: TaskId,
        percent: u8,
        said_at: Timestamp,
    },
    IterationEnded {
        agent: AgentId,
        task: TaskId,
        how: String,
        left_out: Vec<String>,
        ended_at: Timestamp,
    },
    Released {
        agent: AgentId,
        task: TaskId,
        status: TaskStatus,
        reason: String,
    },
    /// Verify steps of a task begin: these, as they are called.
    Verifying {
        agent: AgentId,
        task: TaskId,
        steps: Vec<String>,
    },
    /// `recovery.evaluator` is asked what becomes of a task.
    Evaluating {
        agent: AgentId,
        task: TaskId,
    },
    /// They have, or it has, ended, however that was.
    ChecksEnded {
        agent: AgentId,
    },
    VerifyingMerge {
        task: TaskId,
    },
    Merged {
        task: TaskId,
        commit: Oid,
    },
    /// It counts as merged: the target had all of its work before.
    NothingToMerge {
        task: TaskId,
        target: RefName,
    },
    GateOpened {
        id: String,
        reason: String,
        details: Vec<String>,
    },
    Checkpoint {
        name: CheckpointName,
    },
    Warning {
        text: String,
    },
    /// The session pauses, goes on or comes to its end.
    SessionChanges {
        why: String,
    },
    /// It takes a while, because of this.
    WaitingFor {
        what: String,
    },
    Ended {
        how: String,
    },
}

/// Receives notices.
pub trait SessionWatcher {
    /// Handles one notice.
    fn notice(&mut self, notice: SessionNotice);
}
