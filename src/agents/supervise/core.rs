//! What the parts of a session work on: its log, its agents and tasks, what failed and what is under way.

use std::time::{Duration, Instant};

use super::agent_runs::AgentRuns;
use super::desk::SessionDesk;
use super::failures::StepFailures;
use super::human_requests::HumanRequests;
use super::leaving_threads::LeavingThreads;
use super::merge_drivers::MergeDrivers;
use super::setup::SessionSetup;
use super::task_memory::TaskMemory;
use super::workspace_creation::WorkspaceCreations;
use axiom_base::error::Result;
use axiom_model::base::ids::{AgentId, Token};
use axiom_model::queries::ready::ReadyQueue;
use axiom_model::work::sessions::session::SessionState;
use axiom_process::os::bell::WakeListener;

/// What the parts of a session work on.
pub(crate) struct SessionCore<'a> {
    pub(crate) desk: SessionDesk<'a>,
    pub(crate) setup: SessionSetup,
    pub(crate) bell: WakeListener,
    pub(crate) ready: ReadyQueue,
    pub(crate) runs: AgentRuns,
    pub(crate) tasks: TaskMemory,
    pub(crate) failures: StepFailures,
    pub(crate) requests: HumanRequests,
    /// Workspaces that git makes.
    pub(crate) makings: WorkspaceCreations,
    /// Drivers that merge files of a task.
    pub(crate) drivers: MergeDrivers,
    /// What was given up on.
    pub(crate) leaving: LeavingThreads,
}

impl<'a> SessionCore<'a> {
    pub(crate) fn new(desk: SessionDesk<'a>, setup: SessionSetup, bell: WakeListener) -> Self {
        Self {
            desk,
            setup,
            bell,
            ready: ReadyQueue::default(),
            runs: AgentRuns::default(),
            tasks: TaskMemory::default(),
            failures: StepFailures::default(),
            requests: HumanRequests::new(),
            makings: WorkspaceCreations::default(),
            drivers: MergeDrivers::default(),
            leaving: LeavingThreads::default(),
        }
    }
}

impl SessionCore<'_> {
    /// Whether anything has to wait for a moment.
    pub(crate) fn backs_off(&self) -> bool {
        self.first_pause_ends_in().is_some()
    }

    /// When the first of all pauses ends.
    pub(crate) fn first_pause_ends_in(&self) -> Option<Duration> {
        self.failures.first_pause(self.desk.ctx).into_iter().chain(self.runs.first_pause()).min()
    }

    /// Whether requests of a human's come before the end of this iteration: one of them may have asked its keeper to end it, and what
    /// becomes of its task depends on that. A request is in the log before any keeper is asked.
    pub(crate) fn a_human_may_have_ended(&mut self, agent: &AgentId, token: &Token) -> Result<bool> {
        if self.runs.halt_of(agent, token).is_some()
            || self.setup.target.is_none()
            || self.desk.session_state() == SessionState::Ending
        {
            return Ok(false);
        }
        self.desk.ctx.store.refresh()?;
        self.requests.looked_at_log = Instant::now();
        Ok(self.requests.are_open(self.desk.ctx))
    }
}
