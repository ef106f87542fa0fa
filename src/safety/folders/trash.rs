//! The trash: where transactions keep the files and folders that they remove or replace. Not here: emptying it, which is in
//! `tidy`.
//!
//! Files of a worktree stay on its file system and mount, so that one rename moves them to the trash and one brings them
//! back: the trash is in our folder of the git directory, which no `git clean` empties, otherwise next to the workspaces, otherwise in
//! the worktree itself. Workspaces go to the trash next to them. A folder of workspaces outside the repository may be shared with a copy
//! of it, so the name of the trash there contains the repository's id.

use std::path::{Path, PathBuf};

use crate::context::handle::Context;
use crate::folders::workspace_folder;
use axiom_base::env;
use axiom_base::error::Result;
use axiom_base::files;
use axiom_base::files::DeletionFolder;
use axiom_git::Worktree;
use axiom_model::base::ids::OperationId;
use axiom_store::identity;

/// The trash for files, below the common git directory.
const OF_FILES: &str = "axiom/trash";

/// The name of the trash in a worktree's git directory, where that is on another file system.
const IN_GIT_DIR: &str = "axiom-trash";

/// The name of the trash in the worktree itself, where nothing else is on its file system.
pub const IN_WORKTREE: &str = ".axiom-trash";

/// The name of the trash folder next to the workspaces.
fn name(ctx: &Context) -> Result<String> {
    if workspace_folder::are_in_each_copy(ctx) {
        return Ok("trash".to_owned());
    }
    let identity = identity::read(ctx.layout())?;
    Ok(identity.map_or_else(|| "trash".to_owned(), |identity| format!("trash-{}", identity.id)))
}

/// The trash folder next to the workspaces.
pub fn root(ctx: &Context) -> Result<PathBuf> {
    Ok(workspace_folder::root(ctx)?.join(name(ctx)?))
}

/// A new path in the trash next to the workspaces, named after what goes there.
pub fn fresh(ctx: &Context, name: &str) -> Result<PathBuf> {
    Ok(root(ctx)?.join(format!("{name}-{}", env::fresh_id())))
}

/// A new path in the trash next to the workspaces, named after the workspace that goes there.
pub fn fresh_for(ctx: &Context, path: &Path) -> Result<PathBuf> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    fresh(ctx, &name)
}

/// The transaction's folder in the trash next to the workspaces.
pub(crate) fn of_workspaces(ctx: &Context, txn: &OperationId) -> Result<PathBuf> {
    Ok(root(ctx)?.join(txn.as_str()))
}

/// The transaction's trash for the files of a worktree: the same at every attempt.
pub(crate) fn of(ctx: &Context, worktree: &Worktree, txn: &OperationId) -> Result<PathBuf> {
    Ok(root_of(ctx, worktree)?.join(txn.as_str()).join(worktree.name_in_trash()?))
}

/// The transaction's trash for files in the git directory of a worktree.
pub(crate) fn of_git_dir(ctx: &Context, worktree: &Worktree, txn: &OperationId) -> Result<PathBuf> {
    let root = of_files(ctx);
    let is_there = files::mount_of(&root) == files::mount_of(worktree.git_dir());
    let root = if is_there { root } else { worktree.git_dir().join(IN_GIT_DIR) };
    Ok(root.join(txn.as_str()).join(worktree.name_in_trash()?))
}

/// The trash for files that are on the file system of the git directory.
pub fn of_files(ctx: &Context) -> PathBuf {
    ctx.repo.common_dir().join(OF_FILES)
}

/// The trash folder for the files of a worktree, with a folder for each transaction.
pub(crate) fn root_of(ctx: &Context, worktree: &Worktree) -> Result<PathBuf> {
    let here = files::mount_of(worktree.path());
    for root in [of_files(ctx), root(ctx)?, worktree.git_dir().join(IN_GIT_DIR)] {
        if files::mount_of(&root) == here {
            return Ok(root);
        }
    }
    Ok(worktree.path().join(IN_WORKTREE))
}

/// The paths of all trash folders that go neither with a workspace nor with our own folder, whether they are there or not; the first is
/// the one next to the workspaces.
pub fn places(ctx: &Context) -> Result<Vec<PathBuf>> {
    let is_workspace = |path: &Path| ctx.state().restorable.workspaces.values().any(|one| Path::new(&one.path) == path);
    let mut places = vec![root(ctx)?];
    for entry in ctx.repo.worktrees().list()?.into_iter().filter(|entry| !is_workspace(entry.worktree.path())) {
        places.push(entry.worktree.git_dir().join(IN_GIT_DIR));
        if entry.present && entry.worktree.verify().is_ok() {
            places.push(entry.worktree.path().join(IN_WORKTREE));
        }
    }
    Ok(places)
}

/// All trash folders, opened to be emptied; `None` for a folder that does not exist.
pub(crate) fn all(ctx: &Context) -> Result<Vec<Result<Option<DeletionFolder>>>> {
    let mut all = vec![open_root(ctx), DeletionFolder::open(ctx.repo.common_dir(), Path::new(OF_FILES))];
    for entry in ctx.repo.worktrees().list()? {
        all.push(DeletionFolder::open(entry.worktree.git_dir(), Path::new(IN_GIT_DIR)));
        // A worktree whose `.git` names another repository belongs to that one, and so does its trash.
        if entry.present && entry.worktree.verify().is_ok() {
            all.push(DeletionFolder::open(entry.worktree.path(), Path::new(IN_WORKTREE)));
        }
    }
    Ok(all)
}

/// Opens the trash next to the workspaces. The workspaces' folder may be a mount. It may be a link only where the
/// configuration names a place outside the main worktree, which is the user's own decision; a link within the main worktree
/// may have come with the repository.
fn open_root(ctx: &Context) -> Result<Option<DeletionFolder>> {
    let root = match workspace_folder::are_in_each_copy(ctx) {
        true => DeletionFolder::at(ctx.repo.worktrees().main_worktree()?.path())?
            .map(|main| main.down_into_mounts(Path::new(&ctx.config.agents.workspace_root)))
            .transpose()?
            .flatten(),
        false => DeletionFolder::at(&workspace_folder::root(ctx)?)?,
    };
    let name = name(ctx)?;
    root.map(|root| root.down(Path::new(&name))).transpose().map(Option::flatten)
}
