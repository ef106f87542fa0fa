//! Interventions: requests of a human from another terminal. A running supervisor gets a request event; where none runs, the
//! same is done here.

use std::time::{Duration, Instant};

use crate::domain::base::ids::{AgentId, CaseId, GateId, RequestId};
use crate::domain::base::nearest;
use crate::domain::base::text::Change;
use crate::domain::checkpoint::document::Trigger;
use crate::domain::state::event::Event;
use crate::domain::state::whole::State;
use crate::domain::work::case::Status;
use crate::domain::work::failures::Step;
use crate::domain::work::gate::{Afterwards, Decision, Gate, GateKind};
use crate::domain::work::outcome::Halt;
use crate::domain::work::session::{Mode, Request};
use crate::env;
use crate::error::{Code, Error, Result};
use crate::ops::checkpoint::{self, CheckpointRequest};
use crate::ops::context::handle::Context;
use crate::ops::context::waiting::Waiting;
use crate::ops::supervise::notice::Watcher;
use crate::ops::supervise::{self, Attend, Options};
use crate::process::keeper::spec::KeeperState;
use crate::process::keeper_state;
use crate::store::log;

/// How long a verb waits for the supervisor to handle its request.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long it waits where a program has ended, and its work cannot be committed at once.
const END_PATIENCE: Duration = Duration::from_secs(5);

/// The result of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handled {
    /// Whether it was done.
    pub done: bool,
    /// The result in words.
    pub message: String,
}

/// Sends a request to the running supervisor and waits until it has handled it.
///
/// # Errors
/// `NO_SUPERVISOR`; `BUSY` where it does not answer in time (the request stays, and is handled later).
pub fn ask_supervisor(ctx: &mut Context, request: Request) -> Result<Handled> {
    if !ctx.supervisor_alive()? {
        return Err(Error::new(Code::NoSupervisor, "no supervisor runs in this repository").hint("start one: git axiom run"));
    }
    let id = make(ctx, request)?;
    let asked_at = ctx.state().seq;
    let (started, mut waiting) = (Instant::now(), Waiting::begin());
    while ctx.state().record.requests.contains_key(&id) {
        if !ctx.supervisor_alive()? {
            // It may have handled the request as the last thing that it did.
            ctx.store.refresh()?;
            if !ctx.state().record.requests.contains_key(&id) {
                break;
            }
            return Err(Error::new(Code::NoSupervisor, "the supervisor ended before it handled the request")
                .hint("run the command again"));
        }
        if started.elapsed() > PATIENCE {
            return Err(Error::new(Code::Busy, "the supervisor is busy; it will handle the request when it can")
                .hint("git axiom status    shows what it does"));
        }
        waiting.for_events(ctx)?;
    }
    answer_to(ctx, &id, asked_at)
}

/// Records a request, and does not wait.
///
/// # Errors
/// `IO_FAILED`, `DISK_FULL`.
pub(in crate::ops) fn make(ctx: &mut Context, request: Request) -> Result<RequestId> {
    let mut made = None;
    ctx.append_with(|state| {
        let id = RequestId::after(state.seq, &env::fresh_id())?;
        made = Some(id.clone());
        Ok(vec![Event::Requested { id, request }])
    })?;
    made.ok_or_else(|| Error::new(Code::Internal, "the request was not made"))
}

fn answer_to(ctx: &Context, id: &RequestId, after: u64) -> Result<Handled> {
    let mut answer = Handled { done: false, message: "the request is gone: the event log began anew meanwhile".to_owned() };
    log::read_after(ctx.layout(), after, None, |envelope| {
        if let Event::RequestHandled { id: handled, done, message } = envelope.event
            && handled == *id
        {
            answer = Handled { done, message };
        }
        Ok(())
    })?;
    Ok(answer)
}

/// How to end agents, and what happens to their tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ending {
    /// With their adapter's signal, a grace period and then SIGKILL; or with SIGKILL at once.
    pub halt: Halt,
    /// Whether their tasks wait for a human.
    pub afterwards: Afterwards,
}

