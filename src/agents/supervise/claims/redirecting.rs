//! Sending an agent to another task: it is stopped, what it did is committed, and as soon as it is free it claims the task that
//! it is sent to. That it is sent is in the log, at that task's gate, so a crash forgets nothing.

use std::path::Path;

use super::waiting_claims::ClaimsUnderWay;
use crate::supervise::core::SessionCore;
use crate::supervise::core::desk::SessionDesk;
use crate::supervise::core::running_hooks::{HooksVerdict, facts_of_start, run_hooks};
use crate::supervise::core::work_ends::HaltedTaskFate;
use crate::supervise::shown::notice::SessionNotice;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::ids::{AgentId, RequestId, TaskId};
use axiom_model::base::names::{Oid, RefName};
use axiom_model::state::event::Event;
use axiom_model::work::agent::Workspace;
use axiom_model::work::endings::after_iteration::TaskHalt;
use axiom_model::work::gates::gate::{AfterHalt, Gate, GateKind, GateRedirect, RedirectWorkspace, TaskHoldReason};
use axiom_model::work::hooks::hook_event::HookEvent;
use axiom_model::work::tasks::branch_names;
use axiom_model::work::tasks::task::Task;
use axiom_safety::context::approved_hooks::EventHooks;
use axiom_safety::context::handle::Context;
use axiom_safety::folders::workspaces;

/// A request to send an agent to another task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedirectRequest {
    /// The agent.
    pub agent: AgentId,
    /// The task that it works on.
    pub from: TaskId,
    /// The task that it is to work on.
    pub to: TaskId,
    /// In which workspace.
    pub place: RedirectWorkspace,
    /// What happens to the task that it leaves.
    pub afterwards: AfterHalt,
}

impl ClaimsUnderWay {
    /// The agent that claims a task because a human sends it there, if it is free.
    pub(crate) fn free_agent_sent_to<'d>(&self, desk: &'d SessionDesk<'_>, task: &TaskId) -> Option<&'d GateRedirect> {
        sent_to(desk, task).filter(|sent| desk.work_of(&sent.agent).is_none() && !self.starts_another(&sent.agent, task))
    }

    /// Switches the branch in the workspace of the task that an agent has left, where it is to go on there. `None` where it gets a
    /// workspace of the task's own: because that is wanted, or because files there are in the way.
    pub(crate) fn workspace_taken_along(
        &mut self,
        core: &mut SessionCore<'_>,
        task: &Task,
        agent: &AgentId,
    ) -> Result<Option<Workspace>> {
        let Some(GateRedirect { from, .. }) =
            self.free_agent_sent_to(&core.desk, &task.id).filter(|sent| sent.place == RedirectWorkspace::Same).cloned()
        else {
            return Ok(None);
        };
        let state = core.desk.ctx.state();
        let Some(old) = state.restorable.workspaces.get(&from).cloned() else { return Ok(None) };
        if state.restorable.workspaces.contains_key(&task.id) || state.agent_on(&from).is_some() {
            return Ok(None);
        }
        let target = core.setup.target()?.clone();
        let Some(base) = core.desk.ctx.repo.refs().read_ref(&target)? else {
            return Err(Error::new(Code::TargetMissing, format!("the target branch '{}' is gone", target.short()))
                .hint("restore it: git branch, or git reflog"));
        };
        let branch = branch_names::branch_of(&task.id);
        let base = match switched_before(core.desk.ctx, &old, &branch, &base)? {
            Some(tip) => tip,
            None => {
                workspaces::branch_is_not_others(core.desk.ctx, &task.id)?;
                base
            }
        };
        let new = Workspace { agent: agent.clone(), path: old.path.clone(), branch, base };
        let switched = core.desk.ctx.with_change_lock(|ctx| {
            let Some(entry) = ctx.repo.worktrees().worktree_at(Path::new(&old.path))?.filter(|entry| entry.present) else {
                return Ok(None);
            };
            ctx.repo.workspaces().switch_branch(&entry.worktree, &old.branch, &new.branch, &new.base).map(Some)
        });
        match switched {
            Ok(Some(())) => {}
            Ok(None) => return Ok(None),
            Err(error) if matches!(error.code(), Code::Busy | Code::DiskFull | Code::GitLocked) => return Err(error),
            Err(error) => {
                let text =
                    format!("{} gets a workspace of its own: in that of {from} the branch cannot be switched: {error}", task.id);
                core.desk.tell(SessionNotice::Warning { text });
                return Ok(None);
            }
        }
        env::fault_point("redirect.switched");
        let closed = Event::WorkspaceClosed { task: from, trash: None, handed_on: true };
        let opened = Event::WorkspaceOpened { task: task.id.clone(), workspace: new.clone(), goes_on: false };
        core.desk.steps(vec![closed, opened])?;
        Ok(Some(new))
    }
}

