//! Claiming tasks: gates in semi-auto mode, the workspace, the claim itself.

use std::collections::BTreeSet;
use std::path::Path;

use super::budget::{budget_can_be_kept, is_over_budget};
use super::core::SessionCore;
use super::crash::put_aside_first;
use super::desk::SessionDesk;
use super::hooks::{asks_to_start, is_review_decided, is_vetoed, rejected_start};
use super::iterate::IterationCare;
use super::lost_files::{is_gone_for_good, open_anew};
use super::notice::SessionNotice;
use super::prompting::was_used;
use super::redirecting::awaits_agent;
use super::setup::SessionSetup;
use super::waiting_claims::{BegunClaim, ClaimsUnderWay};
use super::{answered, slots_taken};
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::ids::{AgentId, TaskId};
use axiom_model::queries::ready;
use axiom_model::state::event::Event;
use axiom_model::work::agent::Workspace;
use axiom_model::work::endings::failures::SharedSessionStep;
use axiom_model::work::gates::gate::{Gate, GateKind};
use axiom_model::work::sessions::session::SessionMode;
use axiom_model::work::tasks::branch_names;
use axiom_model::work::tasks::task::{Task, TaskStatus};
use axiom_safety::context::handle::Context;
use axiom_safety::folders::{disk_space, workspaces};

/// At most this many claim gates are open at the same time: a human should not have to decide on a thousand tasks.
pub(super) const MOST_CLAIM_GATES: usize = 20;

impl ClaimsUnderWay {
    /// Claims one ready task if a slot is free; returns whether anything was done.
    pub(super) fn claim_next(&mut self, core: &mut SessionCore<'_>, iterations: &IterationCare) -> Result<bool> {
        if self.look_after_starting(core)? {
            return Ok(true);
        }
        let slots = if core.failures.stands_still(SharedSessionStep::Claims)
            || iterations.clock.session_is_over_budget(core.desk.ctx, &core.setup, &core.runs)
            || !iterations.room.has_room()
        {
            0
        } else {
            core.setup.options.slots as usize
        };
        let free = slots.saturating_sub(slots_taken(core.desk.ctx) + self.starting.len() + answered(core.desk.ctx));
        let ready = core.ready.order(core.desk.ctx.state());
        // Whoever rejected it, and whatever keeps others from being asked about.
        if let Some((kind, task, reason)) = next_rejected(core.desk.ctx, &ready) {
            core.desk.block(&task, TaskStatus::Pending, &reason)?;
            core.desk.close_gate(kind, &task, "rejected")?;
            return Ok(true);
        }
        let asks = asks_to_start(core.desk.ctx);
        let may_go = |task: &&TaskId| {
            let may_start = !self.is_starting(task)
                && !core.leaving.is_leaving(task)
                && !is_held(&core.desk, task)
                && !awaits_agent(&core.desk, task);
            may_start && !core.failures.is_held_up(task) && (asks || is_review_decided(&core.desk, task))
        };
        // Whoever is sent to a task by a human takes it before anything else takes the agent.
        let sent = ready.iter().filter(|task| free > 0 && self.free_agent_sent_to(&core.desk, task).is_some() && may_go(task));
        if let Some(task) = core.failures.next_to_try(sent, |task| task) {
            self.claim(core, task, "redirected")?;
            return Ok(true);
        }
        // This task was claimed before and stopped when only its verification was missing: no human is asked again.
        let complete = ready.iter().filter(|task| free > 0 && is_complete(core.desk.ctx, task) && may_go(task));
        if let Some(task) = core.failures.next_to_try(complete, |task| task) {
            self.claim(core, task, "its work is complete")?;
            return Ok(true);
        }
        let may_go = |task: &&TaskId| may_go(task) && !is_over_budget(core.desk.ctx, task);
        match core.desk.ctx.state().restorable.mode {
            SessionMode::Autopilot | SessionMode::Review => {
                match core.failures.next_to_try(ready.iter().filter(may_go), |task| task) {
                    Some(task) if free > 0 => {
                        let approved = core.desk.gate(GateKind::Claim, task).is_some_and(|gate| gate.decision.is_some());
                        let why = if approved { "approved" } else { "claimed automatically" };
                        self.claim(core, task, why)?;
                        Ok(true)
                    }
                    Some(_) | None => Ok(false),
                }
            }
            SessionMode::SemiAuto => {
                let may_go: Vec<&TaskId> = ready.iter().filter(may_go).collect();
                self.claim_at_gates(core, &may_go, free)
            }
        }
    }

