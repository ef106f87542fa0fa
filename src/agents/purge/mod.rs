//! Taking a secret out of everything that is ours: captures, checkpoints, live captures, what is kept for undo, notes, texts, logs, the
//! trash. It cannot be undone.
//!
//! Everything is made anew beside what there is, then the [`journal`] is written, then refs, state and files change, and last the objects
//! go that nothing holds any more. Begin reading with [`purge`].

mod capture_rewrite;
mod closed_files;
mod contents;
mod files_of_ours;
mod find;
mod holders;
mod lfs;
mod same_value;
mod submodules;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::deinit::nobody_works;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_base::files::{FileLock, LockAttempt};
use axiom_git::{ExpectedRefValue, RefEdit, RefFormat};
use axiom_model::base::ids::{CheckpointName, TaskId};
use axiom_model::base::lfs_pointer::LfsPointer;
use axiom_model::base::names::{Oid, RefName, RepoPath};
use axiom_model::base::own_names::{NOTES, REFS, TAGS};
use axiom_model::checkpoint::purge::{PurgeLeftover, PurgeRecord, TextMasks};
use axiom_model::state::event::Event;
use axiom_model::work::sessions::session::SessionState;
use axiom_model::work::tasks::masked;
use axiom_safety::beside_log::journals::journal_file::JournalFile;
use axiom_safety::beside_log::journals::purge::{PurgeJournal, PurgeRefChange};
use axiom_safety::beside_log::session_lock;
use axiom_safety::context::handle::Context;
use axiom_store::beside::known_repositories;
use files_of_ours::PurgeFileScan;

pub use axiom_safety::beside_log::journals::purge::PurgedObjectsFate;
use axiom_safety::upkeep::mend::locks;
pub use find::PurgeSubject;

/// How long to wait for a process that holds the supervisor's lock for a moment.
const PATIENCE: Duration = Duration::from_millis(500);

/// How many refs one call of git gets.
const AT_ONCE: usize = 500;

/// The largest content whose words are looked for in texts and logs.
const CONTENT: u64 = 4 * 1024 * 1024;

/// What was taken out, or would be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PurgeReport {
    /// The contents that go.
    pub contents: Vec<Oid>,
    /// What becomes of them.
    pub fate: PurgedObjectsFate,
    /// The checkpoints that were made anew without it.
    pub made_anew: Vec<CheckpointName>,
    /// The checkpoints that went: commits that only they hold have it.
    pub gone: Vec<CheckpointName>,
    /// The other refs of ours that changed or went: live captures, what is kept for undo.
    pub refs: Vec<RefName>,
    /// Our files that had it.
    pub files: Vec<PathBuf>,
    /// The tasks whose text or verify steps were masked.
    pub masked: Vec<TaskId>,
    /// What has it still, in words.
    pub held_by: Vec<String>,
}

impl PurgeReport {
    /// Whether anything of ours had it.
    pub fn found(&self) -> bool {
        !self.contents.is_empty() || !self.made_anew.is_empty() || !self.files.is_empty()
    }
}

/// Whether a ref is one of ours, whose values purge changes.
fn is_ours(name: &RefName) -> bool {
    let name = name.as_str();
    name.starts_with(REFS) || name.starts_with(TAGS) || name == NOTES
}

/// The arguments that stand for all refs but ours.
fn others() -> [String; 4] {
    let exclude = |name: &str, rest: &str| format!("--exclude={name}{rest}");
    [exclude(REFS, "*"), exclude(TAGS, "*"), exclude(NOTES, ""), "--all".to_owned()]
}

/// What [`purge`] would do. Writes objects that nothing refers to, and nothing else.
pub fn preview(ctx: &Context, subject: &PurgeSubject, fate: PurgedObjectsFate) -> Result<PurgeReport> {
    if ctx.supervisor_alive()? {
        return Err(somebody_else(ctx));
    }
    nobody_works::wait_for_joiner(ctx)?;
    nobody_works::check(ctx)?;
    ctx.no_open_operation()?;
    let journal = plan(ctx, subject, fate)?;
    let masks = masks(ctx, &journal)?;
    let mut files = files_of_ours::look(ctx, &masks, &journal.secrets)?;
    files.paths.extend(lfs::going(ctx, &journal));
    submodules::put_away(ctx, &journal)?;
    Ok(told(&journal, files, held_by(ctx, &journal, subject)?))
}

