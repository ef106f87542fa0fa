//! What becomes of a task's workspace: it is restored, put aside, or made again.

use std::path::Path;

use crate::domain::agent::Workspace;
use crate::domain::checkpoint::CheckpointDocument;
use crate::domain::ids::CaseId;
use crate::domain::operation::{HeadState, Operation, Way, WorkspaceChange};
use crate::domain::rollback::Fate;
use crate::env;
use crate::error::{Code, Error, Result};
use crate::ops::checkpoint::{Captured, CapturedWorkspace};
use crate::ops::context::Context;
use crate::ops::workspaces;

use super::preview::{Preview, WorkspaceLine};
use super::worktree::{add_worktree, head_state, worktree_change};

/// Adds what a task's workspace needs, and says so.
pub(super) fn add_workspace(
    ctx: &Context,
    fate: &Fate,
    document: &CheckpointDocument,
    captured: &Captured,
    operation: &mut Operation,
    preview: &mut Preview,
) -> Result<()> {
    let here = |path: &str| captured.workspaces.iter().find(|w| w.state.path == path);
    let gone = |path: &str| Error::new(Code::Internal, format!("the workspace '{path}' was not captured"));
    let (path, action, task) = match fate {
        Fate::Restore { task, then } => {
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
            let change = worktree_change(ctx, then.path.clone(), now, &then.capture, head, coverage, preview)?;
            let same = change.files.old == change.files.new
                && change.index.old == change.index.new
                && change.head.old == change.head.new;
            let stays = same && then.head.as_ref() == capture.head.commit();
            add_worktree(ctx, change, capture, operation, preview)?;
            if stays {
                return Ok(());
            }
            (then.path.clone(), "restored", task)
        }
        Fate::PutAside { task, workspace } => {
            let present = here(&workspace.path).ok_or_else(|| gone(&workspace.path))?;
            operation.workspaces.push(put_aside(ctx, task, workspace, present)?);
            (workspace.path.clone(), "putAside", task)
        }
        Fate::MakeAgain { task, workspace, then } => {
            let head = match (&then.branch, &then.head) {
                (None, Some(commit)) => HeadState::Detached(commit.clone()),
                (branch, _) => HeadState::Branch(branch.clone().unwrap_or_else(|| workspace.branch.clone())),
            };
            let name = Path::new(&workspace.path).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let (trash, git_dir_trash) = trash_places(ctx, &name)?;
            operation.workspaces.push(WorkspaceChange {
                task: task.clone(),
                workspace: workspace.clone(),
                trash,
                git_dir: ctx.repo.common_dir().join("worktrees").join(&name).display().to_string(),
                git_dir_trash,
                way: Way::BringBack,
                head,
                commit: then.head.clone(),
                capture: then.capture.clone(),
            });
            (workspace.path.clone(), "madeAgain", task)
        }
    };
    preview.workspaces.push(WorkspaceLine { path, action, task_id: task.clone() });
    Ok(())
}

fn put_aside(ctx: &Context, task: &CaseId, workspace: &Workspace, present: &CapturedWorkspace) -> Result<WorkspaceChange> {
    let name = Path::new(&workspace.path).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let (trash, git_dir_trash) = trash_places(ctx, &name)?;
    let head = &present.captured.capture.head;
    Ok(WorkspaceChange {
        task: task.clone(),
        workspace: workspace.clone(),
        trash,
        git_dir: present.captured.worktree.git_dir().display().to_string(),
        git_dir_trash,
        way: Way::PutAside,
        head: head_state(head),
        commit: head.commit().cloned(),
        capture: present.state.capture.clone(),
    })
}

pub(in crate::ops) fn trash_places(ctx: &Context, name: &str) -> Result<(String, String)> {
    let unique = format!("{name}-{}", env::fresh_id());
    let folder = workspaces::trash_root(ctx)?.join(&unique).display().to_string();
    Ok((folder, ctx.repo.common_dir().join("axiom/trash").join(&unique).display().to_string()))
}
