//! What is left of a merged task: its workspace goes to the trash, and its branch is deleted, since the target has its commits; both
//! stay where `agents.keepMerged` says so. An undo of the merge brings the branch back.

use axiom_model::work::tasks::branch_names;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use axiom_base::error::{Code, Error, Result};
use axiom_base::{env, files};
use axiom_git::{ExpectedRefValue, Head, RefEdit, Worktree};
use axiom_model::base::ids::TaskId;
use axiom_model::base::names::RefName;
use axiom_model::base::ref_change::RefChange;
use axiom_model::base::text::ValueChange;
use axiom_model::state::current_state::State;
use axiom_model::state::event::Event;
use axiom_model::work::agent::Workspace;
use axiom_model::work::tasks::task::MergedTaskWork;
use axiom_safety::checkpoint;
use axiom_safety::checkpoint::live::live_ref;
use axiom_safety::context::handle::Context;
use axiom_safety::folders::{trash, workspace_submodules, workspaces};

/// The merged tasks whose workspace was not moved to the trash: a crash came in between, or it was not possible right then.
pub fn with_workspace(ctx: &Context) -> Vec<TaskId> {
    if ctx.config.agents.keep_merged {
        return Vec::new();
    }
    let state = ctx.state();
    state.restorable.workspaces.keys().filter(|task| merged(state, task).is_some()).cloned().collect()
}

/// The merged tasks whose branch is still there, as far as the log shows.
pub fn with_branch(ctx: &Context) -> Vec<TaskId> {
    if ctx.config.agents.keep_merged {
        return Vec::new();
    }
    let state = ctx.state();
    let is_left = |task: &&TaskId| merged(state, task).is_some() && state.made_branch(&branch_names::branch_of(task));
    state.restorable.tasks.keys().filter(is_left).cloned().collect()
}

fn merged<'s>(state: &'s State, task: &TaskId) -> Option<&'s MergedTaskWork> {
    state.restorable.tasks.get(task).and_then(|case| case.merged.as_ref())
}

/// Cleans up what is left of a merged task. The caller holds the change lock. Safe to repeat, also after a crash.
pub fn clean_up(ctx: &mut Context, task: &TaskId) -> Result<()> {
    if ctx.config.agents.keep_merged {
        return Ok(());
    }
    close_workspace(ctx, task)?;
    delete_branches(ctx, std::slice::from_ref(task)).map(drop)
}

/// Moves the workspace of a merged task to the trash. Uncommitted changes are captured to `refs/axiom/live/<task>` first. The
/// caller holds the change lock. Safe to repeat; a crash leaves a workspace that the next call moves completely.
pub fn close_workspace(ctx: &mut Context, task: &TaskId) -> Result<()> {
    close(ctx, task, UnsavedWorkspaceFate::Moved)
}

/// As [`close_workspace`], for a workspace that is about to be deleted: where it cannot be captured, or is not whole, it stays.
pub fn close_saved(ctx: &mut Context, task: &TaskId) -> Result<()> {
    close(ctx, task, UnsavedWorkspaceFate::Refused)
}

/// What becomes of a workspace that cannot be captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UnsavedWorkspaceFate {
    /// It goes to the trash as it is.
    Moved,
    /// It stays.
    Refused,
}

fn close(ctx: &mut Context, task: &TaskId, unsaved: UnsavedWorkspaceFate) -> Result<()> {
    let Some(workspace) = ctx.state().restorable.workspaces.get(task).cloned() else { return Ok(()) };
    if files::is_locked(&ctx.layout().locks().workspace(task))? {
        return Err(Error::new(Code::Busy, format!("an agent still works in '{}'", workspace.path)));
    }
    let path = Path::new(&workspace.path);
    let trash = trash::fresh_for(ctx, path)?;
    env::fault_point("merge.before-close");
    let trash = match ctx.repo.worktrees().worktree_at(path)? {
        Some(entry) if entry.present && entry.locked.is_none() => {
            match keep_uncommitted(ctx, task, (&workspace, &entry.worktree), unsaved) {
                Ok(()) => {
                    workspace_submodules::bring_home(ctx, &entry.worktree)?;
                    let aside = ctx.repo.workspaces().plan_aside(&entry.worktree, &trash)?;
                    ctx.repo.workspaces().put_aside(&aside)?;
                }
                // A workspace that cannot be captured goes to the trash unchanged.
                Err(error) if !error.is_everybodys() && unsaved == UnsavedWorkspaceFate::Moved => {
                    tracing::warn!(%error, %task, "the workspace could not be captured, and is put aside as it is");
                    ctx.repo.workspaces().put_in_trash(path, &trash)?;
                }
                Err(error) => return Err(error),
            }
            Some(trash.display().to_string())
        }
        Some(_) | None if unsaved == UnsavedWorkspaceFate::Refused && path.symlink_metadata().is_ok() => {
            return Err(Error::new(
                Code::WorkspaceBroken,
                format!("'{}' cannot be captured, so it is not deleted", path.display()),
            ));
        }
        Some(_) | None => {
            workspaces::repair_workspace(ctx, path, &trash)?;
            None
        }
    };
    env::fault_point("merge.workspace-aside");
    ctx.append(Event::WorkspaceClosed { task: task.clone(), trash, handed_on: false })?;
    Ok(())
}

/// How many branches of merged tasks [`delete_branches`] would delete now.
pub fn to_delete(ctx: &Context) -> Result<usize> {
    Ok(leaving(ctx, &with_branch(ctx))?.refs.len())
}

