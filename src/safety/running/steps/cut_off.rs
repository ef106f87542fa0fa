//! What a persona used whose look at the work was cut off: by a stop, or with its session. Its result is lost, and it was paid all the
//! same. A note in the folder of its run says that nobody has counted it yet.

use std::path::{Path, PathBuf};

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use super::StepSpec;
use super::program_told::{heard, used_of};
use crate::context::handle::Context;
use crate::running::programs::SessionPrograms;
use axiom_base::error::Result;
use axiom_base::files;
use axiom_model::base::ids::TaskId;
use axiom_model::state::event::Event;
use axiom_model::work::verifying::checks::named_step::NamedVerifyStep;
use axiom_process::client::leftovers::{runs_of_checks, runs_of_checks_of};
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

/// The looks that were cut off, at the work on one task or on any, and that nobody has counted.
pub fn find(ctx: &Context, task: Option<&TaskId>) -> Result<Vec<CutOff>> {
    let checks = ctx.layout().checks_dir();
    let runs = match task {
        Some(task) => runs_of_checks_of(&checks.join(task.as_str()))?,
        None => runs_of_checks(&checks)?,
    };
    let mut found = Vec::new();
    for run in runs {
        let note = run.join(NOTE);
        let Some(bytes) = files::read_optional(&note, LIMIT)? else { continue };
        let said = serde_json::from_slice::<Note>(&bytes).ok();
        if said.as_ref().and_then(|said| said.by).is_some_and(foreground::is_alive) {
            continue;
        }
        let id = run.strip_prefix(&checks).ok().and_then(|below| TaskId::new(below.iter().next()?.to_str()?).ok());
        let known = id.filter(|id| ctx.state().task(id).is_ok()).zip(said);
        match known.map(|(id, said)| event(ctx, &run, id, said.persona)).transpose()? {
            Some(Seen::Runs) => {}
            Some(Seen::Ended(event)) => found.push(CutOff { event: Some(*event), note }),
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

enum Seen {
    /// Its keeper has not ended it yet.
    Runs,
    NeverBegan,
    Ended(Box<Event>),
}

fn event(ctx: &Context, run: &Path, id: TaskId, persona: String) -> Result<Seen> {
    let ran = match keeper_state(run)? {
        KeeperState::Starting | KeeperState::Alive(_) => return Ok(Seen::Runs),
        KeeperState::NotStarted => return Ok(Seen::NeverBegan),
        KeeperState::Ended(exit) => exit.millis(),
        KeeperState::Dead(record) | KeeperState::Unproved(record) => {
            let last = read_signals(run, 0)?.signals.last().map(|signal| signal.at);
            let ran = last.map_or(SignedDuration::ZERO, |last| last.duration_since(record.started_at));
            u64::try_from(ran.as_millis()).unwrap_or(0)
        }
    };
    let used = used_of(&heard(run)?.0, SessionPrograms::configured(&ctx.config)?.of_persona(Some(&persona)), true);
    Ok(Seen::Ended(Box::new(Event::LookCutOff { id, persona, used: Box::new(used), duration_ms: ran })))
}
