//! The format of the log: one event per line, `{"axiom":1,"seq":…,"at":…,"txn":…,"by":…,"event":{…},"sum":"…"}`.
//!
//! `sum` is the CRC32C, in eight hexadecimal digits, of all bytes of the line before `,"sum"`. It detects incomplete and
//! altered lines. The version, under the key `axiom`, is read first: a line of a newer version is "too new", never "corrupt".

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::log_files::head;
use crate::log_files::head::LineHeadCache;
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::ids::OperationId;
use axiom_model::base::log_version::{BEFORE, VERSION};
use axiom_model::base::sealed::{self, BrokenSeal};
use axiom_model::state::event::Event;
use axiom_model::state::event_envelope::{EventAuthor, EventEnvelope};

/// The longest line that is written or read, in bytes.
pub const MAX_LINE: usize = 512 * 1024 * 1024;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EventLineOut<'a> {
    axiom: u32,
    seq: u64,
    at: &'a Timestamp,
    txn: &'a OperationId,
    by: &'a EventAuthor,
    event: &'a Event,
}

#[derive(Deserialize)]
struct EventLineIn {
    seq: u64,
    at: Timestamp,
    txn: OperationId,
    by: EventAuthor,
    event: Event,
}

/// Why a line cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub enum BadLine {
    /// The checksum or the form is wrong.
    Corrupt(String),
    /// The checksum is right, but the event is not one that this version knows.
    Schema(String),
    /// A newer version wrote it.
    TooNew(u32),
    /// A build from before the first release wrote it.
    TooOld,
}

impl BadLine {
    /// The error for this damage at `place` ("line 3 of events.jsonl").
    pub fn into_error(self, place: &str) -> Error {
        match self {
            Self::Corrupt(why) => {
                Error::new(Code::EventLogCorrupted, format!("{place} is damaged")).why(why).hint("see 'git axiom recover'")
            }
            Self::Schema(why) => Error::new(Code::EventSchemaInvalid, format!("{place} is not a known event"))
                .why(why)
                .hint("see 'git axiom recover'"),
            Self::TooNew(version) => Error::new(
                Code::EventLogTooNew,
                format!("{place} has format version {version}, this program reads up to {VERSION}"),
            )
            .hint("install a newer git axiom; nothing is damaged"),
            Self::TooOld => Error::new(Code::EventLogTooOld, format!("{place} has a format that is not read any more"))
                .why(BEFORE)
                .hint("git axiom recover --from cases --yes    begins a new log with the tasks; the old one is kept, and so are files and branches"),
        }
    }
}

/// Encodes an event as a line, with its line feed.
pub fn encode(envelope: &EventEnvelope) -> Result<Vec<u8>> {
    let EventEnvelope { seq, at, txn, by, event } = envelope;
    let line = EventLineOut { axiom: VERSION, seq: *seq, at, txn, by, event };
    let json =
        serde_json::to_vec(&line).map_err(|e| Error::new(Code::Internal, "an event cannot be written as JSON").because(e))?;
    let bytes = sealed::seal(json, &[]);
    if bytes.len() > MAX_LINE {
        return Err(Error::new(Code::TooLarge, format!("one change has {} bytes, the limit is {MAX_LINE}", bytes.len())));
    }
    Ok(bytes)
}

/// Decodes a line without its line feed.
pub fn decode(line: &[u8]) -> Result<EventEnvelope, BadLine> {
    decode_next(line, &mut LineHeadCache::default())
}

/// As [`decode`], with values remembered from the previous lines, which is faster for many lines.
pub(crate) fn decode_next(line: &[u8], memory: &mut LineHeadCache) -> Result<EventEnvelope, BadLine> {
    if !line.starts_with(head::BEGINNING) {
        if let Some(bad) = foreign(line) {
            return Err(bad);
        }
        version_of(line).ok_or_else(|| BadLine::Corrupt("it does not begin with a version".into()))?;
    }
    let body = checked_body(line)?;
    let schema = |e: serde_json::Error| BadLine::Schema(e.to_string());
    if let Some((head, event)) = head::split(body, memory) {
        // Checks UTF-8 once for the whole event: that is faster than string by string.
        let event = std::str::from_utf8(event).map_err(|e| BadLine::Schema(e.to_string()))?;
        let event = serde_json::from_str(event).map_err(schema)?;
        return Ok(EventEnvelope { seq: head.seq, at: head.at, txn: head.txn, by: head.by, event });
    }
    // A line written by another program, or with keys of a later version. Unknown keys are ignored.
    let parsed: EventLineIn = serde_json::from_slice(line).map_err(schema)?;
    Ok(EventEnvelope { seq: parsed.seq, at: parsed.at, txn: parsed.txn, by: parsed.by, event: parsed.event })
}

/// Whether the checksum of a line is right, whatever the line contains.
pub fn is_intact(line: &[u8]) -> bool {
    checked_body(line).is_ok()
}

fn checked_body(line: &[u8]) -> Result<&[u8], BadLine> {
    sealed::opened(line, &[]).map_err(|broken| {
        let why = match broken {
            BrokenSeal::TooShort => "it is too short",
            BrokenSeal::NoSum => "it does not end in a checksum",
            BrokenSeal::Differs => "the checksum does not fit",
        };
        BadLine::Corrupt(why.to_owned())
    })
}

/// Whether `end`, the last bytes of a line and its line feed, contains the checksum `sum`.
pub fn ends_with_sum(end: &[u8], sum: u32) -> bool {
    end.strip_suffix(b"\n").and_then(sealed::written) == Some(sum)
}

