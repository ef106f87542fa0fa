//! The merge of the target that is begun in a task's workspace, so that an agent settles a conflict by editing files: some programs
//! cannot write to git's folder. The commit of its iteration concludes it (`git::workspace`).
//!
//! It is an operation: a crash leaves the workspace as before or an operation that is finished, and an undo takes it back.

use std::path::Path;

use axiom_base::error::{Error, Result};
use axiom_git::{ConflictedPath, InProgressMerge, Worktree, WorktreeCapture};
use axiom_model::base::ids::TaskId;
use axiom_model::base::names::{Oid, RefName};
use axiom_model::base::text::ValueChange;
use axiom_model::journal::journaled::{JournaledOperation, OperationKind};
use axiom_model::journal::journaled_changes::WorktreeChange;
use axiom_model::work::agent::Workspace;
use axiom_model::work::endings::conflict::{AssignedConflict, ConflictFileSides, OpenConflictFile};
use axiom_safety::checkpoint::capture_options;
use axiom_safety::context::handle::Context;
use axiom_safety::operation;
use axiom_safety::operation::recorded_head::head_state;

/// The target's commit that is to be merged in a task's workspace, where its conflict was given to an agent and is not settled.
pub fn to_settle(ctx: &Context, task: &TaskId, target: &RefName) -> Result<Option<(AssignedConflict, Oid)>> {
    let state = ctx.state();
    let conflict = state.record.tasks.get(task).and_then(|record| record.conflict.as_deref());
    let Some((conflict, workspace)) = conflict.zip(state.restorable.workspaces.get(task)) else { return Ok(None) };
    let refs = ctx.repo.refs();
    let (Some(tip), Some(target)) = (refs.read_ref(&workspace.branch)?, refs.read_ref(target)?) else { return Ok(None) };
    let has = |commit: &Oid| ctx.repo.history().is_ancestor(commit, &tip).unwrap_or(false);
    Ok((!has(&conflict.target) && !has(&target)).then(|| (conflict.clone(), target)))
}

/// The conflict that was given to an agent and whose merge is committed on the branch, where no agent has said since that the work is
/// complete: an iteration that was cut off may have settled a part of it only.
pub fn half_settled(ctx: &Context, task: &TaskId) -> Result<Option<AssignedConflict>> {
    let state = ctx.state();
    let conflict = state.record.tasks.get(task).and_then(|record| record.conflict.as_deref());
    let is_open = state.reports(task).is_some_and(|reports| reports.given_back);
    let Some((conflict, workspace)) = conflict.filter(|_| is_open).zip(state.restorable.workspaces.get(task)) else {
        return Ok(None);
    };
    let Some(tip) = ctx.repo.refs().read_ref(&workspace.branch)? else { return Ok(None) };
    let has = ctx.repo.history().is_ancestor(&conflict.target, &tip).unwrap_or(false);
    Ok(has.then(|| conflict.clone()))
}

/// Begins the merge of `target` in the workspace of a task, where none is in progress; takes the change lock. Returns whether one
/// is in progress now: there is none where the agent has to begin it by itself, and nothing was changed then.
pub fn begin(ctx: &mut Context, task: &TaskId, (branch, target): (&RefName, &Oid)) -> Result<bool> {
    ctx.with_change_lock(|ctx| {
        let Some((workspace, worktree)) = place(ctx, task)? else { return Ok(false) };
        if ctx.repo.unfinished_work().begun_merge(&worktree)?.is_some() {
            return Ok(true);
        }
        let now = ctx.repo.captures().capture_worktree(&worktree, &capture_options(ctx))?;
        if now.head.branch() != Some(&workspace.branch) {
            return Ok(false);
        }
        let message = format!("Merge {} into {}", branch.short(), workspace.branch.short());
        let Some(then) = ctx.repo.unfinished_work().in_a_merge(&now, target, &message)? else { return Ok(false) };
        let title = format!("begin the merge of {} in the workspace of {task}", branch.short());
        let kind = OperationKind::BeginMerge { task: task.clone() };
        let worktrees = vec![change(ctx, workspace.path.clone(), &now, &then)?];
        operation::run(ctx, JournaledOperation { worktrees, ..JournaledOperation::new(kind, title) })?;
        Ok(true)
    })
}

fn change(ctx: &Context, path: String, now: &WorktreeCapture, then: &WorktreeCapture) -> Result<WorktreeChange> {
    let commit = |capture: &WorktreeCapture, what: &str| -> Result<Oid> {
        Ok(ctx.repo.captures().commit_capture(capture, what, &[])?.commit)
    };
    let captures =
        ValueChange::new(Some(commit(now, "before a merge was begun")?), Some(commit(then, "in the middle of a merge")?));
    Ok(WorktreeChange {
        path,
        files: ValueChange::new(now.tree.clone(), then.tree.clone()),
        index: ValueChange::new(now.index_tree.clone(), then.index_tree.clone()),
        head: ValueChange::new(head_state(&now.head), head_state(&then.head)),
        captures,
    })
}

/// The files in conflict in the workspace of a task, where a merge is in progress there.
pub fn open_files(ctx: &Context, task: &TaskId) -> Result<Option<Vec<OpenConflictFile>>> {
    let Some((_, worktree)) = place(ctx, task)? else { return Ok(None) };
    let Some(merge) = ctx.repo.unfinished_work().begun_merge(&worktree)? else { return Ok(None) };
    open_in(ctx, &worktree, &merge).map(Some)
}

fn open_in(ctx: &Context, worktree: &Worktree, merge: &InProgressMerge) -> Result<Vec<OpenConflictFile>> {
    let open = ctx.repo.unfinished_work().open_paths(worktree, merge)?.into_iter();
    let of = |ConflictedPath { path, stages, is_marked }: ConflictedPath| {
        let sides = match (stages.contains(&2), stages.contains(&3)) {
            (true, false) => ConflictFileSides::DeletedByTarget,
            (false, true) => ConflictFileSides::DeletedByTask,
            (true, true) | (false, false) => ConflictFileSides::Both,
        };
        OpenConflictFile { path: path.to_string(), sides, is_marked }
    };
    Ok(open.map(of).collect())
}

fn place(ctx: &Context, task: &TaskId) -> Result<Option<(Workspace, Worktree)>> {
    let Some(workspace) = ctx.state().restorable.workspaces.get(task).cloned() else { return Ok(None) };
    let entry = ctx.repo.worktrees().worktree_at(Path::new(&workspace.path))?.filter(|entry| entry.present);
    Ok::<_, Error>(entry.map(|entry| (workspace, entry.worktree)))
}
