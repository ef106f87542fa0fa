//! What only the working files hold of files that an operation replaces: bytes that git's conversions hide, so that git
//! takes the file for unchanged and would not restore it exactly; and permissions.

use crate::domain::base::names::Oid;
use crate::domain::journal::journaled::{JournaledOperation, WorktreeChange};
use crate::error::Result;
use crate::git::{CaptureExtras, Repository, TreeChange, Worktree, WorktreeCapture};
use crate::ops::checkpoint::{CapturedWorktree, CheckpointCaptures};
use crate::ops::context::handle::Context;

use super::steps::{capture_with, extras_of};

/// Where an operation replaces or removes files of which no capture has the bytes or the permissions, captures them together
/// with the worktree's present state; the reversal and the undo restore from that capture. The operation's ref keeps it
/// alive; a crash before that leaves objects that nothing refers to.
///
/// # Errors
/// `GIT_FAILED`, `IO_FAILED`, `DISK_FULL`.
pub(in crate::ops) fn keep_bytes_replaced(
    ctx: &Context,
    operation: &mut JournaledOperation,
    captured: &CheckpointCaptures,
) -> Result<()> {
    for change in &mut operation.worktrees {
        if let Some(now) = captured.worktree_at(&change.path) {
            keep_bytes(&ctx.repo, change, now)?;
        }
    }
    for change in operation.submodules.iter_mut().filter(|change| change.checked_out.old) {
        if let Some(now) = captured.submodule_at(&change.worktree.path) {
            keep_bytes(&now.repo, &mut change.worktree, &now.present)?;
        }
    }
    Ok(())
}

/// As [`keep_bytes_replaced`], of one worktree.
///
/// # Errors
/// As there.
pub(in crate::ops) fn keep_bytes(repo: &Repository, change: &mut WorktreeChange, now: &CapturedWorktree) -> Result<()> {
    let known = &now.capture.extras.raw;
    let (modes, comes) = (&now.capture.extras.modes, extras_of(repo, change.captures.new.as_ref())?);
    let (old, new) = (now.capture.extras.beside(&change.files.old), comes.beside(&change.files.new));
    let replaced = repo.captures().differing(old, new)?;
    let raw = repo.captures().with_bytes_replaced(&now.worktree, (old, &replaced))?;
    let kept = repo.captures().with_permissions_replaced(&now.worktree, &replaced, modes, &comes.modes)?;
    if raw != *known || kept != *modes {
        let mut extras = now.capture.extras.clone();
        (extras.raw, extras.modes) = (raw, kept);
        let capture = capture_with(repo, &now.capture, (&change.files.old, &change.index.old), extras)?;
        change.captures.old = Some(capture);
    }
    Ok(())
}

/// The files that an operation changes in a worktree.
///
/// # Errors
/// `GIT_FAILED`, `CHECKPOINT_DAMAGED`.
pub(in crate::ops) fn files_of(repo: &Repository, change: &WorktreeChange) -> Result<Vec<TreeChange>> {
    let (old, new) = extras_of_both(repo, change)?;
    repo.captures().changed_files((&change.files.old, &old), (&change.files.new, &new))
}

/// Those of [`files_of`] that a preview names: what is on the disk already, and is only stored otherwise then, changes for nobody.
///
/// # Errors
/// As there; `DISK_FULL`.
pub(in crate::ops) fn files_named(repo: &Repository, worktree: &Worktree, change: &WorktreeChange) -> Result<Vec<TreeChange>> {
    let (old, new) = extras_of_both(repo, change)?;
    let changes = repo.captures().changed_files((&change.files.old, &old), (&change.files.new, &new))?;
    repo.restore().of_other_bytes(worktree, &old, (&change.files.new, &new), changes)
}

fn extras_of_both(repo: &Repository, change: &WorktreeChange) -> Result<(CaptureExtras, CaptureExtras)> {
    Ok((extras_of(repo, change.captures.old.as_ref())?, extras_of(repo, change.captures.new.as_ref())?))
}

/// The capture of a worktree's present state. Where none was made yet, and the tree does not fully describe the files (raw
/// bytes are held, or a sparse checkout leaves files out), it is made, so that all changes of an operation can be found. A
/// crash leaves objects that nothing refers to.
///
/// # Errors
/// As [`capture_with`].
pub(in crate::ops) fn with_bytes_known(repo: &Repository, now: &WorktreeCapture, made: Option<Oid>) -> Result<Option<Oid>> {
    if made.is_some() || now.extras.raw.is_empty() && now.extras.index.left_out().is_empty() {
        return Ok(made);
    }
    capture_with(repo, now, (&now.tree, &now.index_tree), now.extras.clone()).map(Some)
}
