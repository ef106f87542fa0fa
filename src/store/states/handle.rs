//! The store: the state in memory, kept up to date with the log on disk.
//!
//! Every change takes the state lock, reads the events that other processes appended, validates the new ones by `apply`,
//! appends, syncs, and records the tasks.

mod appending;
mod copies;

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::Duration;

use appending::{is_not_about_the_event, trace_of_events};

use crate::beside::tasks;
use crate::layout::StoreLayout;
use crate::log_files::log;
use crate::log_files::log::LogPosition;
use crate::states::anchors;
use crate::states::checkpoints::OlderCheckpointsInUse;
use crate::states::snapshot;
use crate::states::snapshot::{LoadedSnapshot, SnapshotFile, WrittenSnapshot};
use axiom_base::error::{Code, Error, Result};
use axiom_base::files::AppendFile;
use axiom_base::{env, files};
use axiom_model::base::ids::OperationId;
use axiom_model::operation::touched::changes_tasks;
use axiom_model::state::current_state::State;
use axiom_model::state::event::Event;
use axiom_model::state::event_envelope::{EventAuthor, EventEnvelope};
use axiom_model::state::repository_location::RepositoryRelocation;

/// How long an append waits for the state lock.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long the writer of a snapshot waits for the state lock to complete `cases.jsonl`. Short, because another snapshot
/// follows soon.
const MOMENT: Duration = Duration::from_millis(200);

/// How often a log in which events seem to be missing is read again.
const READ_AGAIN: u32 = 3;

/// After how many events at least the command that appends writes a new snapshot. Few in debug builds, so that tests have snapshots.
const SNAPSHOT_AFTER: u64 = if cfg!(debug_assertions) { 12 } else { 100 };

/// As many bytes of a snapshot take as long to read as an event takes to be applied: so a large one is written more rarely, and what is
/// written for an event does not grow with what the state holds.
const BYTES_FOR_EVENT: u64 = 1024;

/// The state, and the position in the log up to which it was read.
#[derive(Debug)]
pub struct Store {
    layout: StoreLayout,
    state: State,
    position: LogPosition,
    snapshot: WrittenSnapshot,
    tasks: tasks::TasksFileProgress,
    /// The file with the older checkpoints that the state lacks.
    older: Option<OlderCheckpointsInUse>,
    /// Set after a failed sync: it is unknown whether the last lines are on disk, so nothing more may be acknowledged.
    poisoned: bool,
    /// Set where the state in memory is not that of the log: see [`Store::look_as`].
    only_shown: bool,
    /// The log when it was last read to its end.
    seen: Option<LogFingerprint>,
    torn: TornEnd,
    warnings: Vec<Error>,
    /// See [`Store::load_with_newest_events`].
    anchor: Option<Box<(State, LogPosition)>>,
}

/// An incomplete last line of the log, in bytes.
#[derive(Debug, Default)]
struct TornEnd {
    /// When the log was read last.
    left: u64,
    /// What this process cut off.
    cut: u64,
}

/// A log that was read to its end. While it is the same file, of the same length, it holds nothing new: an append makes it
/// longer, and whatever replaces it is another file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LogFingerprint {
    file: (u64, u64),
    length: u64,
    modified: (i64, i64),
}

impl LogFingerprint {
    /// The log now; `None` where there is none.
    fn now(layout: &StoreLayout) -> Option<Self> {
        let meta = std::fs::metadata(layout.events()).ok()?;
        let (file, modified) = ((meta.dev(), meta.ino()), (meta.mtime(), meta.mtime_nsec()));
        Some(Self { file, length: meta.len(), modified })
    }
}

/// The author of appended events, and their transaction.
#[derive(Debug, Clone)]
pub struct AppendAuthor {
    /// The transaction.
    pub txn: OperationId,
    /// The author.
    pub by: EventAuthor,
}

