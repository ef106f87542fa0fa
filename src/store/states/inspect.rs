//! A thorough check of all stored files: which are good, which are damaged, and from which sources recovery can start.
//!
//! Reads all segments, also those that a snapshot makes unnecessary. Changes nothing.

use jiff::Timestamp;
use serde::Serialize;

use crate::beside::tasks;
use crate::layout::StoreLayout;
use crate::log_files::{backup, line, segments};
use crate::states::handle::Store;
use crate::states::rebuild;
use crate::states::rebuild::{RebuildSource, is_damage};
use crate::states::snapshot;
use crate::states::snapshot::SnapshotFile;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_model::state::current_state::State;

const MAX_FILE: u64 = 1024 * 1024 * 1024;

/// The highest number of a backup that is looked for.
const MAX_BACKUPS: u32 = 16;

/// How the stored state stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StoreInspection {
    /// The damage because of which the state cannot be loaded; `None` where it can be.
    pub blocked_by: Option<StoreDamage>,
    /// The number of events before the first bad line.
    pub good_events: u64,
    /// The first bad line, also where a snapshot covers it.
    pub first_bad: Option<StoreDamage>,
    /// Intact lines after the first bad one, which a partial recovery leaves out.
    pub good_after: u64,
    /// Lines that are not intact.
    pub bad_lines: u64,
    /// Bytes after the last line feed of the active log: an incomplete line after a crash. The next change cuts them off.
    pub torn: u64,
    /// The snapshot.
    pub snapshot: SnapshotReport,
    /// The backups, newest first.
    pub backups: Vec<BackupReport>,
    /// `cases.jsonl`.
    pub tasks: TasksFileReport,
    /// A number above every known event.
    pub next_seq: u64,
    /// The sources from which recovery can start, in the order in which they are offered. Checkpoints are not among them.
    pub choices: Vec<RebuildChoice>,
}

/// Damage, in the form of an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StoreDamage {
    /// The stable code.
    pub code: &'static str,
    /// The place and the damage.
    pub message: String,
}

impl From<&Error> for StoreDamage {
    fn from(error: &Error) -> Self {
        Self { code: error.code().as_str(), message: error.to_string() }
    }
}

/// The state of the snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "is")]
#[allow(missing_docs)] // the fields are those of `RebuildChoice`
pub enum SnapshotReport {
    /// There is none.
    Missing,
    /// It cannot be used.
    Damaged {
        #[serde(rename = "reason")]
        why: String,
    },
    /// It can be used.
    Good { seq: u64, at: Option<Timestamp> },
}

/// The state of a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BackupReport {
    /// 0 is the newest.
    pub number: u32,
    /// The last event of its state; 0 where it cannot be used.
    pub seq: u64,
    /// The time of that event.
    pub at: Option<Timestamp>,
    /// What is wrong with it.
    pub damage: Option<StoreDamage>,
}

/// The state of `cases.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TasksFileReport {
    /// How many tasks it knows.
    #[serde(rename = "taskCount")]
    pub tasks: u64,
    /// Lines that cannot be used.
    pub damaged: u64,
    /// The highest event number in it.
    pub seq: u64,
}

/// A source from which recovery can start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RebuildChoice {
    /// The value for `--from`.
    #[serde(rename = "source")]
    pub from: String,
    /// The source.
    #[serde(skip)]
    pub source: RebuildSource,
    /// The last event that it includes; `None` for `cases` and `fresh`.
    pub seq: Option<u64>,
    /// The time of that event.
    pub at: Option<Timestamp>,
    /// How many tasks it has.
    #[serde(rename = "taskCount")]
    pub tasks: u64,
}

/// Checks all stored files.
pub fn inspect(layout: &StoreLayout) -> Result<StoreInspection> {
    let blocked_by = match Store::load(layout.clone()) {
        Ok(_) => None,
        Err(error) if is_damage(&error) => Some(StoreDamage::from(&error)),
        Err(error) => return Err(error),
    };
    let (replayed, first_bad) = rebuild::prefix(layout, State::default(), None)?;
    let lines = count_lines(layout)?;
    let (mut loaded, mut damage) = (snapshot::load(layout)?, None);
    // A snapshot that is written meanwhile comes with a file of its own, and removes the one before it.
    for _ in 0..2 {
        damage = snapshot::damage(layout, &loaded)?;
        if damage.is_none() {
            break;
        }
        loaded = snapshot::load(layout)?;
    }
    let (snapshot, snapshot_state) = match (loaded, damage) {
        (SnapshotFile::Missing, _) => (SnapshotReport::Missing, None),
        (SnapshotFile::Damaged(why), _) => (SnapshotReport::Damaged { why }, None),
        (SnapshotFile::Good(loaded), Some(why)) => (SnapshotReport::Damaged { why }, Some(loaded.state)),
        (SnapshotFile::Good(loaded), None) => {
            let (seq, at) = (loaded.state.seq, loaded.state.updated_at);
            (SnapshotReport::Good { seq, at }, Some(loaded.state))
        }
    };
    let found = tasks::load(layout)?;
    let tasks = TasksFileReport { tasks: found.tasks.len() as u64, damaged: found.damaged, seq: found.seq };
    let backups = look_at_backups(layout)?;
    let backup_seq = backups.iter().map(|backup| backup.seq).max();
    let snapshot_seq = snapshot_state.as_ref().map(|state| state.seq);
    let known = [Some(lines.last_seq), Some(replayed.seq), snapshot_seq, backup_seq, Some(tasks.seq)];
    let inspection = StoreInspection {
        choices: choices(layout, first_bad.is_none().then_some(&replayed), snapshot_state.as_ref(), &backups, &tasks)?,
        blocked_by,
        good_events: replayed.seq,
        good_after: if first_bad.is_some() { lines.good.saturating_sub(lines.good_before_bad) } else { 0 },
        first_bad: first_bad.as_ref().map(StoreDamage::from),
        bad_lines: lines.bad,
        torn: lines.torn,
        snapshot,
        backups,
        tasks,
        next_seq: known.into_iter().flatten().max().unwrap_or(0) + lines.bad + 1,
    };
    Ok(inspection)
}

