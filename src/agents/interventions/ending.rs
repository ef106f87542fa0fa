//! Stop and kill: agents are ended, and their tasks are released.

use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::plan;
use crate::supervise;
use crate::supervise::notice::{SessionNotice, SessionWatcher};
use crate::supervise::{AttendRequest, SupervisorOptions, doing};
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::ids::{AgentId, GateId, TaskId};
use axiom_model::planning::plan::PLANNER_AGENT;
use axiom_model::state::current_state::State;
use axiom_model::state::known_ids::{self, IdKind};
use axiom_model::work::endings::after_iteration::TaskHalt;
use axiom_model::work::endings::failures::SessionStep;
use axiom_model::work::gates::gate::{AfterHalt, Gate, GateKind, VERIFICATION_STOPPED};
use axiom_model::work::sessions::session::SupervisorRequest;
use axiom_model::work::tasks::task::TaskStatus;
use axiom_process::keeper_state;
use axiom_process::run_folder::records::KeeperState;
use axiom_safety::beside_log::supervisor_requests::{PATIENCE, RequestOutcome, ask_supervisor};
use axiom_safety::context::event_waiter::LogEventWaiter;
use axiom_safety::context::handle::Context;

/// How long it waits where a program has ended, and its work cannot be committed at once.
const END_PATIENCE: Duration = Duration::from_secs(5);

/// After how long is said what is waited for.
const SAYS_AFTER: Duration = Duration::from_millis(1500);

/// How to end agents, and what happens to their tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentEndRequest {
    /// With their adapter's signal, a grace period and then SIGKILL; or with SIGKILL at once.
    pub halt: TaskHalt,
    /// Whether their tasks wait for a human.
    pub afterwards: AfterHalt,
}

/// An agent that was ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedAgent {
    /// The agent.
    pub agent: AgentId,
    /// How it was ended.
    pub how: TaskHalt,
    /// The task that it had completed by then: that remains, done or still to be verified.
    pub completed: Option<TaskId>,
    /// Where its task waits.
    pub waits_at: TaskWaitGates,
}

/// The gates that keep a task which its agent has left from being taken up again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskWaitGates {
    /// The one that was opened since the agent left it.
    pub claim: Option<GateId>,
    /// That of its question, which stays.
    pub question: Option<GateId>,
}

impl TaskWaitGates {
    /// Those of a task now.
    pub fn of(state: &State, task: &TaskId) -> Self {
        let id = |kind| Gate::id_for(kind, task).ok();
        Self {
            claim: id(GateKind::Claim).filter(|_| state.is_held(task)),
            question: id(GateKind::Question).filter(|_| state.has_undecided(GateKind::Question, task)),
        }
    }
}

/// Ends agents (all, where empty; the planner is one) and waits until they are free. Returns those that were busy.
pub fn end_agents(
    ctx: &mut Context,
    agents: &[AgentId],
    how: AgentEndRequest,
    options: SupervisorOptions,
    watcher: &mut dyn SessionWatcher,
) -> Result<Vec<EndedAgent>> {
    let is_planner = |agent: &AgentId| agent.as_str() == PLANNER_AGENT;
    let mut all = Vec::new();
    if (agents.is_empty() || agents.iter().any(is_planner)) && plan::end_planner(ctx)? {
        all.push(EndedAgent {
            agent: AgentId::new(PLANNER_AGENT)?,
            how: how.halt,
            completed: None,
            waits_at: TaskWaitGates::default(),
        });
    }
    let rest: Vec<AgentId> = agents.iter().filter(|agent| !is_planner(agent)).cloned().collect();
    if agents.is_empty() || !rest.is_empty() {
        all.extend(end_working(ctx, &rest, how, options, watcher)?);
    }
    Ok(all)
}

/// The gates of merges whose verification was stopped since a moment, with all agents.
pub fn merges_stopped_since(state: &State, since: Timestamp) -> Vec<GateId> {
    let gates = state.restorable.gates.values().filter(|gate| gate.kind == GateKind::Merge && gate.opened_at >= since);
    gates.filter(|gate| gate.reason == VERIFICATION_STOPPED).map(|gate| gate.id.clone()).collect()
}

