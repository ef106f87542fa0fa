//! What a human means in the panel, as the verbs take it: rollbacks without options, names of checkpoints, typed paths.

use std::path::PathBuf;

use axiom_agents::revert_task::TaskRollbackRequest;
use axiom_base::error::Result;
use axiom_model::base::ids::{CheckpointName, TaskId};
use axiom_model::work::gates::gate::AfterHalt;
use axiom_safety::checkpoint;
use axiom_safety::context::handle::Context;
use axiom_safety::rollback::{LocalRefsPolicy, RollbackRequest, RollbackScope};

/// The checkpoints with these names.
pub fn named(ctx: &Context, names: &[String]) -> Result<Vec<CheckpointName>> {
    Ok(checkpoint::chosen(ctx, names, true)?.into_iter().map(|record| record.name).collect())
}

/// A path that was typed: from the top of the main worktree.
pub fn in_main_worktree(ctx: &Context, path: &str) -> Result<PathBuf> {
    Ok(ctx.repo.worktrees().main_worktree()?.path().join(path))
}

/// A rollback to a checkpoint as the verb does it without options.
pub fn whole(name: &str) -> RollbackRequest<'_> {
    RollbackRequest {
        name,
        part: RollbackScope::Whole,
        refs: LocalRefsPolicy::ComeBack,
        afterwards: AfterHalt::Waits,
        mode: None,
    }
}

/// The rollback of a task as the verb does it without options.
pub fn of_task(task: &str) -> Result<TaskRollbackRequest> {
    let task = TaskId::new(task.to_owned())?;
    Ok(TaskRollbackRequest { task, cascade: false, target: None, resolve: false, afterwards: AfterHalt::Waits })
}
