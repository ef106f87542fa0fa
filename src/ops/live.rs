//! Periodic captures of workspaces in which an agent works: `refs/axiom/live/<task>`, replaced each time.

use std::path::Path;

use crate::domain::ids::CaseId;
use crate::domain::names::RefName;
use crate::error::Result;
use crate::git::{Expected, RefEdit};
use crate::ops::checkpoint;
use crate::ops::context::Context;

/// The ref that holds the newest capture of a task's workspace.
pub fn live_ref(task: &CaseId) -> RefName {
    RefName::new(format!("refs/axiom/live/{task}"))
}

/// Captures the workspace of a task while its agent goes on, if its files have changed since the last time; says whether
/// it did. A crash leaves the old capture or the new one.
///
/// # Errors
/// `BUSY`; those of a capture, for example where a file vanished while it was read: the old capture is then still there.
pub fn capture(context: &mut Context, task: &CaseId) -> Result<bool> {
    let Some(workspace) = context.state().restorable.workspaces.get(task).cloned() else { return Ok(false) };
    context.with_operation_lock(|context| {
        let Some(entry) = context.repo.worktree_at(Path::new(&workspace.path))? else { return Ok(false) };
        let capture = context.repo.capture_worktree(&entry.worktree, &checkpoint::capture_options(context))?;
        let name = live_ref(task);
        let same_tree = match (context.repo.read_ref(&name)?, capture.head.commit()) {
            (Some(last), _) => context.repo.read_commit(&last)?.tree == capture.tree,
            // Nothing is captured that the branch holds already.
            (None, Some(head)) => context.repo.read_commit(head)?.tree == capture.tree,
            (None, None) => false,
        };
        if same_tree {
            return Ok(false);
        }
        let made = context.repo.commit_capture(&capture, &format!("workspace of {task}, while it was worked on"), &[])?;
        let edit = RefEdit { name, expected: Expected::Any, new: Some(made.commit) };
        context.repo.update_refs(&[edit], &format!("git axiom: live capture of {task}"))?;
        Ok(true)
    })
}