/// What is to be done: everything is made anew beside what there is.
fn plan(ctx: &Context, subject: &PurgeSubject, fate: PurgedObjectsFate) -> Result<PurgeJournal> {
    let mut journal = capture_rewrite::plan(ctx, subject)?;
    journal.fate = fate;
    let masks = masks(ctx, &journal)?;
    let texts = journal.texts.iter().map(|(old, _)| old.clone()).collect();
    journal.masked = masked::masked(ctx.state().restorable.tasks.values(), |text| masks.find_in(text), &texts);
    Ok(journal)
}

/// Takes it out. A crash before the journal is written changes nothing; after it, [`complete`] goes on.
///
/// # Errors
/// `SUPERVISOR_RUNNING`, `BUSY`, `OPERATION_OPEN`; those of reading and writing objects, refs and files.
pub fn purge(ctx: &mut Context, subject: &PurgeSubject, fate: PurgedObjectsFate) -> Result<PurgeReport> {
    let _supervisor = supervisor_lock(ctx)?;
    nobody_works::wait_for_joiner(ctx)?;
    ctx.with_change_lock(|ctx| {
        nobody_works::check(ctx)?;
        ctx.no_open_operation()?;
        axiom_safety::checkpoint::complete_intent(ctx)?;
        ctx.store.log_is_whole()?;
        // What a killed process had staged is among the objects then, or gone.
        ctx.repo.durability().finish_landings()?;
        let journal = plan(ctx, subject, fate)?;
        ctx.repo.durability().land()?;
        submodules::land(ctx, &journal)?;
        let held_by = held_by(ctx, &journal, subject)?;
        env::fault_point("purge.planned");
        journal.write(ctx.repo.common_dir())?;
        env::fault_point("purge.journal");
        let going = lfs::going(ctx, &journal);
        let mut files = carry_out(ctx, &journal)?;
        files.paths.extend(going);
        Ok(told(&journal, files, held_by))
    })
}

/// Completes an interrupted purge; `None` where none was.
pub fn complete(ctx: &mut Context) -> Result<Option<PurgeReport>> {
    let Some(journal) = PurgeJournal::read(ctx.repo.common_dir())? else { return Ok(None) };
    let _supervisor = supervisor_lock(ctx)?;
    ctx.with_change_lock(|ctx| {
        locks::clear_locks_of_interrupted(&ctx.repo)?;
        let subject = PurgeSubject { path: journal.path.clone(), blob: None, given: journal.what.clone() };
        // It is completed in any case.
        let unknown = |error: Error| vec![format!("what has it still could not be looked for: {error}")];
        let held_by = held_by(ctx, &journal, &subject).unwrap_or_else(unknown);
        let files = carry_out(ctx, &journal)?;
        Ok(Some(told(&journal, files, held_by)))
    })
}

fn supervisor_lock(ctx: &Context) -> Result<FileLock> {
    ctx.layout().ensure()?;
    match session_lock::take(ctx.layout(), PATIENCE)? {
        LockAttempt::Taken(lock) => Ok(lock),
        LockAttempt::Held => Err(somebody_else(ctx)),
    }
}

/// Who has the lock of sessions: one of them, or a purge, which takes it so that none begins.
fn somebody_else(ctx: &Context) -> Error {
    let state = ctx.state().record.session.as_ref().map(|session| session.state);
    match state {
        Some(SessionState::Running | SessionState::Pausing | SessionState::Paused | SessionState::Ending) => {
            Error::new(Code::SupervisorRunning, "a session runs in this repository")
                .hint("git axiom quit    ends it; then run the command again")
        }
        Some(SessionState::Ended | SessionState::Interrupted | SessionState::Crashed) | None => {
            Error::new(Code::Busy, "another process works alone in this repository: a purge, or a session that begins")
                .hint("wait until it has ended, then run the command again")
        }
    }
}

fn masks(ctx: &Context, journal: &PurgeJournal) -> Result<TextMasks> {
    let mut masks = words(ctx, journal);
    let names = names_of_ours(ctx)?;
    masks.spare(names.iter().map(String::as_bytes));
    journal.texts.iter().for_each(|(old, new)| masks.rename(old, new));
    Ok(masks)
}

/// What the state names: paths, refs and ids.
fn names_of_ours(ctx: &Context) -> Result<Vec<String>> {
    let worktrees = ctx.repo.worktrees().list()?;
    let mut names = vec![ctx.repo.common_dir().display().to_string()];
    names.extend(worktrees.iter().map(|entry| entry.worktree.path().display().to_string()));
    names.extend(ctx.repo.refs().refs_below("refs/")?.into_iter().map(|value| value.name.to_string()));
    let state = &ctx.state().restorable;
    names.extend(state.workspaces.values().flat_map(|one| [one.path.clone(), one.branch.to_string()]));
    names.extend(state.tasks.keys().map(ToString::to_string));
    names.extend(state.agents.keys().map(ToString::to_string));
    Ok(names)
}

