//! The logs of verify steps: which file is meant, and its lines. A persona's program has a log like that of an agent; what a command
//! printed is kept as it is.

use std::path::PathBuf;

use jiff::Timestamp;

use super::logs::LogLine;
use crate::beside_log::step_files::{LOG, LOG_OF_LINES};
use crate::context::handle::Context;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_model::base::forms::nearest;
use axiom_model::base::ids::TaskId;
use axiom_model::queries::task_checks;
use axiom_model::queries::task_checks::TaskCheck;
use axiom_process::client::step::LOG_LIMIT;
use axiom_process::keeper::output::LogLineSource;

/// The log of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepLog {
    /// Of a command: what it printed.
    Command(PathBuf),
    /// Of a persona's program: like that of an agent.
    Persona(PathBuf),
}

impl StepLog {
    /// The log of a check of a task, where it has one.
    pub fn of(ctx: &Context, task: &TaskId, check: &TaskCheck<'_>) -> Option<Self> {
        let folder = ctx.layout().checks_dir().join(task.as_str()).join(&check.files);
        let (command, persona) = (folder.join(LOG), folder.join(LOG_OF_LINES));
        match (command.is_file(), persona.is_file()) {
            (true, _) => Some(Self::Command(command)),
            (false, true) => Some(Self::Persona(persona)),
            (false, false) => None,
        }
    }

    /// Where it is.
    pub fn path(&self) -> &std::path::Path {
        match self {
            Self::Command(path) | Self::Persona(path) => path,
        }
    }
}

/// The log of the step of this name or number: of the task itself, or with `merge/` before it, of its merge.
pub fn find(ctx: &Context, task: &TaskId, name: &str) -> Result<StepLog> {
    let checks = task_checks::checks(ctx.state().task(task)?, ctx.state().record.tasks.get(task));
    let own = |check: &&TaskCheck<'_>| check.files == name || check.files.strip_prefix("task/") == Some(name);
    let Some(check) = checks.iter().find(own) else {
        let error = Error::new(Code::InvalidInput, format!("'{task}' has no verify step '{name}'"));
        let names: Vec<&str> = checks.iter().map(|check| check.files.strip_prefix("task/").unwrap_or(&check.files)).collect();
        let all = if names.is_empty() { "it has none".to_owned() } else { format!("it has: {}", names.join(", ")) };
        return Err(nearest::hinted(error, name, names, &all));
    };
    StepLog::of(ctx, task, check)
        .ok_or_else(|| Error::new(Code::InvalidInput, format!("the verify step '{name}' of '{task}' has printed nothing yet")))
}

/// What a command printed, as lines; both of its streams are one.
pub fn lines(path: &std::path::Path) -> Result<Vec<LogLine>> {
    let (bytes, _) = files::read_end_of_regular(path, LOG_LIMIT)?.unwrap_or_default();
    let at = path.metadata().ok().and_then(|found| Timestamp::try_from(found.modified().ok()?).ok()).unwrap_or_default();
    let line = |line: &[u8]| LogLine::of_bytes(line, at, LogLineSource::Stdout);
    Ok(bytes.split_inclusive(|byte| *byte == b'\n').map(line).collect())
}