/// An agent that was ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedAgent {
    /// The agent.
    pub agent: AgentId,
    /// The task that it had completed by then: that remains, done or still to be verified.
    pub completed: Option<CaseId>,
    /// The gate at which its task waits.
    pub gate: Option<GateId>,
}

/// Ends agents (all, where empty) and waits until they are free. Returns those that were busy.
///
/// # Errors
/// `UNKNOWN_AGENT`; `KEEPER_FAILED` where one does not end in time; where its program has ended and that cannot be recorded, the
/// code of the reason.
pub fn end_agents(
    ctx: &mut Context,
    agents: &[AgentId],
    how: Ending,
    options: Options,
    watcher: &mut dyn Watcher,
) -> Result<Vec<EndedAgent>> {
    for agent in agents {
        if !ctx.state().restorable.agents.contains_key(agent) {
            let error = Error::new(Code::UnknownAgent, format!("there is no agent '{agent}'"));
            let known = ctx.state().restorable.agents.keys().map(AgentId::as_str);
            return Err(nearest::hinted(error, agent.as_str(), known, "see 'git axiom status'"));
        }
    }
    let concerned = |agent: &AgentId| agents.is_empty() || agents.contains(agent);
    let busy: Vec<AgentId> = ctx.state().busy_agents().map(|agent| agent.id.clone()).filter(|agent| concerned(agent)).collect();
    if busy.is_empty() {
        return Ok(Vec::new());
    }
    let task = |agent: &AgentId| Some(ctx.state().restorable.agents.get(agent)?.work.as_ref()?.task.clone());
    let tasks: Vec<Option<CaseId>> = busy.iter().map(task).collect();
    let claims: Vec<_> = busy.iter().map(|agent| (agent.clone(), claim_of(ctx, agent))).collect();
    let (agents, named) = (agents.to_vec(), tasks.iter().flatten().cloned().collect());
    let Ending { halt, afterwards } = how;
    if ctx.supervisor_alive()? {
        let request = match halt {
            Halt::Stop => Request::Stop { agents, tasks: named, afterwards },
            Halt::Kill => Request::Kill { agents, tasks: named, afterwards },
        };
        let Handled { done, message } = ask_supervisor(ctx, request)?;
        if !done {
            return Err(Error::new(Code::KeeperFailed, message).hint("git axiom status    shows what runs"));
        }
    } else {
        let wanted = supervise::HaltRequest { agents, tasks: named, halt, afterwards };
        supervise::attend(ctx, &Attend::End(wanted), options, watcher)?;
    }
    wait_released(ctx, &claims)?;
    let completed = |task: &CaseId| is_completed(ctx.state(), task);
    let ended = busy.into_iter().zip(tasks);
    Ok(ended
        .map(|(agent, task)| {
            let gate = task.as_ref().and_then(|task| held_at(ctx.state(), task));
            EndedAgent { agent, completed: task.filter(completed), gate }
        })
        .collect())
}

/// The gate that holds a task.
fn held_at(state: &State, task: &CaseId) -> Option<GateId> {
    let id = Gate::id_for(GateKind::Claim, task).ok()?;
    state.restorable.gates.get(&id).filter(|gate| gate.holds()).map(|gate| gate.id.clone())
}

/// Whether an agent has reported a task complete, and that is still valid.
fn is_completed(state: &State, task: &CaseId) -> bool {
    let done = state.restorable.cases.get(task).is_some_and(|case| case.status == Status::Done);
    done || state.record.cases.get(task).is_some_and(|record| record.complete.is_some())
}

fn claim_of(ctx: &Context, agent: &AgentId) -> Option<jiff::Timestamp> {
    Some(ctx.state().restorable.agents.get(agent)?.work.as_ref()?.claimed_at)
}