impl Store {
    /// Loads the state without a lock: the snapshot and the events after it, or all events.
    pub fn load(layout: StoreLayout) -> Result<Self> {
        let once = || {
            let store = Self::read_from(layout.clone(), snapshot::load(&layout)?)?;
            let trace = if store.state.seq == 0 { trace_of_events(&layout)? } else { None };
            let emptied = |trace: PathBuf| log::emptied(&layout, &format!("'{}' tells of some", trace.display()));
            trace.map(emptied).map_or(Ok(store), Err)
        };
        let mut attempts = 0;
        loop {
            match once() {
                // A log that is sealed or replaced while it is read may look as if events were missing.
                Err(error) if error.code() == Code::EventLogTruncated && attempts < READ_AGAIN => {
                    attempts += 1;
                    std::thread::sleep(Duration::from_millis(2));
                }
                outcome => return outcome,
            }
        }
    }

    /// As [`Store::load`], from the newest anchor in place of the snapshot: what was read of it is in [`Store::anchor`]. `None` where
    /// there is none that can be used, or where more would have to be read from there.
    pub fn load_with_newest_events(layout: StoreLayout) -> Result<Option<Self>> {
        let Some(seq) = anchors::all(&layout)?.first().copied() else { return Ok(None) };
        let Some(loaded) = snapshot::load_anchor(&layout, seq)? else { return Ok(None) };
        // The older checkpoints of that time may have been put into another file since.
        if loaded.older.as_ref().is_some_and(|older| !older.is_there(&layout)) {
            return Ok(None);
        }
        let anchor = (loaded.state.clone(), loaded.position);
        match Self::read_from(layout, SnapshotFile::Good(Box::new(loaded))) {
            Ok(store) => Ok(Some(Self { anchor: Some(Box::new(anchor)), ..store })),
            // Whatever is wrong, the snapshot and the log decide.
            Err(error) => {
                tracing::debug!(%error, seq, "the anchor is not used");
                Ok(None)
            }
        }
    }

    /// The state at the newest anchor and its position in the log, where that was read already.
    pub fn anchor(&self) -> Option<&(State, LogPosition)> {
        self.anchor.as_deref()
    }

    /// The state of the snapshot, and of the events after it: of all events where it is missing.
    fn read_from(layout: StoreLayout, snapshot: SnapshotFile) -> Result<Self> {
        let mut warnings = Vec::new();
        let (state, hint, changed, older, size) = match snapshot {
            SnapshotFile::Good(loaded) => {
                let LoadedSnapshot { state, position, tasks, older, size } = *loaded;
                (state, Some(position), tasks, older, size)
            }
            SnapshotFile::Missing => (State::default(), None, 0, None, 0),
            SnapshotFile::Damaged(why) => {
                warnings.push(Error::new(Code::EventLogCorrupted, "the snapshot is damaged and was ignored").why(why));
                (State::default(), None, 0, None, 0)
            }
        };
        let mut store = Self {
            layout,
            snapshot: WrittenSnapshot { seq: state.seq, size },
            state,
            position: LogPosition::default(),
            tasks: tasks::TasksFileProgress::loaded(changed),
            older,
            poisoned: false,
            only_shown: false,
            seen: None,
            torn: TornEnd::default(),
            warnings,
            anchor: None,
        };
        store.read_on(hint)?;
        Ok(store)
    }

    /// Whether the log by itself gives the state, without the snapshot.
    pub fn log_is_whole(&self) -> Result<()> {
        Self::read_from(self.layout.clone(), SnapshotFile::Missing).map(drop)
    }

    /// Reads the log anew, from its beginning: its files were replaced.
    pub fn read_anew(&mut self) -> Result<()> {
        *self = Self::read_from(self.layout.clone(), SnapshotFile::Missing)?;
        Ok(())
    }

    fn read_on(&mut self, hint: Option<LogPosition>) -> Result<u64> {
        let (state, tasks) = (&mut self.state, &mut self.tasks);
        let tail = log::read_after(&self.layout, state.seq, hint, |envelope| {
            apply(state, &envelope)?;
            if changes_tasks(&envelope.event) {
                tasks.heard(envelope.seq);
            }
            Ok(())
        })?;
        self.position = tail.position;
        self.torn.left = tail.torn;
        Ok(tail.torn)
    }

    /// Reads on from the current position. If the log was replaced or truncated, reads everything again.
    fn catch_up(&mut self) -> Result<u64> {
        match self.read_on(Some(self.position)) {
            Err(error) if error.code() == Code::EventLogTruncated => {
                let poisoned = self.poisoned;
                *self = Self::load(self.layout.clone())?;
                self.poisoned = poisoned;
                self.read_on(Some(self.position))
            }
            outcome => outcome,
        }
    }

