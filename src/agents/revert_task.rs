//! Reverting the work of one task: its commits are reverted on the target branch, newest first, in memory; the result is
//! journaled like any other operation. No history is rewritten, so it does not matter who else has the commits.

mod find;
mod plan;
mod resolve;
mod reverts;

use std::path::PathBuf;

use axiom_base::error::{Code, Error, Result};
use axiom_base::shell_word::shell_word;
use axiom_base::{env, files};
use axiom_git::MovedObstacle;
use axiom_model::base::ids::{AgentId, CheckpointName, GateId, OperationId, TaskId};
use axiom_model::base::ref_change::ChangeDirection;
use axiom_model::checkpoint::trigger::CheckpointTrigger;
use axiom_model::journal::journaled_changes::GateChange;
use axiom_model::operation::task_rollback::dependents;
use axiom_model::state::event::Event;
use axiom_model::work::gates::gate::{AfterHalt, Gate, GateKind, TaskHoldReason};
use axiom_model::work::restorable::standing_changes::TaskStandingChanges;
use axiom_model::work::tasks::task::TaskStatus;
use axiom_safety::checkpoint;
use axiom_safety::checkpoint::CheckpointRequest;
use axiom_safety::context::handle::Context;
use axiom_safety::operation;
use axiom_safety::operation::branches::branches_are_free;
use axiom_safety::operation::standing_lines::{ChangedGateLine, GateFate};
use axiom_safety::operation::stop_agents;
use axiom_safety::operation::stop_agents::PausedForOperation;
use axiom_safety::rollback::StoppedAgentLine;
use axiom_safety::user_programs::signing::with_signatures;

pub use resolve::settling;
pub(crate) use resolve::{finished, put_finished_aside};

pub use plan::{RevertConflictLine, RevertedCommitLine, RevertedMergeLine, SkippedCommitLine, TaskRollbackPreview};

/// A request for the rollback of a task.
#[derive(Debug, Clone)]
pub struct TaskRollbackRequest {
    /// The task. It may be unknown to git axiom, if commit messages name it.
    pub task: TaskId,
    /// Whether tasks that build on it and were begun are rolled back too.
    pub cascade: bool,
    /// The branch on which commits are reverted; determined from the tasks where `None`.
    pub target: Option<String>,
    /// Whether a worktree is set up to resolve a conflict in, and whether a resolution made there is used.
    pub resolve: bool,
    /// What happens to the tasks afterwards, since their work has to be done again.
    pub afterwards: AfterHalt,
}

impl TaskRollbackRequest {
    /// The command that makes a worktree to resolve a conflict in, and goes on with the same rollback once it is resolved.
    pub(crate) fn to_resolve(&self) -> String {
        self.command() + " --resolve"
    }

    /// The command that makes it.
    fn command(&self) -> String {
        let mut command = format!("git axiom rollback task {}", self.task);
        if self.cascade {
            command.push_str(" --cascade");
        }
        if let Some(target) = &self.target {
            command.push_str(&format!(" --target {}", shell_word(target)));
        }
        if self.afterwards == AfterHalt::Again {
            command.push_str(" --retry");
        }
        command
    }
}

/// A completed rollback of a task.
#[derive(Debug)]
pub struct TaskRollbackReport {
    /// What it did.
    pub preview: TaskRollbackPreview,
    /// The checkpoint made before it.
    pub safety: CheckpointName,
    /// Its transaction id, for `undo`.
    pub txn: OperationId,
    /// Files that no capture held and that were in the way: they are in the trash.
    pub moved_aside: Vec<MovedObstacle>,
    /// The gates at which the tasks wait because of the rollback.
    pub gates: Vec<GateId>,
}

/// The outcome of a rollback of a task.
#[derive(Debug)]
pub enum TaskRollbackOutcome {
    /// The rollback was made.
    Done(Box<TaskRollbackReport>),
    /// The reverts conflict with later changes; nothing was changed.
    Conflict(Box<TaskRollbackPreview>),
    /// The reverts conflict, and this worktree was set up to resolve the conflict; nothing else was changed.
    ToSettle(Box<TaskRollbackPreview>, PathBuf),
}

