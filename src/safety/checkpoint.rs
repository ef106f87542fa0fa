//! Making checkpoints: intent event, capture, objects, sync, capture ref, note, tag, outcome event.
//!
//! A checkpoint exists as soon as its capture ref does; [`complete_intent`] adds what a crash left out after that. Listing,
//! comparing, verifying and removing checkpoints is in the files of the folder.

mod captured;
mod captures;
mod checkpoint_list;
mod checkpoint_problem;
mod compact;
mod difference;
mod documents;
mod excluded;
mod heal;
mod intents;
mod known_paths;
pub mod live;
mod name;
mod removal;
mod session_worktree;
pub mod submodules;
mod suspend_agents;
mod unchanged;
mod unrestorable;
mod verify;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::context::handle::Context;
use crate::folders::disk_space;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_git::{CaptureOptions, ExpectedRefValue, HeldRefs, NamedPaths, RefEdit, limits};
use axiom_model::attach::act::is_waited_for;
use axiom_model::base::ids::{CheckpointName, TaskId};
use axiom_model::base::names::Oid;
use axiom_model::base::own_names::capture_ref;
use axiom_model::checkpoint::document::CheckpointDocument;
use axiom_model::checkpoint::record::CheckpointRecord;
use axiom_model::checkpoint::stamp::{AttachedSessionStamp, prompt_number};
use axiom_model::checkpoint::trigger::CheckpointTrigger;
use axiom_store::beside::attach::AttachFiles;
use axiom_store::beside::attach::prompt_files::PromptLine;
use axiom_store::log_files::line::MAX_LINE;

pub use captured::{CapturedSubmodule, CapturedWorkspace, CapturedWorktree, CheckpointCaptures, has_uncommitted};
pub use captures::{capture_all, capture_options, read_ahead, would_be_held, write_again};
pub use checkpoint_list::{
    CheckpointDetails, CheckpointListing, capture_of_worktree, files_of_worktree, find, list, newest_at, read_document, show,
};
pub use checkpoint_problem::{CheckpointProblem, CheckpointVerifyDepth};
pub use compact::{CompactReport, RepositoryObjectCounts, RepositorySpace, compact, objects, space};
pub(crate) use difference::submodules_between;
pub use difference::{ChangedPath, CheckpointDifference, difference};
use documents::{document, outcome};
pub use documents::{marking, record_of, to_json};
pub use heal::{CheckpointRefDamage, HealDepth, at_once as heal_at_once, complete_all, heal, look as look_for_lost};
use intents::clear_abandoned;
pub use intents::complete_intent;
pub use known_paths::{EarlierFile, by_worktree as paths_by_worktree, can_build_on_newest};
pub use removal::remove::{CheckpointDeletionReport, chosen, clean_up, cleanup_plan, delete, protected_by_name, rules};
pub use removal::total_size::{CheckpointsTotal, known as known_total, limit as total_limit};
pub use unrestorable::{ended, refs_again};
pub use verify::{CheckpointRepair, CheckpointVerifyReport, VerifiedCheckpoint, repair, verify};

// A rollback writes the restored state into the log: what a document may hold has to fit into one line of the log, together
// with the rest of that event.
const _: () = assert!(2 * limits::DOCUMENT <= MAX_LINE as u64);

/// How many attempts are made at a checkpoint while another process deletes its objects.
const TRIES: usize = 3;

/// For how long what killed processes left is cleared away before a checkpoint: the rest goes with the next one.
const MOST_CLEARING: Duration = Duration::from_secs(1);

