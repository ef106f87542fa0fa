//! Events: the log is a sequence of these, one per line, and the state is computed from them.
//!
//! The JSON of an event is a stored format: fields may be added with a default, never renamed or given a new meaning. Changes that
//! must happen together are one event. An event repeats no field of its envelope. Large and rare contents are boxed: a replay moves it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::current_state::State;
use super::repository_location::RepositoryRelocation;
use crate::base::ids::{AgentId, CheckpointName, GateId, RequestId, TaskId, Token};
use crate::base::names::{Oid, RefName};
use crate::base::ref_change::RefChange;
use crate::base::text::ValueChange;
use crate::checkpoint::purge::PurgeRecord;
use crate::checkpoint::record::CheckpointRecord;
use crate::journal::journaled::{JournaledOperation, OperationEnd};
use crate::journal::journaled_changes::TrashChange;
use crate::planning::step::PlanStep;
use crate::recovery::decide::CrashDecision;
use crate::work::agent::Workspace;
use crate::work::endings::conflict::AssignedConflict;
use crate::work::endings::delay::DelayedSessionStep;
use crate::work::gates::gate::{Gate, GateDecision};
use crate::work::hooks::hook_run::HookRun;
use crate::work::iteration::IterationReport;
use crate::work::restorable::restorable_changes::RestorableChanges;
use crate::work::sessions::session::{Session, SessionMode, SessionState, SupervisorRequest};
use crate::work::signals::report_parts::ChangedLineCounts;
use crate::work::signals::signal::AgentSignal;
use crate::work::tasks::learnings::LearningId;
use crate::work::tasks::task::{Task, TaskChangeSet, TaskStatus};
use crate::work::verifying::verification::{MergeVerification, ProgramUsage, VerifyStepResult};

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Event {
    /// Tasks were added; an import is one event.
    TasksAdded {
        /// The tasks, in the order in which they were given.
        tasks: Vec<Task>,
    },
    /// Fields of tasks were changed.
    TasksChanged {
        /// What changed, task by task.
        edits: Vec<TaskChangeSet>,
    },
    /// A step of planning.
    Planned {
        /// The step.
        step: Box<PlanStep>,
    },
    /// A line for the history of a task.
    Audited {
        /// The task.
        id: TaskId,
        /// The line.
        text: String,
    },
    /// A hook was run.
    HookRan {
        /// How it went.
        run: Box<HookRun>,
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
        /// The old mode and the new one.
        mode: ValueChange<SessionMode>,
    },
    /// A verb asks the supervisor for something.
    Requested {
        /// The request's id.
        id: RequestId,
        /// The request.
        request: SupervisorRequest,
        /// Whether it is a part of an operation, which nobody asked for by itself.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        for_operation: bool,
    },
    /// The supervisor has handled a request.
    RequestHandled {
        /// The request.
        id: RequestId,
        /// Whether it was done.
        done: bool,
        /// The result in words.
        message: String,
    },
    /// A workspace is ready.
    WorkspaceOpened {
        /// The task it is for.
        task: TaskId,
        /// The workspace.
        workspace: Workspace,
        /// Whether it has the task's branch as it was.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        goes_on: bool,
    },
    /// A workspace was moved to the trash.
    WorkspaceClosed {
        /// The task it was for.
        task: TaskId,
        /// Where it is now; `None` where it did not exist any more.
        trash: Option<String>,
        /// Whether another task has it now, and all that was done there is on the task's branch, from which it goes on.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        handed_on: bool,
    },
    /// Branches of merged tasks are about to be deleted: the target has their commits.
    MergedBranchesLeave {
        /// The branches, with their commits.
        refs: Vec<RefChange>,
    },
    /// The branches of a `mergedBranchesLeave` are deleted.
    MergedBranchesLeft {
        /// Those that are gone.
        gone: Vec<RefName>,
        /// Those that stay after all: somebody moved them meanwhile.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        stay: Vec<RefName>,
    },
    /// An agent took a task: pending → active.
    TaskClaimed {
        /// The agent.
        agent: AgentId,
        /// The task.
        task: TaskId,
        /// Whether its work was complete before, so that it continues with verification: see `workReleased`.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        complete: bool,
    },
    /// A keeper is about to be started.
    IterationIntended {
        /// The agent.
        agent: AgentId,
        /// The iteration's number within the attempt, from 1.
        iteration: u32,
        /// Its token.
        token: Token,
        /// The branch's commit before it.
        from: Oid,
        /// Whether exit status 0 alone completes the task: a supervisor that takes over may be configured otherwise.
        exit_completes: bool,
        /// The name of the agent program, where it can go on with a session.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        program: String,
        /// The session of the program that it goes on with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resumes: Option<String>,
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
    /// The agent sent a signal while it worked.
    Signalled {
        /// The agent.
        agent: AgentId,
        /// The iteration's token.
        token: Token,
        /// The signal.
        signal: AgentSignal,
        /// When its keeper received it, where that is known: a supervisor may record it much later.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        said_at: Option<Timestamp>,
    },
    /// It was decided what becomes of a task whose iteration was cut off by a crash, or whose session was paused and then ended.
    RecoveryDecided {
        /// The agent.
        agent: AgentId,
        /// The decision.
        decision: Box<CrashDecision>,
        /// Whether what is there is kept aside before the task is claimed.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        puts_aside: bool,
        /// Whether that was after a pause, and no crash.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        paused: bool,
    },
    /// An iteration has ended and its leftovers are committed.
    IterationEnded {
        /// The agent.
        agent: AgentId,
        /// The iteration's token.
        token: Token,
        /// The record of the iteration.
        report: Box<IterationReport>,
    },
    /// A verify step failed: the outcome of the iteration is no longer "complete".
    VerificationFailed {
        /// The agent.
        agent: AgentId,
        /// Which step failed, and how.
        why: String,
        /// How many verifications in a row have failed since the task was claimed, with this one.
        round: u32,
    },
    /// The program of a persona that looked at the work was ended before its result was recorded: it has none, and was paid.
    LookCutOff {
        /// The task.
        id: TaskId,
        /// The persona.
        persona: String,
        /// What it used, as far as it had told.
        used: Box<ProgramUsage>,
        /// How long it ran, in milliseconds, as far as that is known.
        duration_ms: u64,
    },
    /// A verify step of a task has ended.
    StepVerified {
        /// The task.
        id: TaskId,
        /// The commit of its branch that the step was run on.
        of: Oid,
        /// The result.
        result: Box<VerifyStepResult>,
    },
    /// The commands that verify a merge were run on its result.
    MergeVerified {
        /// The task.
        id: TaskId,
        /// The result, and the merge for which it is valid.
        verification: Box<MergeVerification>,
    },
    /// The merge of a task has a conflict that its agent is to settle.
    ConflictGivenBack {
        /// The task.
        id: TaskId,
        /// The conflict.
        conflict: Box<AssignedConflict>,
    },
    /// A step for a task failed and is tried again later, or that is over.
    Delayed {
        /// The task.
        id: TaskId,
        /// What failed; `None` where nothing is waited for any more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        delay: Option<Box<DelayedSessionStep>>,
    },
    /// The agent is free again, and its task is no longer active.
    WorkReleased {
        /// The agent.
        agent: AgentId,
        /// The task's status from now on.
        status: TaskStatus,
        /// The reason.
        reason: String,
        /// Whether this counts as a retry.
        retry: bool,
        /// The branch's commit at which the agent reported the task as complete, where that is not verified yet.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        complete: Option<Oid>,
        /// The gate at which the task waits from now on, where a human stopped its agent and the task is pending.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gate: Option<Box<Gate>>,
        /// Whether what the agent said in its last iteration does not count: a human killed it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        discarded: bool,
    },
    /// Something waits for a human.
    GateOpened {
        /// The gate.
        gate: Box<Gate>,
    },
    /// A human decided at a gate.
    GateDecided {
        /// The gate.
        id: GateId,
        /// The decision.
        decision: GateDecision,
        /// The commit at which a human said that the task is complete.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        complete: Option<Oid>,
    },
    /// A gate was closed: the decision was carried out, or is no longer needed.
    GateClosed {
        /// The gate.
        id: GateId,
        /// The reason.
        reason: String,
    },
    /// A checkpoint is about to be made.
    CheckpointIntended {
        /// Its name.
        name: CheckpointName,
    },
    /// A checkpoint exists.
    CheckpointCreated {
        /// Its record.
        checkpoint: CheckpointRecord,
    },
    /// A checkpoint that was intended was not made.
    CheckpointAbandoned {
        /// Its name.
        name: CheckpointName,
        /// The reason.
        reason: String,
    },
    /// Checkpoints were deleted.
    CheckpointsDeleted {
        /// Their names.
        names: Vec<CheckpointName>,
    },
    /// A human took something out of all that was saved.
    Purged(Box<PurgeRecord>),
    /// An operation was planned and is about to change refs or files.
    OperationBegan {
        /// The plan.
        operation: Box<JournaledOperation>,
    },
    /// The direction of an operation was changed: it is being reversed.
    OperationReversed {
        /// The reason.
        reason: String,
    },
    /// An operation has ended.
    OperationEnded {
        /// Whether it was carried out or reversed.
        end: OperationEnd,
        /// Changes of tasks that belong to it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        edits: Vec<TaskChangeSet>,
        /// What it changed of the restorable state.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        changes: Option<Box<RestorableChanges>>,
        /// The change of the mode that it made.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<ValueChange<SessionMode>>,
        /// Files that no capture holds and that were in its way: they are in the trash, and undo puts them back.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        moved: Vec<TrashChange>,
    },
    /// A new log begins with a state that recovery found elsewhere.
    StateAdopted {
        /// Where it was found.
        source: String,
        /// The state.
        state: Box<State>,
    },
    /// The repository was moved, restored or copied: paths recorded before this event refer to the old place.
    RepositoryPlaced {
        /// The old and the new place, and how it came there.
        placing: Box<RepositoryRelocation>,
    },
    /// The workspace of a task was captured while its agent worked, because something had changed.
    WorkspaceCaptured {
        /// The task.
        task: TaskId,
        /// The capture.
        capture: Oid,
        /// How many lines it differs in from where the branch was started, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lines: Option<ChangedLineCounts>,
        /// When the newest of what had changed was changed, as far as that is known: a crash may lie between that and the capture.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        changed_at: Option<Timestamp>,
    },
    /// A human changed the text of a learning.
    LearningEdited {
        /// The learning.
        id: LearningId,
        /// Its new text.
        text: String,
    },
    /// A human does not want a learning to be used any more.
    LearningForgotten {
        /// The learning.
        id: LearningId,
    },
    /// Something stands in for a configuration file that cannot be read (`CONFIG_BACKUP_RESTORED`).
    ConfigBackupRestored {
        /// What stands in for which file, and why.
        what: String,
    },
    /// A damaged end of the log was cut off and saved.
    LogRepaired {
        /// How many bytes.
        bytes: u64,
        /// The file that holds them now.
        kept: String,
    },
}