/// Previews the rollback of a task, conflicts included. Changes no ref and no file.
///
/// # Errors
/// `UNKNOWN_TASK`, `NO_TASK_COMMITS`, `HAS_DEPENDENTS`, `INVALID_TRANSITION` for a group, `TARGET_MISSING`, `DETACHED_HEAD`,
/// `HISTORY_MISSING`, `IN_THE_WAY`, `BRANCH_IN_USE`, `OPERATION_OPEN`.
pub fn preview(ctx: &Context, wanted: &TaskRollbackRequest) -> Result<TaskRollbackPreview> {
    ctx.no_open_operation()?;
    let mut work = plan::work(ctx, wanted)?;
    if work.preview.conflicts.is_empty() {
        work.preview.changes.agents = stopped_for(ctx, &work.tasks)?;
        plan::put_workspaces_aside(ctx, &mut work, None)?;
        plan::check(ctx, &work)?;
        add_standing(ctx, &mut work, wanted.afterwards);
    }
    Ok(work.preview)
}

/// The command that takes the merge of a task back now, with what was begun after it; `None` where it would be refused.
pub fn takes_merge_back(ctx: &Context, task: &TaskId) -> Option<String> {
    ctx.state().restorable.tasks.get(task).filter(|task| task.merged.is_some())?;
    let cascade = !dependents(ctx.state(), std::slice::from_ref(task)).is_empty();
    let afterwards = AfterHalt::default();
    let wanted = TaskRollbackRequest { task: task.clone(), cascade, target: None, resolve: false, afterwards };
    match preview(ctx, &wanted) {
        Ok(preview) if preview.conflicts.is_empty() => Some(wanted.command()),
        Ok(_) => Some(wanted.to_resolve()),
        Err(_) => None,
    }
}

/// The agents that [`run`] would stop now.
pub fn to_stop(ctx: &Context, wanted: &TaskRollbackRequest) -> Result<Vec<StoppedAgentLine>> {
    stopped_for(ctx, &find::tasks(ctx, wanted)?)
}

/// The agents that are stopped first: a running supervisor stops all of them, because it would otherwise claim the tasks
/// again.
fn stopped_for(ctx: &Context, tasks: &[TaskId]) -> Result<Vec<StoppedAgentLine>> {
    if !may_be_worked_on(ctx, tasks)? {
        return Ok(Vec::new());
    }
    let supervised = ctx.supervisor_alive()?;
    Ok(stop_agents::at_work(ctx)?.into_iter().filter(|agent| supervised || tasks.contains(&agent.task_id)).collect())
}

/// Rolls the task back. An agent that works on it is stopped first: by a session that runs, otherwise by `end`; without `end` the error
/// is `BUSY`. When
/// this returns, all of it survives a power loss. A crash leaves nothing changed, or an operation that `rollback --continue`
/// or `--abort` ends.
///
/// # Errors
/// As [`preview`]; `BUSY` where agents do not stop; `CHANGED_MEANWHILE`; those of the safety checkpoint.
pub fn run(
    ctx: &mut Context,
    wanted: &TaskRollbackRequest,
    end: Option<impl FnOnce(&mut Context, &[AgentId]) -> Result<()>>,
) -> Result<TaskRollbackOutcome> {
    ctx.no_open_operation()?;
    let tasks = find::tasks(ctx, wanted)?;
    let mut paused = PausedForOperation::Nothing;
    let (mut agents, mut before) = (Vec::new(), None);
    if may_be_worked_on(ctx, &tasks)? {
        // Every possible refusal comes before an agent is stopped.
        let work = plan::work(ctx, wanted)?;
        if !work.preview.conflicts.is_empty() {
            return conflict(ctx, wanted);
        }
        agents = stopped_for(ctx, &tasks)?;
        paused = stop_agents(ctx, &tasks, end)?;
        before = Some(work.preview.changes.tasks);
    }
    let outcome = with_signatures(ctx, |ctx| ctx.with_change_lock(|ctx| locked(ctx, wanted)));
    if paused == PausedForOperation::BySupervisor {
        stop_agents::resume(ctx)?;
    }
    outcome.map(|outcome| match outcome {
        TaskRollbackOutcome::Done(mut done) => {
            done.preview.changes.agents = agents;
            // The preview shows the tasks as they were before the agents were stopped.
            done.preview.changes.tasks = before.unwrap_or(done.preview.changes.tasks);
            TaskRollbackOutcome::Done(done)
        }
        TaskRollbackOutcome::Conflict(_) | TaskRollbackOutcome::ToSettle(..) => outcome,
    })
}

/// Whether an agent works on one of these tasks, or may begin to go on in its workspace: a running supervisor claims what is pending
/// and held by nothing.
fn may_be_worked_on(ctx: &Context, tasks: &[TaskId]) -> Result<bool> {
    let state = ctx.state();
    let busy = tasks.iter().any(|task| state.agent_on(task).is_some());
    let may_begin = |task: &&TaskId| {
        let is_pending = state.restorable.tasks.get(*task).is_some_and(|one| one.status == TaskStatus::Pending);
        is_pending && state.restorable.workspaces.contains_key(*task) && !state.is_held(task)
    };
    Ok(busy || tasks.iter().any(|task| may_begin(&task)) && ctx.supervisor_alive()?)
}

