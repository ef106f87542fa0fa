//! The older checkpoints beside the snapshot, `state/checkpoints-<seq>.jsonl`: a record per line, newest last.
//!
//! Such a file is never changed. The snapshot names the one that it belongs to, and has its checksum and a summary, so that
//! most commands need not read it. Losing it costs time, never data: what it holds is replayed from the log.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};

use crate::layout::StoreLayout;
use crate::log_files::log;
use axiom_base::error::{Code, Error, Result};
use axiom_base::{env, files};
use axiom_model::checkpoint::catalog::{CheckpointCatalog, OlderCheckpoints};
use axiom_model::checkpoint::older_checkpoints::{OlderCheckpointSummary, divide};
use axiom_model::checkpoint::record::CheckpointRecord;
use axiom_model::state::current_state::State;

/// The largest file that is read, in bytes.
const MAX_PART: u64 = 1024 * 1024 * 1024;

/// The file that a snapshot names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OlderCheckpointsFile {
    /// The number of the snapshot with which it was written: its name.
    seq: u64,
    length: u64,
    /// The CRC32C of the file.
    sum: u32,
    #[serde(flatten)]
    summary: OlderCheckpointSummary,
}

/// The file in use, and whether it was found to be damaged: the next snapshot then gets a new one.
#[derive(Debug, Clone)]
pub struct OlderCheckpointsInUse {
    part: OlderCheckpointsFile,
    is_damaged: Arc<AtomicBool>,
}

impl OlderCheckpointsInUse {
    /// What the snapshot records of it.
    pub fn part(&self) -> &OlderCheckpointsFile {
        &self.part
    }

    /// Whether the file seems to be whole, without reading it.
    pub fn is_there(&self, layout: &StoreLayout) -> bool {
        let part = &self.part;
        path(layout, part.seq).metadata().is_ok_and(|meta| meta.is_file() && meta.len() == part.length)
    }
}

/// The older checkpoints of the snapshot of event `seq`, to be read when somebody asks for them.
pub fn open(layout: &StoreLayout, part: OlderCheckpointsFile, seq: u64) -> (OlderCheckpointsInUse, OlderCheckpoints) {
    let in_use = OlderCheckpointsInUse { part, is_damaged: Arc::default() };
    let (layout, of_reader) = (layout.clone(), in_use.clone());
    let read = move || match read(&layout, &of_reader.part)? {
        Ok(records) => Ok(records),
        Err(why) => {
            let path = path(&layout, of_reader.part.seq);
            tracing::warn!(path = %path.display(), why, "a part of the state is made again from the event log");
            of_reader.is_damaged.store(true, Ordering::Relaxed);
            replay(&layout, &of_reader.part.summary, seq)
        }
    };
    let older = OlderCheckpoints::new(in_use.part.summary.clone(), Arc::new(read));
    (in_use, older)
}

/// Whether the file cannot be used, and why.
pub fn damage(layout: &StoreLayout, part: &OlderCheckpointsFile) -> Result<Option<String>> {
    Ok(read(layout, part)?.err().map(|why| format!("{}: {why}", path(layout, part.seq).display())))
}

/// Puts all but the newest checkpoints of `state` into a new file, where that is worth while or the file in use is not whole.
/// `in_use` is the file that the state was read with, if the snapshot on disk still names it.
/// Returns the file that the next snapshot has to name. Until it does, nothing has changed on disk for others. A crash leaves
/// a file that no snapshot names, which [`remove_others`] removes.
pub fn put_away(
    layout: &StoreLayout,
    state: &mut State,
    in_use: Option<&OlderCheckpointsInUse>,
) -> Result<Option<OlderCheckpointsInUse>> {
    let checkpoints = &state.record.checkpoints;
    let is_whole = |in_use: &OlderCheckpointsInUse| !in_use.is_damaged.load(Ordering::Relaxed) && in_use.is_there(layout);
    let recent: Vec<&CheckpointRecord> = checkpoints.recent().collect();
    // Without older ones no file is needed; with some, the file that has them.
    let in_use = in_use.filter(|in_use| checkpoints.older().is_some() && is_whole(in_use));
    let is_held = in_use.is_some() || checkpoints.older().is_none();
    if is_held && divide(&recent).is_none() {
        return Ok(in_use.cloned());
    }
    let all = checkpoints.all()?;
    let Some((stay, older)) = divide(&all) else {
        // A damaged file, and too few for another one.
        state.record.checkpoints.read_all()?;
        return Ok(None);
    };
    let part = write(layout, state.seq, &older)?;
    let recent: Vec<CheckpointRecord> = all.into_iter().filter(|record| stay.contains(&record.name)).cloned().collect();
    let (in_use, older) = open(layout, part, state.seq);
    state.record.checkpoints = CheckpointCatalog::new(recent, Some(older));
    Ok(Some(in_use))
}

