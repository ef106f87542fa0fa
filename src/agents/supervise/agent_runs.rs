//! What a session knows of each agent besides its record: the iteration that is watched, the checks that run, how it is to end. Nothing
//! of it is needed after a crash.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::filters_aside::RunningFilters;
use super::finish::WorkEnd;
use super::pauses::Backoff;
use super::verifying::TaskVerificationRun;
use axiom_model::agent::stream::summary::StreamSummary;
use axiom_model::base::ids::{AgentId, Token};
use axiom_model::work::endings::outcome::TaskHalt;
use axiom_model::work::gates::gate::TaskHoldReason;
use axiom_model::work::iteration_marker::IterationMarker;
use axiom_model::work::signals::signal::AgentSignal;
use axiom_safety::running::steps::RunningStepJob;

/// How far the signals of an iteration were read.
#[derive(Debug, Default)]
pub(super) struct SignalCounts {
    /// The offset up to which they have been read.
    pub(super) read: u64,
    /// How many were read.
    pub(super) heard: u64,
    /// How many of them the agent itself has sent.
    pub(super) reported: u64,
}

/// A running iteration.
#[derive(Debug, Default)]
pub(super) struct IterationWatch {
    pub(super) token: Option<Token>,
    pub(super) signals: SignalCounts,
    /// The last signal that decides the outcome.
    pub(super) verdict: Option<AgentSignal>,
    /// What its output says.
    pub(super) told: StreamSummary,
    /// Where it was last, as far as its output tells.
    pub(super) marker: Option<IterationMarker>,
    /// When its last signal was recorded.
    pub(super) heard_at: Option<Timestamp>,
    /// When its agent said last how far it is.
    pub(super) progress_at: Option<Timestamp>,
    /// Its last sign of life, once it is known to be cut off.
    pub(super) last_sign: Option<Timestamp>,
    /// When its workspace was last captured, or watching began.
    pub(super) captured_at: Option<Instant>,
    /// When watching began, and how long it had run by then.
    pub(super) begun: Option<(Instant, Duration)>,
    /// Since when its budget is known to be used up.
    pub(super) over_since: Option<Instant>,
    /// Whether it was told that its keeper or the machine died, where its work could not be committed since.
    pub(super) end_told: bool,
}

/// An iteration that is to be ended.
#[derive(Debug, Clone)]
pub(super) struct IterationHalt {
    pub(super) how: TaskHalt,
    /// What becomes of its task.
    pub(super) then: HaltedTaskFate,
    /// Whether its keeper was asked to end it: a keeper that is just starting cannot be asked yet.
    pub(super) asked: bool,
    /// Since when.
    pub(super) since: Timestamp,
}

/// What becomes of a task whose agent is ended, where it is not complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HaltedTaskFate {
    /// It is pending.
    Free,
    /// It is pending, and its agent goes on with it as soon as the session does: no human is asked again.
    GoesOn,
    /// It is pending and waits at a gate: a human wants that.
    Held(TaskHoldReason),
    /// A human blocks it, with this reason.
    Blocked(String),
}

impl HaltedTaskFate {
    pub(super) fn of(held: Option<TaskHoldReason>) -> Self {
        held.map_or(Self::Free, Self::Held)
    }

    /// This, or what was wanted before where this wants nothing.
    pub(super) fn or(self, before: Option<Self>) -> Self {
        match (self, before) {
            (Self::Free, Some(before)) => before,
            (this, _) => this,
        }
    }
}

/// What a session knows of one agent.
#[derive(Debug, Default)]
pub(super) struct AgentRun {
    /// The iteration that is watched.
    pub(super) watch: Option<IterationWatch>,
    /// The verify steps of its task that run.
    pub(super) verifying: Option<TaskVerificationRun>,
    /// The evaluator that is asked what becomes of its task after a crash.
    pub(super) evaluating: Option<RunningStepJob>,
    /// Filters that store what this iteration has left.
    pub(super) filters: Option<(Token, RunningFilters)>,
    /// This iteration is to be ended.
    pub(super) halt: Option<(Token, IterationHalt)>,
    /// How its work ends, whose iteration has ended.
    pub(super) end: Option<WorkEnd>,
    /// The token of its next iteration, whose folder may be begun: each try uses the same.
    pub(super) prepared: Option<Token>,
    /// The pause before its next iteration.
    pub(super) backoff: Option<Backoff>,
}

