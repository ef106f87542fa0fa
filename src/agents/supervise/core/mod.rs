//! What the parts of a session work on: its log, its agents and tasks, what failed and what is under way.

pub(crate) mod agent_runs;
pub(crate) mod desk;
pub(crate) mod failing;
pub(crate) mod failures;
pub(crate) mod gates;
pub(crate) mod human_requests;
pub(crate) mod iteration_watch;
pub(crate) mod leaving_threads;
pub(crate) mod merge_drivers;
pub(crate) mod pauses;
pub(crate) mod running_filters;
pub(crate) mod running_hooks;
pub(crate) mod slots;
pub(crate) mod task_memory;
pub(crate) mod task_verification;
pub(crate) mod work_ends;
pub(crate) mod workspace_creation;

use std::time::{Duration, Instant};

use agent_runs::AgentRuns;
use desk::SessionDesk;
use failures::StepFailures;
use human_requests::HumanRequests;
use leaving_threads::LeavingThreads;
use merge_drivers::MergeDrivers;
use task_memory::TaskMemory;
use workspace_creation::WorkspaceCreations;

use crate::supervise::setup::SessionSetup;
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
