//! `cases.jsonl`: the last word on every case, a source for recovery that does not depend on the event log.
//!
//! One line per change: `{"seq":…,"case":{…},"sum":"…"}`, later lines win. Rewritten when most of it is out of date.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::layout::Layout;
use crate::domain::case::Case;
use crate::domain::ids::CaseId;
use crate::domain::state::State;
use crate::error::{Code, Error, Result};
use crate::files::{self, AppendFile};

const MAX_FILE: u64 = 1024 * 1024 * 1024;

#[derive(Serialize)]
struct LineOut<'a> {
    seq: u64,
    case: &'a Case,
}

#[derive(Deserialize)]
struct LineIn {
    seq: u64,
    case: Case,
}

fn encode(seq: u64, case: &Case) -> Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(&LineOut { seq, case })
        .map_err(|e| Error::new(Code::Internal, "a case cannot be written as JSON").because(e))?;
    bytes.pop();
    let sum = crc32c::crc32c(&bytes);
    bytes.extend_from_slice(format!(",\"sum\":\"{sum:08x}\"}}\n").as_bytes());
    Ok(bytes)
}

fn decode(line: &[u8]) -> Option<LineIn> {
    let cut = line.len().checked_sub(r#","sum":"01234567"}"#.len())?;
    let digits = std::str::from_utf8(line[cut..].strip_prefix(br#","sum":""#)?.strip_suffix(br#""}"#)?).ok()?;
    (u32::from_str_radix(digits, 16).ok()? == crc32c::crc32c(&line[..cut])).then(|| serde_json::from_slice(line).ok())?
}

/// What was read.
#[derive(Debug, Default)]
pub struct Cases {
    /// The last word on every case.
    pub cases: BTreeMap<CaseId, Case>,
    /// Lines that could not be used.
    pub damaged: u64,
    /// The highest event number of a good line.
    pub seq: u64,
}

/// Reads the file; damaged lines are counted and passed over.
///
/// # Errors
/// `IO_FAILED` with the path.
pub fn load(layout: &Layout) -> Result<Cases> {
    let mut found = Cases::default();
    let Some(bytes) = files::read_optional(&layout.cases(), MAX_FILE)? else { return Ok(found) };
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        match decode(line) {
            Some(LineIn { seq, case }) => {
                found.seq = found.seq.max(seq);
                found.cases.insert(case.id.clone(), case);
            }
            None => found.damaged += 1,
        }
    }
    Ok(found)
}

/// Appends the new word on the cases `ids`; the caller holds the state lock. Not synced: the event log is, and is the
/// truth. Where it has grown to several times its need it is rewritten.
///
/// # Errors
/// `IO_FAILED`, `DISK_FULL`.
pub fn record(layout: &Layout, state: &State, ids: &[CaseId]) -> Result<()> {
    let mut bytes = Vec::new();
    for case in ids.iter().filter_map(|id| state.restorable.cases.get(id)) {
        bytes.extend(encode(state.seq, case)?);
    }
    let mut file = AppendFile::open(&layout.cases())?;
    // A line that a crash tore must not swallow the next one.
    let length = file.len()?;
    if length > 0 {
        bytes.insert(0, b'\n');
    }
    file.append(&bytes)?;
    let live = state.restorable.cases.len() as u64 * 1024 + 64 * 1024;
    if length > live * 4 { rewrite(layout, state) } else { Ok(()) }
}

/// Writes all cases anew. A crash leaves the old or the new file.
///
/// # Errors
/// `IO_FAILED`, `DISK_FULL`.
pub fn rewrite(layout: &Layout, state: &State) -> Result<()> {
    let mut bytes = Vec::new();
    for case in state.restorable.cases.values() {
        bytes.extend(encode(state.seq, case)?);
    }
    files::write_atomic(&layout.cases(), &bytes)
}
