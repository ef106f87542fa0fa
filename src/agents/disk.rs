//! The space on every file system that git axiom writes to: who uses it, and making some. Whether there is enough is in `disk_space`.
//!
//! What only a human may decide to delete is in `by_hand`. The levels are in `model::work::sessions::disk`; what a session does at each is
//! in `supervise::space`.

pub mod by_hand;
mod thin;

use std::path::{Path, PathBuf};

use axiom_base::error::{Code, Error, Result};
use axiom_base::{env, files};
use axiom_model::base::forms::plural::{count, count_of};
use axiom_model::work::sessions::disk::{DiskSpaceLevel, MB};
use axiom_safety::checkpoint;
use axiom_safety::context::handle::Context;
use axiom_safety::folders::disk_space::shortage;
use axiom_safety::folders::trash;
use axiom_safety::upkeep::tidy;

/// How many files and folders are counted for one kind of use at most.
const MOST_COUNTED: u64 = 500_000;

/// Whether git may pack objects anew, which needs space for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AllowPacking {
    /// Yes: no agent works.
    Allowed,
    /// Not now.
    Not,
}

/// What a clean-up did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DiskCleanupReport {
    /// Bytes that are free now and were not before, in the git directory; at least those that objects take less.
    pub freed: u64,
    /// What was done, and what could not be, one line each.
    pub lines: Vec<String>,
}

/// Makes space with what nobody needs any more: where it is critical, what merged workspaces have that commits and captures hold;
/// then what is in the trash for longer than `checkpoints.keepDeletedDays`, temporary files of processes that were killed, the
/// folders of ended iterations; old logs, which are compressed; and then loose objects, which are packed, or deleted after two
/// weeks. A step that fails does not keep the next from being tried. A crash leaves some of it, which the next clean-up finds.
///
/// # Errors
/// `BUSY`, `OPERATION_OPEN`; `GIT_FAILED` where objects cannot be counted; `DISK_FULL` where a step found no space: what was done stays
/// done.
pub fn clean_up(ctx: &mut Context, packing: AllowPacking) -> Result<DiskCleanupReport> {
    ctx.with_change_lock(|ctx| {
        ctx.no_open_operation()?;
        let free = |ctx: &Context| files::space_at(ctx.repo.common_dir()).map(|space| space.free);
        let in_objects = |ctx: &Context| checkpoint::objects(ctx).map(|all| all.loose_bytes.saturating_add(all.packed_bytes));
        let (before, objects, mut thinned) = (free(ctx)?, in_objects(ctx)?, 0);
        let mut lines = Vec::new();
        let mut full: Option<Error> = None;
        let mut left_alone = |error: Error, lines: &mut Vec<String>| {
            if error.code() == Code::DiskFull && full.is_none() {
                full = Some(error);
            } else {
                lines.push(format!("left alone: {error}"));
            }
        };
        if shortage(ctx).is_some_and(|short| short.level >= DiskSpaceLevel::Critical) {
            let done = thin::merged_workspaces(ctx);
            thinned = done.bytes;
            if done.files > 0 {
                let files = count(done.files, "file");
                lines.push(format!("{files} of merged workspaces deleted, {} MB: commits hold them", in_mb(done.bytes)));
            }
            done.left.into_iter().for_each(|error| left_alone(error, &mut lines));
        }
        if let Err(error) = ctx.repo.durability().finish_landings() {
            left_alone(error.context("what was killed left more than it can be told of"), &mut lines);
        }
        match tidy::tidy(ctx) {
            Ok(done) => {
                lines.push(format!("{} of the trash that had expired deleted", count_of(done.gone, "entry", "entries")));
                lines.extend(done.of_logs());
                done.left.into_iter().for_each(|error| left_alone(error, &mut lines));
            }
            Err(error) => left_alone(error.context("the trash stays"), &mut lines),
        }
        if packing == AllowPacking::Allowed {
            match pack(ctx) {
                Ok(()) => lines.push("loose objects and refs packed".to_owned()),
                Err(error) => left_alone(error.context("objects were not packed"), &mut lines),
            }
        }
        // Others write to the file system meanwhile.
        let freed = free(ctx)?.saturating_sub(before).max(objects.saturating_sub(in_objects(ctx)?).saturating_add(thinned));
        match full {
            None => Ok(DiskCleanupReport { freed, lines }),
            Some(error) => Err(Error::new(Code::DiskFull, "the clean-up did not come to its end")
                .why(format!("{error}; {} MB were freed before: {}", in_mb(freed), lines.join("; ")))
                .hint("git axiom disk    shows who uses the space, and asks what else may go")
                .hint("git axiom disk --clean    goes on once there is space; what was done stays done")),
        }
    })
}

