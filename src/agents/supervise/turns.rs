//! Whose turn it is: agents one after the other, and a human before all of them.
//!
//! Not here: what is done for an agent, which is in `watching`, and for a request, which is in `requests`.

use std::time::{Duration, Instant};

use super::Supervisor;
use axiom_base::error::Result;
use axiom_model::base::ids::AgentId;
use axiom_model::state::event_envelope::EventAuthor;
use axiom_model::work::agent::IterationStage;
use axiom_model::work::endings::failures::SessionStep;
use axiom_model::work::sessions::session::SessionState;
use axiom_model::work::sessions::supervisor_activity::SupervisorActivity;
use axiom_safety::context::handle::Context;

/// Between steps that are shorter than this it is not looked whether a human asks for something: a look costs a system call.
const GLANCE: Duration = Duration::from_millis(5);

/// How far busy agents are looked after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AgentTurnsUntil {
    /// Each of them: the session takes no requests any more, or there is none.
    AllWere,
    /// Each of them, if no human asks for something meanwhile.
    AHumanWaits,
}

impl Supervisor<'_> {
    /// Whether a human has asked for something since the pass began: that is done before the next step, so that nobody waits
    /// for more than one step, however many agents there are.
    pub(crate) fn a_human_waits(&mut self) -> Result<bool> {
        if self.core.requests.looked_at_log.elapsed() > GLANCE {
            self.core.desk.ctx.store.refresh()?;
            self.core.requests.looked_at_log = Instant::now();
        }
        Ok(self.interrupts.count() > 0 || self.core.requests.are_open(self.core.desk.ctx))
    }

    /// Looks after busy agents once, as far as that; returns whether anything was done.
    pub(crate) fn look_after_agents(&mut self, until: AgentTurnsUntil) -> Result<bool> {
        let agents = agents_in_turn(self.core.desk.ctx, self.next_in_turn.as_ref());
        self.next_in_turn = None;
        self.iterations.slots_reserved = self.claims.starting.len();
        let mut did = false;
        for (turn, agent) in agents.iter().enumerate() {
            let Some(work) = self.core.desk.work_of(agent) else { continue };
            let (task, step) = (work.task.clone(), step_at(&work.stage));
            let is_left = self.core.setup.options.after_crash.only.as_ref().is_some_and(|only| !only.contains(&task));
            if is_left || self.core.failures.is_held_up(&task) {
                continue;
            }
            // A verb ends those that a human meant. What is found out of the others, which a crash has left, is recovery.
            let is_meant = self.core.runs.get(agent).is_some_and(|run| run.halt.is_some());
            let verb = self.core.desk.within.take_if(|_| !is_meant);
            let by = verb.as_ref().map(|_| std::mem::replace(&mut self.core.desk.by, EventAuthor::Recovery));
            let looked = self.iterations.look_after(&mut self.core, agent);
            if let Some((verb, by)) = verb.zip(by) {
                (self.core.desk.within, self.core.desk.by) = (Some(verb), by);
            }
            match looked {
                Ok(done) => {
                    did |= done;
                    self.core.failures.waits_no_longer(&mut self.core.desk, &task, step)?;
                }
                Err(error) => self.core.agent_failed(agent, step, error)?,
            }
            if until == AgentTurnsUntil::AHumanWaits && self.a_human_waits()? {
                self.next_in_turn = agents.get(turn + 1).cloned();
                return Ok(true);
            }
        }
        Ok(did)
    }

    /// Records that a session is paused, once no agent runs in it, and nothing is verified, merged or made; returns whether it is paused
    /// from now on. The caller had nothing to do in this pass.
    pub(crate) fn pause_where_quiet(&mut self) -> Result<bool> {
        let is_quiet = || {
            self.core.runs.running_agents(self.core.desk.ctx).is_empty()
                && !self.core.makings.are_at_work()
                && self.core.leaving.is_over()
                && !self.merges.is_at_work(&self.core)
                && !self.doing().iter().any(SupervisorActivity::is_verification)
        };
        if self.core.desk.session_state() != SessionState::Pausing || !is_quiet() {
            return Ok(false);
        }
        self.core.desk.change_session(SessionState::Paused, "paused").map(|()| true)
    }
}

/// The busy agents, from the one on whose turn the last pass was broken off: none is passed over for ever.
fn agents_in_turn(ctx: &Context, next_in_turn: Option<&AgentId>) -> Vec<AgentId> {
    let mut agents: Vec<AgentId> = ctx.state().busy_agents().map(|agent| agent.id.clone()).collect();
    let first = next_in_turn.and_then(|next| agents.iter().position(|agent| agent >= next));
    agents.rotate_left(first.unwrap_or_default());
    agents
}

/// The step that an agent at this stage is looked after for.
fn step_at(stage: &IterationStage) -> SessionStep {
    match stage {
        IterationStage::Between { .. } => SessionStep::Settle,
        IterationStage::Intended { .. } | IterationStage::Running { .. } => SessionStep::Watch,
    }
}
