//! The folders of submodules that an operation changes: what is in them, and the repositories that belong to them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::context::handle::Context;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_git::{Repository, Worktree};
use axiom_model::journal::journaled_changes::SubmoduleChange;

/// The repository and the worktree of a submodule that changes.
pub(crate) fn opened(ctx: &Context, change: &SubmoduleChange) -> Result<(Arc<Repository>, Worktree)> {
    let (folder, git_dir) = (Path::new(&change.worktree.path), Path::new(&change.git_dir));
    let worktrees = ctx.repo.worktrees();
    let known = change.worktree.captures.old.as_ref().or(change.worktree.captures.new.as_ref());
    let mut places = worktrees.places_of_submodule(git_dir).filter(|place| worktrees.is_submodule(folder, place));
    // Another one may be called by the same folder: what the operation knows is in the one that git moved.
    let is_it = |place: &PathBuf| {
        let has = |oid| ctx.repo.submodule(folder, place).is_ok_and(|repo| repo.connectivity().holds(oid));
        place == git_dir || known.is_some_and(has)
    };
    let Some(git_dir) = places.find(is_it) else {
        let what = format!("'{}' is no longer a submodule of this repository", folder.display());
        return Err(Error::new(Code::WorkspaceNotOurs, what)
            .why(format!("'{}' is not its git directory any more", git_dir.display()))
            .hint("git submodule update --init PATH    checks it out again"));
    };
    let repo = ctx.repo.submodule(folder, &git_dir)?;
    let worktree = repo.submodule_worktree();
    Ok((repo, worktree))
}

/// Whether the folder of a submodule has its `.git`, or cannot be looked into: that is no deleted one.
pub(crate) fn is_checked_out(folder: &Path) -> bool {
    !folder.join(".git").symlink_metadata().is_err_and(|error| files::says_nothing_is_there(&error))
}

/// Whether anything is in a folder. One that cannot be listed may hold something.
pub(crate) fn has_files(folder: &Path) -> bool {
    match std::fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_some(),
        Err(error) => !files::says_nothing_is_there(&error),
    }
}