/// Packs loose refs and objects. Not by `git gc`: it deletes them before the names of the packed ones are certainly on disk, and a power
/// loss then costs a branch. So here all is on disk twice before the first of them goes.
fn pack(ctx: &Context) -> Result<()> {
    let git = |args: &[&str]| ctx.repo.git().writing().args(args).run_ok().map(drop);
    git(&["pack-refs", "--all", "--no-prune"])?;
    let loose = checkpoint::objects(ctx)?.loose_bytes;
    let free = files::space_at(ctx.repo.common_dir())?.free;
    if free < loose.saturating_add(MB) {
        let why = format!("that needs up to {} MB for a while, and {} MB are free", in_mb(loose) + 1, in_mb(free));
        return Err(Error::new(Code::DiskFull, "there is too little space to pack objects").why(why));
    }
    ctx.repo.durability().pack_what_is_loose(&["-n"])?;
    files::sync_file_system(ctx.repo.common_dir())?;
    env::fault_point("disk.packed");
    git(&["pack-refs", "--all"])?;
    git(&["prune-packed", "-q"])?;
    // A configured `gc.pruneExpire` of now would delete objects that an undo may need.
    git(&["prune", "--expire=2.weeks.ago"])
}

/// What uses space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiskUsageEntry {
    /// What it is: a word for JSON.
    pub what: &'static str,
    /// How many there are, where they can be counted.
    pub count: Option<u64>,
    /// Their bytes; `None` where there are too many files to count, or some cannot be read.
    pub bytes: Option<u64>,
    /// How much of it may be kept, where that is limited.
    pub limit: Option<u64>,
    /// The command after which some of it can go, or goes.
    pub to_free: Option<&'static str>,
}

/// Who uses the space, in the order in which one would look.
pub fn uses(ctx: &Context) -> Result<Vec<DiskUsageEntry>> {
    let checkpoints = checkpoint::list(ctx, None)?;
    let added: u64 = checkpoints.iter().filter_map(|one| one.size).sum();
    // Where there is a limit, what is measured against it.
    let held = checkpoint::known_total(ctx).map_or(added, |total| total.alone);
    let objects = checkpoint::objects(ctx)?;
    let layout = ctx.layout();
    let trashes = [trash::root(ctx)?, trash::of_files(ctx)];
    let workspaces: Vec<PathBuf> =
        ctx.state().restorable.workspaces.values().map(|workspace| PathBuf::from(&workspace.path)).collect();
    let of = |what, paths: &[PathBuf], to_free| DiskUsageEntry {
        what,
        count: None,
        bytes: size_of(paths.iter().map(PathBuf::as_path)),
        limit: None,
        to_free,
    };
    let counted = |what, count: u64, bytes: u64, to_free| DiskUsageEntry {
        what,
        count: Some(count),
        bytes: Some(bytes),
        limit: None,
        to_free: Some(to_free),
    };
    let notes = ctx.repo.notes();
    // Damaged notes are made anew by the next checkpoint.
    let history = notes.load().and_then(|loaded| notes.history_size(&loaded)).ok();
    let limit = Some(ctx.config.agents.log_limit.saturating_mul(MB)).filter(|limit| *limit > 0);
    let (logs, in_logs) = tidy::logs::total(ctx);
    let all_of_agents = size_of([layout.agents().folder().as_path()].into_iter());
    Ok(vec![
        DiskUsageEntry {
            limit: checkpoint::total_limit(ctx),
            ..counted("captures, notes", checkpoints.len() as u64, held, "git axiom checkpoint cleanup --keep 10")
        },
        DiskUsageEntry {
            count: history.map(|history| history.commits),
            bytes: history.map(|history| history.bytes),
            ..of("notes' history", &[], Some("git axiom checkpoint compact"))
        },
        counted("loose objects", objects.loose, objects.loose_bytes, "git axiom disk --clean"),
        counted("packs", objects.packs, objects.packed_bytes, "git axiom checkpoint compact"),
        DiskUsageEntry { count: Some(workspaces.len() as u64), ..of("workspaces", &workspaces, None) },
        of("trash", &trashes, Some("git axiom disk --clean")),
        DiskUsageEntry { limit, ..counted("logs", logs, in_logs, "git axiom disk --clean") },
        DiskUsageEntry {
            bytes: all_of_agents.map(|all| all.saturating_sub(in_logs)),
            ..of("iterations", &[], Some("git axiom disk --clean"))
        },
        of("state", &[layout.state_dir(), layout.tasks()], None),
        of("temporary", &[layout.tmp_dir()], Some("git axiom disk --clean")),
    ])
}

fn size_of<'p>(paths: impl Iterator<Item = &'p Path>) -> Option<u64> {
    let mut entries = MOST_COUNTED;
    let there = paths.filter(|path| path.symlink_metadata().is_ok());
    there.map(|path| files::size_below(path, &mut entries)).sum()
}

/// Bytes in MB, for people.
pub const fn in_mb(bytes: u64) -> u64 {
    bytes / MB
}
