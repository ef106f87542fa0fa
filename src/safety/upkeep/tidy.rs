//! Deleting what has expired: the trash of transactions and the keepers' folders of iterations that are older than
//! `keepDeletedDays`, and temporary files that a crash left; agents' logs are compressed, and the oldest deleted ([`logs`]). Not here:
//! what an undo can still use; that has its own rules in [`axiom_model::queries::retention`].

pub mod logs;

use std::ffi::OsStr;
use std::path::Path;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

use crate::beside_log::step_files::RUNS_OF_PLANNER;
use crate::context::handle::Context;
use crate::folders::trash;
use axiom_base::env;
use axiom_base::error::{Error, Result};
use axiom_base::files;
use axiom_base::files::DeletionFolder;
use axiom_model::base::forms::plural::count;
use axiom_model::base::ids::TaskId;
use axiom_model::base::own_names::SCRATCH;
use axiom_model::queries::old_logs::{AgentLogNeed, need};
use axiom_model::queries::task_checks::TaskCheckSubject;
use axiom_model::state::event_envelope::EventAuthor;
use axiom_model::work::agent::Agent;
use axiom_process::client::leftovers;
use axiom_store::layout::TRUSTED;

/// The largest mark of the last time that is read, in bytes.
const MAX_MARK: u64 = 100;

/// Temporary files that have not changed for this long belong to no running process.
const SCRATCH_LASTS: SignedDuration = SignedDuration::from_hours(24);

/// How often verbs other than `recover` and `run` look for what has expired.
const DUE_AFTER: SignedDuration = SignedDuration::from_hours(1);

/// If the last look seems to be longer ago than this, the clock may have jumped: then this verb only looks at the clock.
const STRANGE_AFTER: SignedDuration = SignedDuration::from_hours(24);

/// Such a verb never deletes what is younger than this, whatever is configured: it may be about to be named as kept.
const AT_LEAST: SignedDuration = SignedDuration::from_hours(24);

/// For how long such a verb deletes. One entry may be a folder of any size.
const MOST_TIME: Duration = Duration::from_secs(2);

/// How many entries such a verb deletes at most: nobody should wait long for what an earlier command left.
const MOST_AT_ONCE: usize = 200;

/// The result of emptying the trash.
#[derive(Debug)]
pub struct TrashCleanupReport {
    /// How many entries of the trash were deleted.
    pub gone: usize,
    /// How many logs were compressed.
    pub packed: usize,
    /// How many logs were deleted, since all together had more than `agents.logLimit`.
    pub logs_gone: usize,
    /// What is younger stays, whatever is configured.
    at_least: SignedDuration,
    /// How many more may be deleted, and until when.
    most: usize,
    until: Option<Instant>,
    /// Why expired entries, or whole folders of them, could not be deleted: for example, something is mounted in them.
    pub left: Vec<Error>,
}

/// Deletes from the trash what was put there, or last changed there, more than `keepDeletedDays` ago, and removes abandoned
/// temporary files. Touches only entries with a name of ours, and follows no link or mount. The caller holds the operation
/// lock, and no operation is open; a crash leaves some entries, which the next call deletes.
pub fn tidy(ctx: &Context) -> Result<TrashCleanupReport> {
    if ctx.found.nothing_expires {
        return Ok(TrashCleanupReport::all());
    }
    tidy_some(ctx, TrashCleanupReport::all())
}

/// Empties the trash, whatever its age, for a human who wants that. The caller holds the change lock, and no operation is open.
pub fn empty_trash(ctx: &Context) -> Result<TrashCleanupReport> {
    let mut done = TrashCleanupReport::all();
    for trash in trash::all(ctx)? {
        // Also what was put there within this second.
        done.gone += done.remove_old(trash, SignedDuration::from_secs(-1));
    }
    Ok(done)
}

/// Deletes what is left of iterations that ended, and of verify steps, from before yesterday, and compresses all logs from before then,
/// for a human who wants that. The caller holds the change lock.
pub fn old_records(ctx: &Context) -> Result<TrashCleanupReport> {
    let mut done = TrashCleanupReport::all();
    done.remove_old_runs(ctx, AT_LEAST)?;
    done.remove_old_checks(ctx, AT_LEAST)?;
    done.pack_logs(ctx, AT_LEAST);
    Ok(done)
}

