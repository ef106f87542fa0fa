//! Taking git axiom out of a repository. What only our refs hold goes into a bundle beside the repository first; workspaces, the
//! trash and our folder are moved there. So nothing is lost, and all of it can be brought back.
//!
//! What is to be done is in the [`journal`] before the first change. Begin reading with [`leave`].

mod carry_out;
mod left_in_place;
pub(crate) mod nobody_works;
mod output_folder;
mod plan;
mod submodules;

use std::path::{Path, PathBuf};
use std::time::Duration;

use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_base::files::{FileLock, LockAttempt};
use axiom_git::Repository;
use axiom_model::base::names::RefName;
use axiom_model::checkpoint::trigger::CheckpointTrigger;
use axiom_model::program_hooks::recipe::RECIPES;
use axiom_safety::beside_log::journals::deinit::{DeinitJournal, DeinitPhase};
use axiom_safety::beside_log::journals::journal_file::JournalFile;
use axiom_safety::beside_log::session_lock;
use axiom_safety::checkpoint;
use axiom_safety::checkpoint::CheckpointRequest;
use axiom_safety::context::handle::Context;
use axiom_safety::folders::disk_space;
use axiom_safety::program_hooks::file_edit::{ProgramFileChange, WriteProgramFiles};
use axiom_safety::program_hooks::program_files::AttachScope;
use axiom_safety::program_hooks::{attach, skill};
use axiom_safety::upkeep::mend::locks;
use axiom_store::layout::StoreLayout;

pub(crate) use plan::own_refs;

/// How long to wait for a process that holds a lock for a moment.
const PATIENCE: Duration = Duration::from_millis(500);

/// What was taken out, or would be.
#[derive(Debug)]
pub struct DeinitReport {
    /// All that goes and what stays.
    pub journal: DeinitJournal,
    /// Refs that somebody changed meanwhile, which stay.
    pub stayed: Vec<RefName>,
    /// Files of programs that are attached, which lose our hooks.
    pub detached: Vec<PathBuf>,
    /// The bytes of the bundle.
    pub bundle_size: Option<u64>,
    /// Our folder in the repository.
    pub root: PathBuf,
}

/// Whether anything of ours is in the repository.
pub fn is_here(ctx: &Context) -> Result<bool> {
    let any = |prefix: &str| ctx.repo.ref_lists().ref_names(prefix).map(|names| !names.is_empty());
    Ok(ctx.layout().root().symlink_metadata().is_ok() || any(axiom_model::base::own_names::REFS)?)
}

/// What [`leave`] would do, exactly. Changes nothing.
pub fn preview(ctx: &Context, folder: Option<&Path>) -> Result<DeinitReport> {
    if ctx.supervisor_alive()? {
        return Err(session_runs());
    }
    nobody_works::wait_for_joiner(ctx)?;
    nobody_works::check(ctx)?;
    ctx.no_open_operation()?;
    let folder = output_folder::folder(ctx, folder)?;
    let captured = checkpoint::capture_all(ctx)?;
    let (journal, _) = plan::plan(ctx, folder, &captured.coverage)?;
    let detached = detach(ctx, WriteProgramFiles::DryRun)?;
    Ok(DeinitReport { journal, stayed: Vec::new(), detached, bundle_size: None, root: ctx.layout().root().to_owned() })
}

/// Takes everything of ours out: a checkpoint, the bundle, then what the journal names. A crash before the bundle is in place leaves
/// the repository as it was; one after it leaves what [`complete`] completes.
///
/// # Errors
/// `SUPERVISOR_RUNNING`, `BUSY` where somebody works; `OPERATION_OPEN`, `IN_THE_WAY`, `DISK_FULL`, those of a checkpoint: then nothing
/// was taken out.
pub fn leave(ctx: &mut Context, folder: Option<&Path>) -> Result<DeinitReport> {
    disk_space::has_room_to_save(ctx, "make a checkpoint")?;
    ctx.layout().ensure()?;
    let _supervisor = supervisor_lock(ctx.layout())?;
    nobody_works::wait_for_joiner(ctx)?;
    ctx.with_change_lock(|ctx| {
        nobody_works::check(ctx)?;
        ctx.no_open_operation()?;
        axiom_safety::folders::scratch_worktrees::clear_left(ctx)?;
        begin_anew(ctx.repo.common_dir())?;
        let place = output_folder::folder(ctx, folder)?;
        let (record, captured) = checkpoint::create_locked(ctx, &CheckpointRequest::by(CheckpointTrigger::BeforeDeinit))?;
        env::fault_point("deinit.checkpoint");
        let (mut journal, bundled) = plan::plan(ctx, place, &captured.coverage)?;
        journal.checkpoint = Some(record.name);
        journal.write(ctx.repo.common_dir())?;
        env::fault_point("deinit.preparing");
        let size = match make_bundle(ctx, &journal, &bundled) {
            Ok(size) => size,
            Err(error) => {
                if let Err(second) = begin_anew(ctx.repo.common_dir()) {
                    tracing::warn!(%second, "what was prepared beside the repository stays there");
                }
                return Err(error.context("nothing was taken out"));
            }
        };
        let detached = detach(ctx, WriteProgramFiles::Really)?;
        env::fault_point("deinit.detached");
        // Files of programs that are gone by now need no line any more.
        journal.exclude = plan::exclude_lines(ctx);
        journal.phase = DeinitPhase::Leaving;
        journal.write(ctx.repo.common_dir())?;
        env::fault_point("deinit.leaving");
        let root = ctx.layout().root().to_owned();
        let stayed = carry_out::carry_out(&ctx.repo, &mut journal)?;
        Ok(DeinitReport { journal, stayed, detached, bundle_size: Some(size), root })
    })
}

