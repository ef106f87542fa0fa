//! Planning what happens to a task's workspace in a rollback: it is restored, moved to the trash, recreated, or forgotten.

use axiom_model::checkpoint::document::{CheckpointDocument, WorkspaceState};
use axiom_model::checkpoint::submodules::HeldSubmodule;
use std::path::Path;

use crate::checkpoint::{CapturedWorkspace, CheckpointCaptures, capture_options};
use crate::context::handle::Context;
use crate::folders::trash;
use crate::operation;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_git::{Head, WorktreeEntry};
use axiom_model::base::ids::TaskId;
use axiom_model::base::ref_change::ChangeDirection;
use axiom_model::journal::journaled::JournaledOperation;
use axiom_model::journal::journaled_changes::{HeadState, WorkspaceChange};
use axiom_model::operation::change_json::WorkspaceFate;
use axiom_model::operation::rollback::WorkspaceRollback;
use axiom_model::work::agent::Workspace;

use super::preview::RollbackPreview;
use super::submodules;
use super::worktree::{WorktreeRollbackState, add_worktree, worktree_change};
use crate::operation::planned_changes::AffectedWorkspaceLine;
use crate::operation::recorded_head::head_state;
use axiom_base::shell_word::shell_word;

/// Adds the changes of a task's workspace to the operation and the preview.
pub(super) fn add_workspace(
    ctx: &Context,
    fate: &WorkspaceRollback,
    document: &CheckpointDocument,
    captured: &CheckpointCaptures,
    operation: &mut JournaledOperation,
    preview: &mut RollbackPreview,
) -> Result<()> {
    let here = |path: &str| captured.workspaces.iter().find(|w| w.state.path == path);
    let gone = |path: &str| Error::new(Code::Internal, format!("the workspace '{path}' was not captured"));
    let (path, action, task) = match fate {
        WorkspaceRollback::Restore { task, then } => {
            let present = here(&then.path).ok_or_else(|| gone(&then.path))?;
            let head = match (&then.branch, &then.head) {
                (Some(branch), _) => HeadState::Branch(branch.clone()),
                (None, Some(commit)) => HeadState::Detached(commit.clone()),
                (None, None) => head_state(&present.captured.capture.head),
            };
            let old = Some(present.state.capture.clone());
            let capture = &present.captured.capture;
            let coverage = document.coverage.get(&then.path);
            let now = (&present.captured, old);
            let known = operation.submodules.len();
            let submodules = submodules::add(ctx, document, (captured, &then.path), None, operation, preview)?;
            let exclude = capture_options(ctx).exclude;
            let wanted = WorktreeRollbackState {
                capture: &then.capture,
                head,
                coverage,
                only: None,
                exclude: &exclude,
                submodules: &submodules,
            };
            let change = worktree_change(&ctx.repo, then.path.clone(), now, wanted, preview)?;
            let same = operation.submodules.len() == known
                && operation::files_of(&ctx.repo, &change)?.is_empty()
                && change.index.old == change.index.new
                && change.head.old == change.head.new;
            let stays = same && then.head.as_ref() == capture.head.commit();
            add_worktree(ctx, change, &present.captured, operation, preview)?;
            if stays {
                return Ok(());
            }
            (then.path.clone(), WorkspaceFate::Restored, task)
        }
        WorkspaceRollback::PutAside { task, workspace } => {
            let present = here(&workspace.path).ok_or_else(|| gone(&workspace.path))?;
            operation.workspaces.push(put_aside(ctx, task, workspace, (captured, present))?);
            (workspace.path.clone(), WorkspaceFate::PutAside, task)
        }
        WorkspaceRollback::Forget { task, workspace } => {
            let Some(change) = forget(ctx, task, workspace)? else { return Ok(()) };
            operation.workspaces.push(change);
            (workspace.path.clone(), WorkspaceFate::Forgotten, task)
        }
        WorkspaceRollback::MakeAgain { task, workspace, then } => {
            let head = match (&then.branch, &then.head) {
                (None, Some(commit)) => HeadState::Detached(commit.clone()),
                (branch, _) => HeadState::Branch(branch.clone().unwrap_or_else(|| workspace.branch.clone())),
            };
            let submodules = submodules::to_make_again(ctx, document, &then.path, preview)?;
            operation.workspaces.push(make_again(ctx, (task, workspace), (head, then), submodules)?);
            (workspace.path.clone(), WorkspaceFate::MadeAgain, task)
        }
    };
    preview.changes.workspaces.push(AffectedWorkspaceLine { path, action, task_id: task.clone() });
    Ok(())
}

