//! Ending what has had its time: the trash of transactions and the keepers' folders of iterations that are older than
//! `keepDeletedDays`, and temporary files that a crash left. What is still of use to an undo is not here: that has its own
//! rules in [`crate::domain::retention`].

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};

use crate::domain::agent::Agent;
use crate::env;
use crate::error::Result;
use crate::files;
use crate::ops::context::Context;
use crate::ops::workspaces;
use crate::process::leftovers;

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
    remove_old_runs(ctx, SignedDuration::from_hours(24 * days))?;
    Ok(gone)
}

/// What the log tells of an iteration that ended stays; the prompt and the keeper's notes are of use for a while only.
fn remove_old_runs(ctx: &Context, age: SignedDuration) -> Result<()> {
    let working: Vec<_> = ctx.state().busy_agents().filter_map(Agent::token).collect();
    for run in leftovers::runs(&ctx.layout().agents_dir())? {
        let settled = !working.iter().any(|token| run.ends_with(token.as_str()));
        if settled && is_older(&run, age)? && !leftovers::is_kept(&run)? {
            files::remove_trashed(&run)?;
        }
    }
    Ok(())
}

/// Wherever transactions put things aside.
fn trashes(ctx: &Context) -> Result<Vec<PathBuf>> {
    let mut trashes = vec![workspaces::trash_root(ctx)?, ctx.repo.common_dir().join("axiom/trash")];
    trashes.extend(ctx.repo.worktrees()?.iter().map(|entry| entry.worktree.git_dir().join(TRASH_IN_GIT_DIR)));
    Ok(trashes)
}

fn remove_old(folder: &Path, age: SignedDuration) -> Result<usize> {
    let mut gone = 0;
    for entry in files::list(folder)? {
        if !files::is_trashed_name(entry.file_name().as_encoded_bytes()) || !is_older(&entry.path(), age)? {
            continue;
        }
        env::fault_point("tidy.before-removal");
        files::remove_trashed(&entry.path())?;
        gone += 1;
    }
    Ok(gone)
}

/// Whether something has been where it is, unchanged, for longer than `age`. What is gone is not.
fn is_older(path: &Path, age: SignedDuration) -> Result<bool> {
    let Some(meta) = files::metadata(path)? else { return Ok(false) };
    // Moving a folder changes the time of its inode, not of its content: the later one is when it came here.
    let now = env::now();
    let since = Timestamp::from_second(meta.mtime().max(meta.ctime())).unwrap_or(now);
    Ok(now.duration_since(since) > age)
}
