//! Where a workspace stands before an iteration, and whether anybody worked there.

use std::path::Path;

use axiom_base::error::Result;
use axiom_git::{Head, StatusKind};
use axiom_model::base::ids::{AgentId, Token};
use axiom_model::base::names::Oid;
use axiom_model::work::agent::Workspace;
use axiom_model::work::tasks::task::Task;
use axiom_safety::context::handle::Context;

/// Where a workspace stands.
#[derive(Debug, Default)]
pub(crate) struct WorkspaceAtPrompt {
    /// Its commit, where it is on its branch.
    pub head: Option<Oid>,
    /// What is uncommitted there; `None` where that is not known.
    pub changes: Option<Vec<String>>,
}

/// Whether an agent has worked on the task before.
pub(crate) fn was_used(ctx: &Context, task: &Task) -> bool {
    let record = ctx.state().record.tasks.get(&task.id);
    record.is_some_and(|record| record.iterations > 0 || record.retry_count > 0 || record.last_run.is_some())
}

/// Where a task's workspace stands: its commit and what is uncommitted.
pub(crate) fn workplace(ctx: &Context, workspace: &Workspace) -> Result<WorkspaceAtPrompt> {
    let Some(entry) = ctx.repo.worktrees().worktree_at(Path::new(&workspace.path))? else {
        return Ok(WorkspaceAtPrompt::default());
    };
    let head = match ctx.repo.refs().head(&entry.worktree)? {
        Head::Branch { name, commit } if name == workspace.branch => commit,
        Head::Branch { .. } | Head::Detached { .. } => None,
    };
    let changes = match ctx.repo.index(&entry.worktree).status(None) {
        Ok(status) => {
            let changed = status.into_iter().filter(|entry| entry.kind != StatusKind::Ignored);
            Some(changed.map(|entry| entry.path.to_string()).collect())
        }
        Err(error) => {
            tracing::info!(%error, "what is uncommitted in a workspace is not known");
            None
        }
    };
    Ok(WorkspaceAtPrompt { head, changes })
}

/// The iteration to start.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NextIteration<'a> {
    pub agent: &'a AgentId,
    pub task: &'a Task,
    pub workspace: &'a Workspace,
    pub iteration: u32,
    pub token: &'a Token,
}