/// What a verb of a human or a session does that has changed something: as [`tidy`], at most once an hour, and not all at
/// once. An agent's verb does not: its environment may say how long things are kept. The caller has loaded the
/// configuration. A failure never fails the verb.
pub(crate) fn when_due(ctx: &Context) {
    if matches!(ctx.by(), EventAuthor::Agent(_)) || ctx.found.nothing_expires {
        return;
    }
    let mark = ctx.layout().last_tidied();
    let outcome = due(&mark).and_then(|due| {
        match due {
            ExpiryAction::Not => return Ok(()),
            ExpiryAction::Strange => {}
            ExpiryAction::Now => {
                let until = Instant::now().checked_add(MOST_TIME);
                let done = tidy_some(
                    ctx,
                    TrashCleanupReport { at_least: AT_LEAST, most: MOST_AT_ONCE, until, ..TrashCleanupReport::all() },
                )?;
                done.left.iter().for_each(|error| tracing::warn!(%error, "something that has expired could not be deleted"));
                if done.has_enough() {
                    return Ok(());
                }
            }
        }
        // A new file: what is there may be a link.
        files::remove_file(&mark)?;
        files::write_read_only(&mark, env::now().to_string().as_bytes())
    });
    if let Err(error) = outcome {
        tracing::warn!(%error, "what has expired stays for a while");
    }
}

/// What a verb has to do about what has expired.
enum ExpiryAction {
    /// Nothing: it was looked for a short while ago.
    Not,
    /// Delete it.
    Now,
    /// Only note the time: when it was last looked for is unknown, long ago, or in the future. A clock that jumped decides
    /// nothing.
    Strange,
}

/// The time that a mark holds; `None` where there is no mark, or no time in it.
pub(crate) fn time_in(mark: &Path) -> Result<Option<Timestamp>> {
    Ok(files::read_optional(mark, MAX_MARK)?.and_then(|text| String::from_utf8(text).ok()?.parse().ok()))
}

fn due(mark: &Path) -> Result<ExpiryAction> {
    let last = time_in(mark)?;
    let ago = last.map(|last| env::now().duration_since(last));
    Ok(match ago {
        Some(ago) if ago > STRANGE_AFTER || ago.is_negative() => ExpiryAction::Strange,
        Some(ago) if ago > DUE_AFTER => ExpiryAction::Now,
        Some(_) => ExpiryAction::Not,
        None => ExpiryAction::Strange,
    })
}

fn tidy_some(ctx: &Context, mut done: TrashCleanupReport) -> Result<TrashCleanupReport> {
    let age = |days: u32| SignedDuration::from_hours(24 * i64::from(days)).max(done.at_least);
    let (days, log_days) = (age(ctx.config.checkpoints.keep_deleted_days), age(ctx.config.system.log_compress_days));
    for trash in trash::all(ctx)? {
        done.gone += done.remove_old(trash, days);
    }
    let common = ctx.repo.common_dir();
    ctx.repo.own_refs().clear_dead_locks()?;
    done.remove_old(DeletionFolder::open(common, Path::new(SCRATCH)), SCRATCH_LASTS);
    // Copies of approved files that nobody has run for a while: they are written again where they are needed.
    done.remove_old(DeletionFolder::open(common, &Path::new(SCRATCH).join(TRUSTED)), SCRATCH_LASTS);
    done.remove_old_runs(ctx, days)?;
    done.remove_old_checks(ctx, days)?;
    done.clear_half_packed(ctx);
    done.pack_logs(ctx, log_days);
    done.limit_logs(ctx);
    Ok(done)
}

impl TrashCleanupReport {
    /// Nothing yet, of all that there is.
    fn all() -> Self {
        let (gone, packed, logs_gone) = (0, 0, 0);
        Self { gone, packed, logs_gone, at_least: SignedDuration::ZERO, most: usize::MAX, until: None, left: Vec::new() }
    }

