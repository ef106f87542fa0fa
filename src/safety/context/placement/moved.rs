//! Reconnecting the workspaces of a moved or restored repository: a workspace of ours that names this repository at its old
//! place is made to name it at the new one. A folder that does not name this repository is left alone. Repeating it after a
//! crash finishes it.

use std::path::{Path, PathBuf};

use crate::context::handle::Context;
use axiom_base::env;
use axiom_base::error::Result;
use axiom_git::WorktreeOwner;
use axiom_model::state::repository_location::RepositoryRelocation;

/// Reconnects the workspaces; returns notes for the user.
pub(super) fn take_along(ctx: &Context, placing: &RepositoryRelocation) -> Result<Vec<String>> {
    let mut said = Vec::new();
    let linked = ctx.repo.worktree_owners().linked()?;
    for workspace in ctx.state().restorable.workspaces.values() {
        let (recorded, here) = (Path::new(&workspace.path), PathBuf::from(placing.path(&workspace.path)));
        let Some((git_dir, _)) = linked.iter().find(|(_, folder)| folder == recorded || *folder == here) else { continue };
        match ctx.repo.worktree_owners().whose(&here)? {
            WorktreeOwner::Nobody => {}
            WorktreeOwner::Unclaimed | WorktreeOwner::Ours(_) if names(&here, git_dir, placing)? => {
                env::fault_point("placement.before-connect");
                ctx.repo.worktree_owners().connect(&here, git_dir)?;
                said.push(format!("workspace '{}' was moved with it", here.display()));
            }
            WorktreeOwner::Unclaimed | WorktreeOwner::Ours(_) | WorktreeOwner::Others(_) => {
                said.push(format!("'{}' does not refer to this repository, and is left alone", here.display()));
            }
        }
    }
    Ok(said)
}

/// Whether the folder's `.git` names the git directory, at its new or its old place.
fn names(folder: &Path, git_dir: &Path, placing: &RepositoryRelocation) -> Result<bool> {
    let Some(named) = axiom_git::named_by(folder)? else { return Ok(false) };
    let named = named.to_string_lossy();
    Ok(Path::new(&*named) == git_dir || Path::new(&placing.path(&named)) == git_dir)
}
