//! Claims that are under way: first the workspace is made, aside, then hooks are asked whether the task may start. Others are claimed
//! meanwhile, as far as there are slots: each of these has one already.

use std::collections::{BTreeMap, BTreeSet};

use super::start_gates::{is_claim_approved, is_held, rejected_start, veto};
use crate::supervise::core::SessionCore;
use crate::supervise::core::running_hooks::{HooksVerdict, RunningHooks, facts_of_start, run_hooks};
use crate::supervise::shown::notice::SessionNotice;
use axiom_base::env;
use axiom_base::error::Result;
use axiom_model::base::ids::{AgentId, TaskId};
use axiom_model::state::event::Event;
use axiom_model::work::agent::Workspace;
use axiom_model::work::endings::failures::SharedSessionStep;
use axiom_model::work::gates::gate::GateKind;
use axiom_model::work::hooks::hook_event::HookEvent;
use axiom_model::work::sessions::supervisor_activity::SupervisorActivity;
use axiom_model::work::tasks::task::TaskStatus;
use axiom_safety::context::approved_hooks::EventHooks;
use axiom_safety::context::handle::Context;
use axiom_safety::running::steps::StepFailure;

/// A claim that is about to be made.
#[derive(Debug, Clone)]
pub(crate) struct BegunClaim {
    pub(crate) task: TaskId,
    pub(crate) agent: AgentId,
    pub(crate) workspace: Workspace,
    pub(crate) why: String,
}

/// A claim that waits for its workspace, or for what hooks say.
#[derive(Debug)]
pub(crate) struct WaitingClaim {
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

/// The claims that are under way.
#[derive(Debug, Default)]
pub(crate) struct ClaimsUnderWay {
    pub(crate) starting: BTreeMap<TaskId, WaitingClaim>,
}

impl ClaimsUnderWay {
    /// Whether the claim of a task is under way.
    pub(crate) fn is_starting(&self, task: &TaskId) -> bool {
        self.starting.contains_key(task)
    }

    /// Whether an agent is about to take a task.
    pub(crate) fn is_about_to_start(&self, agent: &AgentId) -> bool {
        self.starting.values().any(|starting| starting.claim.agent == *agent)
    }

    /// Whether an agent is about to take another task than this one.
    pub(crate) fn starts_another(&self, agent: &AgentId, task: &TaskId) -> bool {
        self.starting.values().any(|starting| starting.claim.agent == *agent && starting.claim.task != *task)
    }

    /// From now on this claim is under way.
    pub(crate) fn begins(&mut self, core: &mut SessionCore<'_>, claim: BegunClaim) -> Result<()> {
        let task = claim.task.clone();
        self.starting.insert(task.clone(), WaitingClaim { claim, asked: None });
        self.look_after_claim(core, &task).map(drop)
    }

    /// Looks after the claims that are under way; returns whether anything was done.
    pub(crate) fn look_after_starting(&mut self, core: &mut SessionCore<'_>) -> Result<bool> {
        let tasks: Vec<TaskId> = self.starting.keys().cloned().collect();
        let mut did = false;
        for task in tasks {
            did |= self.look_after_claim(core, &task)?;
        }
        Ok(did)
    }

    fn look_after_claim(&mut self, core: &mut SessionCore<'_>, task: &TaskId) -> Result<bool> {
        let Some(claim) = self.starting.get(task).map(|starting| starting.claim.clone()) else { return Ok(false) };
        if !still_claims(core, &claim) {
            // A human has changed the plan, the mode or the task meanwhile: what hooks say to this claim is not asked any more.
            self.abandon_start(core, task);
            return Ok(true);
        }
        let next = match self.next_of(core, &claim) {
            Ok(ClaimProgress::Waits) => return Ok(false),
            Ok(ClaimProgress::Asks(asked)) => {
                if let Some(starting) = self.starting.get_mut(task) {
                    starting.asked = Some(*asked);
                }
                return Ok(true);
            }
            next => next,
        };
        self.abandon_start(core, task);
        match next.and_then(|next| if matches!(next, ClaimProgress::Takes) { take_task(core, &claim) } else { Ok(()) }) {
            Ok(()) => Ok(true),
            Err(error) => core.failures.claim_failed(&mut core.desk, task, error).map(|()| true),
        }
    }

    fn next_of(&mut self, core: &mut SessionCore<'_>, claim: &BegunClaim) -> Result<ClaimProgress> {
        let Some(WaitingClaim { asked: Some(asked), .. }) = self.starting.get(&claim.task) else {
            if !core.makings.is_made(&mut core.desk, &core.bell, &claim.task, &claim.workspace)? {
                return Ok(ClaimProgress::Waits);
            }
            env::fault_point("claim.workspace-made");
            return ask_to_start(core, claim);
        };
        let Some(HooksVerdict { runs, objection }) = asked.said() else { return Ok(ClaimProgress::Waits) };
        core.desk.record_runs(&runs)?;
        let Some(StepFailure { summary, .. }) = objection? else { return Ok(ClaimProgress::Takes) };
        let lines = runs.last().map(|run| run.lines.clone()).unwrap_or_default();
        let reason = summary.replacen("hook", "hook pre-task-start", 1);
        veto(&mut core.desk, &claim.task, format!("{reason}; approve to ask it again"), lines)?;
        Ok(ClaimProgress::Vetoed)
    }

