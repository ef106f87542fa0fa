//! Repairing worktrees whose files in the git directory (registration, branch, index) were damaged by a power loss, before
//! other code runs git on them.

use std::path::PathBuf;

use crate::context::handle::Context;
use crate::folders::trash;
use crate::upkeep::mend::report::RepairReport;
use axiom_base::error::Result;
use axiom_base::files;
use axiom_git::Worktree;
use axiom_model::base::ids::TaskId;
use axiom_model::work::agent::Workspace;
use axiom_model::work::tasks::task::TaskStatus;

/// Repairs registrations of workspaces whose damage makes git fail in the whole repository; runs no git command. Returns
/// what was repaired, in words.
pub fn registrations(ctx: &Context) -> Result<Vec<String>> {
    let mut done = Vec::new();
    for (_, workspace) in known(ctx) {
        if is_half_moved(ctx, &workspace)? {
            continue;
        }
        let (path, trash) = (PathBuf::from(&workspace.path), trash::fresh(ctx, "damaged")?);
        if let Some(what) = ctx.repo.registrations().mend_registration(&path, &workspace.branch, &trash)? {
            done.push(format!("workspace '{}' {what}", workspace.path));
        }
    }
    Ok(done)
}

/// Whether an operation that was cut off has moved a part of the registration only: its end brings the rest, and nothing else may be put
/// in that place meanwhile.
fn is_half_moved(ctx: &Context, workspace: &Workspace) -> Result<bool> {
    let open = ctx.state().record.open.as_ref();
    let mut changes = open.into_iter().flat_map(|open| &open.operation.workspaces);
    let Some(change) = changes.find(|change| change.workspace.path == workspace.path) else { return Ok(false) };
    Ok(files::is_half_moved(change.git_dir_trash.as_ref())? || files::is_half_moved(change.git_dir.as_ref())?)
}

/// Repairs damaged linked worktrees of the user's own, where the right contents are known for certain; reports the others.
pub fn linked_worktrees(ctx: &Context, report: &mut RepairReport) -> Result<()> {
    let repo = &ctx.repo;
    for damaged in repo.registrations().damaged_worktrees()? {
        let place = damaged.place().display();
        let trash = repo.common_dir().join("axiom/trash").join(axiom_base::env::fresh_id());
        match repo.registrations().mend_worktree(&damaged, &trash) {
            Ok(done) if done.is_empty() => {}
            Ok(done) => report.done.push(format!("the worktree '{place}' was damaged ({}): {}", damaged.why(), done.join(", "))),
            Err(error) => report.left.push(format!("the worktree '{place}' could not be repaired: {error}")),
        }
    }
    for damaged in repo.registrations().damaged_worktrees()? {
        let (place, why, by_hand) = (damaged.place().display(), damaged.why(), damaged.by_hand());
        report.left.push(format!("the worktree '{place}' is unusable: {why}; to repair it: {by_hand}"));
    }
    Ok(())
}

/// Makes indexes of the user's own worktrees again that are empty or cut off, from their commits. The damaged ones are kept.
pub fn indexes(ctx: &Context, report: &mut RepairReport) -> Result<()> {
    let workspaces: Vec<PathBuf> = known(ctx).into_iter().map(|(_, workspace)| PathBuf::from(workspace.path)).collect();
    let mut worktrees: Vec<Worktree> = ctx.repo.worktrees().main_worktree().into_iter().collect();
    worktrees.extend(ctx.repo.worktrees().list_linked()?);
    for worktree in worktrees.iter().filter(|one| !workspaces.iter().any(|path| path == one.path())) {
        let (trash, place) =
            (ctx.repo.common_dir().join("axiom/trash").join(axiom_base::env::fresh_id()), worktree.path().display());
        match ctx.repo.workspace_damage().mend_torn_index(worktree, &trash) {
            Ok(false) => {}
            Ok(true) => report.done.push(format!(
                "the index of '{place}' could not be read whole, and was made again from its commit; what was there is in '{}'",
                trash.display()
            )),
            Err(error) => report.left.push(format!("the index of '{place}' could not be made again: {error}")),
        }
    }
    Ok(())
}

/// Repairs branches and indexes of workspaces. After a crash it moves to the trash workspaces in which no agent has worked yet and whose
/// files may not have reached the disk. A failure is reported, and the others are still repaired.
pub fn contents(ctx: &Context, is_after_crash: bool, report: &mut RepairReport) -> Result<()> {
    for (task, workspace) in known(ctx) {
        let done = content(ctx, &workspace, report);
        let done = done.and_then(|()| if is_after_crash { put_unused_aside(ctx, &task, &workspace, report) } else { Ok(()) });
        if let Err(error) = done {
            report.left.push(format!("the workspace '{}' could not be repaired: {error}", workspace.path));
        }
    }
    Ok(())
}

fn content(ctx: &Context, workspace: &Workspace, report: &mut RepairReport) -> Result<()> {
    let (path, trash, repo) = (PathBuf::from(&workspace.path), trash::fresh(ctx, "damaged")?, &ctx.repo);
    if let Some(mended) = repo.workspace_damage().mend_branch(&path, &workspace.branch, Some(&workspace.base), &trash)? {
        let lost = mended.lost.map_or("its last commits".to_owned(), |lost| format!("commit {lost}"));
        report.left.push(format!(
            "a system crash lost {lost} of {}: the branch is at {} again; the files of '{}' are unchanged",
            workspace.branch.short(),
            mended.now,
            workspace.path
        ));
    }
    if repo.workspace_damage().mend_index(&path, &trash)? {
        report.done.push(format!("the index of '{}' was damaged, and was rebuilt from its commit", workspace.path));
    }
    Ok(())
}

fn put_unused_aside(ctx: &Context, task: &TaskId, workspace: &Workspace, report: &mut RepairReport) -> Result<()> {
    // The git of a session that was killed may still make it.
    if files::is_locked(&ctx.layout().locks().workspace(task))? {
        return Ok(());
    }
    let (path, trash, repo) = (PathBuf::from(&workspace.path), trash::fresh(ctx, "damaged")?, &ctx.repo);
    if is_unused(ctx, task)
        && repo.refs().read_ref(&workspace.branch)?.is_none_or(|tip| tip == workspace.base)
        && repo.unfinished_work().is_workspace_changed(&path)?
    {
        repo.workspaces().put_in_trash(&path, &trash)?;
        let place = trash.display();
        report.done.push(format!("the unused workspace '{}' was incomplete and was moved to '{place}'", workspace.path));
    }
    Ok(())
}

/// Whether no agent has ever worked on the task.
fn is_unused(ctx: &Context, task: &TaskId) -> bool {
    let state = ctx.state();
    let worked = |record: &axiom_model::state::task_record::TaskRecord| {
        record.iterations > 0 || record.retry_count > 0 || record.interrupted || record.complete.is_some()
    };
    state.restorable.tasks.get(task).is_some_and(|case| case.status == TaskStatus::Pending)
        && !state.record.tasks.get(task).is_some_and(worked)
}

fn known(ctx: &Context) -> Vec<(TaskId, Workspace)> {
    let known = &ctx.state().restorable.workspaces;
    known.iter().map(|(task, workspace)| (task.clone(), workspace.clone())).collect()
}