    fn claim_at_gates(&mut self, core: &mut SessionCore<'_>, ready: &[&TaskId], free: usize) -> Result<bool> {
        let approved = ready.iter().filter(|task| is_claim_approved(&core.desk, task));
        // What a human has decided is done, however many wait.
        if let Some(task) = core.failures.next_to_try(approved, |task| task).filter(|_| free > 0) {
            self.claim(core, task, "approved")?;
            return Ok(true);
        }
        let gates = core.desk.ctx.state().restorable.gates.values().filter(|gate| gate.kind == GateKind::Claim);
        let (held, asked): (Vec<_>, Vec<_>) = gates.partition(|gate| gate.held.is_some());
        let has_gate: BTreeSet<&TaskId> = held.iter().chain(&asked).filter_map(|gate| gate.task_id.as_ref()).collect();
        // Tasks that a human held are decided one by one: they do not count towards the limit.
        let may_ask = asked.iter().filter(|gate| gate.decision.is_none()).count() < MOST_CLAIM_GATES;
        let Some(task) = ready.iter().find(|task| may_ask && !has_gate.contains(**task)) else { return Ok(false) };
        let title = core.desk.ctx.state().task(task)?.title.clone();
        core.desk.open_gate(GateKind::Claim, task, format!("start {task}: {title}"), Vec::new())?;
        Ok(true)
    }

    /// Who takes a task, and in which workspace, which may still have to be made.
    pub(super) fn prepare_claim(&mut self, core: &mut SessionCore<'_>, task: &TaskId, why: &str) -> Result<BegunClaim> {
        budget_can_be_kept(core.desk.ctx, &core.setup, task)?;
        disk_space::has_room_to_begin(core.desk.ctx, "make a workspace")?;
        let case = &core.desk.ctx.state().task(task)?.clone();
        put_aside_first(&mut core.desk, task)?;
        core.desk.act()?;
        let agent = match self.free_agent_sent_to(&core.desk, task) {
            Some(sent) => sent.agent.clone(),
            None => ready::agent_for(core.desk.ctx.state(), case, |agent| self.is_about_to_start(agent))?,
        };
        let workspace = match self.workspace_taken_along(core, case, &agent)? {
            Some(workspace) => workspace,
            None => announced_workspace(core, case, &agent)?,
        };
        Ok(BegunClaim { task: task.clone(), agent, workspace, why: why.to_owned() })
    }
}

