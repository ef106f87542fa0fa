//! What a persona uses whose look at the work has no result yet: it runs, or was cut off by a stop or with its session. What was cut off
//! was paid all the same. A note in the folder of its run says that nobody has counted it yet.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::StepSpec;
use super::program_told::{heard, used_of};
use crate::context::handle::Context;
use crate::running::programs::SessionPrograms;
use axiom_base::error::Result;
use axiom_base::{env, files};
use axiom_model::base::ids::TaskId;
use axiom_model::state::event::Event;
use axiom_model::work::verifying::checks::named_step::NamedVerifyStep;
use axiom_model::work::verifying::verification::ProgramUsage;
use axiom_process::client::leftovers::{runs_of_checks, runs_of_checks_of, worked_until};
use axiom_process::client::state::{keeper_state, read_signals};
use axiom_process::os::foreground;
use axiom_process::os::process_id::ProcessId;
use axiom_process::run_folder::records::KeeperState;

/// The name of the note.
pub(super) const NOTE: &str = "uncounted";
/// The longest note, in bytes.
const LIMIT: u64 = 4096;

#[derive(Debug, Serialize, Deserialize)]
struct Note {
    /// Who counts it at its end.
    by: Option<ProcessId>,
    persona: String,
}

/// A look that nobody has counted.
#[derive(Debug)]
pub struct UncountedLook {
    /// The task.
    pub task: TaskId,
    /// The persona.
    pub persona: String,
    /// When its program began.
    pub began: Timestamp,
    /// Until when it has run, at least.
    pub until: Timestamp,
    /// How long it has run, in milliseconds.
    pub ran_ms: u64,
    /// What it has used, as far as it has told.
    pub used: ProgramUsage,
}

/// A look that was cut off.
#[derive(Debug)]
pub struct CutOff {
    /// What is to be recorded of it; nothing where its program never ran.
    pub event: Option<Event>,
    note: PathBuf,
}

impl CutOff {
    /// It was recorded. Where that cannot be noted, it is counted again.
    pub fn recorded(&self) {
        counted(&self.note);
    }
}

fn note_of(work: &StepSpec) -> Option<PathBuf> {
    NamedVerifyStep::of(&work.name).persona()?;
    Some(work.files.as_ref()?.run().join(NOTE))
}

/// Before its program begins: this process counts it at its end. Where that cannot be noted, nobody counts what is cut off.
pub(super) fn begins(work: &StepSpec) {
    write(work, foreground::own_id());
}

/// It came to a result, which says what it used; or it came to none, and nobody has counted it.
pub(super) fn ended(work: &StepSpec, has_result: bool) {
    match note_of(work).filter(|note| note.exists()) {
        Some(note) if has_result => counted(&note),
        Some(_) => write(work, None),
        None => {}
    }
}

fn write(work: &StepSpec, by: Option<ProcessId>) {
    let Some((note, persona)) = note_of(work).zip(NamedVerifyStep::of(&work.name).persona()) else { return };
    let bytes = serde_json::to_vec(&Note { by, persona: persona.to_owned() }).unwrap_or_default();
    if let Err(error) = files::write_scratch(&note, &bytes) {
        tracing::info!(%error, "a look that is cut off is not counted");
    }
}

fn counted(note: &Path) {
    let _ = files::remove_file(note);
}

/// The looks at the work on a task that run, or were cut off and are not counted yet. What cannot be read tells nothing.
pub fn uncounted(ctx: &Context, task: &TaskId) -> Vec<UncountedLook> {
    let runs = runs_of(ctx, Some(task)).unwrap_or_default();
    let noted = runs.into_iter().filter_map(|run| Some((note_in(&run).ok()??, run)));
    noted.filter_map(|(note, run)| look(ctx, &run, task, note?.persona).ok()?.uncounted()).collect()
}

