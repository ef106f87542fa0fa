//! Redirect: an agent leaves its task and goes on with another one.

use super::ending::{TaskWaitGates, claim_of, is_completed, unknown_agent, wait_released};
use crate::supervise;
use crate::supervise::notice::SessionWatcher;
use crate::supervise::{AttendRequest, RedirectRequest, SupervisorOptions};
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::ids::{AgentId, CheckpointName, TaskId};
use axiom_model::checkpoint::trigger::CheckpointTrigger;
use axiom_model::queries::choices::{ReadyTaskChoice, choices, gate_before_start};
use axiom_model::queries::ready::persona_of;
use axiom_model::state::current_state::State;
use axiom_model::work::gates::gate::{AfterHalt, RedirectWorkspace};
use axiom_model::work::sessions::session::{SessionState, SupervisorRequest};
use axiom_model::work::tasks::task::{Task, TaskKind};
use axiom_safety::beside_log::supervisor_requests::{RequestOutcome, ask_supervisor};
use axiom_safety::checkpoint;
use axiom_safety::checkpoint::CheckpointRequest;
use axiom_safety::context::handle::Context;

/// Where an agent is to go, and how.
#[derive(Debug, Clone)]
pub struct RedirectChoice {
    /// The agent.
    pub agent: AgentId,
    /// The task that it is to work on.
    pub to: TaskId,
    /// In which workspace.
    pub place: RedirectWorkspace,
    /// What happens to the task that it leaves.
    pub afterwards: AfterHalt,
}

/// An agent that was sent to another task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedirectReport {
    /// The agent.
    pub agent: AgentId,
    /// The task that it left.
    pub from: TaskId,
    /// The task that it goes on with.
    pub to: TaskId,
    /// Whether it had completed the task that it left: that stands.
    pub completed: bool,
    /// Where the task that it left waits.
    pub waits_at: TaskWaitGates,
    /// The checkpoint that was made before.
    pub checkpoint: CheckpointName,
    /// What has to be called before the agent goes on.
    pub waits_for: Option<&'static str>,
}

/// The task that an agent works on.
pub fn task_of(state: &State, agent: &AgentId) -> Result<TaskId> {
    let Some(known) = state.restorable.agents.get(agent) else { return Err(unknown_agent(state, agent)) };
    let work = known.work.as_ref().ok_or_else(|| {
        Error::new(Code::InvalidTransition, format!("agent '{agent}' is not working, so there is nothing that it could leave"))
            .hint("ready tasks are claimed by 'git axiom run'; 'git axiom gate approve claim-TASK' approves one")
    })?;
    Ok(work.task.clone())
}

/// Sends a working agent to a ready task. What it did is committed, its workspace stays, and its task waits at a claim gate or is
/// pending. A checkpoint is made first. Where a session runs, the agent begins at once; otherwise with the next one.
pub fn redirect(ctx: &mut Context, wanted: &RedirectChoice, watcher: &mut dyn SessionWatcher) -> Result<RedirectReport> {
    let RedirectChoice { agent, to, place, afterwards } = wanted.clone();
    let from = task_of(ctx.state(), &agent)?;
    check(ctx.state(), &agent, &to, place)?;
    let made = checkpoint::create(ctx, &CheckpointRequest::by(CheckpointTrigger::BeforeRedirect))?;
    let claims = [(agent.clone(), claim_of(ctx, &agent))];
    if ctx.supervisor_alive()? {
        let request = SupervisorRequest::Redirect { agent: agent.clone(), from: from.clone(), to: to.clone(), place, afterwards };
        let RequestOutcome { done, message } = ask_supervisor(ctx, request)?;
        if !done {
            return Err(Error::new(Code::ChangedMeanwhile, message).hint("git axiom status    shows what runs"));
        }
    } else {
        let wanted = RedirectRequest { agent: agent.clone(), from: from.clone(), to: to.clone(), place, afterwards };
        supervise::attend(ctx, &AttendRequest::Redirect(wanted), SupervisorOptions::attending(), watcher)?;
    }
    wait_released(ctx, &claims, watcher)?;
    let (completed, waits_at) = (is_completed(ctx.state(), &from), TaskWaitGates::of(ctx.state(), &from));
    let waits_for = match ctx.state().record.session.as_ref().map(|session| session.state) {
        _ if !ctx.supervisor_alive()? => Some("git axiom run"),
        Some(SessionState::Pausing | SessionState::Paused) => Some("git axiom resume"),
        _ => None,
    };
    Ok(RedirectReport { agent, from, to, completed, waits_at, checkpoint: made.name, waits_for })
}

fn check(state: &State, agent: &AgentId, to: &TaskId, place: RedirectWorkspace) -> Result<()> {
    let task = state.task(to)?;
    let open = choices(state, agent);
    if !open.iter().any(|choice| choice.id == *to) {
        let why = why_not(state, agent, task);
        return Err(Error::new(Code::InvalidTransition, format!("agent '{agent}' cannot be sent to '{to}': {why}"))
            .hint(ready_in_words(&open)));
    }
    if place == RedirectWorkspace::Same && state.restorable.workspaces.contains_key(to) {
        return Err(Error::new(Code::InvalidTransition, format!("'{to}' has a workspace of its own already"))
            .hint("without --same-workspace the agent goes on there"));
    }
    Ok(())
}

fn why_not(state: &State, agent: &AgentId, task: &Task) -> String {
    if let Some(other) = state.agent_on(&task.id) {
        let whose = if other.id == *agent { "it works on that already".to_owned() } else { format!("{} works on it", other.id) };
        return whose;
    }
    let persona = persona_of(task);
    if task.kind != TaskKind::Task {
        format!("it is a group ({}), and agents work on tasks", task.kind)
    } else if !agent.is_of(persona) {
        format!("it is for agents of the persona '{persona}'")
    } else if let Some(gate) = gate_before_start(state, &task.id) {
        format!("it waits at gate {}: {}", gate.id, gate.reason)
    } else {
        format!("it is {} and not ready", task.status)
    }
}

/// The ready tasks in words, for who has named none or another one.
pub fn ready_in_words(open: &[ReadyTaskChoice]) -> String {
    match open {
        [] => "no task is ready for it: see 'git axiom task list'".to_owned(),
        some => {
            let names: Vec<&str> = some.iter().take(10).map(|choice| choice.id.as_str()).collect();
            let more = if some.len() > 10 { ", …" } else { "" };
            format!("ready for it, the best first: {}{more}", names.join(", "))
        }
    }
}