/// Ends agents of a session.
fn end_working(
    ctx: &mut Context,
    agents: &[AgentId],
    how: AgentEndRequest,
    options: SupervisorOptions,
    watcher: &mut dyn SessionWatcher,
) -> Result<Vec<EndedAgent>> {
    for agent in agents {
        if !ctx.state().restorable.agents.contains_key(agent) {
            return Err(unknown_agent(ctx.state(), agent));
        }
    }
    let concerned = |agent: &AgentId| agents.is_empty() || agents.contains(agent);
    let busy: Vec<AgentId> = ctx.state().busy_agents().map(|agent| agent.id.clone()).filter(|agent| concerned(agent)).collect();
    // Where all are meant, what verifies a merge is one of them: a persona, or a command. Only the session knows that at each
    // moment: what it tells of what it does comes a little later.
    let asks_all = agents.is_empty() && ctx.supervisor_alive()?;
    if busy.is_empty() && !asks_all {
        return Ok(Vec::new());
    }
    let task = |agent: &AgentId| Some(ctx.state().restorable.agents.get(agent)?.work.as_ref()?.task.clone());
    let tasks: Vec<Option<TaskId>> = busy.iter().map(task).collect();
    let claims: Vec<_> = busy.iter().map(|agent| (agent.clone(), claim_of(ctx, agent))).collect();
    let (agents, named) = (agents.to_vec(), tasks.iter().flatten().cloned().collect());
    let AgentEndRequest { halt, afterwards } = how;
    let wanted = supervise::HaltRequest { agents, tasks: named, halt, afterwards };
    match ask_to_end(ctx, &wanted)? {
        Some(RequestOutcome { done: false, message }) => {
            return Err(Error::new(Code::KeeperFailed, message).hint("git axiom status    shows what runs"));
        }
        Some(RequestOutcome { done: true, .. }) => {}
        None if busy.is_empty() => return Ok(Vec::new()),
        None => supervise::attend(ctx, &AttendRequest::End(wanted), options, watcher).map(drop)?,
    }
    wait_released(ctx, &claims, watcher)?;
    let completed = |task: &TaskId| is_completed(ctx.state(), task);
    let ended = busy.into_iter().zip(tasks);
    Ok(ended
        .map(|(agent, task)| {
            let waits_at = task.as_ref().map(|task| TaskWaitGates::of(ctx.state(), task)).unwrap_or_default();
            EndedAgent { agent, how: halt, completed: task.filter(completed), waits_at }
        })
        .collect())
}

/// Asks the session to end agents; `None` where none runs, or none does any more.
fn ask_to_end(ctx: &mut Context, wanted: &supervise::HaltRequest) -> Result<Option<RequestOutcome>> {
    if !ctx.supervisor_alive()? {
        return Ok(None);
    }
    let (agents, tasks, afterwards) = (wanted.agents.clone(), wanted.tasks.clone(), wanted.afterwards);
    let request = match wanted.halt {
        TaskHalt::Stop => SupervisorRequest::Stop { agents, tasks, afterwards },
        TaskHalt::Kill => SupervisorRequest::Kill { agents, tasks, afterwards },
    };
    match ask_supervisor(ctx, request) {
        Err(error) if error.code() == Code::NoSupervisor => Ok(None),
        answer => answer.map(Some),
    }
}

/// The error for an agent that does not exist.
pub(super) fn unknown_agent(state: &State, agent: &AgentId) -> Error {
    let error = Error::new(Code::UnknownAgent, format!("there is no agent '{agent}'"));
    let on_task = TaskId::new(agent.as_str()).ok().and_then(|task| state.agent_on(&task));
    match on_task {
        Some(at_work) => {
            let stop = format!("git axiom stop {}    stops the agent that works on it", at_work.id);
            error.why("it is a task").hint(stop)
        }
        None => known_ids::hinted(state, error, agent.as_str(), &[IdKind::Agent], "see 'git axiom status'"),
    }
}

