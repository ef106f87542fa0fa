//! The hooks of one event that run beside the work of a session: started, looked at, shown. What follows from what they said is in
//! `waiting_claims` and `redirecting` (those that are asked) and in `hooks` (those that are told).

use std::sync::Arc;
use std::thread::JoinHandle;

use super::desk::SessionDesk;
use axiom_base::env;
use axiom_base::error::{Error, Result};
use axiom_model::base::ids::{AgentId, TaskId};
use axiom_model::hook::due::of_task;
use axiom_model::hook::facts::HookFacts;
use axiom_model::work::hooks::hook_event::{HookEvent, HookPower};
use axiom_model::work::hooks::hook_run::HookRun;
use axiom_model::work::sessions::supervisor_activity::SupervisorActivity;
use axiom_process::os::bell::WakeListener;
use axiom_safety::context::handle::Context;
use axiom_safety::project_hooks::approved_tree::ApprovedTree;
use axiom_safety::project_hooks::selection::ProjectHook;
use axiom_safety::running::hooks::hook_runs;
use axiom_safety::running::steps;
use axiom_safety::running::steps::{AfterStepFailure, RunningStepJob, StepFailure, StepJob, StepRunner};

/// Hooks at work.
#[derive(Debug)]
pub(crate) struct RunningHooks {
    facts: HookFacts,
    running: RunningStepJob,
}

/// What hooks have said, once they have ended.
#[derive(Debug)]
pub(crate) struct HooksVerdict {
    /// Those that ran, for the log.
    pub(crate) runs: Vec<HookRun>,
    /// The one that objects, or an error where one could not be run.
    pub(crate) objection: Result<Option<StepFailure>>,
}

impl RunningHooks {
    /// What they have said; `None` while they run.
    pub(crate) fn said(&self) -> Option<HooksVerdict> {
        let verdict = self.running.verdict()?;
        let objection = verdict.not_run.map_or(Ok(verdict.failure), Err::<_, Error>);
        Some(HooksVerdict { runs: hook_runs::records(&self.facts, &verdict.ran), objection })
    }

    /// Which of them runs, for people who look.
    pub(crate) fn doing(&self) -> Option<SupervisorActivity> {
        hook_runs::doing(&self.facts, &self.running)
    }

    /// Ends them. The returned thread ends with them.
    pub(crate) fn give_up(self) -> Option<JoinHandle<()>> {
        self.running.give_up()
    }
}

/// Starts the hooks of an event. One that objects is the last that is asked; all are told.
pub(crate) fn run_hooks(
    ctx: &Context,
    bell: &WakeListener,
    facts: HookFacts,
    hooks: &[ProjectHook],
    tree: &Arc<ApprovedTree>,
) -> Result<RunningHooks> {
    let steps = hook_runs::of(ctx, (hooks, tree), &facts)?;
    let after = match facts.event.power() {
        HookPower::Veto => AfterStepFailure::Stop,
        HookPower::Report => AfterStepFailure::GoOn,
    };
    let job = StepJob::new(ctx, StepRunner::Session, after, steps);
    Ok(RunningHooks { facts, running: steps::start(job, bell.rope().ok()) })
}

/// What hooks are told that are asked whether a task may start with this agent.
pub(crate) fn facts_of_start(ctx: &Context, task: &TaskId, agent: &AgentId) -> HookFacts {
    let about = of_task(ctx.state(), task, HookEvent::PreTaskStart, env::now());
    HookFacts { agent: Some(agent.clone()), ..about }
}

impl SessionDesk<'_> {
    /// Records runs in a transaction of their own.
    pub(crate) fn record_runs(&mut self, runs: &[HookRun]) -> Result<()> {
        match self.apart() {
            Some(by) => self.ctx.in_its_own_transaction(by, |ctx| hook_runs::record(ctx, runs)),
            None => hook_runs::record(self.ctx, runs),
        }
    }
}