impl AgentRun {
    /// Whether verify steps or an evaluator run.
    pub(super) fn is_checked(&self) -> bool {
        self.verifying.is_some() || self.evaluating.is_some()
    }

    /// Whether its keeper is to be asked to end its program, and was not asked yet.
    pub(super) fn is_to_be_asked(&self) -> bool {
        self.halt.as_ref().is_some_and(|(_, halt)| !halt.asked)
    }

    /// Whether filters store what this iteration has left.
    pub(super) fn stores(&self, token: &Token) -> bool {
        self.filters_of(token).is_some()
    }

    /// The filters that store what this iteration has left.
    pub(super) fn filters_of(&self, token: &Token) -> Option<&RunningFilters> {
        self.filters.as_ref().filter(|(of, _)| of == token).map(|(_, filters)| filters)
    }

    /// This iteration has ended, and so does the work, where it ends.
    pub(super) fn ends_with(&mut self, token: &Token, end: Option<WorkEnd>) {
        self.end = end.or(self.end.take());
        self.take_halt(token);
    }

    /// How this iteration is to end, from now on no longer.
    pub(super) fn take_halt(&mut self, token: &Token) -> Option<IterationHalt> {
        self.halt.take_if(|(of, _)| of == token).map(|(_, halt)| halt)
    }
}

/// What a session knows of its agents.
#[derive(Debug, Default)]
pub(super) struct AgentRuns {
    by_agent: BTreeMap<AgentId, AgentRun>,
    /// Folders of runs whose keepers have reported and are about to end.
    pub(super) ended: Vec<PathBuf>,
}

impl AgentRuns {
    pub(super) fn get(&self, agent: &AgentId) -> Option<&AgentRun> {
        self.by_agent.get(agent)
    }

    pub(super) fn at(&mut self, agent: &AgentId) -> &mut AgentRun {
        self.by_agent.entry(agent.clone()).or_default()
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (&AgentId, &AgentRun)> {
        self.by_agent.iter()
    }

    /// Whether this is so of any agent.
    pub(super) fn any(&self, is_so: impl Fn(&AgentRun) -> bool) -> bool {
        self.by_agent.values().any(is_so)
    }

    /// The iteration of an agent that is watched.
    pub(super) fn watch(&self, agent: &AgentId) -> Option<&IterationWatch> {
        self.get(agent)?.watch.as_ref()
    }

    pub(super) fn watch_mut(&mut self, agent: &AgentId) -> Option<&mut IterationWatch> {
        self.by_agent.get_mut(agent)?.watch.as_mut()
    }

    /// The agents whose iterations are watched.
    pub(super) fn watched(&self) -> impl Iterator<Item = &AgentId> {
        self.all().filter(|(_, run)| run.watch.is_some()).map(|(agent, _)| agent)
    }

    /// How this iteration of an agent is to end, where it is.
    pub(super) fn halt_of(&self, agent: &AgentId, token: &Token) -> Option<&IterationHalt> {
        self.get(agent)?.halt.as_ref().filter(|(of, _)| of == token).map(|(_, halt)| halt)
    }

    pub(super) fn halt_mut(&mut self, agent: &AgentId, token: &Token) -> Option<&mut IterationHalt> {
        self.by_agent.get_mut(agent)?.halt.as_mut().filter(|(of, _)| of == token).map(|(_, halt)| halt)
    }

    /// When the first pause before an iteration ends.
    pub(super) fn first_pause(&self) -> Option<Duration> {
        self.by_agent.values().filter_map(|run| run.backoff.as_ref()?.left()).min()
    }
}