/// Checks that no agent has to be stopped.
///
/// # Errors
/// `BUSY` where an agent works on the tasks, or may begin to; those of [`run`] that concern the tasks.
pub fn nobody_works(ctx: &Context, wanted: &TaskRollbackRequest) -> Result<()> {
    let tasks = find::tasks(ctx, wanted)?;
    if may_be_worked_on(ctx, &tasks)? { Err(at_work(&busy_on(ctx, &tasks))) } else { Ok(()) }
}

fn busy_on(ctx: &Context, tasks: &[TaskId]) -> Vec<AgentId> {
    tasks.iter().filter_map(|task| ctx.state().agent_on(task)).map(|agent| agent.id.clone()).collect()
}

fn at_work(busy: &[AgentId]) -> Error {
    let error = Error::new(Code::Busy, "agents may be working on what is to be taken back")
        .hint("without --no-stop they are stopped; 'git axiom quit' ends a session");
    if busy.is_empty() { error } else { error.why(busy.iter().map(AgentId::as_str).collect::<Vec<_>>().join(", ")) }
}

/// Makes sure that no agent works on these tasks, and that none begins to during the rollback.
fn stop_agents(
    ctx: &mut Context,
    tasks: &[TaskId],
    end: Option<impl FnOnce(&mut Context, &[AgentId]) -> Result<()>>,
) -> Result<PausedForOperation> {
    let busy = busy_on(ctx, tasks);
    let Some(end) = end else { return Err(at_work(&busy)) };
    if ctx.supervisor_alive()? {
        let paused = stop_agents::stop_agents(ctx)?;
        if ctx.supervisor_alive()? {
            // Who runs no program, since it waits for an answer, has kept its task.
            let waiting = busy_on(ctx, tasks);
            let ended = if waiting.is_empty() { Ok(()) } else { end(ctx, &waiting) };
            return match (ended, paused) {
                (Ok(()), paused) => Ok(paused),
                (Err(error), PausedForOperation::BySupervisor) => stop_agents::resume(ctx).and(Err(error)),
                (Err(error), PausedForOperation::Nothing) => Err(error),
            };
        }
    }
    // If the supervisor ended before it handled the end of its agents' iterations, that is done here.
    if !ctx.supervisor_alive()? {
        let busy: Vec<AgentId> = busy.into_iter().filter(|agent| ctx.state().busy_agents().any(|now| now.id == *agent)).collect();
        if !busy.is_empty() {
            end(ctx, &busy)?;
        }
    }
    Ok(PausedForOperation::Nothing)
}

/// Handles a conflict: nothing is changed, unless a worktree to resolve it in was requested.
fn conflict(ctx: &mut Context, wanted: &TaskRollbackRequest) -> Result<TaskRollbackOutcome> {
    ctx.with_change_lock(|ctx| {
        let work = plan::work(ctx, wanted)?;
        settle_or_say(ctx, wanted, work)
    })
}

fn settle_or_say(ctx: &Context, wanted: &TaskRollbackRequest, work: plan::TaskRollbackPlan) -> Result<TaskRollbackOutcome> {
    let preview = Box::new(work.preview);
    if !wanted.resolve {
        return Ok(TaskRollbackOutcome::Conflict(preview));
    }
    let path = resolve::set_up(ctx, wanted, &preview.target, &work.plan, &work.reverted)?;
    Ok(TaskRollbackOutcome::ToSettle(preview, path))
}

/// Puts aside what a task has in its workspace and on its branch, so that it begins anew; returns the transaction that an undo
/// takes back. No agent works on it. The target is not changed.
pub(crate) fn put_aside(ctx: &mut Context, task: &TaskId) -> Result<OperationId> {
    let wanted =
        TaskRollbackRequest { task: task.clone(), cascade: false, target: None, resolve: false, afterwards: AfterHalt::Again };
    if !plan::work(ctx, &wanted)?.preview.commits.is_empty() {
        return Err(Error::new(Code::InvalidTransition, format!("work of '{task}' is merged already"))
            .hint(format!("git axiom rollback task {task}    takes it back")));
    }
    match ctx.with_change_lock(|ctx| locked(ctx, &wanted))? {
        TaskRollbackOutcome::Done(done) => Ok(done.txn),
        TaskRollbackOutcome::Conflict(_) | TaskRollbackOutcome::ToSettle(..) => {
            Err(Error::new(Code::Internal, "nothing to revert was in conflict"))
        }
    }
}