/// Whether an agent has reported a task complete, and that is still valid.
pub(super) fn is_completed(state: &State, task: &TaskId) -> bool {
    let done = state.restorable.tasks.get(task).is_some_and(|case| case.status == TaskStatus::Done);
    done || state.record.tasks.get(task).is_some_and(|record| record.complete.is_some())
}

/// When the work that an agent does now was claimed.
pub(super) fn claim_of(ctx: &Context, agent: &AgentId) -> Option<jiff::Timestamp> {
    Some(ctx.state().restorable.agents.get(agent)?.work.as_ref()?.claimed_at)
}

/// Waits until these claims have ended; a new claim of the same agent does not count.
pub(super) fn wait_released(
    ctx: &mut Context,
    claims: &[(AgentId, Option<jiff::Timestamp>)],
    watcher: &mut dyn SessionWatcher,
) -> Result<()> {
    let patience = Duration::from_secs(ctx.config.agents.grace_seconds) + PATIENCE;
    let (started, mut waiting, mut is_said) = (Instant::now(), LogEventWaiter::begin(), false);
    ctx.store.refresh()?;
    loop {
        let still = claims.iter().find(|(agent, claim)| claim.is_some() && claim_of(ctx, agent) == *claim);
        let Some((agent, _)) = still else { return Ok(()) };
        // Where its program has ended, nobody has to be patient with it.
        let patience = if waits_to_end(ctx, agent) { patience.min(END_PATIENCE) } else { patience };
        if started.elapsed() > patience {
            return Err(not_released(ctx, agent));
        }
        if !is_said && started.elapsed() > SAYS_AFTER {
            is_said = true;
            watcher.notice(SessionNotice::WaitingFor { what: what_of(ctx, agent)? });
        }
        waiting.for_events(ctx)?;
    }
}

/// What is waited for until an agent is free, in words.
fn what_of(ctx: &Context, agent: &AgentId) -> Result<String> {
    let doing = doing::now(ctx)?.into_iter().find(|doing| doing.agent_id.as_ref() == Some(agent));
    Ok(doing.map_or_else(|| format!("{agent} to end"), |doing| format!("{agent}: {}", doing.what_in_words())))
}

/// Whether the work of an agent, whose program has ended, cannot be committed now.
fn waits_to_end(ctx: &Context, agent: &AgentId) -> bool {
    let work = ctx.state().restorable.agents.get(agent).and_then(|agent| agent.work.as_ref());
    let delay = work.and_then(|work| ctx.state().record.delays.get(&work.task));
    delay.is_some_and(|delay| delay.step == SessionStep::Finish)
}

/// Why an agent still has its task: its program runs on, or has ended and what it left cannot be recorded yet.
fn not_released(ctx: &Context, agent: &AgentId) -> Error {
    let work = ctx.state().restorable.agents.get(agent).and_then(|agent| agent.work.as_ref());
    let runs = work.and_then(|work| work.stage.token()).is_some_and(|token| {
        let state = keeper_state(&ctx.layout().agents().run(agent, token));
        !matches!(state, Ok(KeeperState::Ended(_) | KeeperState::Dead(_) | KeeperState::Unproved(_)))
    });
    if runs {
        return Error::new(Code::KeeperFailed, format!("{agent} did not end in time"))
            .hint(format!("git axiom kill {agent}    ends it at once"));
    }
    let delay = work.and_then(|work| ctx.state().record.delays.get(&work.task));
    let code = delay.and_then(|delay| Code::ALL.iter().find(|code| code.as_str() == delay.code)).unwrap_or(&Code::Busy);
    let why = delay.map_or_else(|| "that could not be recorded yet".to_owned(), |delay| format!("its task {}", delay.in_words()));
    Error::new(*code, format!("the program of {agent} has ended; {why}"))
        .hint("its work is kept, and its end is recorded as soon as that is possible")
        .hint("git axiom status    shows what it waits for; without a session: git axiom recover --yes")
}
