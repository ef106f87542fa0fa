//! Building a state from what is left: the snapshot, a part of the log, a backup, or the tasks.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::beside::tasks;
use crate::layout::StoreLayout;
use crate::log_files::log;
use crate::log_files::log::LogPosition;
use crate::log_files::{backup, line, segments};
use crate::states::handle;
use crate::states::snapshot;
use crate::states::snapshot::SnapshotFile;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_model::base::ids::TaskId;
use axiom_model::checkpoint::catalog::CheckpointCatalog;
use axiom_model::state::current_state::State;
use axiom_model::state::event::Event;
use axiom_model::state::event_envelope::EventEnvelope;
use axiom_model::work::tasks::task::{Task, TaskStatus};

/// The largest file that is read for this.
const MAX_FILE: u64 = 1024 * 1024 * 1024;

/// A source of a state when the log is damaged, in the order in which they are offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RebuildSource {
    /// The snapshot alone, without the events after it.
    Snapshot,
    /// All events, without the snapshot.
    Events,
    /// All events before the first bad line. If the snapshot reaches further, the snapshot and the good events after it.
    Partial,
    /// A backup of the log; 0 is the newest.
    Backup(u32),
    /// The latest version of every task; agents, gates and checkpoints are lost.
    Cases,
    /// The state of a checkpoint, which the caller has to read.
    Checkpoint,
    /// Only the tasks, from whichever source has them.
    Fresh,
}

impl fmt::Display for RebuildSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Snapshot => f.write_str("snapshot"),
            Self::Events => f.write_str("events"),
            Self::Partial => f.write_str("partial"),
            Self::Backup(0) => f.write_str("backup"),
            Self::Backup(number) => write!(f, "backup.{number}"),
            Self::Cases => f.write_str("cases"),
            Self::Checkpoint => f.write_str("checkpoint"),
            Self::Fresh => f.write_str("fresh"),
        }
    }
}

impl std::str::FromStr for RebuildSource {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let backup = || text.strip_prefix("backup.")?.parse().ok().map(Self::Backup);
        Ok(match text {
            "snapshot" => Self::Snapshot,
            "events" => Self::Events,
            "partial" => Self::Partial,
            "backup" => Self::Backup(0),
            "cases" => Self::Cases,
            "checkpoint" => Self::Checkpoint,
            "fresh" => Self::Fresh,
            _ => backup().ok_or_else(|| {
                Error::new(Code::InvalidInput, format!("'{text}' is not a source to recover from"))
                    .hint("use snapshot, events, partial, backup, cases, checkpoint or fresh")
            })?,
        })
    }
}

/// Builds the state of a source.
pub fn state_from(layout: &StoreLayout, source: RebuildSource) -> Result<State> {
    let nothing = |why: String| Error::new(Code::RecoveryFailed, format!("there is no state to recover from: {source}")).why(why);
    match source {
        RebuildSource::Snapshot => match snapshot::load(layout)? {
            SnapshotFile::Good(loaded) => self_contained(loaded.state),
            SnapshotFile::Damaged(why) => Err(nothing(why)),
            SnapshotFile::Missing => Err(nothing("there is no snapshot".into())),
        },
        RebuildSource::Events => match prefix(layout, State::default(), None)? {
            (state, None) => Ok(state),
            (_, Some(bad)) => Err(nothing(bad.to_string())),
        },
        // Whoever asks for what is left wants no empty state instead.
        RebuildSource::Partial => match partial(layout)? {
            state if state.seq == 0 => Err(nothing("no event before the damage can be read".into())),
            state => Ok(state),
        },
        RebuildSource::Backup(number) => from_backup(layout, number).and_then(|(state, bad)| match bad {
            Some(bad) if state.seq == 0 => Err(nothing(bad.to_string())),
            Some(_) | None => Ok(state),
        }),
        RebuildSource::Cases => {
            let found = tasks::load(layout)?;
            if found.tasks.is_empty() {
                return Err(nothing("cases.jsonl has no valid line".into()));
            }
            Ok(only_tasks(found.tasks))
        }
        RebuildSource::Checkpoint => Err(nothing("the caller has to read the checkpoint".into())),
        RebuildSource::Fresh => {
            let mut all = partial(layout)?.restorable.tasks;
            all.extend(tasks::load(layout)?.tasks);
            Ok(only_tasks(all))
        }
    }
}

/// The state at the first bad line or the end, and the damage. Starts with `state`, which ends at `hint`.
pub fn prefix(layout: &StoreLayout, mut state: State, hint: Option<LogPosition>) -> Result<(State, Option<Error>)> {
    let outcome = log::read_after(layout, state.seq, hint, |envelope| handle::apply(&mut state, &envelope));
    match outcome {
        Ok(_) => Ok((state, None)),
        Err(error) if is_damage(&error) => Ok((state, Some(error))),
        Err(error) => Err(error),
    }
}

