//! What has changed since a checkpoint, or between two.

use serde::Serialize;

use super::captures::capture_options;
use super::look::find;
use crate::domain::ids::CheckpointName;
use crate::domain::names::{Oid, RepoPath};
use crate::error::Result;
use crate::ops::context::Context;

/// One path that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChangedPath {
    /// The path.
    pub path: RepoPath,
    /// `added`, `deleted` or `changed`.
    pub how: &'static str,
}

/// A difference between two trees of files.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// The checkpoint.
    pub from: CheckpointName,
    /// The other one; none for the files as they are now.
    pub to: Option<CheckpointName>,
    /// The paths.
    pub files: Vec<ChangedPath>,
    /// The trees, for git.
    #[serde(skip)]
    pub trees: (Oid, Oid),
}

/// Compares the main worktree's files of a checkpoint with another's, or with the files as they are now, tracked and
/// untracked alike. Changes nothing.
///
/// # Errors
/// `UNKNOWN_CHECKPOINT`, `AMBIGUOUS_NAME`, `CHECKPOINT_DAMAGED`; those of a capture.
pub fn difference(ctx: &Context, from: &str, to: Option<&str>) -> Result<Difference> {
    let from = find(ctx, from)?;
    let to = to.map(|to| find(ctx, to)).transpose()?;
    let old = ctx.repo.read_commit(&from.capture)?.tree;
    let new = match &to {
        Some(to) => ctx.repo.read_commit(&to.capture)?.tree,
        None => ctx.repo.capture_worktree(&ctx.repo.main_worktree()?, &capture_options(ctx))?.tree,
    };
    let changes = ctx.repo.diff_trees(&old, &new)?.into_iter();
    let files = changes.map(|change| {
        let how = match (change.old.is_some(), change.new.is_some()) {
            (false, _) => "added",
            (true, false) => "deleted",
            (true, true) => "changed",
        };
        ChangedPath { path: change.path, how }
    });
    Ok(Difference { from: from.name, to: to.map(|to| to.name), files: files.collect(), trees: (old, new) })
}
