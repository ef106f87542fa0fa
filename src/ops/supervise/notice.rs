//! Notices of the supervisor to its watcher, as data. Not here: how they are shown.

use crate::domain::base::ids::{AgentId, CaseId, CheckpointName, SessionId};
use crate::domain::base::names::{Oid, RefName};
use crate::domain::work::case::Status;
use crate::domain::work::session::Mode;

/// One notice, shown as one line.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)] // the fields say what they are
pub enum Notice {
    Started {
        session: SessionId,
        target: String,
        slots: u32,
        program: String,
        mode: Mode,
    },
    Recovered {
        what: String,
    },
    Claimed {
        agent: AgentId,
        task: CaseId,
        title: String,
        workspace: String,
    },
    IterationStarted {
        agent: AgentId,
        task: CaseId,
        iteration: u32,
    },
    Progress {
        agent: AgentId,
        task: CaseId,
        percent: u8,
    },
    IterationEnded {
        agent: AgentId,
        task: CaseId,
        how: String,
        left_out: Vec<String>,
    },
    Released {
        agent: AgentId,
        task: CaseId,
        status: Status,
        reason: String,
    },
    /// Verify steps of a task begin: these, as they are called.
    Verifying {
        agent: AgentId,
        task: CaseId,
        steps: Vec<String>,
    },
    /// `recovery.evaluator` is asked what becomes of a task.
    Evaluating {
        agent: AgentId,
        task: CaseId,
    },
    /// They have, or it has, ended, however that was.
    ChecksEnded {
        agent: AgentId,
    },
    VerifyingMerge {
        task: CaseId,
    },
    Merged {
        task: CaseId,
        commit: Oid,
    },
    /// It counts as merged: the target had all of its work before.
    NothingToMerge {
        task: CaseId,
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
pub trait Watcher {
    /// Handles one notice.
    fn notice(&mut self, notice: Notice);
}
