//! Claiming tasks: gates in semi-auto mode, the workspace, the claim itself.

use axiom_model::work::tasks::branch_names;
use std::collections::BTreeSet;
use std::path::Path;

use super::Supervisor;
use super::hooks::rejected_start;
use super::notice::SessionNotice;
use super::waiting_claims::BegunClaim;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::ids::{AgentId, TaskId};
use axiom_model::queries::ready;
use axiom_model::state::event::Event;
use axiom_model::work::agent::Workspace;
use axiom_model::work::endings::failures::SharedSessionStep;
use axiom_model::work::gates::gate::{Gate, GateKind};
use axiom_model::work::sessions::session::SessionMode;
use axiom_model::work::tasks::task::{Task, TaskStatus};
use axiom_safety::folders::{disk_space, workspaces};

/// At most this many claim gates are open at the same time: a human should not have to decide on a thousand tasks.
pub(super) const MOST_CLAIM_GATES: usize = 20;

impl Supervisor<'_> {
    /// Claims one ready task if a slot is free; returns whether anything was done.
    pub(super) fn claim_next(&mut self) -> Result<bool> {
        if self.look_after_starting()? {
            return Ok(true);
        }
        let slots = if self.stands_still(SharedSessionStep::Claims) || self.session_is_over_budget() || !self.has_room() {
            0
        } else {
            self.options.slots as usize
        };
        let free = slots.saturating_sub(self.slots_taken() + self.answered());
        let ready = self.ready.order(self.ctx.state());
        // Whoever rejected it, and whatever keeps others from being asked about.
        if let Some((kind, task, reason)) = self.next_rejected(&ready) {
            self.block(&task, TaskStatus::Pending, &reason)?;
            self.close_gate(kind, &task, "rejected")?;
            return Ok(true);
        }
        let asks = self.asks_to_start();
        let may_go = |task: &&TaskId| {
            let may_start =
                !self.is_starting(task) && !self.leaving.is_leaving(task) && !self.is_held(task) && !self.awaits_agent(task);
            may_start && !self.is_held_up(task) && (asks || self.is_review_decided(task))
        };
        // Whoever is sent to a task by a human takes it before anything else takes the agent.
        let sent = ready.iter().filter(|task| free > 0 && self.free_agent_sent_to(task).is_some() && may_go(task));
        if let Some(task) = self.next_to_try(sent, |task| task) {
            self.claim(task, "redirected")?;
            return Ok(true);
        }
        // This task was claimed before and stopped when only its verification was missing: no human is asked again.
        let complete = ready.iter().filter(|task| free > 0 && self.is_complete(task) && may_go(task));
        if let Some(task) = self.next_to_try(complete, |task| task) {
            self.claim(task, "its work is complete")?;
            return Ok(true);
        }
        let may_go = |task: &&TaskId| may_go(task) && !self.is_over_budget(task);
        match self.ctx.state().restorable.mode {
            SessionMode::Autopilot | SessionMode::Review => match self.next_to_try(ready.iter().filter(may_go), |task| task) {
                Some(task) if free > 0 => {
                    let approved = self.gate(GateKind::Claim, task).is_some_and(|gate| gate.decision.is_some());
                    let why = if approved { "approved" } else { "claimed automatically" };
                    self.claim(task, why)?;
                    Ok(true)
                }
                Some(_) | None => Ok(false),
            },
            SessionMode::SemiAuto => {
                let may_go: Vec<&TaskId> = ready.iter().filter(may_go).collect();
                self.claim_at_gates(&may_go, free)
            }
        }
    }

    fn claim_at_gates(&mut self, ready: &[&TaskId], free: usize) -> Result<bool> {
        let approved = ready.iter().filter(|task| self.is_claim_approved(task));
        // What a human has decided is done, however many wait.
        if let Some(task) = self.next_to_try(approved, |task| task).filter(|_| free > 0) {
            self.claim(task, "approved")?;
            return Ok(true);
        }
        let gates = self.ctx.state().restorable.gates.values().filter(|gate| gate.kind == GateKind::Claim);
        let (held, asked): (Vec<_>, Vec<_>) = gates.partition(|gate| gate.held.is_some());
        let has_gate: BTreeSet<&TaskId> = held.iter().chain(&asked).filter_map(|gate| gate.task_id.as_ref()).collect();
        // Tasks that a human held are decided one by one: they do not count towards the limit.
        let may_ask = asked.iter().filter(|gate| gate.decision.is_none()).count() < MOST_CLAIM_GATES;
        let Some(task) = ready.iter().find(|task| may_ask && !has_gate.contains(**task)) else { return Ok(false) };
        let title = self.ctx.state().task(task)?.title.clone();
        self.open_gate(GateKind::Claim, task, format!("start {task}: {title}"), Vec::new())?;
        Ok(true)
    }

    /// A ready task whose start a human has rejected, at which gate and why.
    fn next_rejected(&self, ready: &[TaskId]) -> Option<(GateKind, TaskId, String)> {
        let mut gates = self.ctx.state().restorable.gates.values();
        gates.find_map(|gate| {
            let reason = rejected_start(gate)?;
            let task = gate.task_id.as_ref().filter(|task| ready.contains(task))?;
            Some((gate.kind, task.clone(), reason.to_owned()))
        })
    }

    /// Whether a human stopped the task's agent or rolled the task back, and has not allowed it to continue yet.
    pub(super) fn is_held(&self, task: &TaskId) -> bool {
        self.gate(GateKind::Claim, task).is_some_and(Gate::holds) || self.is_vetoed(task)
    }

    /// Whether an earlier attempt completed the task and its branch has not changed since.
    pub(super) fn is_complete(&self, task: &TaskId) -> bool {
        let state = self.ctx.state();
        let complete = state.record.tasks.get(task).and_then(|record| record.complete.as_ref());
        let (Some(complete), Some(workspace)) = (complete, state.restorable.workspaces.get(task)) else { return false };
        self.ctx.repo.refs().read_ref(&workspace.branch).is_ok_and(|tip| tip.as_ref() == Some(complete))
    }

    pub(super) fn is_claim_approved(&self, task: &TaskId) -> bool {
        self.gate(GateKind::Claim, task).is_some_and(Gate::is_approved)
    }

    /// Who takes a task, and in which workspace, which may still have to be made.
    pub(super) fn prepare_claim(&mut self, task: &TaskId, why: &str) -> Result<BegunClaim> {
        self.budget_can_be_kept(task)?;
        disk_space::has_room_to_begin(self.ctx, "make a workspace")?;
        let case = &self.ctx.state().task(task)?.clone();
        self.put_aside_first(task)?;
        self.act()?;
        let agent = match self.free_agent_sent_to(task) {
            Some(sent) => sent.agent.clone(),
            None => ready::agent_for(self.ctx.state(), case, |agent| self.is_about_to_start(agent))?,
        };
        let workspace = match self.workspace_taken_along(case, &agent)? {
            Some(workspace) => workspace,
            None => self.announced_workspace(case, &agent)?,
        };
        Ok(BegunClaim { task: task.clone(), agent, workspace, why: why.to_owned() })
    }

    /// Claims a task, if that is still to be done.
    pub(super) fn take(&mut self, claim: &BegunClaim) -> Result<()> {
        env::fault_point("claim.before-claim");
        let BegunClaim { task, agent, workspace, why } = claim;
        let complete = self.is_complete(task);
        let claimed = self.step_if(|state| {
            // Another process may have edited, blocked, archived or rolled back the task meanwhile.
            let still = state.restorable.tasks.get(task).is_some_and(|case| case.status == TaskStatus::Pending);
            let is_there = state.restorable.workspaces.get(task) == Some(workspace);
            let is_free = state.restorable.agents.get(agent).is_none_or(|agent| agent.work.is_none());
            (still && is_there && is_free).then(|| Event::TaskClaimed { agent: agent.clone(), task: task.clone(), complete })
        })?;
        if !claimed {
            return Ok(());
        }
        let title = self.ctx.state().task(task)?.title.clone();
        let (agent, workspace) = (agent.clone(), workspace.path.clone());
        self.tell(SessionNotice::Claimed { agent, task: task.clone(), title, workspace });
        self.no_standstill(SharedSessionStep::Claims);
        self.passed(task)?;
        self.close_gate(GateKind::HumanReview, task, why)?;
        self.close_gate(GateKind::Claim, task, why)
    }

    /// The workspace of a task. An event announces it before it is made, so that a half-made workspace is known to be ours.
    fn announced_workspace(&mut self, task: &Task, agent: &AgentId) -> Result<Workspace> {
        let known = self.ctx.state().restorable.workspaces.get(&task.id).cloned();
        match known {
            Some(workspace) if !self.is_outdated(&workspace)? => {
                self.bring_back_folder(&task.id)?;
                if self.is_gone_for_good(&task.id).is_some() && self.was_used(task) {
                    self.open_anew(&task.id, &workspace)?;
                }
                Ok(workspace)
            }
            Some(_) | None => {
                let workspace = self.new_workspace(task, agent)?;
                self.ctx.append(Event::WorkspaceOpened { task: task.id.clone(), workspace: workspace.clone() })?;
                env::fault_point("claim.workspace-announced");
                Ok(workspace)
            }
        }
    }

    /// Whether nothing was made yet of a workspace that was announced, and the target has moved since.
    fn is_outdated(&self, workspace: &Workspace) -> Result<bool> {
        let refs = self.ctx.repo.refs();
        let nothing = Path::new(&workspace.path).symlink_metadata().is_err() && refs.read_ref(&workspace.branch)?.is_none();
        Ok(nothing && refs.read_ref(self.target()?)?.is_some_and(|target| target != workspace.base))
    }

    /// Forgets a workspace that was announced and does not exist, so that the next try may make it elsewhere.
    pub(super) fn forget_missing_workspace(&mut self, task: &TaskId) -> Result<()> {
        let Some(workspace) = self.ctx.state().restorable.workspaces.get(task) else { return Ok(()) };
        // Where that cannot be found out, it is taken for there.
        let is_there = self.ctx.repo.worktrees().worktree_at(Path::new(&workspace.path)).map_or(true, |entry| entry.is_some());
        if is_there {
            return Ok(());
        }
        self.step(Event::WorkspaceClosed { task: task.clone(), trash: None })
    }

    fn new_workspace(&self, task: &Task, agent: &AgentId) -> Result<Workspace> {
        let path = workspaces::place(self.ctx, &task.id, &format!("{agent}-{}", task.id))?;
        let Some(text) = path.to_str() else {
            return Err(Error::new(Code::WorkspaceInTheWay, format!("the path '{}' is not UTF-8", path.display()))
                .hint("set axiom.agents.workspaceRoot to a folder with a plain name"));
        };
        if path.symlink_metadata().is_ok() {
            return Err(Error::new(Code::WorkspaceInTheWay, format!("'{text}' exists already, and git axiom did not make it"))
                .hint("move it out of the way, then: git axiom task unblock")
                .hint("or set axiom.agents.workspaceRoot to another folder"));
        }
        let target = self.target()?;
        let Some(base) = self.ctx.repo.refs().read_ref(target)? else {
            return Err(Error::new(Code::TargetMissing, format!("the target branch '{}' is gone", target.short()))
                .hint("restore it: git branch, or git reflog"));
        };
        workspaces::branch_is_not_others(self.ctx, &task.id)?;
        let branch = branch_names::branch_of(&task.id);
        Ok(Workspace { agent: agent.clone(), path: text.to_owned(), branch, base })
    }
}
