//! What only a human may decide to delete where space is short: old checkpoints, the workspaces of failed tasks with what is in the
//! trash, records of iterations that ended. Each is offered with its size.

use std::path::PathBuf;

use crate::merge::cleanup;
use axiom_base::error::{Error, Result};
use axiom_model::base::forms::plural::{count, count_of};
use axiom_model::base::ids::TaskId;
use axiom_model::state::current_state::State;
use axiom_model::work::tasks::task::TaskStatus;
use axiom_safety::checkpoint;
use axiom_safety::context::handle::Context;
use axiom_safety::folders::trash;
use axiom_safety::upkeep::tidy;

/// How many of the newest checkpoints stay.
const STAY: usize = 10;

/// Something that can be deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CleanupOffer {
    /// How many there are.
    pub count: usize,
    /// Their bytes, where that is known.
    pub bytes: Option<u64>,
}

/// The checkpoints that go with [`delete_checkpoints`].
pub fn checkpoints(ctx: &Context) -> Result<CleanupOffer> {
    let names = checkpoint::cleanup_plan(ctx, None, Some(STAY), false)?;
    let listed = checkpoint::list(ctx, None)?;
    let sizes = listed.iter().filter(|one| names.contains(&one.name)).filter_map(|one| one.size);
    Ok(CleanupOffer { count: names.len(), bytes: Some(sizes.sum()) })
}

/// The workspaces and the trash that go with [`delete_workspaces`].
pub fn workspaces(ctx: &Context) -> Result<CleanupOffer> {
    let failed = failed(ctx.state());
    let paths = failed.iter().filter_map(|task| ctx.state().restorable.workspaces.get(task)).map(|one| PathBuf::from(&one.path));
    let all: Vec<PathBuf> = paths.chain([trash::root(ctx)?, trash::of_files(ctx)]).collect();
    Ok(CleanupOffer { count: failed.len(), bytes: super::size_of(all.iter().map(PathBuf::as_path)) })
}

/// The tasks with a workspace that nobody works on any more.
fn failed(state: &State) -> Vec<TaskId> {
    let is_over = |task: &&TaskId| {
        let case = state.restorable.tasks.get(*task);
        case.is_some_and(|case| matches!(case.status, TaskStatus::Failed | TaskStatus::Archived))
            && state.agent_on(task).is_none()
    };
    state.restorable.workspaces.keys().filter(is_over).cloned().collect()
}

/// Deletes all automatic checkpoints but the newest, and those that something needs. An undo brings them back; their space comes free
/// once that is over.
pub fn delete_checkpoints(ctx: &mut Context) -> Result<Vec<String>> {
    let names = checkpoint::cleanup_plan(ctx, None, Some(STAY), false)?;
    let deleted = checkpoint::delete(ctx, &names)?;
    let days = ctx.config.checkpoints.keep_deleted_days;
    let undo =
        deleted.txn.map(|txn| format!("git axiom undo {txn}    brings them back, for {days} days; then their space is free"));
    Ok([format!("{} deleted", count(deleted.names.len(), "checkpoint"))].into_iter().chain(undo).collect())
}

/// Deletes the workspaces of failed and archived tasks, once what is uncommitted there is captured, and all that is in the trash;
/// ignored files go for good. The branches stay. A workspace that cannot be captured stays too.
pub fn delete_workspaces(ctx: &mut Context) -> Result<Vec<String>> {
    let tasks = failed(ctx.state());
    ctx.with_change_lock(|ctx| {
        ctx.no_open_operation()?;
        let mut lines = Vec::new();
        let mut gone = 0_usize;
        for task in tasks {
            match cleanup::close_saved(ctx, &task) {
                Ok(()) => gone += 1,
                Err(error) => lines.push(format!("the workspace of {task} stays: {error}")),
            }
        }
        let emptied = tidy::empty_trash(ctx)?;
        lines.push(format!("{} deleted", count(gone, "workspace")));
        lines.push(format!("{} of the trash deleted", count_of(emptied.gone, "entry", "entries")));
        lines.extend(emptied.left.iter().map(left_alone));
        Ok(lines)
    })
}

/// Deletes the folders of ended iterations, and the logs of verify steps of tasks that are merged or archived, from before yesterday;
/// compresses agents' logs from before then.
pub fn delete_records(ctx: &mut Context) -> Result<Vec<String>> {
    ctx.with_change_lock(|ctx| {
        ctx.no_open_operation()?;
        let done = tidy::old_records(ctx)?;
        let first = "records of ended iterations and verify steps deleted, as far as they are a day old".to_owned();
        Ok([first].into_iter().chain(done.of_logs()).chain(done.left.iter().map(left_alone)).collect())
    })
}

fn left_alone(error: &Error) -> String {
    format!("left alone: {error}")
}
