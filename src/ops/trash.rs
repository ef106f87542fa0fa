//! Where what transactions put aside or replace lies, and for how long nothing else is looked at: one rule for both.
//!
//! What a worktree loses lies on that worktree's own file system and mount, so that one rename takes it there and one brings it
//! back: beside the workspaces, else in its git directory, else in the worktree itself. A folder of workspaces outside the
//! repository may be shared with a copy of it, so the trash there bears the repository's id.

use std::path::{Component, Path, PathBuf};

use crate::domain::base::ids::TxnId;
use crate::domain::base::names::RepoPath;
use crate::domain::operation::journaled::Operation;
use crate::env;
use crate::error::{Code, Error, Result};
use crate::files::{self, Beneath};
use crate::git::Worktree;
use crate::ops::context::handle::Context;
use crate::ops::workspaces;
use crate::store::identity;

/// The trash of a worktree in its git directory.
const IN_GIT_DIR: &str = "axiom-trash";

/// The trash of a worktree in itself, where nothing else is on its file system.
pub const IN_WORKTREE: &str = ".axiom-trash";

/// The name of the folder beside the workspaces.
fn name(ctx: &Context) -> Result<String> {
    if is_within(ctx) {
        return Ok("trash".to_owned());
    }
    let identity = identity::read(ctx.layout())?;
    Ok(identity.map_or_else(|| "trash".to_owned(), |identity| format!("trash-{}", identity.id)))
}