/// What gives the contents away. Those that are gone already were looked for before they went.
fn words(ctx: &Context, journal: &PurgeJournal) -> TextMasks {
    let (secrets, objects) = (&journal.secrets, ctx.repo.objects());
    let there = secrets.iter().filter(|oid| ctx.repo.forgotten().is_blob(oid));
    let mut contents: Vec<Vec<u8>> = there.filter_map(|oid| objects.read_blob(oid, CONTENT).ok()).collect();
    contents.extend(submodules::contents(ctx, journal, CONTENT));
    // What a pointer of Git LFS says is in other pointers too.
    contents.retain(|text| LfsPointer::parse(text).is_none());
    match lfs::contents(ctx, secrets, CONTENT) {
        Ok(large) => contents.extend(large),
        Err(error) => tracing::warn!(%error, "what Git LFS keeps is not looked for in texts"),
    }
    TextMasks::of(contents.iter().map(Vec::as_slice))
}

/// Does what the journal says; returns which files were changed. Each step finds out whether it was done already.
fn carry_out(ctx: &mut Context, journal: &PurgeJournal) -> Result<PurgeFileScan> {
    submodules::move_refs(ctx, journal)?;
    env::fault_point("purge.submodules");
    move_refs(ctx, &journal.refs)?;
    forget_reflogs(ctx)?;
    // git does not sync reflogs: after a power loss they would name objects that are gone.
    files::sync_file_system(ctx.repo.common_dir())?;
    env::fault_point("purge.refs");
    let is_recorded = {
        let checkpoints = &ctx.state().record.checkpoints;
        let mut all = true;
        for record in &journal.made_anew {
            all &= checkpoints.get(&record.name)?.is_some_and(|now| now.capture == record.capture);
        }
        for name in &journal.gone {
            all &= checkpoints.get(name)?.is_none();
        }
        let deleted = &ctx.state().record.deleted_checkpoints;
        let waits = |task: &TaskId| ctx.state().restorable.gates.values().any(|gate| gate.is_for_masked(task));
        let is_remembered = |left: &PurgeLeftover| match left.contents.is_empty() {
            true => !ctx.state().record.left_by_purges.iter().any(|one| one.path == left.path),
            false => ctx.state().record.left_by_purges.contains(left),
        };
        let runs = |task: &&TaskId| ctx.state().restorable.tasks.get(*task).is_some_and(masked::may_run);
        all && journal.forgotten.iter().all(|capture| !deleted.contains_key(capture))
            && journal.masked.iter().filter(runs).all(waits)
            && journal.left().is_none_or(|left| is_remembered(&left))
    };
    if !is_recorded {
        let purge = PurgeRecord {
            what: journal.what.clone(),
            made_anew: journal.made_anew.clone(),
            gone: journal.gone.clone(),
            forgotten: journal.forgotten.clone(),
            masked: journal.masked.clone(),
            left: journal.left(),
        };
        ctx.append(Event::Purged(Box::new(purge)))?;
    }
    env::fault_point("purge.recorded");
    let masks = masks(ctx, journal)?;
    let changed = files_of_ours::mask(ctx, &masks, &journal.secrets)?;
    lfs::release(ctx)?;
    env::fault_point("purge.files");
    forget_objects(ctx, journal)?;
    submodules::forget(ctx, journal)?;
    env::fault_point("purge.objects");
    PurgeJournal::end(ctx.repo.common_dir())?;
    Ok(changed)
}

fn move_refs(ctx: &Context, moves: &[PurgeRefChange]) -> Result<()> {
    let names: Vec<RefName> = moves.iter().map(|one| one.name.clone()).collect();
    let now = ctx.repo.refs().read_refs(&names)?;
    let open = moves.iter().filter(|one| now.get(&one.name) == Some(&one.old));
    let edits: Vec<RefEdit> = open
        .map(|one| RefEdit { name: one.name.clone(), expected: ExpectedRefValue::Value(one.old.clone()), new: one.new.clone() })
        .collect();
    ctx.repo.refs().update_refs(&edits, "git axiom: purged")
}