/// A workspace that is made again as it was.
fn make_again(
    ctx: &Context,
    (task, workspace): (&TaskId, &Workspace),
    (head, then): (HeadState, &WorkspaceState),
    submodules: Vec<HeldSubmodule>,
) -> Result<WorkspaceChange> {
    let name = Path::new(&workspace.path).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let (trash, git_dir_trash) = trash_places(ctx, &name)?;
    Ok(WorkspaceChange {
        task: task.clone(),
        workspace: workspace.clone(),
        trash,
        git_dir: ctx.repo.common_dir().join("worktrees").join(&name).display().to_string(),
        git_dir_trash,
        way: ChangeDirection::BringBack,
        head,
        commit: then.head.clone(),
        capture: then.capture.clone(),
        lost: false,
        submodules,
    })
}

fn put_aside(
    ctx: &Context,
    task: &TaskId,
    workspace: &Workspace,
    (captured, present): (&CheckpointCaptures, &CapturedWorkspace),
) -> Result<WorkspaceChange> {
    let name = Path::new(&workspace.path).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let (trash, git_dir_trash) = trash_places(ctx, &name)?;
    let head = &present.captured.capture.head;
    Ok(WorkspaceChange {
        task: task.clone(),
        workspace: workspace.clone(),
        trash,
        git_dir: present.captured.worktree.git_dir().display().to_string(),
        git_dir_trash,
        way: ChangeDirection::PutAside,
        head: head_state(head),
        commit: head.commit().cloned(),
        capture: present.state.capture.clone(),
        lost: false,
        submodules: captured.submodules_of(&workspace.path),
    })
}

/// The change that removes a workspace without a folder from the state and from git's list; `None` where the folder exists.
fn forget(ctx: &Context, task: &TaskId, workspace: &Workspace) -> Result<Option<WorkspaceChange>> {
    let entry = ctx.repo.worktrees().worktree_at(Path::new(&workspace.path))?;
    match entry.as_ref().is_some_and(|entry| entry.present) {
        true => Ok(None),
        false => lost_workspace(ctx, task, workspace, entry.as_ref()).map(Some),
    }
}

/// The change that moves to the trash what is left of a workspace that is no longer one; `entry` is what git knows of it.
pub fn lost_workspace(
    ctx: &Context,
    task: &TaskId,
    workspace: &Workspace,
    entry: Option<&WorktreeEntry>,
) -> Result<WorkspaceChange> {
    not_locked(workspace, entry.and_then(|entry| entry.locked.as_deref()))?;
    let unknown = Head::Branch { name: workspace.branch.clone(), commit: None };
    let head = entry.and_then(|entry| entry.head.clone()).unwrap_or(unknown);
    let name = Path::new(&workspace.path).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let (trash, git_dir_trash) = trash_places(ctx, &name)?;
    let git_dir = match entry {
        Some(entry) => entry.worktree.git_dir().display().to_string(),
        None => no_git_dir(&git_dir_trash),
    };
    Ok(WorkspaceChange {
        task: task.clone(),
        workspace: workspace.clone(),
        trash,
        git_dir,
        git_dir_trash,
        way: ChangeDirection::PutAside,
        head: head_state(&head),
        commit: head.commit().cloned(),
        capture: head.commit().unwrap_or(&workspace.base).clone(),
        lost: true,
        submodules: Vec::new(),
    })
}

/// The git directory of a workspace that is not registered any more: a path that does not exist, so that nothing is moved.
/// Another worktree may have its old one by now.
pub(crate) fn no_git_dir(git_dir_trash: &str) -> String {
    format!("{git_dir_trash}-none")
}

/// Refuses a locked workspace: `git worktree lock` shows that a user wants it to stay, or that its disk is not connected.
pub fn not_locked(workspace: &Workspace, locked: Option<&str>) -> Result<()> {
    match locked {
        // A killed `git worktree add` leaves this reason.
        None | Some("initializing") => Ok(()),
        Some(reason) => {
            let error = Error::new(Code::InTheWay, format!("the workspace '{}' is locked", workspace.path))
                .hint(format!("git worktree unlock {}", shell_word(&workspace.path)));
            Err(if reason.is_empty() { error } else { error.why(reason.to_owned()) })
        }
    }
}

/// Where in the trash a workspace goes, and the git directory of its worktree.
pub fn trash_places(ctx: &Context, name: &str) -> Result<(String, String)> {
    let unique = format!("{name}-{}", env::fresh_id());
    let folder = trash::root(ctx)?.join(&unique).display().to_string();
    Ok((folder, ctx.repo.common_dir().join("axiom/trash").join(&unique).display().to_string()))
}