/// Removes the files that the snapshot does not name. The caller holds the snapshot lock, and has written a snapshot that
/// names `in_use`. A process that has read an older snapshot replays the log where it needs a file that is gone.
pub fn remove_others(layout: &StoreLayout, in_use: Option<&OlderCheckpointsInUse>) -> Result<()> {
    let kept = in_use.map(|in_use| in_use.part.seq);
    for path in all(layout)? {
        if number(&path) != kept {
            env::fault_point("store.before-remove-part");
            files::remove_file(&path)?;
        }
    }
    Ok(())
}

/// All such files.
pub fn all(layout: &StoreLayout) -> Result<Vec<PathBuf>> {
    let entries = files::list(&layout.state_dir())?.into_iter().map(|entry| entry.path());
    Ok(entries.filter(|path| number(path).is_some()).collect())
}

/// The number in the name of such a file.
pub fn number(path: &Path) -> Option<u64> {
    path.file_name()?.to_str()?.strip_prefix("checkpoints-")?.strip_suffix(".jsonl")?.parse().ok()
}

fn path(layout: &StoreLayout, seq: u64) -> PathBuf {
    layout.state_dir().join(format!("checkpoints-{seq:020}.jsonl"))
}

fn write(layout: &StoreLayout, seq: u64, records: &[&CheckpointRecord]) -> Result<OlderCheckpointsFile> {
    let mut bytes = Vec::new();
    for record in records {
        let written = serde_json::to_writer(&mut bytes, record);
        written.map_err(|e| Error::new(Code::Internal, "a checkpoint cannot be written as JSON").because(e))?;
        bytes.push(b'\n');
    }
    env::fault_point("store.before-part");
    files::write_atomic(&path(layout, seq), &bytes)?;
    env::fault_point("store.after-part");
    Ok(OlderCheckpointsFile {
        seq,
        length: bytes.len() as u64,
        sum: crc32c::crc32c(&bytes),
        summary: OlderCheckpointSummary::of(records),
    })
}

/// The records of the file, or why it cannot be used.
fn read(layout: &StoreLayout, part: &OlderCheckpointsFile) -> Result<std::result::Result<Vec<CheckpointRecord>, String>> {
    let Some(bytes) = files::read_optional(&path(layout, part.seq), MAX_PART)? else { return Ok(Err("it is missing".into())) };
    if bytes.len() as u64 != part.length || crc32c::crc32c(&bytes) != part.sum {
        return Ok(Err("checksum mismatch".into()));
    }
    let Ok(text) = std::str::from_utf8(&bytes) else { return Ok(Err("it is not in UTF-8".into())) };
    Ok(text.lines().map(serde_json::from_str).collect::<serde_json::Result<_>>().map_err(|e| e.to_string()))
}

/// The same records from the log: those of the state after event `seq` whose names the summary has.
fn replay(layout: &StoreLayout, summary: &OlderCheckpointSummary, seq: u64) -> Result<Vec<CheckpointRecord>> {
    let mut state = State::default();
    log::read_after(layout, 0, None, |envelope| if envelope.seq <= seq { state.apply(&envelope) } else { Ok(()) })?;
    let all = state.record.checkpoints.all()?.into_iter();
    // One that is in memory may have the same name but for its case.
    let known = |record: &&CheckpointRecord| summary.has(&record.name.folded()) && record.seq <= summary.newest;
    Ok(all.filter(known).cloned().collect())
}
