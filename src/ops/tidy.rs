//! Ending what has had its time: the trash of transactions that are older than `keepDeletedDays`, and temporary files that a
//! crash left. What is still of use to an undo is not here: that has its own rules in [`crate::domain::retention`].

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};

use crate::env;
use crate::error::{Error, Result};
use crate::files;
use crate::ops::context::Context;
use crate::ops::workspaces;

/// The trash of a worktree on a file system of its own, in its git directory.
pub const TRASH_IN_GIT_DIR: &str = "axiom-trash";

/// Temporary files that nobody touched for this long belong to nobody.
const SCRATCH: SignedDuration = SignedDuration::from_hours(24);

/// Empties the trash of what was put there, or last changed there, more than `keepDeletedDays` ago, and removes abandoned
/// temporary files. Only what bears a name of ours is touched. Returns how many entries of the trash went. To be called with
/// the operation lock held and no operation open; a crash leaves a part, which the next call removes.
///
/// # Errors
/// `IO_FAILED` with the path; `GIT_FAILED`.
pub fn tidy(ctx: &Context) -> Result<usize> {
    let days = i64::from(ctx.config.checkpoints.keep_deleted_days);
    let mut gone = 0;
    for trash in trashes(ctx)? {
        gone += remove_old(&trash, SignedDuration::from_hours(24 * days))?;
    }
    remove_old(&ctx.layout().tmp_dir(), SCRATCH)?;
    Ok(gone)
}

/// Wherever transactions put things aside.
fn trashes(ctx: &Context) -> Result<Vec<PathBuf>> {
    let mut trashes = vec![workspaces::trash_root(ctx)?, ctx.repo.common_dir().join("axiom/trash")];
    trashes.extend(ctx.repo.worktrees()?.iter().map(|entry| entry.worktree.git_dir().join(TRASH_IN_GIT_DIR)));
    Ok(trashes)
}

fn remove_old(folder: &Path, age: SignedDuration) -> Result<usize> {
    let now = env::now();
    let listing = match std::fs::read_dir(folder) {
        Ok(listing) => listing,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(0),
        Err(e) => return Err(Error::io("list", folder, e)),
    };
    let mut gone = 0;
    for entry in listing {
        let entry = entry.map_err(|e| Error::io("list", folder, e))?;
        let meta = match entry.metadata() {
            Ok(meta) => meta,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => continue,
            Err(e) => return Err(Error::io("look at", &entry.path(), e)),
        };
        // Moving a folder changes the time of its inode, not of its content: the later one is when it came here.
        let since = Timestamp::from_second(meta.mtime().max(meta.ctime())).unwrap_or(now);
        if now.duration_since(since) <= age || !files::is_trashed_name(entry.file_name().as_encoded_bytes()) {
            continue;
        }
        env::fault_point("tidy.before-removal");
        files::remove_trashed(&entry.path())?;
        gone += 1;
    }
    Ok(gone)
}
