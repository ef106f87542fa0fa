//! The checkpoint that a program waits for, within a time that is far below the program's own.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use super::newest_checkpoint::newest_document;
use crate::checkpoint;
use crate::checkpoint::{CheckpointRequest, EarlierFile};
use crate::context::handle::Context;
use crate::context::placement;
use crate::context::placement::VerbPurpose;
use crate::opening;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_git::{NamedPaths, Repository};
use axiom_model::checkpoint::reading_budget::for_reading;
use axiom_model::checkpoint::record::CheckpointRecord;
use axiom_model::checkpoint::stamp::AttachedSessionStamp;
use axiom_model::checkpoint::trigger::CheckpointTrigger;
use axiom_model::state::event_envelope::EventAuthor;
use axiom_store::beside::attach::AttachFiles;

/// How much longer than `attach.deadline` a program waits at most: it gives its hooks 20 s or more where `attach` has written them.
const LONGER: Duration = Duration::from_secs(2);
/// Nothing is given up sooner than this after it was begun.
pub(crate) const SOONEST_GIVEN_UP: Duration = LONGER;
/// How long it is waited for the configuration, which says how long the deadline is.
const TO_BEGIN: Duration = Duration::from_secs(10);
/// How long the background waits for another operation.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is to be saved.
#[derive(Debug, Clone)]
pub(super) struct SaveRequest {
    pub trigger: CheckpointTrigger,
    /// The paths that are looked at; `None` for everything.
    pub only: Option<Vec<PathBuf>>,
    /// Files as they were before an edit.
    pub kept: Vec<EarlierFile>,
    /// The session; a watch has none.
    pub stamp: Option<AttachedSessionStamp>,
    /// What a command is about to change.
    pub named: NamedPaths,
    /// The worktree that the program waits for.
    pub own: Option<PathBuf>,
    /// Since when it waits.
    pub waits_since: Option<Instant>,
    /// The first line of the prompt, where one is kept.
    pub first_line: Option<String>,
}

impl SaveRequest {
    /// Everything, by nobody's session.
    pub(super) fn all(trigger: CheckpointTrigger) -> Self {
        let (only, kept, stamp, named, own) = (None, Vec::new(), None, NamedPaths::default(), None);
        Self { trigger, only, kept, stamp, named, own, waits_since: None, first_line: None }
    }
}

/// What came of it.
#[derive(Debug)]
pub(super) struct SaveOutcome {
    /// The checkpoint; `None` where nothing had changed.
    pub record: Option<CheckpointRecord>,
    /// Whether there was time for all that it is to hold.
    pub all_read: bool,
    pub ctx: Context,
}

/// How far the thread is that saves.
enum SaveProgress {
    /// The program waits so long at most.
    Waits(Duration),
    Ended(Result<Box<SaveOutcome>>),
}

/// Saves within the time that a program may wait. Files for which there is no time are named as not held. What takes longer all the
/// same goes on in a thread that ends with this process: a checkpoint that is cut off has not been made, or is completed by the next
/// one.
pub(super) fn in_time(repo: &Arc<Repository>, wanted: SaveRequest) -> Result<SaveOutcome> {
    let (to, from) = mpsc::channel();
    let repo = Arc::clone(repo);
    let begun = Instant::now();
    let work = move || {
        let saved = open_found(repo).and_then(|mut ctx| {
            let deadline = Duration::from_secs(ctx.config.attach.deadline.into());
            // Whoever waits no more needs no answer.
            let _ = to.send(SaveProgress::Waits(deadline + LONGER));
            ctx.set_patience(deadline);
            with(ctx, &SaveRequest { waits_since: Some(begun), ..wanted })
        });
        drop(to.send(SaveProgress::Ended(saved.map(Box::new))));
    };
    std::thread::Builder::new()
        .name("save".into())
        .spawn(work)
        .map_err(|e| Error::new(Code::IoFailed, "no thread can be started").because(e))?;
    let mut longest = TO_BEGIN;
    loop {
        match from.recv_timeout(longest.saturating_sub(begun.elapsed())) {
            Ok(SaveProgress::Waits(most)) => longest = most,
            Ok(SaveProgress::Ended(saved)) => return saved.map(|saved| *saved),
            Err(_) => return Err(Error::new(Code::Busy, format!("nothing was saved within {} s", longest.as_secs()))),
        }
    }
}

/// The same without a limit but that of the change lock.
pub(super) fn now(folder: &Path, wanted: &SaveRequest) -> Result<SaveOutcome> {
    with(open(folder)?, wanted)
}

fn with(mut ctx: Context, wanted: &SaveRequest) -> Result<SaveOutcome> {
    let reading = for_reading(Duration::from_secs(ctx.config.attach.deadline.into()));
    let request = CheckpointRequest {
        only: wanted.only.clone(),
        kept: wanted.kept.clone(),
        attached: wanted.stamp.clone(),
        named: wanted.named.clone(),
        own: wanted.own.clone(),
        until: wanted.waits_since.and_then(|since| since.checked_add(reading)),
        first_line: wanted.first_line.clone().filter(|_| ctx.config.attach.prompt_text == "local"),
        ..CheckpointRequest::by(wanted.trigger)
    };
    if !wanted.kept.is_empty() && !checkpoint::can_build_on_newest(&ctx)? {
        let all = CheckpointRequest { attached: wanted.stamp.clone(), ..CheckpointRequest::by(wanted.trigger) };
        checkpoint::create(&mut ctx, &all)?;
    }
    // Before the look: what changes during it counts as not saved.
    let mark = AttachFiles::of(ctx.layout()).looked_at();
    let marked = if wanted.only.is_none() && wanted.kept.is_empty() { files::write_scratch(&mark, b"") } else { Ok(()) };
    // Each prompt has a number to come back to.
    let made = if wanted.trigger == CheckpointTrigger::Prompt {
        Some(checkpoint::create_and_tell(&mut ctx, &request)?)
    } else {
        checkpoint::create_if_changed(&mut ctx, &request)?
    };
    marked?;
    let all_read = made.as_ref().is_none_or(|(_, told)| told.all_read);
    if !all_read {
        // What no checkpoint has is kept before it is edited.
        files::remove_file(&mark)?;
    }
    Ok(SaveOutcome { record: made.map(|(record, _)| record), all_read, ctx })
}

/// Reads what the newest checkpoint had no time for while nobody has to wait for that; the checkpoint that follows names it.
pub(super) fn read_ahead(folder: &Path) -> Result<()> {
    let ctx = open(folder)?;
    let Some(document) = newest_document(&ctx) else { return Ok(()) };
    let coverage = document.coverage_with_submodules();
    let late =
        coverage.iter().filter(|(_, coverage)| !coverage.all_read()).map(|(path, _)| path.clone()).collect::<BTreeSet<_>>();
    if late.is_empty() { Ok(()) } else { checkpoint::read_ahead(&ctx, &late) }
}

/// Opens the repository for an attached session: by nobody's order.
pub(super) fn open(folder: &Path) -> Result<Context> {
    open_found(Arc::new(Repository::discover(folder)?))
}

fn open_found(repo: Arc<Repository>) -> Result<Context> {
    let mut ctx = opening::open_found(repo, VerbPurpose::Write)?;
    placement::main_is_chosen(&ctx)?;
    ctx.load_usable_config()?;
    ctx.act_as(EventAuthor::Attached)?;
    ctx.set_patience(PATIENCE);
    Ok(ctx)
}
