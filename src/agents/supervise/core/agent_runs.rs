//! What a session knows of each agent besides its record: the iteration that is watched, the checks that run, how it is to end. Nothing
//! of it is needed after a crash.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::iteration_watch::IterationWatch;
use super::pauses::Backoff;
use super::running_filters::RunningFilters;
use super::task_verification::TaskVerificationRun;
use super::work_ends::{IterationHalt, WorkEnd};
use axiom_base::error::Result;
use axiom_model::base::ids::{AgentId, Token};
use axiom_process::client::leftovers;
use axiom_safety::context::handle::{Context, fresh_token};
use axiom_safety::running::steps::RunningStepJob;

/// What a session knows of one agent.
#[derive(Debug, Default)]
pub(crate) struct AgentRun {
    /// The iteration that is watched.
    pub(crate) watch: Option<IterationWatch>,
    /// The verify steps of its task that run.
    pub(crate) verifying: Option<TaskVerificationRun>,
    /// The evaluator that is asked what becomes of its task after a crash.
    pub(crate) evaluating: Option<RunningStepJob>,
    /// Filters that store what this iteration has left.
    pub(crate) filters: Option<(Token, RunningFilters)>,
    /// This iteration is to be ended.
    pub(crate) halt: Option<(Token, IterationHalt)>,
    /// How its work ends, whose iteration has ended.
    pub(crate) end: Option<WorkEnd>,
    /// The token of its next iteration, whose folder may be begun: each try uses the same.
    pub(crate) prepared: Option<Token>,
    /// The pause before its next iteration.
    pub(crate) backoff: Option<Backoff>,
}

impl AgentRun {
    /// Whether verify steps or an evaluator run.
    pub(crate) fn is_checked(&self) -> bool {
        self.verifying.is_some() || self.evaluating.is_some()
    }

    /// Whether its keeper is to be asked to end its program, and was not asked yet.
    pub(crate) fn is_to_be_asked(&self) -> bool {
        self.halt.as_ref().is_some_and(|(_, halt)| !halt.asked)
    }

    /// Whether filters store what this iteration has left.
    pub(crate) fn stores(&self, token: &Token) -> bool {
        self.filters_of(token).is_some()
    }

    /// The filters that store what this iteration has left.
    pub(crate) fn filters_of(&self, token: &Token) -> Option<&RunningFilters> {
        self.filters.as_ref().filter(|(of, _)| of == token).map(|(_, filters)| filters)
    }

    /// This iteration has ended, and so does the work, where it ends.
    pub(crate) fn ends_with(&mut self, token: &Token, end: Option<WorkEnd>) {
        self.end = end.or(self.end.take());
        self.take_halt(token);
    }

    /// How this iteration is to end, from now on no longer.
    pub(crate) fn take_halt(&mut self, token: &Token) -> Option<IterationHalt> {
        self.halt.take_if(|(of, _)| of == token).map(|(_, halt)| halt)
    }
}

/// What a session knows of its agents.
#[derive(Debug, Default)]
pub(crate) struct AgentRuns {
    by_agent: BTreeMap<AgentId, AgentRun>,
    /// Folders of runs whose keepers have reported and are about to end.
    pub(crate) ended: Vec<PathBuf>,
}

impl AgentRuns {
    pub(crate) fn get(&self, agent: &AgentId) -> Option<&AgentRun> {
        self.by_agent.get(agent)
    }

    pub(crate) fn at(&mut self, agent: &AgentId) -> &mut AgentRun {
        self.by_agent.entry(agent.clone()).or_default()
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (&AgentId, &AgentRun)> {
        self.by_agent.iter()
    }

    /// Whether this is so of any agent.
    pub(crate) fn any(&self, is_so: impl Fn(&AgentRun) -> bool) -> bool {
        self.by_agent.values().any(is_so)
    }

    /// The iteration of an agent that is watched.
    pub(crate) fn watch(&self, agent: &AgentId) -> Option<&IterationWatch> {
        self.get(agent)?.watch.as_ref()
    }

    pub(crate) fn watch_mut(&mut self, agent: &AgentId) -> Option<&mut IterationWatch> {
        self.by_agent.get_mut(agent)?.watch.as_mut()
    }

    /// The agents whose iterations are watched.
    pub(crate) fn watched(&self) -> impl Iterator<Item = &AgentId> {
        self.all().filter(|(_, run)| run.watch.is_some()).map(|(agent, _)| agent)
    }

    /// How this iteration of an agent is to end, where it is.
    pub(crate) fn halt_of(&self, agent: &AgentId, token: &Token) -> Option<&IterationHalt> {
        self.get(agent)?.halt.as_ref().filter(|(of, _)| of == token).map(|(_, halt)| halt)
    }

    pub(crate) fn halt_mut(&mut self, agent: &AgentId, token: &Token) -> Option<&mut IterationHalt> {
        self.by_agent.get_mut(agent)?.halt.as_mut().filter(|(of, _)| of == token).map(|(_, halt)| halt)
    }

    /// When the first pause before an iteration ends.
    pub(crate) fn first_pause(&self) -> Option<Duration> {
        self.by_agent.values().filter_map(|run| run.backoff.as_ref()?.left()).min()
    }
}

impl AgentRuns {
    /// The agents with a running iteration or verification.
    pub(crate) fn running_agents(&self, ctx: &Context) -> Vec<AgentId> {
        let running = |agent: &&axiom_model::work::agent::Agent| {
            agent.work.as_ref().is_some_and(|work| work.stage.token().is_some())
                || self.get(&agent.id).is_some_and(|run| run.verifying.is_some())
        };
        ctx.state().busy_agents().filter(running).map(|agent| agent.id.clone()).collect()
    }

    /// Removes the temporary files of keepers that ended after their report.
    pub(crate) fn clear_ended(&mut self) {
        // Only temporary files: what cannot be removed now is tried again.
        self.ended.retain(|dir| !matches!(leftovers::clear_runtime(dir), Ok(true)));
    }
}

impl AgentRuns {
    /// Whether the next iteration of an agent has to wait.
    pub(crate) fn must_wait(&self, agent: &AgentId) -> bool {
        self.get(agent).and_then(|run| run.backoff.as_ref()).is_some_and(Backoff::lasts)
    }

    pub(crate) fn back_off(&mut self, agent: &AgentId) {
        let run = self.at(agent);
        run.backoff = Some(Backoff::after(run.backoff.as_ref()));
    }

    pub(crate) fn no_back_off(&mut self, agent: &AgentId) {
        self.at(agent).backoff = None;
    }

    /// The token of the agent's next iteration: the same until its intent is recorded.
    pub(crate) fn next_token(&mut self, agent: &AgentId) -> Result<Token> {
        if let Some(token) = self.get(agent).and_then(|run| run.prepared.as_ref()) {
            return Ok(token.clone());
        }
        let token = fresh_token()?;
        self.at(agent).prepared = Some(token.clone());
        Ok(token)
    }

    /// Whether the end of its iteration is to be told now: it may be handled more than once, until its work is committed.
    pub(crate) fn tells_end(&mut self, agent: &AgentId) -> bool {
        self.watch_mut(agent).is_none_or(|watch| !std::mem::replace(&mut watch.end_told, true))
    }
}
