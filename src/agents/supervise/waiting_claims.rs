//! Claims that are under way: first the workspace is made, aside, then hooks are asked whether the task may start. Others are claimed
//! meanwhile, as far as there are slots: each of these has one already.

use std::collections::BTreeSet;

use super::Supervisor;
use super::hooks::rejected_start;
use super::running_hooks::{HooksVerdict, RunningHooks};
use axiom_base::env;
use axiom_base::error::Result;
use axiom_model::base::ids::{AgentId, TaskId};
use axiom_model::work::agent::Workspace;
use axiom_model::work::gates::gate::{GateKind, wants_trust};
use axiom_model::work::hooks::hook_event::HookEvent;
use axiom_model::work::sessions::supervisor_activity::SupervisorActivity;
use axiom_safety::context::approved_hooks::EventHooks;
use axiom_safety::running::steps::StepFailure;

/// A claim that is about to be made.
#[derive(Debug, Clone)]
pub(super) struct BegunClaim {
    pub(super) task: TaskId,
    pub(super) agent: AgentId,
    pub(super) workspace: Workspace,
    pub(super) why: String,
}

/// A claim that waits for its workspace, or for what hooks say.
#[derive(Debug)]
pub(super) struct WaitingClaim {
    claim: BegunClaim,
    /// The hooks that are asked whether the task may start.
    asked: Option<RunningHooks>,
}

/// What follows a look at a claim.
enum ClaimProgress {
    /// It still waits.
    Waits,
    /// Its workspace is there: hooks are asked.
    Asks(Box<RunningHooks>),
    /// Nothing keeps the task from starting.
    Takes,
    /// A hook does, and the task waits for a human.
    Vetoed,
}

