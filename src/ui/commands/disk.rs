//! `git axiom disk`.

mod choices;

use clap::Args;
use serde::Serialize;

use super::{open_configured_for, purpose};
use crate::cli::grid::StyledGrid;
use crate::cli::screen::Screen;
use crate::cli::styled::StyledText;
use crate::commands::grammar::arguments::GlobalArgs;
use crate::wording::checkpoints::{over_the_total, size_text};
use axiom_agents::disk;
use axiom_agents::disk::{AllowPacking, DiskCleanupReport, DiskUsageEntry};
use axiom_base::error::{Code, Exit, Result};
use axiom_model::work::sessions::disk::DiskSpaceLevel;
use axiom_safety::folders::disk_space;
use axiom_safety::folders::disk_space::FileSystemSpace;

/// Arguments of `disk`.
#[derive(Debug, Args)]
#[command(after_help = "\
Each file system that git axiom writes to is looked at before workspaces, checkpoints and
merges, and while agents run. In a session, below these thresholds of 'system', in MB:
  diskWarningThreshold    it is said: DISK_WARNING
  diskCriticalThreshold   no further program is started; what has expired is cleaned up (see
                          autoCleanupEnabled); if that is not enough, the gate 'disk-space'
                          waits: DISK_CRITICAL
  diskEmergencyThreshold  programs are stopped, their work is kept; no checkpoint and no merge
                          is made: DISK_EMERGENCY
Once there is space, work goes on by itself. A task whose program failed meanwhile is blocked.
Quotas are not known here: a write that meets one waits, too.

Where it is critical, 'git axiom disk' asks at a terminal what else may go: old checkpoints,
workspaces of failed tasks and the trash with their ignored files, records of iterations.
--clean deletes what has expired: the trash after checkpoints.keepDeletedDays, old temporary
files, the folders of ended iterations. Agents' logs are compressed after
system.logCompressDays; over agents.logLimit the oldest of tasks that are merged or archived
go. While no session runs, loose objects and refs are packed, without --prune=now.
Checkpoints, workspaces and what can still be undone stay.")]
pub struct DiskArgs {
    /// Delete what has expired, compress old logs, and pack objects
    #[arg(long)]
    clean: bool,
}

/// What git axiom takes on disk.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DiskJson<'a> {
    /// Each that git axiom writes to.
    file_systems: Vec<FileSystemJson<'a>>,
    uses: Vec<DiskUseJson>,
    /// What was deleted; null without `--clean`.
    cleaned: Option<DiskCleanJson>,
}

/// A file system.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FileSystemJson<'a> {
    /// A folder on it.
    path: String,
    /// What git axiom has there.
    holds: &'a [&'static str],
    /// Bytes that this user may still write.
    free: u64,
    /// Bytes in all.
    total: u64,
    /// How many files can still be made; null where there is no limit.
    free_files: Option<u64>,
    level: DiskSpaceLevel,
    /// The error code of the level.
    code: Option<&'static str>,
}

/// Something that takes space.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DiskUseJson {
    /// What uses the space; captures and notes are in loose objects and packs, too.
    what: &'static str,
    /// How many there are.
    count: Option<u64>,
    /// Null where it is not known.
    bytes: Option<u64>,
    /// How many bytes of it are kept at most; null for any.
    limit: Option<u64>,
    /// The command with which some of it can go.
    to_free: Option<&'static str>,
}

/// What cleaning did.
#[derive(Serialize)]
struct DiskCleanJson {
    /// Bytes that are free now and were not before, in the git directory; at least those that objects take less.
    freed: u64,
    /// What was done, and what could not be.
    did: Vec<String>,
}

/// Shows who uses the space; makes some before, where that is wanted.
pub fn run(args: &DiskArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let mut ctx = open_configured_for(purpose(!args.clean), global, Vec::new(), screen)?;
    let cleaned = if args.clean {
        let packing = if ctx.supervisor_alive()? { AllowPacking::Not } else { AllowPacking::Allowed };
        let DiskCleanupReport { freed, lines } = disk::clean_up(&mut ctx, packing)?;
        Some(DiskCleanJson { freed, did: lines })
    } else {
        None
    };
    let (systems, uses) = (disk_space::file_systems(&ctx)?, disk::uses(&ctx)?);
    let answer = DiskJson { file_systems: systems.iter().map(place).collect(), uses: uses.iter().map(used).collect(), cleaned };
    screen.answer(&answer, || {
        let did = answer.cleaned.as_ref().map_or_else(String::new, |clean| {
            let lines: String = clean.did.iter().map(|line| format!("{line}\n")).collect();
            format!("{lines}{} freed.\n\n", size_text(Some(clean.freed)))
        });
        StyledText::from(did) + in_words(&systems, &uses)
    })?;
    if let Some(line) = over_the_total(&ctx) {
        screen.note(&line);
    }
    let is_short = systems.iter().any(|one| one.level >= DiskSpaceLevel::Critical);
    if is_short && screen.can_ask() {
        let freed = answer.cleaned.as_ref().map(|clean| clean.freed);
        choices::ask(&mut open_configured_for(purpose(false), global, Vec::new(), screen)?, freed, screen)?;
    }
    Ok(Exit::Done)
}

fn place(one: &FileSystemSpace) -> FileSystemJson<'_> {
    FileSystemJson {
        path: one.place.to_string_lossy().into_owned(),
        holds: &one.holds,
        free: one.space.free,
        total: one.space.total,
        free_files: one.space.free_files,
        level: one.level,
        code: one.level.code().map(Code::as_str),
    }
}

fn used(one: &DiskUsageEntry) -> DiskUseJson {
    DiskUseJson { what: one.what, count: one.count, bytes: one.bytes, limit: one.limit, to_free: one.to_free }
}

fn in_words(systems: &[FileSystemSpace], uses: &[DiskUsageEntry]) -> StyledText {
    let mut rows = vec![["FREE", "OF", "LEVEL", "HOLDS", "WHERE"].map(String::from).to_vec()];
    for one in systems {
        let level = one.level.code().map_or("enough", Code::as_str).to_owned();
        let place = one.place.to_string_lossy().into_owned();
        rows.push(vec![size_text(Some(one.space.free)), size_text(Some(one.space.total)), level, one.holds.join(", "), place]);
    }
    let mut text = StyledText::from(StyledGrid::of(rows).headed().cut(&[4, 3]));
    let mut rows = vec![["USED BY", "SIZE", "COUNT", "WHAT MAY FREE SOME"].map(String::from).to_vec()];
    for one in uses {
        let count = one.count.map_or_else(|| "-".to_owned(), |count| count.to_string());
        let limit = one.limit.map_or_else(String::new, |limit| format!(" of {}", size_text(Some(limit))));
        let size = format!("{}{limit}", size_text(one.bytes));
        rows.push(vec![one.what.to_owned(), size, count, one.to_free.unwrap_or("-").to_owned()]);
    }
    text.push_str("\n");
    text.push_grid(StyledGrid::of(rows).headed().cut(&[3]));
    text
}