/// Deletes the branches of merged tasks, as far as the target has their commits and no worktree uses them; returns those that are
/// gone. What somebody did with a branch since the merge stays. The caller holds the change lock. Safe to repeat.
pub fn delete_branches(ctx: &mut Context, tasks: &[TaskId]) -> Result<Vec<RefName>> {
    let MergedBranchDeletion { refs, mut gone } = leaving(ctx, tasks)?;
    let mut stay = Vec::new();
    if !refs.is_empty() {
        ctx.append(Event::MergedBranchesLeave { refs: refs.clone() })?;
        env::fault_point("merge.branches-leave");
        let edit =
            |RefChange { name, value }: RefChange| RefEdit { name, expected: ExpectedRefValue::from_old(value.old), new: None };
        let names = refs.iter().map(|change| change.name.clone()).collect();
        match ctx.repo.refs().update_refs(&refs.into_iter().map(edit).collect::<Vec<_>>(), "git axiom: merged") {
            Ok(()) => gone.extend::<Vec<RefName>>(names),
            Err(error) => {
                tracing::warn!(%error, "branches of merged tasks are not deleted yet");
                stay = names;
            }
        }
        env::fault_point("merge.branches-left");
    }
    if !(gone.is_empty() && stay.is_empty()) {
        // If this is lost, the next call finds that they are gone.
        ctx.append_unsynced(|_| Ok(vec![Event::MergedBranchesLeft { gone: gone.clone(), stay }]))?;
    }
    Ok(gone)
}

/// The branches of merged tasks that may be deleted, and those that are gone already.
#[derive(Default)]
struct MergedBranchDeletion {
    refs: Vec<RefChange>,
    /// A crash came between the deletion and the note of it, or somebody else deleted it.
    gone: Vec<RefName>,
}

fn leaving(ctx: &Context, tasks: &[TaskId]) -> Result<MergedBranchDeletion> {
    let mut leaving = MergedBranchDeletion::default();
    let branches = |task: &TaskId| Some((branch_names::branch_of(task), merged(ctx.state(), task)?.target.clone()));
    let ours = tasks.iter().filter_map(branches).filter(|(branch, target)| branch != target && ctx.state().made_branch(branch));
    let ours: BTreeMap<RefName, RefName> = ours.collect();
    if ours.is_empty() {
        return Ok(leaving);
    }
    let names: Vec<RefName> = ours.iter().flat_map(|(branch, target)| [branch, target]).cloned().collect();
    let tips = ctx.repo.refs().read_refs(&names)?;
    let used = used_branches(ctx, None)?;
    for (branch, target) in ours {
        match (tips.get(&branch), tips.get(&target)) {
            (None, _) => leaving.gone.push(branch),
            (Some(tip), Some(target)) if !used.contains(&branch) && ctx.repo.history().is_ancestor(tip, target)? => {
                leaving.refs.push(RefChange { name: branch, value: ValueChange::new(Some(tip.clone()), None) });
            }
            (Some(_), _) => {}
        }
    }
    Ok(leaving)
}

/// The branch that goes when a task is merged into `target` now.
pub(super) fn would_leave(ctx: &Context, task: &TaskId, target: &RefName) -> Result<Option<RefChange>> {
    let branch = branch_names::branch_of(task);
    if ctx.config.agents.keep_merged || branch == *target || !ctx.state().made_branch(&branch) {
        return Ok(None);
    }
    let own = ctx.state().restorable.workspaces.get(task).map(|workspace| Path::new(&workspace.path));
    let Some(tip) = ctx.repo.refs().read_ref(&branch)? else { return Ok(None) };
    let stays = used_branches(ctx, own)?.contains(&branch);
    Ok((!stays).then(|| RefChange { name: branch, value: ValueChange::new(Some(tip), None) }))
}

/// The branches that a worktree, other than `except`, has checked out, or needs to end a rebase or a bisect.
fn used_branches(ctx: &Context, except: Option<&Path>) -> Result<BTreeSet<RefName>> {
    let mut used = BTreeSet::new();
    for entry in ctx.repo.worktrees().list()?.into_iter().filter(|entry| Some(entry.worktree.path()) != except) {
        used.extend(entry.head.as_ref().and_then(Head::branch).cloned());
        used.extend(ctx.repo.git_operations().branches_in_progress(&entry.worktree)?.into_iter().map(|(branch, _)| branch));
    }
    Ok(used)
}

fn keep_uncommitted(
    ctx: &Context,
    task: &TaskId,
    (workspace, worktree): (&Workspace, &Worktree),
    unsaved: UnsavedWorkspaceFate,
) -> Result<()> {
    let options = checkpoint::capture_options(ctx);
    let (capture, submodules) = checkpoint::submodules::capture_with_submodules(&ctx.repo, worktree, &options)?;
    let mut leaves_out = capture.coverage.leaves_out_work();
    for one in &submodules {
        leaves_out |= one.is_dirty()?;
    }
    if unsaved == UnsavedWorkspaceFate::Refused && leaves_out {
        return Err(Error::new(Code::InTheWay, format!("'{}' holds files that no capture can hold", workspace.path))
            .hint("git axiom checkpoint show    names what a checkpoint does not hold"));
    }
    let committed = match capture.head.commit() {
        Some(commit) => ctx.repo.objects().read_commit(commit)?.tree == capture.tree,
        None => false,
    };
    let clean = committed && capture.tree == capture.index_tree && capture.extras.is_empty();
    if clean && capture.head.branch() == Some(&workspace.branch) {
        return Ok(());
    }
    let commit = ctx.repo.captures().commit_capture(&capture, &format!("workspace of {task}, put aside"), &[])?;
    let name = live_ref(task);
    let edit = RefEdit { name, expected: ExpectedRefValue::Any, new: Some(commit.commit) };
    ctx.repo.refs().update_refs(&[edit], &format!("git axiom: workspace of {task} put aside"))
}