/// A request for a checkpoint.
#[derive(Debug, Clone)]
pub struct CheckpointRequest {
    /// Its name; generated where `None`.
    pub name: Option<CheckpointName>,
    /// The reason for making it.
    pub trigger: CheckpointTrigger,
    /// The task that an automatic name contains.
    pub about: Option<TaskId>,
    /// The absolute paths that may have changed, where only these are to be examined; `None` examines everything.
    pub only: Option<Vec<PathBuf>>,
    /// Files as they were before something changed them: then the checkpoint is of that moment.
    pub kept: Vec<EarlierFile>,
    /// The attached session that it is made for.
    pub attached: Option<AttachedSessionStamp>,
    /// Ignored files and folders that a command is about to change.
    pub named: NamedPaths,
    /// The worktree that is waited for, where the newest captures of the others are enough.
    pub own: Option<PathBuf>,
    /// Until when files are read, where somebody waits.
    pub until: Option<Instant>,
    /// What is kept of the prompt before which it is made.
    pub first_line: Option<String>,
}

impl CheckpointRequest {
    /// An automatic checkpoint.
    pub fn by(trigger: CheckpointTrigger) -> Self {
        let (named, kept) = (NamedPaths::default(), Vec::new());
        let (name, about, only, attached, own, until, first_line) = (None, None, None, None, None, None, None);
        Self { name, trigger, about, only, kept, attached, named, own, until, first_line }
    }
}

/// Makes a checkpoint of every worktree and the whole state; waits for other operations. When this returns, the checkpoint
/// survives a power loss. A crash leaves no checkpoint, or one that recovery completes.
///
/// # Errors
/// `WORKSPACE_BROKEN` of the main worktree, `DUPLICATE_ID`, `DISK_EMERGENCY`, `DISK_FULL`, `BUSY`,
/// `OPERATION_OPEN`: then there is no checkpoint. `INVALID_INPUT` where a requested path is in no worktree.
pub fn create(ctx: &mut Context, wanted: &CheckpointRequest) -> Result<CheckpointRecord> {
    create_and_tell(ctx, wanted).map(|(record, _)| record)
}

/// What a checkpoint that was limited to some paths, or to some time, reports in addition.
#[derive(Debug)]
pub struct PartialCheckpointReport {
    /// Whether there was time for all files.
    pub all_read: bool,
    /// Why everything was examined nevertheless.
    pub looked_at_all: Option<String>,
    /// The requested paths that exist nowhere: not in the worktree, not in the index, not in the checkpoint that this one
    /// builds on.
    pub nowhere: Vec<PathBuf>,
}

/// As [`create`]; also returns what became of the requested paths.
pub fn create_and_tell(ctx: &mut Context, wanted: &CheckpointRequest) -> Result<(CheckpointRecord, PartialCheckpointReport)> {
    has_room(ctx)?;
    ctx.with_change_lock(|ctx| {
        let (record, captured) = create_locked(ctx, wanted)?;
        Ok((record, captured.into()))
    })
}

impl From<CheckpointCaptures> for PartialCheckpointReport {
    fn from(captured: CheckpointCaptures) -> Self {
        let all_read = captured.all_read();
        let CheckpointCaptures { looked_at_all, nowhere, .. } = captured;
        Self { all_read, looked_at_all, nowhere }
    }
}

/// As [`create`], for a caller that holds the change lock; also returns what was captured.
pub fn create_locked(ctx: &mut Context, wanted: &CheckpointRequest) -> Result<(CheckpointRecord, CheckpointCaptures)> {
    may_be_made(ctx)?;
    intend_and_make(ctx, wanted, None)
}

/// As [`create`], but only where something differs from the newest checkpoint: files, index or HEAD of a worktree, or a local
/// ref. `None` where nothing does.
pub fn create_if_changed(
    ctx: &mut Context,
    wanted: &CheckpointRequest,
) -> Result<Option<(CheckpointRecord, PartialCheckpointReport)>> {
    has_room(ctx)?;
    ctx.with_change_lock(|ctx| {
        may_be_made(ctx)?;
        let looked = look_at_all(ctx, wanted)?;
        if unchanged::is_as_newest(ctx, &looked)? {
            return Ok(None);
        }
        intend_and_make(ctx, wanted, Some(looked)).map(|(record, captured)| Some((record, captured.into())))
    })
}