/// The looks that were cut off, at the work on one task or on any, and that nobody has counted.
pub fn find(ctx: &Context, task: Option<&TaskId>) -> Result<Vec<CutOff>> {
    let checks = ctx.layout().checks_dir();
    let mut found = Vec::new();
    for run in runs_of(ctx, task)? {
        let Some(said) = note_in(&run)? else { continue };
        let note = run.join(NOTE);
        if said.as_ref().and_then(|said| said.by).is_some_and(foreground::is_alive) {
            continue;
        }
        let id = run.strip_prefix(&checks).ok().and_then(|below| TaskId::new(below.iter().next()?.to_str()?).ok());
        let known = id.filter(|id| ctx.state().task(id).is_ok()).zip(said);
        match known.map(|(id, said)| look(ctx, &run, &id, said.persona)).transpose()? {
            Some(Seen::Runs(_)) => {}
            Some(Seen::Ended(look)) => found.push(CutOff { event: Some(look.event()), note }),
            Some(Seen::NeverBegan) | None => found.push(CutOff { event: None, note }),
        }
    }
    Ok(found)
}

/// Counts those of one task, in the transaction of the caller.
pub fn count(ctx: &mut Context, task: &TaskId) -> Result<()> {
    for look in find(ctx, Some(task))? {
        if let Some(event) = look.event.clone() {
            ctx.append(event)?;
        }
        look.recorded();
    }
    Ok(())
}

fn runs_of(ctx: &Context, task: Option<&TaskId>) -> Result<Vec<PathBuf>> {
    let checks = ctx.layout().checks_dir();
    match task {
        Some(task) => runs_of_checks_of(&checks.join(task.as_str())),
        None => runs_of_checks(&checks),
    }
}

/// The note in the folder of a run; `Some(None)` where it cannot be understood.
fn note_in(run: &Path) -> Result<Option<Option<Note>>> {
    Ok(files::read_optional(&run.join(NOTE), LIMIT)?.map(|bytes| serde_json::from_slice(&bytes).ok()))
}

enum Seen {
    /// Its keeper has not ended it yet; where it has begun, until now.
    Runs(Option<Box<UncountedLook>>),
    NeverBegan,
    Ended(Box<UncountedLook>),
}

impl Seen {
    fn uncounted(self) -> Option<UncountedLook> {
        match self {
            Self::Runs(look) => look.map(|look| *look),
            Self::Ended(look) => Some(*look),
            Self::NeverBegan => None,
        }
    }
}

impl UncountedLook {
    fn event(self) -> Event {
        let used = ProgramUsage { ended_at: Some(self.until), ..self.used };
        Event::LookCutOff { id: self.task, persona: self.persona, used: Box::new(used), duration_ms: self.ran_ms }
    }
}

fn look(ctx: &Context, run: &Path, task: &TaskId, persona: String) -> Result<Seen> {
    let keeper = keeper_state(run)?;
    let (began, ended, is_seen) = match &keeper {
        KeeperState::Starting => return Ok(Seen::Runs(None)),
        KeeperState::NotStarted => return Ok(Seen::NeverBegan),
        KeeperState::Alive(record) => (record.started_at, None, true),
        KeeperState::Ended(exit) => (exit.started_at, Some(exit.millis()), true),
        KeeperState::Dead(record) | KeeperState::Unproved(record) => (record.started_at, None, false),
    };
    let heard_at = read_signals(run, 0)?.signals.last().map(|signal| signal.at);
    // What outlived its keeper is ended by whoever counts it.
    let until = worked_until(run, &keeper, heard_at.unwrap_or(began)).unwrap_or_else(env::now);
    let ran_ms = ended.unwrap_or_else(|| u64::try_from(until.duration_since(began).as_millis()).unwrap_or(0));
    let told = used_of(&heard(run)?.0, SessionPrograms::configured(&ctx.config)?.of_persona(Some(&persona)), true);
    let used = ProgramUsage { end_unseen: !is_seen, ..told };
    let look = Box::new(UncountedLook { task: task.clone(), persona, began, until, ran_ms, used });
    Ok(if matches!(keeper, KeeperState::Alive(_)) { Seen::Runs(Some(look)) } else { Seen::Ended(look) })
}