#[derive(Default)]
struct LogLineCounts {
    good: u64,
    good_before_bad: u64,
    bad: u64,
    torn: u64,
    last_seq: u64,
}

fn count_lines(layout: &StoreLayout) -> Result<LogLineCounts> {
    let mut lines = LogLineCounts::default();
    let mut paths: Vec<_> = segments::sealed(layout)?.into_iter().map(|segment| segment.path).collect();
    let sealed = paths.len();
    paths.push(layout.events());
    let mut expected = 1;
    let mut whole = true;
    for (number, path) in paths.into_iter().enumerate() {
        let bytes = files::read_optional(&path, MAX_FILE)?.unwrap_or_default();
        let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        match bytes.len() - end {
            0 => {}
            // Only the newest line may be incomplete: no log is sealed with one.
            _ if number < sealed => lines.bad += 1,
            torn => lines.torn = torn as u64,
        }
        for text in bytes[..end].split_inclusive(|byte| *byte == b'\n') {
            match line::decode(&text[..text.len() - 1]) {
                Ok(envelope) => {
                    whole &= envelope.seq <= expected || line::begins_anew(text);
                    expected = envelope.seq + 1;
                    lines.good += 1;
                    lines.last_seq = lines.last_seq.max(envelope.seq);
                }
                Err(_) => {
                    lines.bad += 1;
                    whole = false;
                }
            }
            lines.good_before_bad += u64::from(whole);
        }
    }
    Ok(lines)
}

fn look_at_backups(layout: &StoreLayout) -> Result<Vec<BackupReport>> {
    let mut found = Vec::new();
    for number in (0..MAX_BACKUPS).filter(|number| backup::path(layout, *number).exists()) {
        let (state, bad) = rebuild::from_backup(layout, number)?;
        found.push(BackupReport { number, seq: state.seq, at: state.updated_at, damage: bad.as_ref().map(StoreDamage::from) });
    }
    Ok(found)
}

fn choices(
    layout: &StoreLayout,
    replayed: Option<&State>,
    snapshot: Option<&State>,
    backups: &[BackupReport],
    tasks: &TasksFileReport,
) -> Result<Vec<RebuildChoice>> {
    let of = |source: RebuildSource, state: &State| RebuildChoice {
        from: source.to_string(),
        source,
        seq: (state.seq > 0).then_some(state.seq),
        at: state.updated_at,
        tasks: state.restorable.tasks.len() as u64,
    };
    let mut found: Vec<RebuildChoice> = snapshot.map(|state| of(RebuildSource::Snapshot, state)).into_iter().collect();
    match replayed {
        Some(state) if state.seq > 0 => found.push(of(RebuildSource::Events, state)),
        Some(_) => {}
        None => {
            let state = rebuild::partial(layout)?;
            found.extend((state.seq > 0).then(|| of(RebuildSource::Partial, &state)));
        }
    }
    for backup in backups.iter().filter(|backup| backup.seq > 0) {
        let source = RebuildSource::Backup(backup.number);
        found.push(of(source, &rebuild::state_from(layout, source)?));
    }
    if tasks.tasks > 0 {
        found.push(of(RebuildSource::Cases, &rebuild::state_from(layout, RebuildSource::Cases)?));
    }
    found.push(of(RebuildSource::Fresh, &rebuild::state_from(layout, RebuildSource::Fresh)?));
    Ok(found)
}

impl StoreInspection {
    /// Whether nothing is damaged, not even in files that are not needed to load the state.
    pub fn is_sound(&self) -> bool {
        let snapshot = !matches!(self.snapshot, SnapshotReport::Damaged { .. });
        self.blocked_by.is_none() && self.first_bad.is_none() && self.torn == 0 && self.bad_lines == 0 && snapshot
    }

    /// The error of commands that need the state; `None` where it can be loaded.
    pub fn error(&self) -> Option<Error> {
        let damage = self.blocked_by.as_ref()?;
        let code = Code::ALL.iter().copied().find(|code| code.as_str() == damage.code).unwrap_or(Code::EventLogCorrupted);
        Some(Error::new(code, damage.message.clone()).hint("see 'git axiom recover'"))
    }
}
