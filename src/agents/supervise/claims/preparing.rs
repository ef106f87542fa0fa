//! Who takes a task and in which workspace, before anything is made for it.

use std::path::Path;

use super::waiting_claims::{BegunClaim, ClaimsUnderWay};
use crate::supervise::core::SessionCore;
use crate::supervise::ends::set_aside::put_aside_first;
use crate::supervise::iterations::budget_gates::budget_can_be_kept;
use crate::supervise::iterations::lost_files::{is_gone_for_good, open_anew};
use crate::supervise::iterations::workplace::was_used;
use crate::supervise::setup::SessionSetup;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::ids::{AgentId, TaskId};
use axiom_model::queries::ready;
use axiom_model::state::event::Event;
use axiom_model::work::agent::Workspace;
use axiom_model::work::tasks::branch_names;
use axiom_model::work::tasks::task::Task;
use axiom_safety::context::handle::Context;
use axiom_safety::folders::{disk_space, workspaces};

impl ClaimsUnderWay {
    /// Who takes a task, and in which workspace, which may still have to be made.
    pub(crate) fn prepare_claim(&mut self, core: &mut SessionCore<'_>, task: &TaskId, why: &str) -> Result<BegunClaim> {
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
            let goes_on = core.desk.ctx.repo.refs().read_ref(&workspace.branch)?.is_some();
            core.desk.ctx.append(Event::WorkspaceOpened { task: task.id.clone(), workspace: workspace.clone(), goes_on })?;
            env::fault_point("claim.workspace-announced");
            Ok(workspace)
        }
    }
}

/// Whether nothing was made yet of a workspace that was announced, and the target has moved since.
fn is_outdated(ctx: &Context, setup: &SessionSetup, workspace: &Workspace) -> Result<bool> {
    let refs = ctx.repo.refs();
    let nothing = Path::new(&workspace.path).symlink_metadata().is_err() && refs.read_ref(&workspace.branch)?.is_none();
    Ok(nothing && refs.read_ref(setup.target()?)?.is_some_and(|target| target != workspace.base))
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
