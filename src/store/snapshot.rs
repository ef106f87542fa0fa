//! The snapshot: a checksummed copy of the state, so that a start need not replay the whole log.
//!
//! Two lines: a header `{"v":1,"seq":…,"position":{…},"length":…,"sum":"…"}` and the state. `sum` is the CRC32C of the
//! header's bytes before `,"sum"` and of the second line. Losing the snapshot costs time, never data.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::layout::Layout;
use super::line;
use super::log::Position;
use crate::domain::state::event::LOG_VERSION;
use crate::domain::state::whole::State;
use crate::env;
use crate::error::{Code, Error, Result};
use crate::files::{self, FileLock, LockAttempt};

/// The largest snapshot that is read, in bytes.
const MAX_SNAPSHOT: u64 = 1024 * 1024 * 1024;

/// How long a writer waits for another one. A lock can outlive its holder for a moment, when a child of it is between fork
/// and exec.
const MOMENT: Duration = Duration::from_millis(20);

#[derive(Serialize, Deserialize)]
struct Header {
    v: u32,
    seq: u64,
    position: Position,
    length: u64,
    /// The number of the last event that changed a case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cases: Option<u64>,
}

/// The contents of the snapshot file.
#[derive(Debug)]
pub enum Snapshot {
    /// There is none.
    Missing,
    /// It cannot be used, for this reason.
    Damaged(String),
    /// The state, the position in the log after it, and the last event that changed a case, if the snapshot has it.
    Good(Box<State>, Position, Option<u64>),
}

/// Reads the snapshot.
///
/// # Errors
/// `IO_FAILED`; `EVENT_LOG_TOO_NEW` where a newer version wrote it. Damage is no error: see [`Snapshot::Damaged`].
pub fn load(layout: &Layout) -> Result<Snapshot> {
    let Some(bytes) = files::read_optional(&layout.snapshot(), MAX_SNAPSHOT)? else { return Ok(Snapshot::Missing) };
    let (header, body) = match split(&bytes)? {
        Ok(parts) => parts,
        Err(why) => return Ok(Snapshot::Damaged(why.to_owned())),
    };
    // Checks UTF-8 once for the whole state: that is faster than string by string.
    let Ok(body) = std::str::from_utf8(body) else { return Ok(Snapshot::Damaged("it is not in UTF-8".into())) };
    match serde_json::from_str::<State>(body) {
        Ok(state) if state.seq == header.seq => Ok(Snapshot::Good(Box::new(state), header.position, header.cases)),
        Ok(_) => Ok(Snapshot::Damaged("its number does not fit its header".into())),
        Err(e) => Ok(Snapshot::Damaged(e.to_string())),
    }
}

/// Header and state of an intact snapshot, or why it cannot be used.
fn split(bytes: &[u8]) -> Result<std::result::Result<(Header, &[u8]), &'static str>> {
    if let Some(version) = line::version_of(&bytes[..bytes.len().min(64)])
        && version > LOG_VERSION
    {
        return Err(Error::new(Code::EventLogTooNew, format!("the snapshot has format version {version}"))
            .hint("install a newer git axiom; nothing is damaged"));
    }
    let Some(end) = line::find_end(bytes) else { return Ok(Err("it has no header")) };
    let (head, body) = (&bytes[..end], &bytes[end + 1..]);
    let checked = &head[..head.len().saturating_sub(line::SUM_LENGTH)];
    if crc32c::crc32c_append(crc32c::crc32c(checked), body) != line::sum_of(head) {
        return Ok(Err("checksum mismatch"));
    }
    match serde_json::from_slice::<Header>(head) {
        Ok(header) if header.length == body.len() as u64 => Ok(Ok((header, body))),
        Ok(_) => Ok(Err("its length does not fit")),
        Err(_) => Ok(Err("its header does not parse")),
    }
}

/// The event number of the snapshot on disk; `None` where there is no intact one.
pub(super) fn written_seq(layout: &Layout) -> Result<Option<u64>> {
    let Some(bytes) = files::read_optional(&layout.snapshot(), MAX_SNAPSHOT)? else { return Ok(None) };
    Ok(split(&bytes)?.ok().map(|(header, _)| header.seq))
}

/// Writes the snapshot, unless another process is writing one or has written a newer one. Returns the event number of the
/// snapshot on disk, or 0 where it is unknown. `cases` is the last event that changed a case. A crash leaves the old or the
/// new one.
///
/// # Errors
/// `IO_FAILED`, `DISK_FULL`; the old one is then unchanged.
pub fn save(layout: &Layout, state: &State, position: Position, cases: Option<u64>) -> Result<u64> {
    // Without the lock, a slow process could replace a newer snapshot by an older one.
    let LockAttempt::Taken(_lock) = FileLock::take(&layout.snapshot_lock(), MOMENT)? else { return Ok(0) };
    match written_seq(layout)? {
        Some(newer) if newer >= state.seq => return Ok(newer),
        Some(_) | None => {}
    }
    let body =
        serde_json::to_vec(state).map_err(|e| Error::new(Code::Internal, "the state cannot be written as JSON").because(e))?;
    let header = Header { v: LOG_VERSION, seq: state.seq, position, length: body.len() as u64, cases };
    let mut bytes = serde_json::to_vec(&header)
        .map_err(|e| Error::new(Code::Internal, "the snapshot's header cannot be written").because(e))?;
    bytes.pop();
    let sum = crc32c::crc32c_append(crc32c::crc32c(&bytes), &body);
    bytes.extend_from_slice(format!(",\"sum\":\"{sum:08x}\"}}\n").as_bytes());
    bytes.extend_from_slice(&body);
    env::fault_point("store.before-snapshot");
    files::write_atomic(&layout.snapshot(), &bytes)?;
    Ok(state.seq)
}
