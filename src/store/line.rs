//! One event as one line: `{"v":1,"seq":…,"at":…,"txn":…,"by":…,"event":{…},"sum":"…"}`.
//!
//! `sum` is the CRC32C, in eight hexadecimal digits, of all bytes of the line before `,"sum"`. So a torn or altered line
//! is never taken for a good one. The version is read first: a newer line is "too new", never "corrupt".

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::domain::event::{By, Envelope, Event, LOG_VERSION};
use crate::domain::ids::TxnId;
use crate::error::{Code, Error, Result};

/// The longest line that is written or read, in bytes.
pub const MAX_LINE: usize = 64 * 1024 * 1024;

const SUM_LENGTH: usize = r#","sum":"01234567"}"#.len();

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LineOut<'a> {
    v: u32,
    seq: u64,
    at: &'a Timestamp,
    txn: &'a TxnId,
    by: &'a By,
    event: &'a Event,
}

#[derive(Deserialize)]
struct LineIn {
    seq: u64,
    at: Timestamp,
    txn: TxnId,
    by: By,
    event: Event,
}

/// What is wrong with a line.
#[derive(Debug, PartialEq, Eq)]
pub enum BadLine {
    /// The checksum or the form is wrong.
    Corrupt(String),
    /// The checksum is right, but the event is not one that this version knows.
    Schema(String),
    /// A newer version wrote it.
    TooNew(u32),
}

impl BadLine {
    /// The error of this damage at line `number` of `file`.
    pub fn into_error(self, file: &str, number: u64) -> Error {
        let place = format!("line {number} of {file}");
        match self {
            Self::Corrupt(why) => {
                Error::new(Code::EventLogCorrupted, format!("{place} is damaged")).why(why).hint("see 'git axiom recover'")
            }
            Self::Schema(why) => Error::new(Code::EventSchemaInvalid, format!("{place} is no event that is known here"))
                .why(why)
                .hint("see 'git axiom recover'"),
            Self::TooNew(version) => Error::new(
                Code::EventLogTooNew,
                format!("{place} has format version {version}, this program reads up to {LOG_VERSION}"),
            )
            .hint("install a newer git axiom; nothing is damaged"),
        }
    }
}

/// Writes an event as a line, line feed included.
///
/// # Errors
/// `TOO_LARGE` over [`MAX_LINE`].
pub fn encode(envelope: &Envelope) -> Result<Vec<u8>> {
    let Envelope { seq, at, txn, by, event } = envelope;
    let line = LineOut { v: LOG_VERSION, seq: *seq, at, txn, by, event };
    let mut bytes =
        serde_json::to_vec(&line).map_err(|e| Error::new(Code::Internal, "an event cannot be written as JSON").because(e))?;
    bytes.pop();
    let sum = crc32c::crc32c(&bytes);
    bytes.extend_from_slice(format!(",\"sum\":\"{sum:08x}\"}}\n").as_bytes());
    if bytes.len() > MAX_LINE {
        return Err(Error::new(Code::TooLarge, format!("one change has {} bytes, the limit is {MAX_LINE}", bytes.len())));
    }
    Ok(bytes)
}

/// Reads a line without its line feed.
///
/// # Errors
/// What is wrong with it.
pub fn decode(line: &[u8]) -> Result<Envelope, BadLine> {
    let version = version_of(line).ok_or_else(|| BadLine::Corrupt("it does not begin with a version".into()))?;
    if version > LOG_VERSION {
        return Err(BadLine::TooNew(version));
    }
    let body = checked_body(line)?;
    // `body` lacks the closing brace that stood behind the checksum, so the whole line is parsed; unknown keys pass.
    let parsed: LineIn = serde_json::from_slice(line).map_err(|e| BadLine::Schema(e.to_string()))?;
    debug_assert!(body.len() < line.len());
    Ok(Envelope { seq: parsed.seq, at: parsed.at, txn: parsed.txn, by: parsed.by, event: parsed.event })
}

fn checked_body(line: &[u8]) -> Result<&[u8], BadLine> {
    let corrupt = |why: &str| BadLine::Corrupt(why.to_owned());
    let (body, tail) = line.split_at_checked(line.len().wrapping_sub(SUM_LENGTH)).ok_or_else(|| corrupt("it is too short"))?;
    let digits = tail
        .strip_prefix(br#","sum":""#)
        .and_then(|rest| rest.strip_suffix(br#""}"#))
        .and_then(|digits| std::str::from_utf8(digits).ok())
        .and_then(|digits| u32::from_str_radix(digits, 16).ok())
        .ok_or_else(|| corrupt("it does not end with a checksum"))?;
    if crc32c::crc32c(body) == digits { Ok(body) } else { Err(corrupt("the checksum does not fit")) }
}

/// The version that a line claims, read before anything else.
fn version_of(line: &[u8]) -> Option<u32> {
    let rest = line.strip_prefix(br#"{"v":"#)?;
    let end = rest.iter().position(|b| !b.is_ascii_digit())?;
    std::str::from_utf8(&rest[..end]).ok()?.parse().ok()
}

/// The sequence number that a good line claims, without reading the event.
pub fn sequence_of(line: &[u8]) -> Option<u64> {
    let start = line.windows(6).take(24).position(|w| w == br#""seq":"#)? + 6;
    let rest = &line[start..];
    let end = rest.iter().position(|b| !b.is_ascii_digit())?;
    std::str::from_utf8(&rest[..end]).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Envelope {
        Envelope {
            seq: 7,
            at: "2026-01-13T10:00:00Z".parse().unwrap(),
            txn: TxnId::new("t1").unwrap(),
            by: By::User,
            event: Event::LogRepaired { bytes: 3, kept: "x\u{1F600}".into() },
        }
    }

    #[test]
    fn a_line_reads_back_and_has_the_documented_form() {
        let line = encode(&sample()).unwrap();
        let text = std::str::from_utf8(&line).unwrap();
        assert!(text.starts_with(r#"{"v":1,"seq":7,"at":"2026-01-13T10:00:00Z","txn":"t1","by":"user","event":{"#), "{text}");
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
        assert_eq!(decode(br#"{"v":2,"what":1}"#).unwrap_err(), BadLine::TooNew(2));
    }

    #[test]
    fn an_unknown_event_with_a_good_checksum_is_a_schema_error() {
        let body = br#"{"v":1,"seq":1,"at":"2026-01-13T10:00:00Z","txn":"t1","by":"user","event":{"nope":{}}"#;
        let mut line = body.to_vec();
        line.extend(format!(",\"sum\":\"{:08x}\"}}", crc32c::crc32c(body)).as_bytes());
        assert!(matches!(decode(&line).unwrap_err(), BadLine::Schema(_)));
    }
}
