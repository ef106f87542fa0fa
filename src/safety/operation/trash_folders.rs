//! The trash of an operation: a folder for each worktree in which it replaces files, made before its first change.

use std::path::PathBuf;

use crate::context::handle::Context;
use crate::folders::{trash, workspace_folder};
use crate::operation::step_parts::submodule_folders::opened;
use crate::operation::step_parts::worktree_step::worktree;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_git::Worktree;
use axiom_model::base::ids::OperationId;
use axiom_model::base::names::RepoPath;
use axiom_model::journal::journaled::JournaledOperation;

/// The worktrees in which an operation replaces files.
fn worktrees(ctx: &Context, operation: &JournaledOperation) -> Result<Vec<Worktree>> {
    let advances = operation.advances.iter().map(|change| &change.path);
    let paths = operation.worktrees.iter().map(|change| &change.path).chain(advances);
    let mut all = paths.map(|path| worktree(ctx, path)).collect::<Result<Vec<_>>>()?;
    for change in &operation.submodules {
        all.push(opened(ctx, change)?.1);
    }
    Ok(all)
}

/// Checks that every trash of an operation is a folder, or can be made: what is behind a link may belong to another user.
pub(super) fn are_folders(ctx: &Context, operation: &JournaledOperation) -> Result<()> {
    let of_files: Vec<PathBuf> =
        worktrees(ctx, operation)?.iter().map(|worktree| trash::root_of(ctx, worktree)).collect::<Result<_>>()?;
    let of_workspaces = if operation.workspaces.is_empty() { None } else { Some(trash::root(ctx)?) };
    for trash in of_workspaces.into_iter().chain(of_files) {
        if files::metadata(&trash)?.is_some_and(|meta| !meta.is_dir()) {
            let what = format!("'{}' is not a folder, so replaced files could not be kept; nothing was changed", trash.display());
            return Err(Error::new(Code::IoFailed, what).hint("move it away, or set agents.workspaceRoot to another folder"));
        }
    }
    Ok(())
}

/// Makes the transaction's trash for every worktree of an operation, before anything is recorded: without it no file can be
/// moved, in either direction. The trash is excluded from git's untracked files.
pub(super) fn make(ctx: &Context, operation: &JournaledOperation, txn: &OperationId) -> Result<()> {
    workspace_folder::exclude(ctx)?;
    for worktree in worktrees(ctx, operation)? {
        let trash = trash::of(ctx, &worktree, txn)?;
        if trash.starts_with(worktree.path().join(trash::IN_WORKTREE)) {
            ctx.repo.workspaces().exclude_folder(&RepoPath::new(trash::IN_WORKTREE.as_bytes()))?;
        }
        files::create_dir_all(&trash).map_err(|error| {
            error
                .context("replaced files could not be kept, so nothing was changed")
                .hint("move away what is in the way there, or set agents.workspaceRoot to another folder")
        })?;
    }
    Ok(())
}
