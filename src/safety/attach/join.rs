//! The joiner: one detached process for each repository that saves what agents did, together for all lines that came, while no
//! program waits.

pub(super) mod joiner_line;
mod packing;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use self::joiner_line::JoinerLine;
use super::prompt_lines;
use super::saving::{self, SaveRequest};
use crate::checkpoint::EarlierFile;
use crate::context::handle::Context;
use crate::running::hooks::report;
use crate::running::wait_observer::{ForegroundWait, WaitObserver};
use axiom_base::error::{Code, Result};
use axiom_base::files::{FileLock, LockAttempt};
use axiom_base::own_process::session::begin_session;
use axiom_base::{env, files};
use axiom_git::Repository;
use axiom_model::attach::act::{DeferredSave, JoinedSave, KeptFileCopy, joined, kept};
use axiom_model::base::ids::CheckpointName;
use axiom_model::checkpoint::trigger::CheckpointTrigger;
use axiom_model::hook::facts::HookFacts;
use axiom_model::work::hooks::hook_event::HookEvent;
use axiom_process::os::detached;
use axiom_store::beside::attach::AttachFiles;
use axiom_store::layout::StoreLayout;

/// How often a line that cannot be carried out is tried before it waits for the next joiner.
const TRIES: u32 = 3;

/// How long a joiner takes to begin, at most.
const BEGINS: Duration = Duration::from_millis(300);

/// Nobody watches.
struct JoinerWaitObserver;