/// Whether there is room; what captures that were killed left gives its room back first.
fn has_room(ctx: &Context) -> Result<()> {
    ctx.repo.durability().clear_dead_folders(Instant::now().checked_add(MOST_CLEARING));
    disk_space::has_room_to_save(ctx, "make a checkpoint")
}

fn may_be_made(ctx: &mut Context) -> Result<()> {
    ctx.no_open_operation()?;
    complete_intent(ctx).map(drop)
}

fn intend_and_make(
    ctx: &mut Context,
    wanted: &CheckpointRequest,
    looked: Option<(CheckpointCaptures, HeldRefs)>,
) -> Result<(CheckpointRecord, CheckpointCaptures)> {
    let name = name::intend(ctx, wanted)?;
    env::fault_point("checkpoint.intended");
    note_first_line(ctx, &name, wanted);
    match make(ctx, &name, wanted, looked) {
        Ok(made) => {
            if !is_waited_for(wanted.trigger) {
                removal::retain::retain(ctx, wanted.trigger);
            }
            Ok(made)
        }
        Err(error) => {
            // Where even this cannot be written, recovery finds the intent.
            match complete_intent(ctx) {
                Ok(None) => Err(error.context(format!("no checkpoint '{name}' was made"))),
                Ok(Some(_)) => Err(error.context(format!("checkpoint '{name}' was made in spite of this error"))),
                Err(second) => {
                    tracing::warn!(%second, "the intent of a failed checkpoint is left to recovery");
                    Err(error.context(format!("checkpoint '{name}' is not complete")))
                }
            }
        }
    }
}

/// Keeps the first line of the prompt that a checkpoint is made before. Like the intent, it is synced together with the objects.
fn note_first_line(ctx: &Context, name: &CheckpointName, wanted: &CheckpointRequest) {
    let Some((number, text)) = prompt_number(name.as_str()).zip(wanted.first_line.clone()) else { return };
    if let Err(error) = AttachFiles::of(ctx.layout()).prompts().add_line(&PromptLine { number, text }) {
        tracing::debug!(%error, "the first line of a prompt was not kept");
    }
}

/// Captures, and verifies that all objects are there once a ref holds them: a concurrent `git gc --prune=now` may have
/// deleted objects that no ref held yet. In that case everything is captured again.
fn make(
    ctx: &mut Context,
    name: &CheckpointName,
    wanted: &CheckpointRequest,
    mut looked: Option<(CheckpointCaptures, HeldRefs)>,
) -> Result<(CheckpointRecord, CheckpointCaptures)> {
    for attempt in 1.. {
        let now = looked.take().map_or_else(|| look_at_all(ctx, wanted), Ok);
        let error = match now.and_then(|now| publish(ctx, name, wanted, now)) {
            Ok((document, capture, captured, refs)) => {
                env::fault_point("checkpoint.published");
                match prove(ctx, &document, &capture, &refs) {
                    Ok(size) => {
                        let record = outcome(ctx, &document, capture, Some(size))?;
                        return Ok((record, captured));
                    }
                    Err(error) => {
                        take_back(ctx, name, capture)?;
                        submodules::unpublish(ctx, name, &document.submodules);
                        let what = "objects of the new capture are already missing";
                        Error::new(Code::Busy, what).because(error).hint("git fsck    shows what was missing before")
                    }
                }
            }
            Err(error) => error,
        };
        if error.code() != Code::Busy || attempt >= TRIES {
            return Err(error);
        }
        tracing::warn!(%error, %name, "what was captured was removed at once, and is captured again");
    }
    Err(Error::new(Code::Internal, "a checkpoint was neither made nor refused"))
}