fn locked(ctx: &mut Context, wanted: &TaskRollbackRequest) -> Result<TaskRollbackOutcome> {
    ctx.no_open_operation()?;
    let mut work = plan::work(ctx, wanted)?;
    if !work.preview.conflicts.is_empty() {
        return settle_or_say(ctx, wanted, work);
    }
    for task in &work.tasks {
        let agent = ctx.state().agent_on(task).map(|agent| agent.id.to_string());
        if agent.is_some() || files::is_locked(&ctx.layout().locks().workspace(task))? {
            let stop = format!("git axiom stop {}    ends it; then run the command again", agent.as_deref().unwrap_or("--all"));
            return Err(Error::new(Code::Busy, format!("an agent works on '{task}'")).hint(stop));
        }
    }
    operation::check(ctx, &work.operation)?;
    let (safety, captured) = checkpoint::create_locked(ctx, &CheckpointRequest::by(CheckpointTrigger::BeforeRollback))?;
    env::fault_point("rollback-task.safe");
    plan::put_workspaces_aside(ctx, &mut work, Some(&captured))?;
    work.operation.safety = Some(safety.name.clone());
    branches_are_free(ctx, &work.operation)?;
    add_standing(ctx, &mut work, wanted.afterwards);
    close_gates(ctx, &work.tasks)?;
    env::fault_point("rollback-task.before-journal");
    let gates = work.operation.opened_gates();
    let done = operation::run(ctx, work.operation)?;
    if let Some(worktree) = &work.settled
        && let Err(error) = resolve::put_aside(ctx, worktree)
    {
        // The rollback is done; recovery tries this step again.
        tracing::warn!(%error, "the worktree in which the conflict was settled was not put aside");
    }
    let txn = ctx.txn().clone();
    let (preview, safety, moved_aside) = (work.preview, safety.name, done.moved_aside);
    Ok(TaskRollbackOutcome::Done(Box::new(TaskRollbackReport { preview, safety, txn, moved_aside, gates })))
}

/// Adds the gates that the rollback opens and closes, and what becomes of what was reported.
fn add_standing(ctx: &Context, work: &mut plan::TaskRollbackPlan, afterwards: AfterHalt) {
    work.operation.gates = gates(ctx, &work.tasks, afterwards);
    let closes = |gate: &&Gate| {
        gate.task_id.as_ref().is_some_and(|task| work.tasks.contains(task)) && !comes_back(gate) && !gate.goes_on()
    };
    let closed = ctx.state().restorable.gates.values().filter(closes).map(|gate| ChangedGateLine::of(gate, GateFate::Closed));
    work.preview.changes.gates.extend(closed);
    work.preview.changes.add_standing(ctx.state(), &work.operation, (&TaskStandingChanges::default(), &work.operation.gates));
}

/// The gates that the rollback opens: the tasks wait for the human who rolled them back. Gates that held them before are
/// closed; an undo opens these again.
fn gates(ctx: &Context, tasks: &[TaskId], afterwards: AfterHalt) -> Vec<GateChange> {
    let now = &ctx.state().restorable;
    let concerned = |gate: &&Gate| comes_back(gate) && gate.task_id.as_ref().is_some_and(|task| tasks.contains(task));
    let ended =
        now.gates.values().filter(concerned).map(|gate| GateChange { gate: gate.clone(), way: ChangeDirection::PutAside });
    let held = afterwards.holds(TaskHoldReason::RolledBack);
    let known = tasks.iter().filter(|task| now.tasks.contains_key(*task));
    let opened = known.filter_map(|task| Gate::holding(task, held?, env::now()));
    ended.chain(opened.map(|gate| GateChange { gate, way: ChangeDirection::BringBack })).collect()
}

/// Whether a gate is part of the operation, so that an undo opens it again: one that holds a task, and a question without an answer.
fn comes_back(gate: &Gate) -> bool {
    gate.held.is_some() || gate.kind == GateKind::Question && gate.decision.is_none()
}

/// Closes the gates at which these tasks waited for a decision: a decision made before must not count for the next attempt.
fn close_gates(ctx: &mut Context, tasks: &[TaskId]) -> Result<()> {
    ctx.append_with(|state| {
        let concerned = |task: &Option<TaskId>| task.as_ref().is_some_and(|task| tasks.contains(task));
        let gates = state.restorable.gates.values().filter(|gate| concerned(&gate.task_id) && !comes_back(gate));
        Ok(gates.map(|gate| Event::GateClosed { id: gate.id.clone(), reason: "the task is taken back".into() }).collect())
    })
    .map(drop)
}
