//! Pause and resume.

use std::collections::BTreeSet;

use super::ending::{AgentEndRequest, end_agents};
use crate::supervise::keeper_now::KeeperObservation;
use crate::supervise::notice::SessionWatcher;
use crate::supervise::{SupervisorOptions, doing};
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::ids::{AgentId, TaskId};
use axiom_model::queries::groups::progress_of;
use axiom_model::state::current_state::State;
use axiom_model::work::endings::after_iteration::TaskHalt;
use axiom_model::work::gates::gate::AfterHalt;
use axiom_model::work::sessions::session::{SessionState, SupervisorRequest};
use axiom_model::work::sessions::supervisor_activity::SupervisorActivity;
use axiom_safety::beside_log::supervisor_requests::{RequestOutcome, ask_supervisor};
use axiom_safety::context::event_waiter::LogEventWaiter;
use axiom_safety::context::handle::Context;

/// How agents are paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PauseTiming {
    /// When their iterations end.
    AtBoundary,
    /// At once: they are stopped, their work is committed, and they go on with it after `resume`.
    AtOnce,
}

/// An agent with a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkingAgent {
    /// The agent.
    pub agent: AgentId,
    /// Its task.
    pub task: TaskId,
    /// The number of its iteration.
    pub iteration: u32,
    /// The progress that it reports, in percent.
    pub progress: Option<u8>,
}

/// The agents of a session that pauses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PauseReport {
    /// Those that still run, until their iterations end.
    pub running: Vec<WorkingAgent>,
    /// Those that are paused.
    pub paused: Vec<WorkingAgent>,
    /// The verifications that run, of tasks and of merges: what passes is still merged.
    pub verifying: Vec<SupervisorActivity>,
    /// Whether those that run are being ended.
    pub at_once: bool,
    /// Whether a session is there that pauses: without one, those that it left are told, and nothing is paused.
    pub session: bool,
}

/// Who runs and who is between two iterations. An agent whose program was ended at once and that has let go of its task is not
/// among them.
pub fn agents(ctx: &Context) -> Result<PauseReport> {
    let mut all = PauseReport::default();
    let supervised = ctx.supervisor_alive()?;
    for agent in ctx.state().busy_agents() {
        let Some(work) = &agent.work else { continue };
        let (task, iteration, progress) = (work.task.clone(), work.iteration, progress_of(ctx.state(), work));
        let working = WorkingAgent { agent: agent.id.clone(), task, iteration, progress };
        if agent.waits_for_an_answer() {
            // It waits for a human, as before.
        } else if work.stage.token().is_none() {
            all.paused.push(working);
        } else if supervised || KeeperObservation::of(ctx, agent) == KeeperObservation::Works {
            // A session is about to see how it ended; without one nothing of it runs.
            all.running.push(working);
        }
    }
    Ok(all)
}

/// Pauses all agents. With `wait` it returns when none runs any more. Without a session no iteration begins anyway: then only those
/// that a session left are waited for, or stopped.
pub fn pause(ctx: &mut Context, how: PauseTiming, wait: bool, watcher: &mut dyn SessionWatcher) -> Result<PauseReport> {
    let before = agents(ctx)?;
    let stopped = if ctx.supervisor_alive()? {
        let RequestOutcome { done, message } =
            ask_supervisor(ctx, SupervisorRequest::Pause { force: how == PauseTiming::AtOnce })?;
        if !done {
            return Err(Error::new(Code::InvalidTransition, message).hint("see 'git axiom status'"));
        }
        before.running.clone()
    } else {
        without_session(ctx, how, &before, watcher)?
    };
    let mut waiting = LogEventWaiter::begin();
    while wait && is_pausing(ctx)? {
        waiting.for_events(ctx)?;
    }
    let mut all = PauseReport { at_once: how == PauseTiming::AtOnce, session: ctx.supervisor_alive()?, ..agents(ctx)? };
    all.verifying = verifications(ctx)?;
    let verifies = |working: &WorkingAgent| all.verifying.iter().any(|doing| doing.agent_id.as_ref() == Some(&working.agent));
    let paused = std::mem::take(&mut all.paused).into_iter().filter(|working| !verifies(working)).collect();
    all.paused = paused;
    if how == PauseTiming::AtOnce {
        // They have let go of their tasks, and take them up again.
        let known: BTreeSet<AgentId> = all.running.iter().chain(&all.paused).map(|working| working.agent.clone()).collect();
        all.paused.extend(stopped.into_iter().filter(|working| !known.contains(&working.agent)));
    }
    Ok(all)
}

fn without_session(
    ctx: &mut Context,
    how: PauseTiming,
    before: &PauseReport,
    watcher: &mut dyn SessionWatcher,
) -> Result<Vec<WorkingAgent>> {
    if before.running.is_empty() {
        return Err(Error::new(Code::NoSupervisor, "no supervisor runs in this repository, and no agent works")
            .hint("nothing begins without one: git axiom run"));
    }
    if how == PauseTiming::AtOnce {
        let ending = AgentEndRequest { halt: TaskHalt::Stop, afterwards: AfterHalt::GoesOn };
        end_agents(ctx, &[], ending, SupervisorOptions::attending(), watcher)?;
        return Ok(before.running.clone());
    }
    Ok(Vec::new())
}

/// Whether an agent of a session that pauses, or that has ended, still runs.
fn is_pausing(ctx: &mut Context) -> Result<bool> {
    if ctx.supervisor_alive()? {
        return Ok(session_is(ctx.state(), SessionState::Pausing) || !verifications(ctx)?.is_empty());
    }
    Ok(!agents(ctx)?.running.is_empty())
}

/// The verifications that run. They end before a session is at rest.
fn verifications(ctx: &Context) -> Result<Vec<SupervisorActivity>> {
    Ok(doing::now(ctx)?.into_iter().filter(SupervisorActivity::is_verification).collect())
}

fn session_is(state: &State, wanted: SessionState) -> bool {
    state.record.session.as_ref().is_some_and(|session| session.state == wanted)
}

/// Lets a paused session continue. Returns how many agents go on with their tasks.
pub fn resume(ctx: &mut Context) -> Result<usize> {
    let RequestOutcome { done, message } = ask_supervisor(ctx, SupervisorRequest::Resume)?;
    if !done {
        return Err(Error::new(Code::InvalidTransition, message).hint("git axiom pause    pauses it; see 'git axiom status'"));
    }
    Ok(ctx.state().busy_agents().count())
}