/// Verifies that all objects that the checkpoint adds are there, now that refs hold them, and returns their size. The tree
/// of packed refs is neither verified nor counted again where an earlier checkpoint still holds it.
fn prove(ctx: &Context, document: &CheckpointDocument, capture: &Oid, refs: &HeldRefs) -> Result<u64> {
    ctx.repo.checkpoints().packed_tips_are_there(refs)?;
    let shared = ctx.repo.checkpoints().held_before(refs)?;
    size_of(ctx, document, capture, shared.as_ref())
}

/// The size of all objects that a checkpoint adds, without the tree `shared`. Fails where an object is missing. An earlier capture is one
/// of the newest checkpoint's, which has proved it.
fn size_of(ctx: &Context, document: &CheckpointDocument, capture: &Oid, shared: Option<&Oid>) -> Result<u64> {
    let now = document.workspaces.iter().filter(|workspace| workspace.captured_at.is_none());
    let captures = std::iter::once(capture).chain(now.map(|workspace| &workspace.capture));
    let own: u64 = captures.map(|capture| ctx.repo.objects().added_by_capture(capture, shared)).sum::<Result<u64>>()?;
    Ok(own + submodules::size_of(ctx, &document.submodules)?)
}

/// Removes the refs of a checkpoint that is not complete and was never reported: the capture ref before the tag, so that
/// after a crash there is no checkpoint.
fn take_back(ctx: &Context, name: &CheckpointName, capture: Oid) -> Result<()> {
    // A note on the capture before its ref: nobody would look for it afterwards.
    ctx.repo.notes().set_notes(&std::collections::BTreeMap::from([(capture.clone(), None)]))?;
    let edit = RefEdit { name: capture_ref(name), expected: ExpectedRefValue::Value(capture), new: None };
    ctx.repo.refs().update_refs(&[edit], "git axiom: checkpoint is not whole")?;
    env::fault_point("checkpoint.taken-back");
    clear_abandoned(ctx, name)
}

/// Captures what is wanted, and the local refs.
fn look_at_all(ctx: &mut Context, wanted: &CheckpointRequest) -> Result<(CheckpointCaptures, HeldRefs)> {
    let options = CaptureOptions { named: wanted.named.clone(), until: wanted.until, ..capture_options(ctx) };
    let mut captured = match &wanted.only {
        None if !wanted.kept.is_empty() => known_paths::capture_kept(ctx, &options, &wanted.kept)?,
        Some(paths) => known_paths::capture(ctx, &options, paths)?,
        None => match wanted.own.as_deref().map(|own| session_worktree::capture(ctx, &options, own)).transpose()?.flatten() {
            Some(captured) => captured,
            None => captures::capture_all_with(ctx, &options)?,
        },
    };
    env::fault_point("checkpoint.captured");
    captures::without_unreadable_index(ctx, &mut captured)?;
    let refs = ctx.repo.checkpoints().hold_local_refs()?;
    if wanted.trigger.is_attached() {
        unchanged::use_again(ctx, &mut captured)?;
    }
    Ok((captured, refs))
}

fn publish(
    ctx: &mut Context,
    name: &CheckpointName,
    wanted: &CheckpointRequest,
    (captured, refs): (CheckpointCaptures, HeldRefs),
) -> Result<(CheckpointDocument, Oid, CheckpointCaptures, HeldRefs)> {
    let document = document(ctx, name, wanted, &captured, &refs)?;
    let json = to_json(&document)?;
    let kept: Vec<Oid> = captured.states().map(|state| state.capture.clone()).chain(captured.refs.values().cloned()).collect();
    let objects = ctx.repo.checkpoints().checkpoint_objects(name, &captured.main.capture, &json, &kept, &refs)?;
    env::fault_point("checkpoint.objects");
    submodules::publish(ctx, name, &document.submodules)?;
    ctx.repo.checkpoints().publish_checkpoint(name, &objects, &marking(&document))?;
    ctx.repo.packed_refs().remember_packed_refs(&refs, &capture_ref(name), &objects.capture);
    Ok((document, objects.capture, captured, refs))
}
