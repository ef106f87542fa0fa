//! Files that no capture holds and that were in the way of an operation: moving them to the trash, finding them there,
//! putting them back.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::context::handle::Context;
use crate::folders::trash;
use axiom_base::error::Result;
use axiom_git::{self, MovedObstacle, TrashedObstacle, Worktree, take_away_again};
use axiom_model::base::ids::OperationId;
use axiom_model::base::ref_change::ChangeDirection;
use axiom_model::journal::journaled::JournaledOperation;
use axiom_model::journal::journaled_changes::TrashChange;

use crate::operation::step_parts::submodule_folders::opened;

/// The worktree or submodule at a path.
fn there(ctx: &Context, path: &str) -> Result<Option<Worktree>> {
    let path = Path::new(path);
    match ctx.repo.worktrees().worktree_at(path)? {
        Some(entry) => Ok(Some(entry.worktree)),
        None => ctx.repo.worktrees().submodule_at(path),
    }
}

pub(super) fn take_away(ctx: &Context, change: &TrashChange) -> Result<()> {
    match there(ctx, &change.worktree)? {
        Some(worktree) => take_away_again(&worktree, &in_trash(change)),
        None => Ok(()),
    }
}

pub(super) fn in_trash(change: &TrashChange) -> TrashedObstacle {
    TrashedObstacle { path: change.path.clone(), folder: PathBuf::from(&change.trash) }
}

/// The files that were in the way of an operation and are in its trash.
pub(super) fn moved_aside(ctx: &Context, operation: &JournaledOperation, txn: &OperationId) -> Result<Vec<TrashChange>> {
    let worktrees = operation.worktrees.iter().map(|change| &change.path);
    let worktrees = worktrees.chain(operation.submodules.iter().map(|change| &change.worktree.path));
    let paths: BTreeSet<&String> = worktrees.chain(operation.advances.iter().map(|change| &change.path)).collect();
    let mut all = Vec::new();
    for path in paths {
        // A worktree that was removed meanwhile: there is no place to put anything back to.
        let there = match (there(ctx, path), operation.submodules.iter().find(|change| change.worktree.path == *path)) {
            // Its folder cannot be looked at, and its trash can.
            (Err(_), Some(change)) => opened(ctx, change).ok().map(|(_, there)| there),
            (found, _) => found?,
        };
        let Some(there) = there else { continue };
        for TrashedObstacle { path: inside, folder } in axiom_git::in_trash(&trash::of(ctx, &there, txn)?)? {
            let (worktree, trash) = (path.clone(), folder.display().to_string());
            all.push(TrashChange { worktree, path: inside, trash, way: ChangeDirection::PutAside });
        }
    }
    Ok(all)
}

/// Puts files back from the trash where their places are free; returns those of which something is still in the trash.
pub(super) fn put_back(ctx: &Context, asides: &[TrashChange]) -> Result<Vec<MovedObstacle>> {
    let mut stay = Vec::new();
    for change in asides {
        let item = in_trash(change);
        // The caller names what stays in the trash: a failure here must not stop the rest.
        let back = there(ctx, &change.worktree).and_then(|there| match there {
            Some(worktree) if worktree.verify().is_ok() => axiom_git::put_back(&worktree, &item),
            Some(_) | None => Ok(false),
        });
        let back = match back {
            Err(error) if error.passes() => return Err(error),
            Err(error) => {
                tracing::warn!(%error, "something stays in the trash");
                false
            }
            Ok(back) => back,
        };
        if !back {
            stay.push(MovedObstacle { now_at: item.now_at(), path: item.path });
        }
    }
    Ok(stay)
}