/// Whether an error means that the stored log is damaged, or too old: a new one can be begun then.
pub fn is_damage(error: &Error) -> bool {
    is_of_damage(error.code())
}

/// As [`is_damage`], of the error's code.
pub fn is_of_damage(code: Code) -> bool {
    matches!(code, Code::EventLogCorrupted | Code::EventLogTruncated | Code::EventSchemaInvalid | Code::EventLogTooOld)
}

/// All events before the first bad line; or the snapshot and the events after it, if that reaches further.
pub(crate) fn partial(layout: &StoreLayout) -> Result<State> {
    let (state, _) = prefix(layout, State::default(), None)?;
    let SnapshotFile::Good(loaded) = snapshot::load(layout)? else { return Ok(state) };
    if loaded.state.seq < state.seq {
        return Ok(state);
    }
    Ok(prefix(layout, self_contained(loaded.state)?, Some(loaded.position))?.0)
}

/// The state with all its checkpoints in memory. Where file and log of the older ones are damaged, without them: their
/// capture refs bring them back (`checkpoint::heal`).
fn self_contained(mut state: State) -> Result<State> {
    if let Err(error) = state.record.checkpoints.read_all() {
        if !is_damage(&error) {
            return Err(error);
        }
        tracing::warn!(%error, "the older checkpoints are taken from their refs");
        let recent: Vec<_> = state.record.checkpoints.recent().cloned().collect();
        state.record.checkpoints = CheckpointCatalog::new(recent, None);
    }
    Ok(state)
}

/// The state at the end of a backup, and the damage in it. A backup is one file of the log, so the events before it are
/// taken from the segments or the snapshot.
pub fn from_backup(layout: &StoreLayout, number: u32) -> Result<(State, Option<Error>)> {
    let path = backup::path(layout, number);
    let envelopes = intact(&path)?;
    let Some(first) = envelopes.first().map(|envelope| envelope.seq) else {
        return Ok((State::default(), Some(Error::new(Code::EventLogTruncated, "the backup has no valid event"))));
    };
    let mut state = before(layout, first)?;
    let begins_anew = matches!(envelopes.first().map(|one| &one.event), Some(Event::StateAdopted { .. }));
    if state.seq + 1 < first && !begins_anew {
        let what = format!("the backup begins with event {first}, and the older events are damaged");
        return Ok((State::default(), Some(Error::new(Code::EventLogTruncated, what))));
    }
    for envelope in envelopes {
        if envelope.seq <= state.seq {
            continue;
        }
        if let Err(bad) = handle::apply(&mut state, &envelope) {
            return Ok((state, Some(bad)));
        }
    }
    Ok((state, None))
}

/// The best state before event `first`: from the segments before it, or from an older snapshot.
fn before(layout: &StoreLayout, first: u64) -> Result<State> {
    let mut state = State::default();
    for segment in segments::sealed(layout)? {
        if segment.first.is_none_or(|begin| begin >= first) {
            break;
        }
        for envelope in intact(&segment.path)? {
            if envelope.seq < first && envelope.seq > state.seq && state.apply(&envelope).is_err() {
                break;
            }
        }
    }
    if state.seq + 1 < first
        && let SnapshotFile::Good(loaded) = snapshot::load(layout)?
        && loaded.state.seq + 1 >= first
    {
        return self_contained(loaded.state);
    }
    Ok(state)
}

/// The events of one file before the first one that cannot be decoded.
fn intact(path: &Path) -> Result<Vec<EventEnvelope>> {
    let bytes = files::read_optional(path, MAX_FILE)?.unwrap_or_default();
    Ok(bytes.split(|byte| *byte == b'\n').map_while(|line| line::decode(line).ok()).collect())
}

/// A state with tasks only. None of them is active, and references to unknown tasks are removed.
fn only_tasks(tasks: std::collections::BTreeMap<TaskId, Task>) -> State {
    let mut state = State::default();
    for (id, task) in &tasks {
        let mut task = task.clone();
        let record = state.record.tasks.entry(id.clone()).or_default();
        if task.status == TaskStatus::Active {
            task.status = TaskStatus::Pending;
            record.interrupted = true;
        }
        task.parent = task.parent.filter(|parent| tasks.contains_key(parent));
        task.after.retain(|other| tasks.contains_key(other));
        state.restorable.tasks.insert(id.clone(), task);
    }
    state
}

/// Whether the last event of the log is the adoption of a state from `source`: recovery has run, and nothing was appended
/// since.
pub fn is_adopted(layout: &StoreLayout, source: &str) -> Result<bool> {
    let mut last = false;
    let outcome = log::read_after(layout, 0, None, |envelope| {
        last = matches!(&envelope.event, Event::StateAdopted { source: known, .. } if known == source);
        Ok(())
    });
    match outcome {
        Ok(_) => Ok(last),
        Err(error) if is_damage(&error) => Ok(false),
        Err(error) => Err(error),
    }
}