/// The position of the first line feed in `bytes`.
pub fn find_end(bytes: &[u8]) -> Option<usize> {
    memchr::memchr(b'\n', bytes)
}

/// The position of the last line feed in `bytes`.
pub fn find_last_end(bytes: &[u8]) -> Option<usize> {
    memchr::memrchr(b'\n', bytes)
}

/// The checksum written in the last of these whole lines; 0 where there is none.
pub fn last_sum(lines: &[u8]) -> u32 {
    lines.strip_suffix(b"\n").map_or(0, sealed::sum_of)
}

/// Whether a line that begins with `head` adopts a state: then all earlier events are ignored.
pub fn begins_anew(head: &[u8]) -> bool {
    memchr::memmem::find(head, br#","event":{"stateAdopted":"#).is_some()
}

/// Whether a line or snapshot with this beginning is of another version, which is refused whatever follows.
pub fn foreign(head: &[u8]) -> Option<BadLine> {
    match version_of(head) {
        Some(version) => (version > VERSION).then_some(BadLine::TooNew(version)),
        None => number_after(br#"{"v":"#, head).map(|_| BadLine::TooOld),
    }
}

/// The version written in a line, read before anything else.
fn version_of(line: &[u8]) -> Option<u32> {
    number_after(br#"{"axiom":"#, line)
}

fn number_after(key: &[u8], line: &[u8]) -> Option<u32> {
    let rest = line.strip_prefix(key)?;
    let end = rest.iter().position(|b| !b.is_ascii_digit())?;
    std::str::from_utf8(&rest[..end]).ok()?.parse().ok()
}

/// The sequence number written in a good line, without decoding the event.
pub fn sequence_of(line: &[u8]) -> Option<u64> {
    let start = line.windows(6).take(24).position(|w| w == br#""seq":"#)? + 6;
    let rest = &line[start..];
    let end = rest.iter().position(|b| !b.is_ascii_digit())?;
    std::str::from_utf8(&rest[..end]).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> EventEnvelope {
        EventEnvelope {
            seq: 7,
            at: "2026-01-13T10:00:00Z".parse().unwrap(),
            txn: OperationId::new("t1").unwrap(),
            by: EventAuthor::User,
            event: Event::LogRepaired { bytes: 3, kept: "x\u{1F600}".into() },
        }
    }

    #[test]
    fn a_line_reads_back_and_has_the_documented_form() {
        let line = encode(&sample()).unwrap();
        let text = std::str::from_utf8(&line).unwrap();
        assert!(text.starts_with(r#"{"axiom":1,"seq":7,"at":"2026-01-13T10:00:00Z","txn":"t1","by":"user","event":{"#), "{text}");
        assert_eq!(decode(&line[..line.len() - 1]).unwrap(), sample());
        assert_eq!(sequence_of(&line), Some(7));
    }

    #[test]
    fn every_altered_byte_and_every_cut_is_seen() {
        let line = encode(&sample()).unwrap();
        let line = &line[..line.len() - 1];
        for i in 0..line.len() {
            let mut altered = line.to_vec();
            altered[i] ^= 1;
            assert!(decode(&altered).is_err(), "byte {i}");
            assert!(decode(&line[..i]).is_err(), "cut at {i}");
        }
    }

    #[test]
    fn a_newer_line_is_too_new_even_when_it_is_strange() {
        assert_eq!(decode(br#"{"axiom":99,"what":1}"#).unwrap_err(), BadLine::TooNew(99));
    }

    #[test]
    fn a_line_from_before_the_first_release_is_too_old_whatever_its_version_was() {
        let line = String::from_utf8(encode(&sample()).unwrap()).unwrap();
        for version in [1, 8, 99] {
            let old = line.replace("\"axiom\":1", &format!("\"v\":{version}"));
            assert_eq!(decode(old.trim_end().as_bytes()).unwrap_err(), BadLine::TooOld);
        }
        let error = BadLine::TooOld.into_error("line 1 of x");
        assert!(error.to_string().contains("before the first release"), "{error}");
    }

    /// From the first release on: what is added gets a default, for the lines that do not have it yet.
    #[test]
    fn a_field_that_is_missing_has_its_default() {
        use axiom_model::base::{ids::TaskId, names::Oid};
        let (task, capture) = (TaskId::new("t").unwrap(), Oid::new("1".repeat(40)).unwrap());
        let event = format!(r#"{{"workspaceCaptured":{{"task":"t","capture":"{capture}"}}"#);
        let body = format!(r#"{{"axiom":1,"seq":7,"at":"2026-01-13T10:00:00Z","txn":"t1","by":"user","event":{event}}}}}"#);
        let event = Event::WorkspaceCaptured { task, capture, lines: None, changed_at: None };
        let line = sealed::seal(body.into_bytes(), &[]);
        assert_eq!(decode(line.trim_ascii_end()).unwrap(), EventEnvelope { event, ..sample() });
        let state: axiom_model::state::current_state::State = serde_json::from_str(r#"{"restorable":{},"record":{}}"#).unwrap();
        assert_eq!(state, axiom_model::state::current_state::State::default());
    }

    #[test]
    fn an_unknown_event_with_a_good_checksum_is_a_schema_error() {
        let body = br#"{"axiom":1,"seq":1,"at":"2026-01-13T10:00:00Z","txn":"t1","by":"user","event":{"nope":{}}"#;
        let mut line = body.to_vec();
        line.extend(format!(",\"sum\":\"{:08x}\"}}", crc32c::crc32c(body)).as_bytes());
        assert!(matches!(decode(&line).unwrap_err(), BadLine::Schema(_)));
    }
}