/// Whether the folder of the workspaces is in the main worktree, where nobody shares it with a copy.
pub(in crate::ops) fn is_within(ctx: &Context) -> bool {
    let named = Path::new(&ctx.config.agents.workspace_root);
    named.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// The folder beside the workspaces.
///
/// # Errors
/// `BARE_REPOSITORY`; `IO_FAILED`.
pub fn root(ctx: &Context) -> Result<PathBuf> {
    Ok(workspaces::root(ctx)?.join(name(ctx)?))
}

/// A fresh folder beside the workspaces, named after what goes there.
///
/// # Errors
/// As [`root`].
pub fn fresh(ctx: &Context, name: &str) -> Result<PathBuf> {
    Ok(root(ctx)?.join(format!("{name}-{}", env::fresh_id())))
}

/// The transaction's folder beside the workspaces.
///
/// # Errors
/// As [`root`].
pub(in crate::ops) fn of_workspaces(ctx: &Context, txn: &TxnId) -> Result<PathBuf> {
    Ok(root(ctx)?.join(txn.as_str()))
}

/// The transaction's trash for the files of a worktree, the same in every try.
///
/// # Errors
/// As [`root`].
pub(in crate::ops) fn of(ctx: &Context, worktree: &Worktree, txn: &TxnId) -> Result<PathBuf> {
    Ok(root_of(ctx, worktree)?.join(txn.as_str()).join(of_worktree(worktree)))
}

/// The transaction's trash for what is in the git directory of a worktree.
///
/// # Errors
/// As [`root`].
pub(in crate::ops) fn of_git_dir(ctx: &Context, worktree: &Worktree, txn: &TxnId) -> Result<PathBuf> {
    let root = root_of(ctx, worktree)?;
    let is_there = files::mount_of(&root)? == files::mount_of(worktree.git_dir())?;
    let root = if is_there { root } else { worktree.git_dir().join(IN_GIT_DIR) };
    Ok(root.join(txn.as_str()).join(of_worktree(worktree)))
}

fn of_worktree(worktree: &Worktree) -> std::ffi::OsString {
    let name = worktree.git_dir().file_name().filter(|_| !worktree.is_main());
    name.map_or_else(|| "main".into(), std::ffi::OsStr::to_os_string)
}

/// The folder that transactions have their trash in for a worktree.
fn root_of(ctx: &Context, worktree: &Worktree) -> Result<PathBuf> {
    let here = files::mount_of(worktree.path())?;
    for root in [root(ctx)?, worktree.git_dir().join(IN_GIT_DIR)] {
        if files::mount_of(&root)? == here {
            return Ok(root);
        }
    }
    Ok(worktree.path().join(IN_WORKTREE))
}

/// The worktrees of which an operation replaces files.
fn worktrees(ctx: &Context, operation: &Operation) -> Result<Vec<Worktree>> {
    let advances = operation.advances.iter().map(|change| &change.path);
    let paths = operation.worktrees.iter().map(|change| &change.path).chain(advances);
    paths.map(|path| crate::ops::operation::worktree(ctx, path)).collect()
}

/// That every trash of an operation is a folder of its own, or can be one: what is kept in a link's target is somebody else's.
///
/// # Errors
/// `IO_FAILED` naming what is in its place.
pub(in crate::ops) fn are_folders(ctx: &Context, operation: &Operation) -> Result<()> {
    let of_files: Vec<PathBuf> =
        worktrees(ctx, operation)?.iter().map(|worktree| root_of(ctx, worktree)).collect::<Result<_>>()?;
    for trash in std::iter::once(root(ctx)?).chain(of_files) {
        if files::metadata(&trash)?.is_some_and(|meta| !meta.is_dir()) {
            let what = format!("'{}' is no folder, so what is replaced cannot be kept and nothing was changed", trash.display());
            return Err(Error::new(Code::IoFailed, what).hint("move it away, or set agents.workspaceRoot to another folder"));
        }
    }
    Ok(())
}

/// Makes the transaction's trash for every worktree of an operation, before anything is written down: without it nothing can be
/// moved, either way. git takes none of it for untracked content.
///
/// # Errors
/// `IO_FAILED`, `DISK_FULL` with the path.
pub(in crate::ops) fn make(ctx: &Context, operation: &Operation, txn: &TxnId) -> Result<()> {
    workspaces::exclude(ctx)?;
    for worktree in worktrees(ctx, operation)? {
        let trash = of(ctx, &worktree, txn)?;
        if trash.starts_with(worktree.path().join(IN_WORKTREE)) {
            ctx.repo.workspaces().exclude_folder(&RepoPath::new(IN_WORKTREE.as_bytes()))?;
        }
        files::create_dir_all(&trash).map_err(|error| {
            error
                .context("there is no room for what is replaced, so nothing was changed")
                .hint("move away what is in the way there, or set agents.workspaceRoot to another folder")
        })?;
    }
    Ok(())
}

/// Wherever transactions put things aside, held open to be emptied; `None` where there is no such folder.
///
/// # Errors
/// `GIT_FAILED` where the worktrees cannot be listed. What is wrong with one folder is said of that one.
pub(in crate::ops) fn all(ctx: &Context) -> Result<Vec<Result<Option<Beneath>>>> {
    let mut all = vec![open_root(ctx), Beneath::open(ctx.repo.common_dir(), Path::new("axiom/trash"))];
    for entry in ctx.repo.worktrees().list()? {
        all.push(Beneath::open(entry.worktree.git_dir(), Path::new(IN_GIT_DIR)));
        // What names another repository is that one's, and its trash too.
        if entry.present && entry.worktree.verify().is_ok() {
            all.push(Beneath::open(entry.worktree.path(), Path::new(IN_WORKTREE)));
        }
    }
    Ok(all)
}

/// The workspaces' folder may be mounted, and may be a link where the configuration names a place outside the main worktree:
/// that is the user's own word. One within it came with the repository, perhaps.
fn open_root(ctx: &Context) -> Result<Option<Beneath>> {
    let named = Path::new(&ctx.config.agents.workspace_root);
    let root = if is_within(ctx) {
        let named: PathBuf = named.components().filter(|part| matches!(part, Component::Normal(_))).collect();
        Beneath::at(ctx.repo.worktrees().main_worktree()?.path())?
            .map(|main| main.down_into_mounts(&named))
            .transpose()?
            .flatten()
    } else {
        Beneath::at(&workspaces::root(ctx)?)?
    };
    let name = name(ctx)?;
    root.map(|root| root.down(Path::new(&name))).transpose().map(Option::flatten)
}