/// Claims a task, if that is still to be done.
pub(super) fn take_task(core: &mut SessionCore<'_>, claim: &BegunClaim) -> Result<()> {
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

/// The workspace of a task. An event announces it before it is made, so that a half-made workspace is known to be ours.
fn announced_workspace(core: &mut SessionCore<'_>, task: &Task, agent: &AgentId) -> Result<Workspace> {
    let known = core.desk.ctx.state().restorable.workspaces.get(&task.id).cloned();
    match known {
        Some(workspace) if !is_outdated(core.desk.ctx, &core.setup, &workspace)? => {
            core.tasks.bring_back_folder(&mut core.desk, &task.id)?;
            if is_gone_for_good(core.desk.ctx, &task.id).is_some() && was_used(core.desk.ctx, task) {
                open_anew(&mut core.desk, &task.id, &workspace)?;
            }
            Ok(workspace)
        }
        Some(_) | None => {
            let workspace = new_workspace(core.desk.ctx, &core.setup, task, agent)?;
            core.desk.ctx.append(Event::WorkspaceOpened { task: task.id.clone(), workspace: workspace.clone() })?;
            env::fault_point("claim.workspace-announced");
            Ok(workspace)
        }
    }
}

/// A ready task whose start a human has rejected, at which gate and why.
fn next_rejected(ctx: &Context, ready: &[TaskId]) -> Option<(GateKind, TaskId, String)> {
    let mut gates = ctx.state().restorable.gates.values();
    gates.find_map(|gate| {
        let reason = rejected_start(gate)?;
        let task = gate.task_id.as_ref().filter(|task| ready.contains(task))?;
        Some((gate.kind, task.clone(), reason.to_owned()))
    })
}

/// Whether a human stopped the task's agent or rolled the task back, and has not allowed it to continue yet.
pub(super) fn is_held(desk: &SessionDesk<'_>, task: &TaskId) -> bool {
    desk.gate(GateKind::Claim, task).is_some_and(Gate::holds) || is_vetoed(desk, task)
}

/// Whether an earlier attempt completed the task and its branch has not changed since.
pub(super) fn is_complete(ctx: &Context, task: &TaskId) -> bool {
    let state = ctx.state();
    let complete = state.record.tasks.get(task).and_then(|record| record.complete.as_ref());
    let (Some(complete), Some(workspace)) = (complete, state.restorable.workspaces.get(task)) else { return false };
    ctx.repo.refs().read_ref(&workspace.branch).is_ok_and(|tip| tip.as_ref() == Some(complete))
}

pub(super) fn is_claim_approved(desk: &SessionDesk<'_>, task: &TaskId) -> bool {
    desk.gate(GateKind::Claim, task).is_some_and(Gate::is_approved)
}

/// Whether nothing was made yet of a workspace that was announced, and the target has moved since.
fn is_outdated(ctx: &Context, setup: &SessionSetup, workspace: &Workspace) -> Result<bool> {
    let refs = ctx.repo.refs();
    let nothing = Path::new(&workspace.path).symlink_metadata().is_err() && refs.read_ref(&workspace.branch)?.is_none();
    Ok(nothing && refs.read_ref(setup.target()?)?.is_some_and(|target| target != workspace.base))
}

/// Forgets a workspace that was announced and does not exist, so that the next try may make it elsewhere.
pub(super) fn forget_missing_workspace(desk: &mut SessionDesk<'_>, task: &TaskId) -> Result<()> {
    let Some(workspace) = desk.ctx.state().restorable.workspaces.get(task) else { return Ok(()) };
    // Where that cannot be found out, it is taken for there.
    let is_there = desk.ctx.repo.worktrees().worktree_at(Path::new(&workspace.path)).map_or(true, |entry| entry.is_some());
    if is_there {
        return Ok(());
    }
    desk.step(Event::WorkspaceClosed { task: task.clone(), trash: None })
}

fn new_workspace(ctx: &Context, setup: &SessionSetup, task: &Task, agent: &AgentId) -> Result<Workspace> {
    let path = workspaces::place(ctx, &task.id, &format!("{agent}-{}", task.id))?;
    let Some(text) = path.to_str() else {
        return Err(Error::new(Code::WorkspaceInTheWay, format!("the path '{}' is not UTF-8", path.display()))
            .hint("set axiom.agents.workspaceRoot to a folder with a plain name"));
    };
    if path.symlink_metadata().is_ok() {
        return Err(Error::new(Code::WorkspaceInTheWay, format!("'{text}' exists already, and git axiom did not make it"))
            .hint("move it out of the way, then: git axiom task unblock")
            .hint("or set axiom.agents.workspaceRoot to another folder"));
    }
    let target = setup.target()?;
    let Some(base) = ctx.repo.refs().read_ref(target)? else {
        return Err(Error::new(Code::TargetMissing, format!("the target branch '{}' is gone", target.short()))
            .hint("restore it: git branch, or git reflog"));
    };
    workspaces::branch_is_not_others(ctx, &task.id)?;
    let branch = branch_names::branch_of(&task.id);
    Ok(Workspace { agent: agent.clone(), path: text.to_owned(), branch, base })
}
