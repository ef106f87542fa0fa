//! Stopping the agents before an operation changes their files.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::beside_log::supervisor_requests;
use crate::context::event_waiter::LogEventWaiter;
use crate::context::handle::Context;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_base::files::{FileLock, LockAttempt};
use axiom_model::base::ids::{AgentId, RequestId, TaskId};
use axiom_model::state::event::Event;
use axiom_model::work::gates::gate::GateKind;
use axiom_model::work::sessions::session::{SessionState, SupervisorRequest};
use axiom_process::client::{control, leftovers};
use axiom_process::{KeeperRecord, KeeperState, keeper_state};

/// How long agents may take to stop.
const PATIENCE: Duration = Duration::from_secs(90);

/// How long a keeper that has reported its end may hold the lock of its workspace.
const ENDING: Duration = Duration::from_millis(300);

/// What was paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PausedForOperation {
    /// Nothing that has to be resumed.
    Nothing,
    /// The supervisor, which has to be resumed afterwards.
    BySupervisor,
}

/// An agent that is stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StoppedAgentLine {
    /// The agent.
    pub id: AgentId,
    /// The task that it works on.
    pub task_id: TaskId,
}

/// The agents that [`stop_agents`] would stop: all that have work while a supervisor runs, except those that wait for an answer, otherwise
/// those whose keepers run, or whose programs do though their keepers have died.
pub fn at_work(ctx: &Context) -> Result<Vec<StoppedAgentLine>> {
    let supervised = ctx.supervisor_alive()?;
    let mut lines = Vec::new();
    for agent in ctx.state().busy_agents() {
        let Some(work) = &agent.work else { continue };
        let lives = match agent.token() {
            Some(token) => match keeper_state(&ctx.layout().agents().run(&agent.id, token))? {
                KeeperState::Alive(_) | KeeperState::Starting => true,
                KeeperState::Dead(record) => leftovers::is_any_left(&record)?,
                KeeperState::NotStarted | KeeperState::Ended(_) | KeeperState::Unproved(_) => false,
            },
            None => false,
        };
        if lives || supervised && !ctx.state().has_undecided(GateKind::Question, &work.task) {
            lines.push(StoppedAgentLine { id: agent.id.clone(), task_id: work.task.clone() });
        }
    }
    Ok(lines)
}

/// Stops all agents: through the supervisor where one runs, otherwise by asking their keepers. If the supervisor ends
/// meanwhile, as after `quit`, the agents' keepers are asked. What a dead keeper has left is ended: nobody is left to ask, and it would
/// write into what is being changed.
pub fn stop_agents(ctx: &mut Context) -> Result<PausedForOperation> {
    if ctx.supervisor_alive()?
        && let Some(paused) = pause_supervisor(ctx)?
    {
        return Ok(paused);
    }
    let mut asked = BTreeSet::new();
    wait(ctx, |ctx| {
        let (living, starting) = living(ctx)?;
        for record in &living {
            if asked.insert(record.token.clone()) {
                control::stop(record)?;
            }
        }
        for record in orphaned(ctx)? {
            let left = leftovers::end_leftovers(&record)?;
            if !left.survivors.is_empty() {
                return Err(Error::new(Code::Busy, left.in_words()).hint("git axiom recover    shows what is left of them"));
            }
        }
        Ok(living.is_empty() && !starting && !is_one_being_made(ctx)?)
    })?;
    Ok(PausedForOperation::Nothing)
}

/// Asks the supervisor to pause and waits until it has; `None` where it ended before it could.
fn pause_supervisor(ctx: &mut Context) -> Result<Option<PausedForOperation>> {
    let was_running = session_is(ctx, SessionState::Running);
    let asked = supervisor_requests::make_for_operation(ctx, SupervisorRequest::Pause { force: true })?;
    // An agent between two iterations keeps its task while the session is paused, but none of its processes runs.
    let mut has_ended = false;
    let stopped = wait(ctx, |ctx| {
        has_ended = !ctx.supervisor_alive()?;
        let (living, starting) = living(ctx)?;
        let is_quiet = living.is_empty() && !starting && !is_one_being_made(ctx)?;
        Ok(has_ended || is_quiet && session_is(ctx, SessionState::Paused))
    });
    if has_ended && stopped.is_ok() {
        forget(ctx, &asked)?;
        return Ok(None);
    }
    match (stopped, was_running) {
        (Ok(()), true) => Ok(Some(PausedForOperation::BySupervisor)),
        // It was paused before: it stays paused.
        (Ok(()), false) => Ok(Some(PausedForOperation::Nothing)),
        (Err(error), true) => resume(ctx).and(Err(error)),
        (Err(error), false) => Err(error),
    }
}

