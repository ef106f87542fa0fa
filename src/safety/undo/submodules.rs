//! Submodules in an undo: each goes back in its own repository, if nothing changed in the same places since.

use std::collections::BTreeSet;
use std::path::Path;

use super::{UndoExclusions, rebased};
use crate::checkpoint::CheckpointCaptures;
use crate::context::handle::Context;
use crate::operation::step_parts::submodule_folders::{is_checked_out, opened};
use crate::rollback::preview_lines::unrestored_reasons::NOT_CAPTURED;
use crate::rollback::submodules::present_at;
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::names::{Oid, RefName, RepoPath};
use axiom_model::journal::journaled_changes::SubmoduleChange;
use axiom_model::operation::operation_record::OperationRecord;

/// Bases the changes on the present contents. Leaves out, and names, those whose repository was removed since, and those that cannot be
/// looked at.
pub(super) fn rebase(
    ctx: &Context,
    submodules: &mut Vec<SubmoduleChange>,
    captured: &CheckpointCaptures,
    left_as_is: &mut UndoExclusions,
) -> Result<()> {
    let all = std::mem::take(submodules);
    for mut change in all.iter().cloned() {
        let folder = Path::new(&change.worktree.path).to_owned();
        let Ok((repo, _)) = opened(ctx, &change) else {
            left_as_is.removed.push(change.worktree.path);
            continue;
        };
        let (now, commit) = match present_at(ctx, captured, &folder, &repo)? {
            Ok(present) => present,
            Err(why) => {
                let left = if why == NOT_CAPTURED { &mut left_as_is.unread } else { &mut left_as_is.removed };
                left.push(change.worktree.path);
                continue;
            }
        };
        let moved: Vec<&RefName> = change.refs.iter().map(|one| &one.name).collect();
        let now = (&now.worktree, &now.capture, commit);
        change.worktree = rebased(&repo, &moved, &change.worktree, now, (&inside(&all, &change.worktree.path), left_as_is))?;
        change.checked_out.old = is_checked_out(&folder);
        submodules.push(change);
    }
    Ok(())
}

/// The paths, in the worktree or submodule at `path`, of those that change themselves.
pub(super) fn inside(submodules: &[SubmoduleChange], path: &str) -> BTreeSet<RepoPath> {
    let below = |one: &SubmoduleChange| {
        let rest = Path::new(&one.worktree.path).strip_prefix(path).ok()?;
        let rest = RepoPath::new(std::os::unix::ffi::OsStrExt::as_bytes(rest.as_os_str()));
        (!rest.as_bytes().is_empty()).then_some(rest)
    };
    submodules.iter().filter_map(below).collect()
}

/// Checks that the objects that the undo of a transaction needs are still in the repositories of its submodules. One whose repository is
/// gone is left out by the undo.
pub(super) fn are_there(ctx: &Context, transaction: &OperationRecord) -> Result<()> {
    for change in &transaction.changes.submodules {
        let Ok((repo, _)) = opened(ctx, change) else { continue };
        let worktree = &change.worktree;
        let trees = [&worktree.files, &worktree.index].into_iter().flat_map(|trees| [&trees.old, &trees.new]);
        let captures = [&worktree.captures.old, &worktree.captures.new].into_iter().flatten();
        let refs = change.refs.iter().filter_map(|one| one.value.old.as_ref());
        let needed: BTreeSet<&Oid> = trees.chain(captures).chain(refs).collect();
        if needed.into_iter().any(|oid| !repo.connectivity().holds(oid)) {
            let what = format!("'{}' cannot be undone any more: objects that it needs are gone", transaction.id);
            return Err(Error::new(Code::NotUndoable, what)
                .why(format!("they were in the submodule '{}'", worktree.path))
                .hint("git axiom checkpoint list    shows which checkpoints are left"));
        }
    }
    Ok(())
}