/// Asks the hooks of the task to which an agent is sent, before anybody is stopped; then as [`Supervisor::redirect`]. `None` while
/// they are asked.
pub(crate) fn redirect_or_ask(
    core: &mut SessionCore<'_>,
    id: &RequestId,
    wanted: &RedirectRequest,
) -> Result<Option<(bool, String)>> {
    if let Some(asked) = core.requests.redirects.get(id) {
        let Some(HooksVerdict { runs, objection }) = asked.said() else { return Ok(None) };
        core.requests.redirects.remove(id);
        core.desk.record_runs(&runs)?;
        if let Some(failure) = objection? {
            let said = runs.last().and_then(|run| run.lines.last()).map_or_else(String::new, |line| format!(": {line}"));
            let reason = failure.summary.replacen("hook", "the hook pre-task-start", 1);
            return Ok(Some((false, format!("{} stays with {}: {reason}{said}", wanted.agent, wanted.from))));
        }
        core.requests.may_start.insert(wanted.to.clone());
        return core.redirect(wanted).map(Some);
    }
    core.desk.ctx.read_hooks_again();
    match core.desk.ctx.hooks.at(HookEvent::PreTaskStart) {
        EventHooks::Nothing => core.redirect(wanted).map(Some),
        EventHooks::NotApproved(what) => Ok(Some((false, format!("{what}: git axiom trust")))),
        EventHooks::Run(hooks, tree) => {
            let asked =
                run_hooks(core.desk.ctx, &core.bell, facts_of_start(core.desk.ctx, &wanted.to, &wanted.agent), &hooks, &tree)?;
            core.requests.redirects.insert(id.clone(), asked);
            Ok(None)
        }
    }
}

impl SessionCore<'_> {
    /// Notes where the agent is sent, and stops it.
    pub(crate) fn redirect(&mut self, wanted: &RedirectRequest) -> Result<(bool, String)> {
        let RedirectRequest { agent, from, to, place, afterwards } = wanted;
        if self.desk.work_of(agent).is_none_or(|work| work.task != *from) {
            return Ok((false, format!("{agent} does not work on {from} any more")));
        }
        if !self.ready.contains(self.desk.ctx.state(), to) {
            return Ok((false, format!("{to} is not ready any more")));
        }
        let sent = GateRedirect { agent: agent.clone(), from: from.clone(), place: *place };
        let Some(gate) = Gate::sending(to, sent, env::now()) else {
            return Ok((false, format!("{to} cannot have a gate")));
        };
        self.desk.step(Event::GateOpened { gate: Box::new(gate) })?;
        env::fault_point("redirect.noted");
        self.end_agent(agent, TaskHalt::Stop, HaltedTaskFate::of(afterwards.holds(TaskHoldReason::Redirected)))?;
        Ok((true, format!("{agent} leaves {from} and goes on with {to}")))
    }
}

/// The agent that a human sends to a task.
pub(crate) fn sent_to<'d>(desk: &'d SessionDesk<'_>, task: &TaskId) -> Option<&'d GateRedirect> {
    desk.gate(GateKind::Claim, task).filter(|gate| gate.is_approved())?.sent.as_ref()
}

/// Whether a task waits for the agent that is sent to it, and has not left its own task yet.
pub(crate) fn awaits_agent(desk: &SessionDesk<'_>, task: &TaskId) -> bool {
    sent_to(desk, task).is_some_and(|sent| desk.work_of(&sent.agent).is_some_and(|work| work.task == sent.from))
}

/// Where the branch stands, if a supervisor switched to it in this workspace and died before it could record that: nobody else
/// does that in a workspace without an agent, and there is nothing on the branch that the target does not have.
fn switched_before(ctx: &Context, old: &Workspace, branch: &RefName, target: &Oid) -> Result<Option<Oid>> {
    let repo = &ctx.repo;
    let Some(entry) = repo.worktrees().worktree_at(Path::new(&old.path))?.filter(|entry| entry.present) else {
        return Ok(None);
    };
    if repo.refs().head(&entry.worktree)?.branch() != Some(branch) {
        return Ok(None);
    }
    let tip = repo.refs().read_ref(branch)?;
    Ok(match tip {
        Some(tip) if repo.history().is_ancestor(&tip, target)? => Some(tip),
        Some(_) | None => None,
    })
}
