//! Workspaces: where they are, making them, repairing what a crash left of them.

use std::path::{Path, PathBuf};

use crate::domain::agent::Workspace;
use crate::domain::names::RepoPath;
use crate::env;
use crate::error::{Code, Error, Result};
use crate::git::WorkspaceBranch;
use crate::ops::context::Context;

/// The folder of all workspaces.
///
/// # Errors
/// `BARE_REPOSITORY`.
pub fn root(context: &Context) -> Result<PathBuf> {
    Ok(context.repo.main_worktree()?.path().join(&context.config.agents.workspace_root))
}

/// The folder of what was put aside or replaced, beside the workspaces.
///
/// # Errors
/// As [`root`].
pub fn trash_root(context: &Context) -> Result<PathBuf> {
    Ok(root(context)?.join("trash"))
}

/// A fresh folder in the trash beside the workspaces, named after what goes there.
///
/// # Errors
/// As [`root`].
pub fn trash(context: &Context, name: &str) -> Result<PathBuf> {
    Ok(trash_root(context)?.join(format!("{name}-{}", env::fresh_id())))
}

/// Keeps git from taking the workspaces for untracked content of the main worktree.
///
/// # Errors
/// `IO_FAILED`.
pub fn exclude(context: &Context) -> Result<()> {
    let folder = Path::new(&context.config.agents.workspace_root);
    if folder.is_relative()
        && let Some(text) = folder.to_str()
        && !text.starts_with("..")
    {
        context.repo.exclude_folder(&RepoPath::new(text.trim_matches('/').as_bytes()))?;
    }
    Ok(())
}

/// Sees to it that a workspace announced in the log stands: made where it is missing, repaired where it is half-made, on
/// its branch, which is made where it does not exist. A crash leaves something that the next call repairs.
///
/// # Errors
/// What `git worktree add` says, as codes; `BUSY`.
pub fn ensure(context: &mut Context, workspace: &Workspace) -> Result<()> {
    let path = PathBuf::from(&workspace.path);
    let trash = trash(context, "half-made")?;
    context
        .with_operation_lock(|context| {
            exclude(context)?;
            let repo = &context.repo;
            repo.repair_workspace(&path, &trash)?;
            if repo.worktree_at(&path)?.is_some_and(|entry| entry.present) {
                return Ok(());
            }
            let branch = match repo.read_ref(&workspace.branch)? {
                Some(_) => WorkspaceBranch::Existing(workspace.branch.clone()),
                None => WorkspaceBranch::New { name: workspace.branch.clone(), base: workspace.base.clone() },
            };
            match repo.create_workspace(&path, &branch, &trash) {
                Ok(_) => Ok(()),
                // The branch was made meanwhile: by us before a crash, or by the user, whose work then goes on.
                Err(error) if error.code() == Code::ChangedMeanwhile => {
                    repo.create_workspace(&path, &WorkspaceBranch::Existing(workspace.branch.clone()), &trash).map(|_| ())
                }
                Err(error) => Err(error),
            }
        })
        .map_err(|error: Error| error.context(format!("workspace '{}'", workspace.path)))
}
