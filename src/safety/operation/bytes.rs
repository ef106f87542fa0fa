//! The files that an operation changes in a worktree, those too of which only the bytes on the disk change.

use axiom_base::error::Result;
use axiom_git::{CaptureExtras, Repository, TreeChange, Worktree, WorktreeCapture};
use axiom_model::base::names::Oid;
use axiom_model::journal::journaled_changes::WorktreeChange;

use crate::operation::step_parts::worktree_step::{capture_with, extras_of};

/// The files that an operation changes in a worktree.
pub(crate) fn files_of(repo: &Repository, change: &WorktreeChange) -> Result<Vec<TreeChange>> {
    let (old, new) = extras_of_both(repo, change)?;
    repo.captures().changed_files((&change.files.old, &old), (&change.files.new, &new))
}

/// Those of [`files_of`] that a preview names: what is on the disk already, and is only stored otherwise then, changes for nobody.
pub(crate) fn files_named(repo: &Repository, worktree: &Worktree, change: &WorktreeChange) -> Result<Vec<TreeChange>> {
    let (old, new) = extras_of_both(repo, change)?;
    let changes = repo.captures().changed_files((&change.files.old, &old), (&change.files.new, &new))?;
    repo.reversals().of_other_bytes(worktree, &old, (&change.files.new, &new), changes)
}

fn extras_of_both(repo: &Repository, change: &WorktreeChange) -> Result<(CaptureExtras, CaptureExtras)> {
    Ok((extras_of(repo, change.captures.old.as_ref())?, extras_of(repo, change.captures.new.as_ref())?))
}

/// The capture of a worktree's present state. Where none was made yet, and the tree does not fully describe the files (raw
/// bytes are held, or a sparse checkout leaves files out), it is made, so that all changes of an operation can be found. A
/// crash leaves objects that nothing refers to.
pub(crate) fn with_bytes_known(repo: &Repository, now: &WorktreeCapture, made: Option<Oid>) -> Result<Option<Oid>> {
    if made.is_some() || now.extras.raw.is_empty() && now.extras.index.left_out().is_empty() {
        return Ok(made);
    }
    capture_with(repo, now, (&now.tree, &now.index_tree), now.extras.clone()).map(Some)
}
