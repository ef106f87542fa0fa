//! The folder of all workspaces: where it is, and keeping it out of the main worktree's untracked files.

use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::context::handle::Context;
use axiom_base::error::Result;
use axiom_model::base::names::RepoPath;

/// git's setting of the folder of the workspaces.
pub const ROOT_KEY: &str = "axiom.agents.workspaceRoot";

/// The folder of all workspaces.
pub fn root(ctx: &Context) -> Result<PathBuf> {
    Ok(ctx.repo.worktrees().main_worktree()?.path().join(&ctx.config.agents.workspace_root))
}

/// The folder of all workspaces as a path in the main worktree; `None` if it is elsewhere.
pub fn folder(ctx: &Context) -> Option<RepoPath> {
    let root = root(ctx).ok()?;
    let main = ctx.repo.worktrees().main_worktree().ok()?;
    let within = root.strip_prefix(main.path()).ok()?;
    let is_below = within.components().next().is_some_and(|first| matches!(first, Component::Normal(_)));
    is_below.then(|| RepoPath::new(within.as_os_str().as_bytes()))
}

/// Whether every copy of the repository has a folder of workspaces of its own: the configuration names one below the main
/// worktree, and not by an absolute path, which a copy shares.
pub(crate) fn are_in_each_copy(ctx: &Context) -> bool {
    // The configuration has `..` only at the beginning.
    matches!(Path::new(&ctx.config.agents.workspace_root).components().next(), Some(Component::Normal(_)))
}

/// From now on makes workspaces in a folder beside the main worktree: in this repository's own git configuration, unless another folder is
/// set there. Returns the folder that counts there.
pub fn beside(ctx: &Context) -> Result<String> {
    if let Some(set) = ctx.repo.settings().own_values(ROOT_KEY)?.pop() {
        return Ok(set);
    }
    let main = ctx.repo.worktrees().main_worktree()?;
    let name = main.path().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let root = format!("../{name}-worktrees");
    ctx.repo.settings().change_own_setting(ROOT_KEY, std::slice::from_ref(&root))?;
    Ok(root)
}

/// Excludes the workspaces from the untracked files of the main worktree.
pub fn exclude(ctx: &Context) -> Result<()> {
    folder(ctx).map_or(Ok(()), |folder| ctx.repo.workspaces().exclude_folder(&folder).map(drop))
}
