//! Ending what has had its time: the trash of transactions and the keepers' folders of iterations that are older than
//! `keepDeletedDays`, and temporary files that a crash left. What is still of use to an undo is not here: that has its own
//! rules in [`crate::domain::checkpoint::retention`].

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

/// Temporary files that nobody touched for this long belong to nobody.
const SCRATCH_LASTS: SignedDuration = SignedDuration::from_hours(24);

/// What emptying the trash did.
#[derive(Debug, Default)]
pub struct Tidied {
    /// How many entries of the trash went.
    pub gone: usize,
    /// Why entries stay, or whole folders of them, that had their time: something is mounted in them, for example.
    pub left: Vec<Error>,
}

/// Empties the trash of what was put there, or last changed there, more than `keepDeletedDays` ago, and removes abandoned
/// temporary files. Only what bears a name of ours is touched, and nothing that a link or a mount leads to. To be called with
/// the operation lock held and no operation open; a crash leaves a part, which the next call removes.
///
/// # Errors
/// `IO_FAILED` with the path; `GIT_FAILED`. What cannot be removed is no reason not to go on with the rest.
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
    /// Removes what had its time in a folder; returns how many entries that were.
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

    /// What the log tells of an iteration that ended stays; the prompt and the keeper's notes are of use for a while only.
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

/// Removes what has been where it is, unchanged, for longer than `age`; says whether it did. What is gone is not.
fn remove_if_older(folder: &Beneath, name: &OsStr, age: SignedDuration) -> Result<bool> {
    let Some(since) = folder.last_change(name)? else { return Ok(false) };
    let now = env::now();
    if now.duration_since(Timestamp::from_second(since).unwrap_or(now)) <= age {
        return Ok(false);
    }
    env::fault_point("tidy.before-removal");
    folder.remove(name).map(|()| true)
}
