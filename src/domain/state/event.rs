//! Events: the truth. Everything that ever happened is a sequence of these, one a line in the log.
//!
//! The JSON of an event is a stored format: fields may be added with a default, never renamed or given a new meaning.
//! What must happen together is one event. No event repeats what its envelope says. What is large and rare is boxed: a
//! replay moves each event several times.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::place::Placing;
use super::whole::{Restorable, State};
use crate::domain::base::ids::{AgentId, CaseId, CheckpointName, GateId, RequestId, SessionId, Token, TxnId};
use crate::domain::base::names::Oid;
use crate::domain::base::text::Change;
use crate::domain::checkpoint::document::CheckpointRecord;
use crate::domain::operation::journaled::{AsideChange, Operation};
use crate::domain::work::agent::{IterationReport, Workspace};
use crate::domain::work::case::{Case, CaseEdit, Status};
use crate::domain::work::gate::{Decision, Gate};
use crate::domain::work::session::{Mode, Request, Session, SessionState};
use crate::domain::work::verification::Verification;

/// The version of the log's format that this program writes, and the newest that it reads.
pub const LOG_VERSION: u32 = 1;

/// An event with its place, time, transaction and author.
#[derive(Debug, Clone, PartialEq)]
pub struct Envelope {
    /// Its number, from 1, without gaps.
    pub seq: u64,
    /// When it was appended.
    pub at: Timestamp,
    /// The transaction it belongs to.
    pub txn: TxnId,
    /// Who did it.
    pub by: By,
    /// What happened.
    pub event: Event,
}

/// Who did something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum By {
    /// A human, or a script of theirs, by a verb.
    User,
    /// The supervisor.
    Supervisor,
    /// An agent, by a verb.
    Agent(AgentId),
    /// Recovery.
    Recovery,
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User => f.pad("user"),
            Self::Supervisor => f.pad("supervisor"),
            Self::Agent(agent) => f.pad(agent.as_str()),
            Self::Recovery => f.pad("recovery"),
        }
    }
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Event {
    /// Cases were added; an import is one event.
    CasesAdded {
        /// The cases, in the order in which they were given.
        cases: Vec<Case>,
    },
    /// Fields of cases were changed.
    CasesChanged {
        /// What changed, case by case.
        edits: Vec<CaseEdit>,
    },
    /// Something to remember of a case.
    Audited {
        /// Which case.
        id: CaseId,
        /// What.
        text: String,
    },
    /// A session began.
    SessionStarted {
        /// The session.
        session: Session,
    },
    /// A session paused, went on, or ended.
    SessionChanged {
        /// What it does now.
        state: SessionState,
        /// Why, in words.
        reason: String,
    },
    /// The mode was changed.
    ModeChanged {
        /// From and to.
        mode: Change<Mode>,
    },
    /// A verb asks something of the supervisor.
    Requested {
        /// The request's id.
        id: RequestId,
        /// What is asked.
        request: Request,
    },
    /// The supervisor has dealt with a request.
    RequestHandled {
        /// Which.
        id: RequestId,
        /// Whether it was done.
        done: bool,
        /// What came of it.
        message: String,
    },
    /// A workspace stands ready.
    WorkspaceOpened {
        /// The task it is for.
        task: CaseId,
        /// The workspace.
        workspace: Workspace,
    },
    /// A workspace was put aside.
    WorkspaceClosed {
        /// The task it was for.
        task: CaseId,
        /// Where it is now; none where it was gone.
        trash: Option<String>,
    },
    /// An agent took a task: pending → active.
    TaskClaimed {
        /// The agent.
        agent: AgentId,
        /// The task.
        task: CaseId,
        /// Whether its work is complete already, and goes on at its verification: see `workReleased`.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        complete: bool,
    },
    /// A keeper is about to be started.
    IterationIntended {
        /// The agent.
        agent: AgentId,
        /// The iteration's number within the claim, from 1.
        iteration: u32,
        /// Its token.
        token: Token,
        /// The branch's commit before it.
        from: Oid,
        /// Whether exit 0 alone completes the task: a supervisor that takes over may run another program.
        exit_completes: bool,
    },
    /// The keeper has started the program.
    IterationStarted {
        /// The agent.
        agent: AgentId,
        /// The iteration's token.
        token: Token,
        /// The keeper's process id.
        pid: u32,
    },
    /// The agent said something while it worked.
    Signalled {
        /// The agent.
        agent: AgentId,
        /// The iteration's token.
        token: Token,
        /// What it said.
        signal: crate::domain::work::signal::Signal,
    },
    /// An iteration has ended and its leftovers are committed.
    IterationEnded {
        /// The agent.
        agent: AgentId,
        /// The iteration's token.
        token: Token,
        /// What is recorded of it.
        report: Box<IterationReport>,
    },
    /// A verify step failed: the iteration's outcome is not "complete" after all.
    VerificationFailed {
        /// The agent.
        agent: AgentId,
        /// Which step, and how.
        why: String,
    },
    /// The commands that verify a merge were run on its result.
    MergeVerified {
        /// The task.
        id: CaseId,
        /// What came of it, and for which merge it holds.
        verification: Box<Verification>,
    },
    /// The agent is free again, and its task is no longer active.
    WorkReleased {
        /// The agent.
        agent: AgentId,
        /// The task's status from now on.
        status: Status,
        /// Why.
        reason: String,
        /// Whether this counts as a retry.
        retry: bool,
        /// The branch's commit with which the agent said that the task is complete, where nobody has verified that yet.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        complete: Option<Oid>,
        /// The gate at which the task waits from now on, where a human stopped its agent and it is pending.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gate: Option<Box<Gate>>,
    },
    /// Something waits for a human.
    GateOpened {
        /// The gate.
        gate: Box<Gate>,
    },
    /// A human decided at a gate.
    GateDecided {
        /// Which gate.
        id: GateId,
        /// What was decided.
        decision: Decision,
    },
    /// A gate is no more: acted upon, or no longer needed.
    GateClosed {
        /// Which gate.
        id: GateId,
        /// Why.
        reason: String,
    },
    /// A checkpoint is about to be made.
    CheckpointIntended {
        /// Its name.
        name: CheckpointName,
    },
    /// A checkpoint exists.
    CheckpointCreated {
        /// What is recorded of it.
        checkpoint: CheckpointRecord,
    },
    /// A checkpoint that was intended does not exist.
    CheckpointAbandoned {
        /// Its name.
        name: CheckpointName,
        /// Why.
        reason: String,
    },
    /// Checkpoints were deleted.
    CheckpointsDeleted {
        /// Which.
        names: Vec<CheckpointName>,
    },
    /// An operation was planned and is about to change refs or files.
    OperationBegan {
        /// The plan.
        operation: Box<Operation>,
    },
    /// An operation is turned round: it is being reversed.
    OperationReversed {
        /// Why.
        reason: String,
    },
    /// An operation has ended.
    OperationEnded {
        /// Whether its changes stand.
        end: OperationEnd,
        /// Case changes that belong to it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        edits: Vec<CaseEdit>,
        /// The restorable state that it restored.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        restored: Option<Box<Restorable>>,
        /// The mode that it brought back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<Change<Mode>>,
        /// What no capture holds and was in its way: it is in the trash, for undo to put back.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        moved: Vec<AsideChange>,
    },
    /// The log begins anew from a state that recovery found elsewhere.
    StateAdopted {
        /// Where it was found.
        source: String,
        /// The state.
        state: Box<State>,
    },
    /// The repository was moved, restored or copied: what is recorded before this names another place.
    RepositoryPlaced {
        /// From where to where, and how.
        placing: Box<Placing>,
    },
    /// A damaged end of the log was cut off and kept aside.
    LogRepaired {
        /// How many bytes.
        bytes: u64,
        /// The file that holds them now.
        kept: String,
    },
}