/// Where the user keeps a reflog of every ref, ours would hold what they named before, also those that have not changed now.
fn forget_reflogs(ctx: &Context) -> Result<()> {
    let has_log = |name: &RefName| match ctx.repo.ref_format() {
        RefFormat::Files => ctx.repo.common_dir().join("logs").join(name.in_git()).is_file(),
        RefFormat::Reftable => true,
    };
    let values = ctx.repo.refs().refs_below("refs/")?;
    let ours: Vec<&RefName> = values.iter().map(|value| &value.name).filter(|name| is_ours(name) && has_log(name)).collect();
    for some in ours.chunks(AT_ONCE) {
        let expire = ["reflog", "expire", "--expire=all", "--expire-unreachable=all"];
        // Most have none, which some versions of git call a failure.
        ctx.repo.git().writing().args(expire).args(some.iter().map(|name| name.in_git())).run()?;
    }
    Ok(())
}

/// Deletes what only our refs held before, and nothing holds any more.
fn forget_objects(ctx: &Context, journal: &PurgeJournal) -> Result<()> {
    let held = holders::OtherObjectHolders::of(ctx)?.reached_with_all(ctx)?;
    let ours = journal.ours.iter().chain(&journal.secrets);
    let doomed: BTreeSet<Oid> = ours.filter(|oid| !held.contains(*oid)).cloned().collect();
    match journal.fate {
        PurgedObjectsFate::Deleted => ctx.repo.forgotten().forget(&doomed),
        PurgedObjectsFate::LeftToGit => ctx.repo.forgotten().leave_to_git(&doomed),
    }
}

/// Clones that are known to borrow this repository's objects, in words: those beside it, and those that git axiom was used in.
pub fn known_borrowers(ctx: &Context) -> Result<Vec<String>> {
    let worktrees: Vec<PathBuf> =
        ctx.repo.worktrees().list()?.into_iter().map(|entry| entry.worktree.path().to_owned()).collect();
    let known: Vec<PathBuf> =
        known_repositories::all().unwrap_or_default().into_iter().map(|one| PathBuf::from(one.common_dir)).collect();
    Ok(ctx.repo.durability().known_borrowers(&worktrees, &known))
}

/// What has it still afterwards, in words. It is looked for before anything is taken out: afterwards nobody knows the values.
fn held_by(ctx: &Context, journal: &PurgeJournal, subject: &PurgeSubject) -> Result<Vec<String>> {
    let mut found = holders::named(ctx, &journal.held, subject)?;
    found.extend(submodules::holders(ctx, journal)?);
    found.extend(lfs::named(ctx, &journal.secrets)?);
    found.extend(same_value::named(ctx, journal, subject)?);
    if !journal.secrets.is_empty() {
        found.extend(closed_files::named(ctx)?);
    }
    Ok(found)
}

fn told(journal: &PurgeJournal, files: PurgeFileScan, held_by: Vec<String>) -> PurgeReport {
    let own =
        |name: &&RefName| !name.as_str().starts_with(axiom_model::base::own_names::CAPTURES) && name.as_str().starts_with(REFS);
    PurgeReport {
        contents: journal.going(),
        fate: journal.fate,
        made_anew: journal.made_anew.iter().map(|record| record.name.clone()).collect(),
        gone: journal.gone.clone(),
        refs: journal.refs.iter().map(|one| &one.name).filter(own).cloned().collect(),
        files: files.paths,
        masked: journal.masked.clone(),
        held_by: held_by.into_iter().chain(files.left).collect(),
    }
}

/// The path of a file in the worktree that it is in.
///
/// # Errors
/// `INVALID_INPUT` where it is in no worktree of the repository.
pub fn path_in_worktree(ctx: &Context, path: &Path) -> Result<RepoPath> {
    use std::os::unix::ffi::OsStrExt;
    let mut roots: Vec<std::path::PathBuf> =
        ctx.repo.worktrees().list()?.into_iter().map(|entry| entry.worktree.path().to_owned()).collect();
    roots.sort_by_key(|root| std::cmp::Reverse(root.as_os_str().len()));
    let within = roots.iter().find_map(|root| path.strip_prefix(root).ok()).filter(|rest| !rest.as_os_str().is_empty());
    within.map(|rest| RepoPath::new(rest.as_os_str().as_bytes())).ok_or_else(|| {
        Error::new(Code::InvalidInput, format!("'{}' is in no worktree of this repository", path.display()))
            .hint("name the file as it is, or was, in a worktree; or the id of its content")
    })
}
