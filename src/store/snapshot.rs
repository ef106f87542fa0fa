//! The snapshot: a checksummed cache of the state machine, so that a start need not replay the whole log.
//!
//! Two lines: a header `{"v":1,"seq":…,"position":{…},"length":…,"sum":"…"}` and the state. Losing it costs time, never data.

use serde::{Deserialize, Serialize};

use super::layout::Layout;
use super::log::Position;
use crate::domain::event::LOG_VERSION;
use crate::domain::state::State;
use crate::error::{Code, Error, Result};
use crate::files;

/// The largest snapshot that is read, in bytes.
const MAX_SNAPSHOT: u64 = 1024 * 1024 * 1024;

#[derive(Serialize, Deserialize)]
struct Header {
    v: u32,
    seq: u64,
    position: Position,
    length: u64,
    sum: String,
}

/// What the snapshot file holds.
#[derive(Debug)]
pub enum Snapshot {
    /// There is none.
    Missing,
    /// It cannot be used, for this reason.
    Damaged(String),
    /// The state, and where the log goes on.
    Good(Box<State>, Position),
}

/// Reads the snapshot.
///
/// # Errors
/// `IO_FAILED`; `EVENT_LOG_TOO_NEW` where a newer version wrote it. Damage is no error: see [`Snapshot::Damaged`].
pub fn load(layout: &Layout) -> Result<Snapshot> {
    let Some(bytes) = files::read_optional(&layout.snapshot(), MAX_SNAPSHOT)? else { return Ok(Snapshot::Missing) };
    let damaged = |why: &str| Ok(Snapshot::Damaged(why.to_owned()));
    let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else { return damaged("it has no header") };
    let Ok(header) = serde_json::from_slice::<Header>(&bytes[..end]) else { return damaged("its header does not parse") };
    if header.v > LOG_VERSION {
        return Err(Error::new(Code::EventLogTooNew, format!("the snapshot has format version {}", header.v))
            .hint("install a newer git axiom; nothing is damaged"));
    }
    let body = &bytes[end + 1..];
    if body.len() as u64 != header.length {
        return damaged("its length does not fit");
    }
    if format!("{:08x}", crc32c::crc32c(body)) != header.sum {
        return damaged("checksum mismatch");
    }
    match serde_json::from_slice::<State>(body) {
        Ok(state) if state.seq == header.seq => Ok(Snapshot::Good(Box::new(state), header.position)),
        Ok(_) => damaged("its number does not fit its header"),
        Err(e) => damaged(&e.to_string()),
    }
}

/// Writes the snapshot. A crash leaves the old or the new one.
///
/// # Errors
/// `IO_FAILED`, `DISK_FULL`; the old one is then still there.
pub fn save(layout: &Layout, state: &State, position: Position) -> Result<()> {
    let body =
        serde_json::to_vec(state).map_err(|e| Error::new(Code::Internal, "the state cannot be written as JSON").because(e))?;
    let header = Header {
        v: LOG_VERSION,
        seq: state.seq,
        position,
        length: body.len() as u64,
        sum: format!("{:08x}", crc32c::crc32c(&body)),
    };
    let mut bytes = serde_json::to_vec(&header)
        .map_err(|e| Error::new(Code::Internal, "the snapshot's header cannot be written").because(e))?;
    bytes.push(b'\n');
    bytes.extend_from_slice(&body);
    files::write_atomic(&layout.snapshot(), &bytes)
}
