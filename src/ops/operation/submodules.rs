//! Submodules: a rollback restores their entries in the index, and does not touch their folders.

use std::path::Path;

use crate::domain::base::names::{Oid, RepoPath};
use crate::error::Result;
use crate::git::{FileId, SUBMODULE, TreeChange};
use crate::ops::context::handle::Context;

/// The tree `then`, in which the present submodules keep the commits that they have checked out now; and the paths of those
/// for which `then` has another commit. `changes` are the changes from the current tree to `then`.
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
