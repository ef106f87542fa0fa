//! The snapshot: a checksummed copy of the state, so that a start need not replay the whole log.
//!
//! Two lines: a header `{"axiom":1,"seq":…,"position":{…},"length":…,"older":{…},"sum":"…"}` and the state. `sum` is the CRC32C
//! of the header's bytes before `,"sum"` and of the second line. `older` names the file with the checkpoints that the state
//! lacks (`super::checkpoints`). Losing the snapshot costs time, never data.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::layout::StoreLayout;
use crate::log_files::line;
use crate::log_files::line::BadLine;
use crate::log_files::log::LogPosition;
use crate::log_files::segments;
use crate::states::anchors;
use crate::states::checkpoints;
use crate::states::checkpoints::{OlderCheckpointsFile, OlderCheckpointsInUse};
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_base::files::{FileLock, LockAttempt};
use axiom_model::base::log_version::{BEFORE, VERSION};
use axiom_model::base::sealed;
use axiom_model::checkpoint::catalog::CheckpointCatalog;
use axiom_model::state::current_state::State;

/// The largest snapshot that is read, in bytes.
const MAX_SNAPSHOT: u64 = 1024 * 1024 * 1024;

/// How long a writer waits for another one. A lock can outlive its holder for a moment, when a child of it is between fork
/// and exec.
const MOMENT: Duration = Duration::from_millis(20);

#[derive(Serialize, Deserialize)]
struct SnapshotHeader {
    axiom: u32,
    seq: u64,
    position: LogPosition,
    length: u64,
    /// The number of the last event that changed a task.
    tasks: u64,
    /// The file with the older checkpoints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    older: Option<OlderCheckpointsFile>,
}

/// What an intact snapshot has.
#[derive(Debug)]
pub struct LoadedSnapshot {
    /// The state. Older checkpoints are read when somebody asks for them.
    pub state: State,
    /// The position in the log after it.
    pub position: LogPosition,
    /// The last event that changed a task.
    pub tasks: u64,
    /// The file with the older checkpoints.
    pub older: Option<OlderCheckpointsInUse>,
    /// How large it is, in bytes.
    pub size: u64,
}

/// The snapshot on disk, as far as it says when another one is due.
#[derive(Debug, Clone, Copy, Default)]
pub struct WrittenSnapshot {
    /// The number of its last event; 0 where that is not known.
    pub seq: u64,
    /// In bytes; 0 where that is not known.
    pub size: u64,
}

impl WrittenSnapshot {
    /// How many events it lacks.
    pub fn lacks(&self, state: &State) -> u64 {
        state.seq.saturating_sub(self.seq)
    }
}

/// The contents of the snapshot file.
#[derive(Debug)]
pub enum SnapshotFile {
    /// There is none.
    Missing,
    /// It cannot be used, for this reason.
    Damaged(String),
    /// It is intact.
    Good(Box<LoadedSnapshot>),
}

/// Removes the snapshot and all older ones: the log alone counts. A crash may leave some.
pub fn forget(layout: &StoreLayout) -> Result<()> {
    files::remove_file(&layout.snapshot())?;
    for entry in files::list(&layout.state_dir())? {
        if crate::states::anchors::number(&entry.path()).is_some() || crate::states::checkpoints::number(&entry.path()).is_some()
        {
            files::remove_file(&entry.path())?;
        }
    }
    files::sync_dir(&layout.state_dir())
}

/// Reads the snapshot.
pub fn load(layout: &StoreLayout) -> Result<SnapshotFile> {
    load_from(layout, &layout.snapshot())
}

/// As [`load`], from a file that was the snapshot once.
pub(crate) fn load_from(layout: &StoreLayout, path: &Path) -> Result<SnapshotFile> {
    let Some(bytes) = files::read_optional(path, MAX_SNAPSHOT)? else { return Ok(SnapshotFile::Missing) };
    let (header, body) = match split(&bytes)? {
        Ok(parts) => parts,
        Err(why) => return Ok(SnapshotFile::Damaged(why.to_owned())),
    };
    // Checks UTF-8 once for the whole state: that is faster than string by string.
    let Ok(body) = std::str::from_utf8(body) else { return Ok(SnapshotFile::Damaged("it is not in UTF-8".into())) };
    let mut state = match serde_json::from_str::<State>(body) {
        Ok(state) if state.seq == header.seq => state,
        Ok(_) => return Ok(SnapshotFile::Damaged("its number does not fit its header".into())),
        Err(e) => return Ok(SnapshotFile::Damaged(e.to_string())),
    };
    let older = header.older.map(|part| {
        let (in_use, older) = checkpoints::open(layout, part, header.seq);
        state.record.checkpoints.followed_by(older);
        in_use
    });
    Ok(SnapshotFile::Good(Box::new(LoadedSnapshot {
        state,
        position: header.position,
        tasks: header.tasks,
        older,
        size: bytes.len() as u64,
    })))
}

/// The state after event `seq`, from the anchor there; `None` where the file is gone or damaged.
pub fn load_anchor(layout: &StoreLayout, seq: u64) -> Result<Option<LoadedSnapshot>> {
    match load_from(layout, &anchors::path(layout, seq))? {
        SnapshotFile::Good(loaded) if loaded.state.seq == seq => Ok(Some(*loaded)),
        SnapshotFile::Good(_) | SnapshotFile::Missing | SnapshotFile::Damaged(_) => Ok(None),
    }
}