    /// Ends what the claim of a task waits for; it may be begun again.
    fn abandon_start(&mut self, core: &mut SessionCore<'_>, task: &TaskId) {
        core.leaving.add(task, core.makings.give_up(task), None);
        if let Some(WaitingClaim { asked: Some(asked), .. }) = self.starting.remove(task) {
            core.leaving.add(task, asked.give_up(), None);
        }
    }

    /// The same for all claims, and for workspaces that are made anew for agents.
    pub(crate) fn abandon_starting(&mut self, core: &mut SessionCore<'_>) {
        let tasks: BTreeSet<TaskId> = self.starting.keys().cloned().chain(core.makings.tasks()).collect();
        tasks.iter().for_each(|task| self.abandon_start(core, task));
    }

    /// Which hooks are asked, for people who look.
    pub(crate) fn doing(&self) -> impl Iterator<Item = SupervisorActivity> {
        self.starting.values().filter_map(|starting| starting.asked.as_ref()).filter_map(RunningHooks::doing)
    }
}

fn ask_to_start(core: &mut SessionCore<'_>, claim: &BegunClaim) -> Result<ClaimProgress> {
    // Asked before an agent was sent here.
    if core.requests.may_start.remove(&claim.task) {
        return Ok(ClaimProgress::Takes);
    }
    let EventHooks::Run(hooks, tree) = core.desk.ctx.hooks.at(HookEvent::PreTaskStart) else {
        return Ok(ClaimProgress::Takes);
    };
    let asked = run_hooks(core.desk.ctx, &core.bell, facts_of_start(core.desk.ctx, &claim.task, &claim.agent), &hooks, &tree)?;
    Ok(ClaimProgress::Asks(Box::new(asked)))
}

/// Whether a claim would be made as things are now, whatever they were when it was prepared.
fn still_claims(core: &mut SessionCore<'_>, claim: &BegunClaim) -> bool {
    let task = &claim.task;
    let state = core.desk.ctx.state();
    let is_there = state.restorable.workspaces.get(task) == Some(&claim.workspace);
    let is_ready = core.ready.contains(state, task);
    let may = is_claim_approved(&core.desk, task) || state.restorable.mode.claims() || is_complete(core.desk.ctx, task);
    let rejects = |kind| core.desk.gate(kind, task).is_some_and(|gate| rejected_start(gate).is_some());
    is_there && is_ready && may && !is_held(&core.desk, task) && !rejects(GateKind::Claim) && !rejects(GateKind::HumanReview)
}

/// Claims a task, if that is still to be done.
pub(crate) fn take_task(core: &mut SessionCore<'_>, claim: &BegunClaim) -> Result<()> {
    env::fault_point("claim.before-claim");
    let BegunClaim { task, agent, workspace, why } = claim;
    let complete = is_complete(core.desk.ctx, task);
    let claimed = core.desk.step_if(|state| {
        // Another process may have edited, blocked, archived or rolled back the task meanwhile.
        let still = state.restorable.tasks.get(task).is_some_and(|case| case.status == TaskStatus::Pending);
        let is_there = state.restorable.workspaces.get(task) == Some(workspace);
        let is_free = state.restorable.agents.get(agent).is_none_or(|agent| agent.work.is_none());
        (still && is_there && is_free).then(|| Event::TaskClaimed { agent: agent.clone(), task: task.clone(), complete })
    })?;
    if !claimed {
        return Ok(());
    }
    let title = core.desk.ctx.state().task(task)?.title.clone();
    let (agent, workspace) = (agent.clone(), workspace.path.clone());
    core.desk.tell(SessionNotice::Claimed { agent, task: task.clone(), title, workspace });
    core.failures.no_standstill(SharedSessionStep::Claims);
    core.failures.passed(&mut core.desk, task)?;
    core.desk.close_gate(GateKind::HumanReview, task, why)?;
    core.desk.close_gate(GateKind::Claim, task, why)
}

/// Whether an earlier attempt completed the task and its branch has not changed since.
pub(crate) fn is_complete(ctx: &Context, task: &TaskId) -> bool {
    let state = ctx.state();
    let complete = state.record.tasks.get(task).and_then(|record| record.complete.as_ref());
    let (Some(complete), Some(workspace)) = (complete, state.restorable.workspaces.get(task)) else { return false };
    ctx.repo.refs().read_ref(&workspace.branch).is_ok_and(|tip| tip.as_ref() == Some(complete))
}