/// Closes the request: no supervisor is left to handle it.
fn forget(ctx: &mut Context, asked: &RequestId) -> Result<()> {
    let message = supervisor_requests::HAD_ENDED.to_owned();
    ctx.append_with(|state| {
        let open = state.record.requests.contains_key(asked);
        let handled = || Event::RequestHandled { id: asked.clone(), done: false, message };
        Ok(open.then(handled).into_iter().collect())
    })
    .map(drop)
}

/// Checks that no agent is at work.
pub(crate) fn nobody_works(ctx: &mut Context) -> Result<PausedForOperation> {
    ctx.store.refresh()?;
    let (living, starting) = living(ctx)?;
    let may_start = ctx.supervisor_alive()? && session_is(ctx, SessionState::Running);
    let works = !living.is_empty() || starting || !orphaned(ctx)?.is_empty();
    let what = match (may_start, works) {
        (true, _) => "a session runs",
        (false, true) => "agents are working",
        (false, false) if is_one_being_made(ctx)? => "git still makes a workspace",
        (false, false) => return Ok(PausedForOperation::Nothing),
    };
    Err(Error::new(Code::Busy, what).hint("without --no-stop agents are stopped first; 'git axiom pause' holds a session"))
}

/// Whether the lock of a workspace is held: git makes it, or a program is just ending there.
fn is_one_being_made(ctx: &Context) -> Result<bool> {
    for task in ctx.state().restorable.workspaces.keys() {
        let lock = ctx.layout().locks().workspace(task);
        // A keeper that has just reported lets go of it in a moment.
        if files::is_locked(&lock)? && matches!(FileLock::take(&lock, ENDING)?, LockAttempt::Held) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn session_is(ctx: &Context, wanted: SessionState) -> bool {
    ctx.state().record.session.as_ref().is_some_and(|session| session.state == wanted)
}

/// The keepers whose programs run, and whether another one is starting.
fn living(ctx: &Context) -> Result<(Vec<KeeperRecord>, bool)> {
    let (mut living, mut starting) = (Vec::new(), false);
    for agent in ctx.state().busy_agents() {
        let Some(token) = agent.token() else { continue };
        match keeper_state(&ctx.layout().agents().run(&agent.id, token))? {
            KeeperState::Alive(record) => living.push(record),
            KeeperState::Starting => starting = true,
            KeeperState::NotStarted | KeeperState::Ended(_) | KeeperState::Dead(_) | KeeperState::Unproved(_) => {}
        }
    }
    Ok((living, starting))
}

/// The dead keepers of agents at work whose programs still run.
pub fn orphaned(ctx: &Context) -> Result<Vec<KeeperRecord>> {
    let mut orphaned = Vec::new();
    for agent in ctx.state().busy_agents() {
        let Some(token) = agent.token() else { continue };
        if let KeeperState::Dead(record) = keeper_state(&ctx.layout().agents().run(&agent.id, token))?
            && leftovers::is_any_left(&record)?
        {
            orphaned.push(record);
        }
    }
    Ok(orphaned)
}

fn wait(ctx: &mut Context, mut is_over: impl FnMut(&Context) -> Result<bool>) -> Result<()> {
    let (begun, mut waiting) = (Instant::now(), LogEventWaiter::begin());
    loop {
        ctx.store.refresh()?;
        if is_over(ctx)? {
            return Ok(());
        }
        if begun.elapsed() >= PATIENCE {
            return Err(Error::new(Code::Busy, "agents do not stop; nothing was changed")
                .hint("git axiom kill --all    ends them, then run the command again"));
        }
        let tokens = ctx.state().busy_agents().filter_map(|agent| Some((&agent.id, agent.token()?)));
        let runs = tokens.map(|(agent, token)| ctx.layout().agents().run(agent, token)).collect();
        waiting.for_the_log_or(ctx, runs);
    }
}

/// Lets the supervisor continue.
pub fn resume(ctx: &mut Context) -> Result<()> {
    supervisor_requests::make_for_operation(ctx, SupervisorRequest::Resume).map(drop)
}
