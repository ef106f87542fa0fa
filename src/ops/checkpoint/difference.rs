//! What has changed since a checkpoint, or between two.

use serde::Serialize;

use super::captures::capture_options;
use super::look::{find, read_document};
use crate::domain::checkpoint::CheckpointRecord;
use crate::domain::ids::CheckpointName;
use crate::domain::listed::FileChange;
use crate::domain::names::{Oid, RepoPath};
use crate::error::{Code, Error, Result};
use crate::git::Worktree;
use crate::ops::context::Context;

/// One path that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChangedPath {
    /// The path.
    pub path: RepoPath,
    /// What became of it.
    pub change: FileChange,
}

/// A difference between two trees of files.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// The checkpoint.
    pub old: CheckpointName,
    /// The other one; none for the files as they are now.
    pub new: Option<CheckpointName>,
    /// The paths.
    pub files: Vec<ChangedPath>,
    /// The trees, for git.
    #[serde(skip)]
    pub trees: (Oid, Oid),
}

/// Compares the files that a checkpoint holds of the worktree one stands in with another's, or with the files as they are
/// now, tracked and untracked alike. Changes nothing.
///
/// # Errors
/// `UNKNOWN_CHECKPOINT`, `AMBIGUOUS_NAME`, `CHECKPOINT_DAMAGED`; `INVALID_INPUT` where a checkpoint does not hold that
/// worktree; those of a capture.
pub fn difference(ctx: &Context, from: &str, to: Option<&str>) -> Result<Difference> {
    let from = find(ctx, from)?;
    let to = to.map(|to| find(ctx, to)).transpose()?;
    let worktree = ctx.repo.current_worktree()?;
    let old = ctx.repo.read_commit(&capture_of(ctx, &from, &worktree)?)?.tree;
    let new = match &to {
        Some(to) => ctx.repo.read_commit(&capture_of(ctx, to, &worktree)?)?.tree,
        None => ctx.repo.capture_worktree(&worktree, &capture_options(ctx))?.tree,
    };
    let changes = ctx.repo.diff_trees(&old, &new)?.into_iter();
    let files = changes.map(|change| ChangedPath { change: change.what(), path: change.path });
    Ok(Difference { old: from.name, new: to.map(|to| to.name), files: files.collect(), trees: (old, new) })
}

/// What a checkpoint holds of a worktree.
fn capture_of(ctx: &Context, record: &CheckpointRecord, worktree: &Worktree) -> Result<Oid> {
    if worktree.is_main() {
        return Ok(record.capture.clone());
    }
    let document = read_document(ctx, record)?;
    let then = document.workspaces.into_iter().find(|then| std::path::Path::new(&then.path) == worktree.path());
    then.map(|then| then.capture).ok_or_else(|| {
        let what = format!("checkpoint '{}' holds no worktree at '{}'", record.name, worktree.path().display());
        Error::new(Code::InvalidInput, what).hint("call it in another worktree: git -C PATH axiom checkpoint diff NAME")
    })
}