/// What an interrupted call was to take out; `None` where none was interrupted.
pub fn interrupted(repo: &Repository) -> Result<Option<DeinitJournal>> {
    Ok(DeinitJournal::read(repo.common_dir())?.filter(|journal| journal.phase != DeinitPhase::Preparing))
}

/// Completes an interrupted call.
///
/// # Errors
/// `BUSY`; as [`leave`].
pub fn complete(repo: &Repository, mut journal: DeinitJournal) -> Result<DeinitReport> {
    let layout = StoreLayout::new(repo.common_dir());
    let root = layout.root().to_owned();
    let size = files::metadata(&journal.bundle())?.map(|meta| meta.len());
    // Without the folder there is nothing left that anybody could lock.
    let locks = match journal.phase {
        DeinitPhase::Preparing | DeinitPhase::Leaving => {
            let supervisor = supervisor_lock(&layout)?;
            let LockAttempt::Taken(operation) = FileLock::take(&layout.locks().change(), PATIENCE)? else {
                return Err(busy("another operation is under way"));
            };
            Some((supervisor, operation))
        }
        DeinitPhase::Folder => None,
    };
    let _in_children = locks.as_ref().map(|(_, operation)| repo.hold_lock_in_children(operation)).transpose()?;
    locks::clear_locks_of_interrupted(repo)?;
    let stayed = carry_out::carry_out(repo, &mut journal)?;
    Ok(DeinitReport { journal, stayed, detached: Vec::new(), bundle_size: size, root })
}

fn supervisor_lock(layout: &StoreLayout) -> Result<FileLock> {
    match session_lock::take(layout, PATIENCE)? {
        LockAttempt::Taken(lock) => Ok(lock),
        LockAttempt::Held => Err(session_runs()),
    }
}

fn session_runs() -> Error {
    Error::new(Code::SupervisorRunning, "a session runs in this repository")
        .hint("git axiom quit    ends it; then run the command again")
}

pub(crate) fn busy(what: impl Into<String>) -> Error {
    Error::new(Code::Busy, what).hint("wait until it has ended, then run the command again")
}

/// Removes what an earlier call prepared beside the repository and did not use: nothing was taken out, so all of it is still here.
fn begin_anew(common_dir: &Path) -> Result<()> {
    let Some(journal) = DeinitJournal::read(common_dir)?.filter(|journal| journal.phase == DeinitPhase::Preparing) else {
        return Ok(());
    };
    if files::metadata(&journal.folder)?.is_some_and(|meta| meta.is_dir()) {
        for entry in files::list(&journal.folder)? {
            let is_temporary = entry.file_name().to_str().is_some_and(|name| name.starts_with(".tmp-"));
            if is_temporary || entry.path() == journal.bundle() {
                files::remove_file(&entry.path())?;
            }
        }
        files::remove_empty_dir(&journal.folder)?;
    }
    DeinitJournal::end(common_dir)
}

fn make_bundle(ctx: &Context, journal: &DeinitJournal, refs: &[axiom_git::RefValue]) -> Result<u64> {
    if !files::create_private_dir(&journal.folder)? {
        return Err(Error::new(Code::InTheWay, format!("'{}' exists already", journal.folder.display())));
    }
    if let Some(above) = journal.folder.parent() {
        files::sync_dir(above)?;
    }
    let size = ctx.repo.refs().write_bundle(refs, &journal.bundle())?;
    env::fault_point("deinit.bundled");
    Ok(size)
}

/// Takes our hooks and our skill out of the files of programs; returns those that change.
fn detach(ctx: &Context, doing: WriteProgramFiles) -> Result<Vec<PathBuf>> {
    let mut changed = Vec::new();
    for recipe in &RECIPES {
        for done in attach::detach(ctx, recipe, AttachScope::Here, doing)? {
            changed.extend((done.became != ProgramFileChange::Unchanged).then_some(done.path));
        }
    }
    let main = ctx.repo.worktrees().main_worktree()?;
    for done in skill::take_out(ctx, doing)? {
        changed.extend((done.became != ProgramFileChange::Unchanged).then(|| main.path().join(done.file)));
    }
    Ok(changed)
}
