//! What only the working files hold of files that an operation replaces: bytes that git's conversions hide, so that git
//! takes the file for unchanged and would not restore it exactly; and permissions.

use crate::checkpoint::{CapturedWorktree, CheckpointCaptures};
use crate::context::handle::Context;
use crate::operation::{capture_with, extras_of};
use axiom_base::error::Result;
use axiom_git::Repository;
use axiom_model::journal::journaled::JournaledOperation;
use axiom_model::journal::journaled_changes::WorktreeChange;

/// Where an operation replaces or removes files of which no capture has the bytes or the permissions, captures them together
/// with the worktree's present state; the reversal and the undo restore from that capture. The operation's ref keeps it
/// alive; a crash before that leaves objects that nothing refers to.
pub(crate) fn keep_bytes_replaced(
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
pub fn keep_bytes(repo: &Repository, change: &mut WorktreeChange, now: &CapturedWorktree) -> Result<()> {
    let known = &now.capture.extras.raw;
    let (modes, comes) = (&now.capture.extras.modes, extras_of(repo, change.captures.new.as_ref())?);
    let (old, new) = (now.capture.extras.beside(&change.files.old), comes.beside(&change.files.new));
    let replaced = repo.captures().differing(old, new)?;
    let raw = repo.kept_bytes().with_bytes_replaced(&now.worktree, (old, &replaced))?;
    let kept = repo.captured_permissions().with_permissions_replaced(&now.worktree, &replaced, modes, &comes.modes)?;
    if raw != *known || kept != *modes {
        let mut extras = now.capture.extras.clone();
        (extras.raw, extras.modes) = (raw, kept);
        let capture = capture_with(repo, &now.capture, (&change.files.old, &change.index.old), extras)?;
        change.captures.old = Some(capture);
    }
    Ok(())
}
