//! What only the disk has of files that an operation replaces: bytes that git takes for unchanged and would not give back as
//! they are, and permissions.

use std::path::Path;

use crate::domain::operation::Operation;
use crate::error::Result;
use crate::ops::checkpoint::Captured;
use crate::ops::context::Context;

use super::steps::{capture_with, extras_of};

/// Where an operation replaces or removes files of which no capture has the bytes or the permissions, they are kept in a
/// capture of the worktree as it is, and that is what the way back goes by. The operation keeps it alive; a crash before that leaves objects that
/// nothing names.
///
/// # Errors
/// `GIT_FAILED`, `IO_FAILED`, `DISK_FULL`, `IDENTITY_MISSING`.
pub(in crate::ops) fn keep_bytes_replaced(ctx: &Context, operation: &mut Operation, captured: &Captured) -> Result<()> {
    for change in &mut operation.worktrees {
        let mut all = std::iter::once(&captured.main).chain(captured.workspaces.iter().map(|workspace| &workspace.captured));
        let Some(now) = all.find(|one| one.worktree.path() == Path::new(&change.path)) else { continue };
        let known = &now.capture.extras.raw;
        let trees = (&change.files.old, &change.files.new);
        let raw = ctx.repo.with_bytes_replaced(&now.worktree, trees, known)?;
        let (modes, comes) = (&now.capture.extras.modes, extras_of(ctx, change.captures.new.as_ref())?.modes);
        let kept = ctx.repo.with_permissions_replaced(&now.worktree, trees, modes, &comes)?;
        if raw != *known || kept != *modes {
            let mut extras = now.capture.extras.clone();
            (extras.raw, extras.modes) = (raw, kept);
            let capture = capture_with(ctx, &now.capture, (&change.files.old, &change.index.old), extras)?;
            change.captures.old = Some(capture);
        }
    }
    Ok(())
}
