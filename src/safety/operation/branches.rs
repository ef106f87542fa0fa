//! Branches in an operation: which must not move.

use std::collections::BTreeSet;
use std::path::Path;

use crate::context::handle::Context;
use crate::folders::workspace_folder;
use axiom_base::error::{Code, Error, Result};
use axiom_base::shell_word::shell_word;
use axiom_git::Head;
use axiom_model::base::names::RefName;
use axiom_model::journal::journaled::JournaledOperation;
use axiom_model::journal::journaled_changes::HeadState;

/// Checks that no worktree outside of the operation uses a branch that moves: the worktree would seem to have staged changes
/// that revert the new commits; or a rebase or bisect there could not end properly.
pub fn branches_are_free(ctx: &Context, operation: &JournaledOperation) -> Result<()> {
    let part: BTreeSet<&Path> = operation
        .worktrees
        .iter()
        .map(|change| Path::new(&change.path))
        .chain(operation.advances.iter().map(|change| Path::new(&change.path)))
        .chain(operation.workspaces.iter().map(|change| Path::new(&change.workspace.path)))
        .collect();
    let moving: BTreeSet<&RefName> = operation.refs.iter().map(|change| &change.name).collect();
    let heads: BTreeSet<&RefName> = operation
        .worktrees
        .iter()
        .filter(|change| change.head.old != change.head.new)
        .filter_map(|change| match &change.head.new {
            HeadState::Branch(name) => Some(name),
            HeadState::Detached(_) => None,
        })
        .collect();
    for entry in ctx.repo.worktrees().list()?.into_iter().filter(|entry| !part.contains(entry.worktree.path())) {
        let path = entry.worktree.path();
        let place = path.display().to_string();
        let is_meant = |branch: &RefName| moving.contains(branch) || heads.contains(branch);
        if let Some(branch) = entry.head.as_ref().and_then(Head::branch).filter(|branch| is_meant(branch)) {
            let error = Error::new(Code::BranchInUse, format!("{} is checked out in '{place}'", branch.short()));
            match &entry.locked {
                _ if entry.present => return Err(error.hint(format!("git -C {} switch --detach", shell_word(&place)))),
                Some(reason) => return Err(gone_and_locked(error, path, reason)),
                // The folder is missing: there is nothing to damage.
                None if is_ours(ctx, path) => continue,
                None => {
                    return Err(error
                        .why("that folder is gone, but git still lists it")
                        .hint("git worktree prune    removes the entries of worktrees whose folders are gone"));
                }
            }
        }
        // During a rebase or bisect, HEAD is on no branch; at its end git would find another commit on the branch.
        let waiting = ctx.repo.git_operations().branches_in_progress(&entry.worktree)?;
        if let Some((branch, kind)) = waiting.iter().find(|(branch, _)| is_meant(branch)) {
            return Err(Error::new(Code::BranchInUse, format!("{} is part of {} in '{place}'", branch.short(), kind.words()))
                .hint(format!("end it there first: {}", kind.ways_out())));
        }
    }
    Ok(())
}

fn gone_and_locked(error: Error, path: &Path, reason: &str) -> Error {
    let reason = if reason.is_empty() { String::new() } else { format!(": {reason}") };
    error.why(format!("that folder is gone, and it is locked{reason}")).hint(format!(
        "git worktree unlock {}; git worktree prune    if it is gone for good",
        shell_word(&path.display().to_string())
    ))
}

/// Whether a worktree is, or was, the workspace of a task.
fn is_ours(ctx: &Context, path: &Path) -> bool {
    let known = ctx.state().restorable.workspaces.values().any(|workspace| Path::new(&workspace.path) == path);
    known || workspace_folder::root(ctx).is_ok_and(|root| path.starts_with(root))
}
