//! Whether everything is as an operation expects, before its first change.

use std::path::Path;

use crate::domain::names::RefName;
use crate::domain::operation::{Operation, Way, edit_fits};
use crate::error::{Code, Error, Result};
use crate::git::IndexLock;
use crate::ops::context::Context;

use super::steps::{advance, is_at, worktree};

/// Compares refs, HEADs, the way of advances, workspaces' places and case fields with what is expected. Files are
/// compared one by one when they are moved: each is in a capture by then.
///
/// # Errors
/// `CHANGED_MEANWHILE`, `IN_THE_WAY`, `GIT_LOCKED`, `WORKSPACE_IN_THE_WAY`, `WORKSPACE_BROKEN`.
pub(super) fn expectations(ctx: &Context, operation: &Operation) -> Result<()> {
    let mut changed = Vec::new();
    let names: Vec<RefName> = operation.refs.iter().map(|change| change.name.clone()).collect();
    let now = ctx.repo.read_refs(&names)?;
    let moved = operation.refs.iter().filter(|change| now.get(&change.name) != change.value.old.as_ref());
    changed.extend(moved.map(|change| format!("{} moved", change.name.short())));
    for edit in &operation.edits {
        if !ctx.state().restorable.cases.get(&edit.id).is_some_and(|case| edit_fits(edit, case)) {
            changed.push(format!("task {} was changed", edit.id));
        }
    }
    for change in &operation.worktrees {
        let there = worktree(ctx, &change.path)?;
        there.verify()?;
        IndexLock::check_free(&there)?;
        if !is_at(&ctx.repo.head(&there)?, &change.head.old) {
            changed.push(format!("HEAD of '{}' moved", change.path));
        }
    }
    if !changed.is_empty() {
        return Err(Error::new(Code::ChangedMeanwhile, "what the operation expects has changed").why(changed.join(", ")));
    }
    for change in &operation.advances {
        advance(ctx, change, ctx.txn(), |_, advance| {
            IndexLock::check_free(advance.worktree)?;
            ctx.repo.prepare_advance(advance)
        })?;
    }
    for change in &operation.workspaces {
        let taken = Path::new(&change.workspace.path).symlink_metadata().is_ok();
        match change.way {
            Way::BringBack if taken => {
                return Err(Error::new(Code::WorkspaceInTheWay, format!("'{}' exists already", change.workspace.path))
                    .hint("move it away, and try again"));
            }
            Way::BringBack | Way::PutAside => {}
        }
    }
    Ok(())
}