/// Waits until these claims have ended; a new claim of the same agent does not count.
fn wait_released(ctx: &mut Context, claims: &[(AgentId, Option<jiff::Timestamp>)]) -> Result<()> {
    let patience = Duration::from_secs(ctx.config.agents.grace_seconds) + PATIENCE;
    let (started, mut waiting) = (Instant::now(), Waiting::begin());
    ctx.store.refresh()?;
    loop {
        let still = claims.iter().find(|(agent, claim)| claim.is_some() && claim_of(ctx, agent) == *claim);
        let Some((agent, _)) = still else { return Ok(()) };
        // Where its program has ended, nobody has to be patient with it.
        let patience = if waits_to_end(ctx, agent) { patience.min(END_PATIENCE) } else { patience };
        if started.elapsed() > patience {
            return Err(not_released(ctx, agent));
        }
        waiting.for_events(ctx)?;
    }
}

/// Whether the work of an agent, whose program has ended, cannot be committed now.
fn waits_to_end(ctx: &Context, agent: &AgentId) -> bool {
    let work = ctx.state().restorable.agents.get(agent).and_then(|agent| agent.work.as_ref());
    let delay = work.and_then(|work| ctx.state().record.delays.get(&work.task));
    delay.is_some_and(|delay| delay.step == Step::Finish)
}

/// Why an agent still has its task: its program runs on, or has ended and what it left cannot be recorded yet.
fn not_released(ctx: &Context, agent: &AgentId) -> Error {
    let work = ctx.state().restorable.agents.get(agent).and_then(|agent| agent.work.as_ref());
    let runs = work.and_then(|work| work.stage.token()).is_some_and(|token| {
        let state = keeper_state(&ctx.layout().run_dir(agent, token));
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

/// Makes the same decision at several gates, at all or none. A gate is named by a unique prefix of its id, or by its task's
/// id. Returns the gates as they were when that was recorded.
///
/// # Errors
/// `UNKNOWN_GATE`, `AMBIGUOUS_NAME`.
pub fn decide(ctx: &mut Context, names: &[String], decision: &Decision) -> Result<Vec<Gate>> {
    let mut ids: Vec<GateId> = Vec::new();
    for name in names {
        let id = find_gate(ctx, name)?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    let decided = |id: &GateId| Event::GateDecided { id: id.clone(), decision: decision.clone() };
    let mut gates = Vec::new();
    ctx.append_with(|state| {
        gates = ids.iter().filter_map(|id| state.restorable.gates.get(id).cloned()).collect();
        Ok(ids.iter().map(decided).collect())
    })?;
    Ok(gates)
}

fn find_gate(ctx: &Context, name: &str) -> Result<GateId> {
    let gates = &ctx.state().restorable.gates;
    if let Some((id, _)) = gates.iter().find(|(id, _)| id.as_str() == name) {
        return Ok(id.clone());
    }
    let fits = |gate: &&crate::domain::work::gate::Gate| {
        gate.id.as_str().starts_with(name) || gate.task_id.as_ref().is_some_and(|task| task.as_str() == name)
    };
    let found: Vec<_> = gates.values().filter(fits).collect();
    match found.as_slice() {
        [one] => Ok(one.id.clone()),
        [] => {
            let error = Error::new(Code::UnknownGate, format!("there is no open gate '{name}'"));
            Err(nearest::hinted(error, name, gates.keys().map(GateId::as_str), "see 'git axiom gate list'"))
        }
        many => {
            let names: Vec<&str> = many.iter().map(|gate| gate.id.as_str()).collect();
            Err(Error::new(Code::AmbiguousName, format!("'{name}' matches several gates: {}", names.join(", ")))
                .hint("give the whole id"))
        }
    }
}

/// Changes the mode; returns whether it was another one. Before a change to autopilot a checkpoint is made, where
/// configured.
///
/// # Errors
/// Those of the checkpoint: then the mode does not change.
pub fn change_mode(ctx: &mut Context, new: Mode) -> Result<bool> {
    let begins = new == Mode::Autopilot && ctx.state().restorable.mode != new;
    if begins && ctx.config.checkpoints.before_autopilot {
        checkpoint::create(ctx, &CheckpointRequest::by(Trigger::BeforeAutopilot))?;
    }
    let changed = ctx.append_with(|state| {
        let old = state.restorable.mode;
        Ok((old != new).then(|| Event::ModeChanged { mode: Change::new(old, new) }).into_iter().collect())
    })?;
    Ok(!changed.is_empty())
}
