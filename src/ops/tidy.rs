//! Deleting what has expired: the trash of transactions and the keepers' folders of iterations that are older than
//! `keepDeletedDays`, and temporary files that a crash left. Not here: what an undo can still use; that has its own rules in
//! [`crate::domain::checkpoint::retention`].

use std::ffi::OsStr;
use std::path::Path;

use jiff::{SignedDuration, Timestamp};

use crate::domain::base::own_names::SCRATCH;
use crate::domain::work::agent::Agent;
use crate::env;
use crate::error::{Error, Result};
use crate::files::{self, Beneath};
use crate::ops::context::handle::Context;
use crate::ops::trash;
use crate::process::client::leftovers;

/// Temporary files that have not changed for this long belong to no running process.
const SCRATCH_LASTS: SignedDuration = SignedDuration::from_hours(24);

/// The result of emptying the trash.
#[derive(Debug, Default)]
pub struct Tidied {
    /// How many entries of the trash were deleted.
    pub gone: usize,
    /// Why expired entries, or whole folders of them, could not be deleted: for example, something is mounted in them.
    pub left: Vec<Error>,
}

/// Deletes from the trash what was put there, or last changed there, more than `keepDeletedDays` ago, and removes abandoned
/// temporary files. Touches only entries with a name of ours, and follows no link or mount. The caller holds the operation
/// lock, and no operation is open; a crash leaves some entries, which the next call deletes.
///
/// # Errors
/// `IO_FAILED` with the path; `GIT_FAILED`. What cannot be deleted is reported in the result, and the rest is still deleted.
pub fn tidy(ctx: &Context) -> Result<Tidied> {
    let days = SignedDuration::from_hours(24 * i64::from(ctx.config.checkpoints.keep_deleted_days));
    let mut done = Tidied::default();
    for trash in trash::all(ctx)? {
        done.gone += done.remove_old(trash, days);
    }
    let common = ctx.repo.common_dir();
    done.remove_old(Beneath::open(common, Path::new(SCRATCH)), SCRATCH_LASTS);
    done.remove_old_runs(ctx, days)?;
    Ok(done)
}

impl Tidied {
    /// Deletes expired entries of a folder; returns their number.
    fn remove_old(&mut self, folder: Result<Option<Beneath>>, age: SignedDuration) -> usize {
        let named = folder.and_then(|folder| match folder {
            Some(folder) => folder.names().map(|names| Some((folder, names))),
            None => Ok(None),
        });
        let (folder, names) = match named {
            Ok(Some(named)) => named,
            Ok(None) => return 0,
            Err(error) => {
                self.left.push(error);
                return 0;
            }
        };
        let ours = names.iter().filter(|name| files::is_trashed_name(name.as_encoded_bytes()));
        ours.filter(|name| {
            let outcome = remove_if_older(&folder, name, age);
            outcome.unwrap_or_else(|error| {
                self.left.push(error);
                false
            })
        })
        .count()
    }

    /// Deletes the folders of ended iterations: their events stay in the log; the prompt and the keeper's files are useful
    /// only for a while.
    fn remove_old_runs(&mut self, ctx: &Context, age: SignedDuration) -> Result<()> {
        let working: Vec<_> = ctx.state().busy_agents().filter_map(Agent::token).collect();
        let common = ctx.repo.common_dir();
        for run in leftovers::runs(&ctx.layout().agents_dir())? {
            let settled = !working.iter().any(|token| run.ends_with(token.as_str()));
            if settled
                && !leftovers::is_kept(&run)?
                && let Err(error) = remove_run(common, &run, age)
            {
                self.left.push(error);
            }
        }
        Ok(())
    }
}

fn remove_run(common: &Path, run: &Path, age: SignedDuration) -> Result<()> {
    let above = run.parent().and_then(|above| above.strip_prefix(common).ok()).map(|above| Beneath::open(common, above));
    match (above.transpose()?.flatten(), run.file_name()) {
        (Some(above), Some(name)) if files::is_trashed_name(name.as_encoded_bytes()) => {
            remove_if_older(&above, name, age).map(drop)
        }
        (_, _) => Ok(()),
    }
}

/// Deletes an entry that has not changed for longer than `age`; returns whether it did. A missing entry is not deleted.
fn remove_if_older(folder: &Beneath, name: &OsStr, age: SignedDuration) -> Result<bool> {
    let Some(since) = folder.last_change(name)? else { return Ok(false) };
    let now = env::now();
    if now.duration_since(Timestamp::from_second(since).unwrap_or(now)) <= age {
        return Ok(false);
    }
    env::fault_point("tidy.before-removal");
    folder.remove(name).map(|()| true)
}
