//! Moving a file or folder as a whole: by a rename, else piece by piece.

use std::path::Path;

use super::moves::{RenameOutcome, renamed};
use crate::env;
use crate::error::Result;
use crate::files::moving::piecewise_move;

/// As [`crate::files::rename_no_replace`], also for folders: a folder is moved as a whole, or not at all if there is a mount in it. The
/// mount would move along, and its users would not find it. If a rename is not possible, it is moved in parts (see
/// [`crate::files::turn_back`]), and is synced when this returns.
pub fn move_whole(from: &Path, to: &Path) -> Result<bool> {
    crate::files::holds_no_mount(from)?;
    if piecewise_move::is_begun(to)? {
        return piecewise_move::move_in_parts(from, to);
    }
    match renamed_whole(from, to)? {
        RenameOutcome::Done => Ok(true),
        RenameOutcome::Taken => Ok(false),
        RenameOutcome::Elsewhere => piecewise_move::move_in_parts(from, to),
    }
}

fn renamed_whole(from: &Path, to: &Path) -> Result<RenameOutcome> {
    match env::refusal_point("files.across") {
        Err(_) => Ok(RenameOutcome::Elsewhere),
        Ok(()) => renamed(from, to),
    }
}