impl Supervisor<'_> {
    /// Whether the claim of a task is under way.
    pub(super) fn is_starting(&self, task: &TaskId) -> bool {
        self.starting.contains_key(task)
    }

    /// Whether an agent is about to take a task.
    pub(super) fn is_about_to_start(&self, agent: &AgentId) -> bool {
        self.starting.values().any(|starting| starting.claim.agent == *agent)
    }

    /// Whether an agent is about to take another task than this one.
    pub(super) fn starts_another(&self, agent: &AgentId, task: &TaskId) -> bool {
        self.starting.values().any(|starting| starting.claim.agent == *agent && starting.claim.task != *task)
    }

    /// Begins to claim a task, for this reason: makes its workspace, asks the hooks. Until it is claimed its gate stays: what a human
    /// approved is not asked again where the claim has to be tried again. Where a human has to approve the hooks, the task waits for that,
    /// and nothing is made for it before.
    pub(super) fn claim(&mut self, task: &TaskId, why: &str) -> Result<()> {
        match self.asks_to_begin_anew(task) {
            Ok(true) => return Ok(()),
            Ok(false) => {}
            Err(error) => return self.claim_failed(task, error),
        }
        self.ctx.read_hooks_again();
        if let EventHooks::NotApproved(what) = self.ctx.hooks.at(HookEvent::PreTaskStart) {
            return self.veto(task, wants_trust(&what), Vec::new());
        }
        match self.prepare_claim(task, why) {
            Ok(claim) => {
                self.starting.insert(task.clone(), WaitingClaim { claim, asked: None });
                self.look_after_claim(task).map(drop)
            }
            Err(error) => self.claim_failed(task, error),
        }
    }

    /// Looks after the claims that are under way; returns whether anything was done.
    pub(super) fn look_after_starting(&mut self) -> Result<bool> {
        let tasks: Vec<TaskId> = self.starting.keys().cloned().collect();
        let mut did = false;
        for task in tasks {
            did |= self.look_after_claim(&task)?;
        }
        Ok(did)
    }

    fn look_after_claim(&mut self, task: &TaskId) -> Result<bool> {
        let Some(claim) = self.starting.get(task).map(|starting| starting.claim.clone()) else { return Ok(false) };
        if !self.still_claims(&claim) {
            // A human has changed the plan, the mode or the task meanwhile: what hooks say to this claim is not asked any more.
            self.abandon_start(task);
            return Ok(true);
        }
        let next = match self.next_of(&claim) {
            Ok(ClaimProgress::Waits) => return Ok(false),
            Ok(ClaimProgress::Asks(asked)) => {
                if let Some(starting) = self.starting.get_mut(task) {
                    starting.asked = Some(*asked);
                }
                return Ok(true);
            }
            next => next,
        };
        self.abandon_start(task);
        match next.and_then(|next| if matches!(next, ClaimProgress::Takes) { self.take(&claim) } else { Ok(()) }) {
            Ok(()) => Ok(true),
            Err(error) => self.claim_failed(task, error).map(|()| true),
        }
    }

    fn next_of(&mut self, claim: &BegunClaim) -> Result<ClaimProgress> {
        let Some(WaitingClaim { asked: Some(asked), .. }) = self.starting.get(&claim.task) else {
            if !self.workspace_is_made(&claim.task, &claim.workspace)? {
                return Ok(ClaimProgress::Waits);
            }
            env::fault_point("claim.workspace-made");
            return self.ask_to_start(claim);
        };
        let Some(HooksVerdict { runs, objection }) = asked.said() else { return Ok(ClaimProgress::Waits) };
        self.record_runs(&runs)?;
        let Some(StepFailure { summary, .. }) = objection? else { return Ok(ClaimProgress::Takes) };
        let lines = runs.last().map(|run| run.lines.clone()).unwrap_or_default();
        let reason = summary.replacen("hook", "hook pre-task-start", 1);
        self.veto(&claim.task, format!("{reason}; approve to ask it again"), lines)?;
        Ok(ClaimProgress::Vetoed)
    }

    fn ask_to_start(&mut self, claim: &BegunClaim) -> Result<ClaimProgress> {
        // Asked before an agent was sent here.
        if self.may_start.remove(&claim.task) {
            return Ok(ClaimProgress::Takes);
        }
        let EventHooks::Run(hooks, tree) = self.ctx.hooks.at(HookEvent::PreTaskStart) else { return Ok(ClaimProgress::Takes) };
        let asked = self.run_hooks(self.facts_of_start(&claim.task, &claim.agent), &hooks, &tree)?;
        Ok(ClaimProgress::Asks(Box::new(asked)))
    }

    /// Whether a claim would be made as things are now, whatever they were when it was prepared.
    fn still_claims(&mut self, claim: &BegunClaim) -> bool {
        let task = &claim.task;
        let state = self.ctx.state();
        let is_there = state.restorable.workspaces.get(task) == Some(&claim.workspace);
        let is_ready = self.ready.contains(state, task);
        let may = self.is_claim_approved(task) || state.restorable.mode.claims() || self.is_complete(task);
        let rejects = |kind| self.gate(kind, task).is_some_and(|gate| rejected_start(gate).is_some());
        is_there && is_ready && may && !self.is_held(task) && !rejects(GateKind::Claim) && !rejects(GateKind::HumanReview)
    }

    /// Ends what the claim of a task waits for; it may be begun again.
    fn abandon_start(&mut self, task: &TaskId) {
        self.leaving.add(task, self.makings.give_up(task), None);
        if let Some(WaitingClaim { asked: Some(asked), .. }) = self.starting.remove(task) {
            self.leaving.add(task, asked.give_up(), None);
        }
    }

    /// The same for all claims, and for workspaces that are made anew for agents.
    pub(super) fn abandon_starting(&mut self) {
        let tasks: BTreeSet<TaskId> = self.starting.keys().cloned().chain(self.makings.tasks()).collect();
        tasks.iter().for_each(|task| self.abandon_start(task));
    }

    /// Which hooks are asked, for people who look.
    pub(super) fn starting_doing(&self) -> impl Iterator<Item = SupervisorActivity> {
        let asked = self.starting.values().filter_map(|starting| starting.asked.as_ref());
        asked.chain(self.redirects.values()).filter_map(RunningHooks::doing)
    }
}
