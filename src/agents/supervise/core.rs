//! What the parts of a session work on: its log, its agents and tasks, what failed and what is under way.

use super::agent_runs::AgentRuns;
use super::desk::SessionDesk;
use super::drivers_aside::MergeDrivers;
use super::failing::StepFailures;
use super::leaving_threads::LeavingThreads;
use super::requests::HumanRequests;
use super::setup::SessionSetup;
use super::task_memory::TaskMemory;
use super::workspace_creation::WorkspaceCreations;
use axiom_model::queries::ready::ReadyQueue;
use axiom_process::os::bell::WakeListener;

/// What the parts of a session work on.
pub(super) struct SessionCore<'a> {
    pub(super) desk: SessionDesk<'a>,
    pub(super) setup: SessionSetup,
    pub(super) bell: WakeListener,
    pub(super) ready: ReadyQueue,
    pub(super) runs: AgentRuns,
    pub(super) tasks: TaskMemory,
    pub(super) failures: StepFailures,
    pub(super) requests: HumanRequests,
    /// Workspaces that git makes.
    pub(super) makings: WorkspaceCreations,
    /// Drivers that merge files of a task.
    pub(super) drivers: MergeDrivers,
    /// What was given up on.
    pub(super) leaving: LeavingThreads,
}

impl<'a> SessionCore<'a> {
    pub(super) fn new(desk: SessionDesk<'a>, setup: SessionSetup, bell: WakeListener) -> Self {
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