    /// What became of logs, in words.
    pub fn of_logs(&self) -> Vec<String> {
        let packed = (self.packed > 0).then(|| format!("{} compressed", count(self.packed, "log")));
        let gone =
            (self.logs_gone > 0).then(|| format!("{} deleted: more than agents.logLimit", count(self.logs_gone, "old log")));
        packed.into_iter().chain(gone).collect()
    }

    /// Whether no more may be deleted.
    fn has_enough(&self) -> bool {
        self.most == 0 || self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// Deletes expired entries of a folder; returns their number.
    fn remove_old(&mut self, folder: Result<Option<DeletionFolder>>, age: SignedDuration) -> usize {
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
        let mut gone = 0;
        for name in ours {
            if self.has_enough() {
                break;
            }
            gone += usize::from(self.counted(remove_if_older(&folder, name, age)));
        }
        gone
    }

    /// Deletes the logs of verify steps of tasks that are merged, archived or gone, and of planners whose plans were abandoned. Of others,
    /// each step has one log, of its last run.
    fn remove_old_checks(&mut self, ctx: &Context, age: SignedDuration) -> Result<()> {
        let (common, all) = (ctx.repo.common_dir(), ctx.layout().checks_dir());
        let Ok(all) = all.strip_prefix(common) else { return Ok(()) };
        // A step changes its folder when it begins, so a younger one may run: on the result of a merge that was taken back since.
        let age = age.max(AT_LEAST);
        let Some(tasks) = DeletionFolder::open(common, all)? else { return Ok(()) };
        for task in tasks.names()? {
            let id = task.to_str().and_then(|id| TaskId::new(id).ok());
            // Its steps may run again, or somebody may want to read what they printed.
            if id.is_none_or(|id| need(ctx.state(), &id) != AgentLogNeed::Over) {
                continue;
            }
            let mut younger = false;
            for of in [TaskCheckSubject::Task.as_str(), TaskCheckSubject::Merge.as_str(), RUNS_OF_PLANNER] {
                let Some(steps) = DeletionFolder::open(common, &all.join(&task).join(of))? else { continue };
                for step in steps.names()? {
                    younger |= self.has_enough() || !self.counted(remove_if_older(&steps, &step, age));
                }
            }
            if !younger {
                tasks.remove(&task)?;
            }
        }
        Ok(())
    }

    /// Counts what was deleted, and keeps why something was not; returns whether it was.
    fn counted(&mut self, removed: Result<bool>) -> bool {
        match removed {
            Ok(gone) => {
                self.most -= usize::from(gone);
                gone
            }
            Err(error) => {
                self.left.push(error);
                false
            }
        }
    }

    /// Deletes the folders of ended iterations: their events stay in the log; the prompt and the keeper's files are useful
    /// only for a while.
    fn remove_old_runs(&mut self, ctx: &Context, age: SignedDuration) -> Result<()> {
        let working: Vec<_> = ctx.state().busy_agents().filter_map(Agent::token).collect();
        let common = ctx.repo.common_dir();
        for run in leftovers::runs(&ctx.layout().agents().folder())? {
            let settled = !working.iter().any(|token| run.ends_with(token.as_str()));
            if self.has_enough() {
                break;
            }
            if !settled || axiom_process::client::state::is_kept(&run)? {
                continue;
            }
            self.counted(remove_run(common, &run, age));
        }
        Ok(())
    }
}

fn remove_run(common: &Path, run: &Path, age: SignedDuration) -> Result<bool> {
    let above = run.parent().and_then(|above| above.strip_prefix(common).ok()).map(|above| DeletionFolder::open(common, above));
    match (above.transpose()?.flatten(), run.file_name()) {
        (Some(above), Some(name)) if files::is_trashed_name(name.as_encoded_bytes()) => remove_if_older(&above, name, age),
        (_, _) => Ok(false),
    }
}

/// Deletes an entry that has not changed for longer than `age`; returns whether it did. A missing entry is not deleted.
fn remove_if_older(folder: &DeletionFolder, name: &OsStr, age: SignedDuration) -> Result<bool> {
    let Some(since) = folder.last_change(name)? else { return Ok(false) };
    let now = env::now();
    if now.duration_since(Timestamp::from_second(since).unwrap_or(now)) <= age {
        return Ok(false);
    }
    env::fault_point("tidy.before-removal");
    folder.remove(name).map(|()| true)
}
