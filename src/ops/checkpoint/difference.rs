//! Comparing a checkpoint with another one, or with the present files.

use serde::Serialize;

use super::captures::capture_options;
use super::look::{find, read_document};
use crate::domain::base::ids::CheckpointName;
use crate::domain::base::listed::FileChange;
use crate::domain::base::names::{Oid, RepoPath};
use crate::domain::checkpoint::document::{CheckpointDocument, CheckpointRecord, Coverage};
use crate::error::{Code, Error, Result};
use crate::git::{CaptureExtras, TreeChange, Worktree};
use crate::ops::context::handle::Context;
use crate::ops::operation::differences::{Then, differences, differences_of_two};

/// One path that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChangedPath {
    /// The path.
    pub path: RepoPath,
    /// How it differs.
    pub change: FileChange,
}

/// A difference between two trees of files.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// The older side: a checkpoint.
    pub old: CheckpointName,
    /// The newer side: a checkpoint, or `None` for the files as they are now.
    pub new: Option<CheckpointName>,
    /// The paths that differ.
    pub files: Vec<ChangedPath>,
    /// The trees of both sides, for git.
    #[serde(skip)]
    pub trees: (Oid, Oid),
    /// Paths of `files` that are equal in both trees: they differ only in bytes that git's conversions hide.
    #[serde(skip)]
    pub hidden: Vec<RepoPath>,
}

/// Compares the files that a checkpoint holds of the current worktree with those of another checkpoint, or with the files as
/// they are now, tracked and untracked. Changes nothing.
///
/// # Errors
/// `UNKNOWN_CHECKPOINT`, `AMBIGUOUS_NAME`, `CHECKPOINT_DAMAGED`; `INVALID_INPUT` where a checkpoint does not hold that
/// worktree; those of a capture.
pub fn difference(ctx: &Context, from: &str, to: Option<&str>) -> Result<Difference> {
    let from = find(ctx, from)?;
    let to = to.map(|to| find(ctx, to)).transpose()?;
    let worktree = ctx.repo.worktrees().current_worktree()?;
    let old = held(ctx, &from, &worktree)?;
    let (new, changes) = match &to {
        Some(to) => {
            let new = held(ctx, to, &worktree)?;
            let changes = differences_of_two(ctx, old.files(), new.files())?;
            (new.tree, changes)
        }
        None => {
            let now = ctx.repo.captures().capture_worktree(&worktree, &capture_options(ctx))?;
            let back = differences(ctx, (&worktree, &now), old.files(), None)?;
            (now.tree, back.into_iter().map(TreeChange::reversed).collect())
        }
    };
    let hidden = changes.iter().filter(|change| change.is_of_bytes_alone()).map(|change| change.path.clone()).collect();
    let files = changes.into_iter().map(|change| ChangedPath { change: change.what(), path: change.path });
    Ok(Difference { old: from.name, new: to.map(|to| to.name), files: files.collect(), trees: (old.tree, new), hidden })
}

/// What a checkpoint holds of a worktree.
struct Held {
    tree: Oid,
    extras: CaptureExtras,
    coverage: Option<Coverage>,
}

impl Held {
    fn files(&self) -> Then<'_> {
        Then { tree: &self.tree, extras: &self.extras, coverage: self.coverage.as_ref() }
    }
}

fn held(ctx: &Context, record: &CheckpointRecord, worktree: &Worktree) -> Result<Held> {
    let document = read_document(ctx, record);
    let (capture, coverage) = if worktree.is_main() {
        // Where the document is damaged, only the coverage is unknown: the capture is in the record.
        (record.capture.clone(), document.ok().and_then(|document| document.main_coverage().cloned()))
    } else {
        let document = document?;
        let coverage = worktree.path().to_str().and_then(|path| document.coverage.get(path)).cloned();
        (capture_of(record, document, worktree)?, coverage)
    };
    let extras = CaptureExtras::of_capture(&ctx.repo, &capture)?;
    Ok(Held { tree: ctx.repo.objects().read_commit(&capture)?.tree, extras, coverage })
}

/// The capture of a linked worktree.
fn capture_of(record: &CheckpointRecord, document: CheckpointDocument, worktree: &Worktree) -> Result<Oid> {
    let then = document.workspaces.into_iter().find(|then| std::path::Path::new(&then.path) == worktree.path());
    then.map(|then| then.capture).ok_or_else(|| {
        let what = format!("checkpoint '{}' holds no worktree at '{}'", record.name, worktree.path().display());
        Error::new(Code::InvalidInput, what).hint("call it in another worktree: git -C PATH axiom checkpoint diff NAME")
    })
}