    /// Reads the events that other processes appended. Returns whether there were any.
    pub fn refresh(&mut self) -> Result<bool> {
        // Looked at first: what is appended while it is read makes it longer.
        let now = LogFingerprint::now(&self.layout);
        if now.is_some() && now == self.seen {
            return Ok(false);
        }
        let before = self.state.seq;
        let torn = self.catch_up()?;
        // An incomplete end may be replaced by as many bytes.
        self.seen = now.filter(|_| torn == 0);
        Ok(self.state.seq != before)
    }

    /// The state after the last load, refresh or append.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// From now on shows the state as it will be after the repository's new place is recorded. No event may be appended to
    /// such a state.
    pub fn look_as(&mut self, placing: &RepositoryRelocation) {
        self.only_shown = true;
        self.state.place(placing, self.state.seq);
    }

    /// The paths.
    pub fn layout(&self) -> &StoreLayout {
        &self.layout
    }

    /// How many bytes an incomplete last line has, which a crash left, or had until this process cut it off.
    pub fn torn(&mut self) -> Result<u64> {
        Ok(self.catch_up()?.max(self.torn.cut))
    }

    /// Cuts off an incomplete last line, where there was one when the log was read last: else the next append does. One that another
    /// process is just writing is left alone.
    pub fn mend_end(&mut self, author: &AppendAuthor) -> Result<()> {
        if self.torn.left == 0 || self.only_shown {
            return Ok(());
        }
        self.append(author, Vec::new()).map(drop)
    }

    /// Damage that was found and did not prevent loading, or that was repaired. Each is told once.
    pub fn take_warnings(&mut self) -> Vec<Error> {
        std::mem::take(&mut self.warnings)
    }

    /// What of that was repaired. Each is told once.
    pub fn take_repairs(&mut self) -> Vec<Error> {
        self.warnings.extract_if(.., |warning| warning.code() == Code::EventLogTruncated).collect()
    }

    /// A crash left an incomplete last line, which was never acknowledged. Saves it to a file, then cuts it off.
    fn cut_torn_end(&mut self, file: &mut AppendFile) -> Result<Event> {
        let path = self.layout.events();
        let bytes = files::read(&path, u64::MAX - 1)?;
        let torn = bytes.get(self.position.offset as usize..).unwrap_or_default();
        let kept = self.layout.damaged_dir().join(format!("events-torn-{}", env::fresh_id()));
        env::fault_point("store.before-keep-torn");
        files::create_new(&kept, torn)?;
        env::fault_point("store.before-cut");
        file.truncate(self.position.offset)?;
        let (bytes, kept) = (torn.len() as u64, kept.display().to_string());
        self.torn = TornEnd { left: 0, cut: bytes };
        let what = format!("an incomplete end of {bytes} bytes was cut off the event log; it was never acknowledged");
        self.warnings.push(Error::new(Code::EventLogTruncated, what).why(format!("it is kept in '{kept}'")));
        Ok(Event::LogRepaired { bytes, kept })
    }

    /// Reads the state again. If even that fails, nothing more may be acknowledged.
    fn reload(&mut self) {
        match Self::load(self.layout.clone()) {
            Ok(fresh) => *self = fresh,
            Err(error) => {
                tracing::warn!(%error, "the state cannot be read again");
                self.poisoned = true;
            }
        }
    }
}

/// Applies an event that was read from the log. An event that does not fit is damage, not a mistake of the caller's.
pub(crate) fn apply(state: &mut State, envelope: &EventEnvelope) -> Result<()> {
    state.apply(envelope).map_err(|error| {
        if is_not_about_the_event(error.code()) {
            return error;
        }
        let error = if error.code() == Code::EventSchemaInvalid { error } else { misfit(envelope, &error) };
        error.hint("see 'git axiom recover'")
    })
}

fn misfit(envelope: &EventEnvelope, error: &Error) -> Error {
    Error::new(Code::EventSchemaInvalid, format!("event {} does not fit the state before it", envelope.seq))
        .why(error.to_string())
}