/// Whether the snapshot or the file that it names cannot be used, and why; `None` where there is none, or both are intact.
pub fn damage(layout: &StoreLayout, snapshot: &SnapshotFile) -> Result<Option<String>> {
    match snapshot {
        SnapshotFile::Missing => Ok(None),
        SnapshotFile::Damaged(why) => Ok(Some(why.clone())),
        SnapshotFile::Good(loaded) => match &loaded.older {
            Some(in_use) => checkpoints::damage(layout, in_use.part()),
            None => Ok(None),
        },
    }
}

/// Header and state of an intact snapshot, or why it cannot be used.
fn split(bytes: &[u8]) -> Result<std::result::Result<(SnapshotHeader, &[u8]), &'static str>> {
    match line::foreign(&bytes[..bytes.len().min(64)]) {
        Some(newer @ BadLine::TooNew(_)) => return Err(newer.into_error("the snapshot")),
        // The log of that time is refused by itself, and beside a newer log it is of no use.
        Some(BadLine::TooOld) => return Ok(Err(BEFORE)),
        Some(BadLine::Corrupt(_) | BadLine::Schema(_)) | None => {}
    }
    let Some(end) = line::find_end(bytes) else { return Ok(Err("it has no header")) };
    let (head, body) = (&bytes[..end], &bytes[end + 1..]);
    if sealed::opened(head, body).is_err() {
        return Ok(Err("checksum mismatch"));
    }
    match serde_json::from_slice::<SnapshotHeader>(head) {
        Ok(header) if header.length == body.len() as u64 => Ok(Ok((header, body))),
        Ok(_) => Ok(Err("its length does not fit")),
        Err(_) => Ok(Err("its header does not parse")),
    }
}

/// The event number of the snapshot on disk; `None` where there is no intact one.
pub(crate) fn written_seq(layout: &StoreLayout) -> Result<Option<u64>> {
    Ok(written(layout)?.map(|header| header.seq))
}

fn written(layout: &StoreLayout) -> Result<Option<SnapshotHeader>> {
    let Some(bytes) = files::read_optional(&layout.snapshot(), MAX_SNAPSHOT)? else { return Ok(None) };
    Ok(split(&bytes)?.ok().map(|(header, _)| header))
}

/// Writes the snapshot, unless another process is writing one or has written a newer one. Returns what is on disk. `tasks` is the last
/// event that changed a task, `older` the file with the older checkpoints; it may change. A crash leaves the old or the new one.
pub fn save(
    layout: &StoreLayout,
    state: &mut State,
    position: LogPosition,
    tasks: u64,
    older: &mut Option<OlderCheckpointsInUse>,
) -> Result<WrittenSnapshot> {
    // Without the lock, a slow process could replace a newer snapshot by an older one.
    let LockAttempt::Taken(_lock) = FileLock::take(&layout.locks().snapshot(), MOMENT)? else {
        return Ok(WrittenSnapshot::default());
    };
    let written = written(layout)?;
    match &written {
        Some(newer) if newer.seq >= state.seq => return Ok(WrittenSnapshot { seq: newer.seq, size: newer.length }),
        Some(_) | None => {}
    }
    // An event whose sync was put off may be in the state: a snapshot that outlives a power loss must not know of more than the log.
    segments::sync_active(layout)?;
    let named = written.and_then(|header| header.older);
    // Another process may have written a snapshot since, and removed the file that this one knows.
    let mine = older.as_ref().filter(|mine| named.as_ref() == Some(mine.part()));
    *older = checkpoints::put_away(layout, state, mine)?;
    let part = older.as_ref().map(OlderCheckpointsInUse::part);
    let bytes = encode(state, position, tasks, part)?;
    env::fault_point("store.before-snapshot");
    files::write_atomic(&layout.snapshot(), &bytes)?;
    if part != named.as_ref() {
        checkpoints::remove_others(layout, older.as_ref())?;
    }
    if let Err(error) = anchors::keep(layout, state.seq) {
        tracing::warn!(%error, "the snapshot is not kept for reading the log from there");
    }
    Ok(WrittenSnapshot { seq: state.seq, size: bytes.len() as u64 })
}

/// The bytes of the file. The state is unchanged afterwards.
fn encode(state: &mut State, position: LogPosition, tasks: u64, part: Option<&OlderCheckpointsFile>) -> Result<Vec<u8>> {
    let checkpoints = std::mem::take(&mut state.record.checkpoints);
    state.record.checkpoints = CheckpointCatalog::new(checkpoints.recent().cloned(), None);
    let body = serde_json::to_vec(state);
    state.record.checkpoints = checkpoints;
    let body = body.map_err(|e| Error::new(Code::Internal, "the state cannot be written as JSON").because(e))?;
    let header =
        SnapshotHeader { axiom: VERSION, seq: state.seq, position, length: body.len() as u64, tasks, older: part.cloned() };
    let json = serde_json::to_vec(&header)
        .map_err(|e| Error::new(Code::Internal, "the snapshot's header cannot be written").because(e))?;
    let mut bytes = sealed::seal(json, &body);
    bytes.extend_from_slice(&body);
    Ok(bytes)
}
