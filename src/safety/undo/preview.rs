//! The preview of an undo: refs, files, workspaces, tasks.

use std::path::Path;

use serde::Serialize;

use super::UndoExclusions;
use crate::checkpoint::CheckpointCaptures;
use crate::context::handle::Context;
use crate::operation;
use crate::operation::extras_of;
use crate::operation::in_progress;
use crate::operation::planned_changes::{AffectedFileLine, AffectedWorkspaceLine, FileLossLine, MovedHeadLine, PlannedChanges};
use crate::operation::staged;
use axiom_base::error::Result;
use axiom_git::{CaptureExtras, TreeChange};
use axiom_model::base::names::RepoPath;
use axiom_model::base::ref_change::{ChangeDirection, RefChange};
use axiom_model::base::text::ValueChange;
use axiom_model::journal::journaled::JournaledOperation;
use axiom_model::journal::journaled_changes::{TrashChange, WorkspaceChange};
use axiom_model::operation::change_json::WorkspaceFate;

/// What an undo changes.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UndoPreview {
    /// What changes.
    #[serde(flatten)]
    pub changes: PlannedChanges,
    /// Absolute paths of files that were in the way and do not come back, because they are no longer in the trash.
    pub lost: Vec<String>,
    /// Absolute paths of worktrees that were removed since: nothing comes back in them.
    pub left_out: Vec<String>,
    /// Absolute paths of files and submodules that cannot be read now, and so stay as they are.
    pub unread: Vec<String>,
    /// What comes back from the trash, if its place is free then.
    #[serde(skip)]
    pub asides: Vec<TrashChange>,
}

/// The preview of an undo's operation, from the captures made just now. `lost` are files that cannot come back, `left_as_is`
/// what it leaves as it is.
pub(super) fn preview(
    ctx: &Context,
    operation: &JournaledOperation,
    captured: Option<&CheckpointCaptures>,
    lost: &[TrashChange],
    left_as_is: UndoExclusions,
) -> Result<UndoPreview> {
    let nothing = CaptureExtras::default();
    let (mut planned, moved) = (PlannedChanges::default(), staged::moved(operation));
    for change in &operation.worktrees {
        let now = captured.and_then(|captured| captured.worktree_at(&change.path)).map_or(&nothing, |one| &one.capture.extras);
        let then = extras_of(&ctx.repo, change.captures.new.as_ref())?;
        planned.operations.extend(in_progress::operations(&change.path, now, &then));
        let first = planned.files.len();
        let there = ctx.repo.worktrees().worktree_at(Path::new(&change.path))?.map(|entry| entry.worktree);
        let changes = match &there {
            Some(worktree) => operation::files_named(&ctx.repo, worktree, change)?,
            None => operation::files_of(&ctx.repo, change)?,
        };
        add_files(&mut planned.files, &change.path, changes);
        let known: Vec<RepoPath> = planned.files[first..].iter().map(|file: &AffectedFileLine| file.path.clone()).collect();
        if let Some(worktree) = &there {
            // Files and folders that change in nothing else.
            let (modes, is_known) = ((&now.modes[..], &then.modes[..]), |path: &RepoPath| known.binary_search(path).is_ok());
            let paths = ctx.repo.captured_permissions().permissions_that_change(worktree, modes, is_known)?;
            let line = |path| FileLossLine { worktree: change.path.clone(), path };
            planned.permissions.extend(paths.into_iter().map(line));
        }
        planned.add_staged(&change.path, staged::changes(&ctx.repo, &moved, change, (now, &then))?);
    }
    for change in &operation.submodules {
        let (repo, there) = operation::step_parts::submodule_folders::opened(ctx, change)?;
        let path = &change.worktree.path;
        let now = extras_of(&repo, change.worktree.captures.old.as_ref())?;
        let then = extras_of(&repo, change.worktree.captures.new.as_ref())?;
        planned.operations.extend(in_progress::operations(path, &now, &then));
        add_files(&mut planned.files, path, operation::files_named(&repo, &there, &change.worktree)?);
        planned.add_staged(path, staged::changes(&repo, &change.refs, &change.worktree, (&now, &then))?);
    }
    for change in &operation.advances {
        add_files(&mut planned.files, &change.path, ctx.repo.history().diff_trees(&change.commit.old, &change.commit.new)?);
    }
    let advanced = operation.advances.iter().map(|advance| RefChange {
        name: advance.branch.clone(),
        value: ValueChange::new(Some(advance.commit.old.clone()), Some(advance.commit.new.clone())),
    });
    let of_submodules = operation.submodules.iter().map(|change| &change.worktree);
    let heads = operation.worktrees.iter().chain(of_submodules).filter(|change| change.head.old != change.head.new);
    let workspaces = operation.workspaces.iter();
    let mut changes = PlannedChanges {
        refs: advanced.chain(operation.refs.iter().cloned()).collect(),
        branch_configs: operation.branch_configs.clone(),
        stash: operation.stash.clone(),
        heads: heads.map(|change| MovedHeadLine { worktree: change.path.clone(), head: change.head.clone() }).collect(),
        workspaces: workspaces.map(workspace).collect(),
        tasks: operation.edits.clone(),
        mode: operation.mode,
        ..planned
    };
    changes.add_standing(ctx.state(), operation, (&operation.standing, &operation.gates));
    Ok(UndoPreview {
        changes,
        lost: lost.iter().map(|change| Path::new(&change.worktree).join(change.path.to_path()).display().to_string()).collect(),
        left_out: left_as_is.removed,
        unread: left_as_is.unread,
        // In the order in which the transaction moved them away.
        asides: operation.asides.iter().rev().filter(|aside| aside.way == ChangeDirection::BringBack).cloned().collect(),
    })
}

/// The line for a workspace. One that is no longer complete in the trash is recreated from its capture, without ignored
/// files.
fn workspace(change: &WorkspaceChange) -> AffectedWorkspaceLine {
    let action = match change.way {
        ChangeDirection::PutAside => return AffectedWorkspaceLine::going(&change.workspace.path, &change.task),
        ChangeDirection::BringBack if change.lost && is_gone(&change.trash) => WorkspaceFate::Forgotten,
        ChangeDirection::BringBack if operation::is_made_again(change) => WorkspaceFate::MadeAgain,
        ChangeDirection::BringBack => WorkspaceFate::BroughtBack,
    };
    AffectedWorkspaceLine { path: change.workspace.path.clone(), action, task_id: change.task.clone() }
}

fn is_gone(path: &str) -> bool {
    Path::new(path).symlink_metadata().is_err()
}

fn add_files(files: &mut Vec<AffectedFileLine>, worktree: &str, changes: Vec<TreeChange>) {
    let changes = changes.into_iter().filter(TreeChange::changes_a_file);
    files.extend(changes.map(|change| AffectedFileLine::of(Some(worktree.to_owned()), change, false)));
}