impl WaitObserver for JoinerWaitObserver {
    fn begun(&mut self, _: ForegroundWait<'_>) {}

    fn ended(&mut self) {}

    fn shall_end(&self) -> bool {
        false
    }
}

/// Starts the joiner, unless one works. Called after a line was handed over: a joiner that ends looks once more after it has freed
/// its lock.
pub(super) fn start(files: &AttachFiles, worktree: &Path) -> Result<()> {
    if files::is_locked(&files.joiner_lock())? {
        return Ok(());
    }
    let arguments: [OsString; 3] = ["hook".into(), "--join".into(), worktree.into()];
    let null = files::open_append(Path::new("/dev/null"))?;
    detached::start_alone(&arguments, null).map(drop)
}

/// Waits until what agents did is saved; returns whether it is. It gives up after `patience`, and at once where nobody saves it: the next hook
/// sees to that. Never called with the change lock, which the joiner needs.
pub fn wait_until_saved(files: &AttachFiles, patience: Duration) -> Result<bool> {
    let (began, mut pause) = (Instant::now(), Duration::from_millis(1));
    loop {
        let (works, waits) = (files::is_locked(&files.joiner_lock())?, !files.lines().is_empty());
        match (works, waits) {
            (false, false) => return Ok(true),
            // One that was handed something over a moment ago begins in a moment.
            (false, true) if began.elapsed() >= BEGINS.min(patience) => return Ok(false),
            (true, _) if began.elapsed() >= patience => return Ok(false),
            (true, _) | (false, true) => {}
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// The joiner, in a process of its own: ends when no line waits.
pub fn run(worktree: &Path) -> Result<()> {
    begin_session()?;
    let repo = Repository::discover(worktree)?;
    let files = AttachFiles::of(&StoreLayout::new(repo.common_dir()));
    drop(repo);
    loop {
        let LockAttempt::Taken(lock) = FileLock::try_take(&files.joiner_lock())? else { return Ok(()) };
        let outcome = until_empty(&files, worktree);
        drop(lock);
        outcome?;
        if files.lines().is_empty() {
            return Ok(());
        }
    }
}

fn until_empty(files: &AttachFiles, worktree: &Path) -> Result<()> {
    let mut failed = 0;
    loop {
        if files.lines().is_empty() {
            return Ok(());
        }
        let interval = saving::open(worktree).map_or(2, |ctx| ctx.config.attach.min_interval);
        // A part of the interval for what comes together; the rest is for the checkpoint.
        std::thread::sleep(Duration::from_millis(interval.saturating_mul(250).min(1000)));
        let (paths, lines): (Vec<PathBuf>, Vec<Option<JoinerLine>>) =
            files.lines().into_iter().map(|(path, json)| (path, serde_json::from_slice(&json).ok())).unzip();
        let lines: Vec<JoinerLine> = lines.into_iter().flatten().collect();
        env::fault_point("attach.joining");
        match in_each_worktree(files, &lines, worktree) {
            Ok(()) => {
                env::fault_point("attach.saved");
                // Whoever cannot take them away would carry them out for ever.
                files.carried_out(&paths)?;
                files.forget_copies(copies(&lines));
                note_unsaved(files, None);
            }
            Err(error) if failed + 1 < TRIES => {
                tracing::warn!(%error, "what an agent did is not saved yet");
                failed += 1;
            }
            Err(error) => {
                note_unsaved(files, Some(&error.to_string()));
                return Err(error);
            }
        }
    }
}

fn note_unsaved(files: &AttachFiles, why: Option<&str>) {
    if let Err(error) = files.note_unsaved(why) {
        tracing::debug!(%error, "why something is not saved was not noted");
    }
}

/// Carries lines out worktree by worktree, each for its own session, in the order in which their first lines came.
/// What happened in one that is gone is carried out where the joiner was started.
fn in_each_worktree(files: &AttachFiles, lines: &[JoinerLine], started_in: &Path) -> Result<()> {
    let place = |line: &JoinerLine| {
        Some(PathBuf::from(&line.worktree)).filter(|place| place.is_dir()).unwrap_or_else(|| started_in.into())
    };
    let mut groups: Vec<(PathBuf, Vec<JoinerLine>)> = Vec::new();
    for line in lines {
        let place = place(line);
        match groups.iter_mut().find(|(known, _)| *known == place) {
            Some((_, group)) => group.push(line.clone()),
            None => groups.push((place, vec![line.clone()])),
        }
    }
    let others = lines.iter().rev().find(|line| line.later == DeferredSave::Others);
    if let Some(Err(error)) = others.map(|others| saving::read_ahead(&place(others))) {
        tracing::debug!(%error, "what there was no time for is read when it is saved");
    }
    groups.iter().try_for_each(|(worktree, group)| carry_out(files, group, worktree))?;
    // Last, so that what a session did is saved as its own.
    let Some(others) = others else { return Ok(()) };
    saving::now(&place(others), &SaveRequest { stamp: others.stamp.clone(), ..SaveRequest::all(CheckpointTrigger::Edits) })
        .map(drop)
}

fn carry_out(files: &AttachFiles, lines: &[JoinerLine], worktree: &Path) -> Result<()> {
    let absolute = lines.iter().map(|line| match &line.later {
        DeferredSave::Edited { paths } => {
            let there = paths.iter().map(|path| Path::new(&line.folder).join(path).display().to_string());
            DeferredSave::Edited { paths: there.collect() }
        }
        DeferredSave::Anything
        | DeferredSave::Turn
        | DeferredSave::Start
        | DeferredSave::Others
        | DeferredSave::Made { .. }
        | DeferredSave::Kept { .. } => line.later.clone(),
    });
    let absolute: Vec<DeferredSave> = absolute.collect();
    let stamp = lines.iter().rev().find_map(|line| line.stamp.clone());
    let (trigger, only) = match joined(absolute.iter()) {
        JoinedSave::Nothing => (None, None),
        JoinedSave::Paths(paths) => (Some(CheckpointTrigger::Edits), Some(paths.into_iter().map(PathBuf::from).collect())),
        JoinedSave::All(trigger) => (Some(trigger), None),
    };
    // First what was there before the edits.
    for moment in kept(absolute.iter()) {
        let kept: Vec<EarlierFile> = moment.into_iter().filter_map(|one| as_it_was(files, one)).collect();
        if kept.is_empty() {
            continue;
        }
        saving::now(worktree, &SaveRequest { kept, stamp: stamp.clone(), ..SaveRequest::all(CheckpointTrigger::Edits) })?;
    }
    let mut ctx = match trigger {
        Some(trigger) => saved(worktree, SaveRequest { only, stamp, ..SaveRequest::all(trigger) })?,
        None => saving::open(worktree)?,
    };
    for line in lines {
        if let DeferredSave::Made { checkpoint } = &line.later {
            tell(&mut ctx, checkpoint)?;
        }
    }
    report::report(&mut ctx, &mut JoinerWaitObserver);
    if let Err(error) = packing::pack(&ctx) {
        tracing::warn!(%error, "the checkpoints of sessions are not packed");
    }
    prompt_lines::forget_expired(&ctx)
}

fn copies(lines: &[JoinerLine]) -> impl Iterator<Item = &str> {
    lines.iter().filter_map(|line| match &line.later {
        DeferredSave::Kept { copy, .. } => Some(copy.as_str()),
        DeferredSave::Edited { .. }
        | DeferredSave::Anything
        | DeferredSave::Others
        | DeferredSave::Turn
        | DeferredSave::Start
        | DeferredSave::Made { .. } => None,
    })
}

/// The bytes that were kept of a file; `None` where a power loss left none of them, since they were not synced.
fn as_it_was(files: &AttachFiles, one: KeptFileCopy) -> Option<EarlierFile> {
    let bytes = files.kept(&one.copy)?;
    Some(EarlierFile { path: PathBuf::from(one.path), bytes, mode: one.mode })
}

/// A file outside of every worktree fails a checkpoint of known paths: then everything is looked at.
fn saved(worktree: &Path, wanted: SaveRequest) -> Result<Context> {
    match saving::now(worktree, &wanted) {
        Err(error) if wanted.only.is_some() && error.code() == Code::InvalidInput => {
            saving::now(worktree, &SaveRequest { only: None, ..wanted }).map(|saved| saved.ctx)
        }
        outcome => outcome.map(|saved| saved.ctx),
    }
}

/// Hooks are told of a checkpoint that was made while the program waited.
fn tell(ctx: &mut Context, checkpoint: &CheckpointName) -> Result<()> {
    let Some(record) = ctx.state().record.checkpoints.get(checkpoint)?.cloned() else { return Ok(()) };
    ctx.hooks.note(HookFacts {
        checkpoint: Some(record.name),
        trigger: Some(record.trigger),
        commit_hash: record.git_commit,
        ..HookFacts::new(HookEvent::PostCheckpoint, env::now())
    });
    Ok(())
}
