//! Submodules: a rollback brings back what the index says of them, and leaves their folders alone.

use std::path::Path;

use crate::domain::base::names::{Oid, RepoPath};
use crate::error::Result;
use crate::git::{FileId, SUBMODULE, TreeChange};
use crate::ops::context::handle::Context;

/// The tree `then` with the submodules that are there as they will be after the rollback: at the commits that they have
/// checked out now. And those of them of which `then` says something else. `changes` are those from the tree of now to
/// `then`.
///
/// # Errors
/// `GIT_FAILED`, `DISK_FULL`.
pub(in crate::ops) fn with_own_submodules(
    ctx: &Context,
    root: &Path,
    then: Oid,
    changes: &[TreeChange],
) -> Result<(Oid, Vec<RepoPath>)> {
    let is_submodule = |file: &&FileId| file.mode == SUBMODULE;
    let mut own = Vec::new();
    for change in changes {
        let Some(wanted) = change.new.as_ref().filter(is_submodule) else { continue };
        let Some(commit) = ctx.repo.restore().head_of_nested(&root.join(change.path.to_path())) else { continue };
        if commit != wanted.oid {
            let own_one = Some(FileId { mode: SUBMODULE, oid: commit });
            own.push(TreeChange { path: change.path.clone(), old: change.new.clone(), new: own_one });
        }
    }
    let tree = ctx.repo.objects().edit_tree(&then, &own)?;
    Ok((tree, own.into_iter().map(|change| change.path).collect()))
}