/// How an operation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OperationEnd {
    /// Its changes stand.
    Done,
    /// It was reversed; all is as before it.
    Aborted,
}

impl Event {
    /// The event's name, as in JSON.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::CasesAdded { .. } => "casesAdded",
            Self::CasesChanged { .. } => "casesChanged",
            Self::Audited { .. } => "audited",
            Self::SessionStarted { .. } => "sessionStarted",
            Self::SessionChanged { .. } => "sessionChanged",
            Self::ModeChanged { .. } => "modeChanged",
            Self::Requested { .. } => "requested",
            Self::RequestHandled { .. } => "requestHandled",
            Self::WorkspaceOpened { .. } => "workspaceOpened",
            Self::WorkspaceClosed { .. } => "workspaceClosed",
            Self::TaskClaimed { .. } => "taskClaimed",
            Self::IterationIntended { .. } => "iterationIntended",
            Self::IterationStarted { .. } => "iterationStarted",
            Self::Signalled { .. } => "signalled",
            Self::IterationEnded { .. } => "iterationEnded",
            Self::VerificationFailed { .. } => "verificationFailed",
            Self::MergeVerified { .. } => "mergeVerified",
            Self::WorkReleased { .. } => "workReleased",
            Self::GateOpened { .. } => "gateOpened",
            Self::GateDecided { .. } => "gateDecided",
            Self::GateClosed { .. } => "gateClosed",
            Self::CheckpointIntended { .. } => "checkpointIntended",
            Self::CheckpointCreated { .. } => "checkpointCreated",
            Self::CheckpointAbandoned { .. } => "checkpointAbandoned",
            Self::CheckpointsDeleted { .. } => "checkpointsDeleted",
            Self::OperationBegan { .. } => "operationBegan",
            Self::OperationReversed { .. } => "operationReversed",
            Self::OperationEnded { .. } => "operationEnded",
            Self::StateAdopted { .. } => "stateAdopted",
            Self::RepositoryPlaced { .. } => "repositoryPlaced",
            Self::LogRepaired { .. } => "logRepaired",
        }
    }

    /// The session that a `sessionStarted` event names, for callers that only follow sessions.
    pub fn session_id(&self) -> Option<&SessionId> {
        if let Self::SessionStarted { session } = self { Some(&session.id) } else { None }
    }
}
