//! A fast parser for the envelope of a line, because most of the time of replaying a long log is spent there.
//!
//! It only understands the exact form that `line::encode` writes; anything else is left to serde. Consecutive lines often have
//! the same transaction, so that of the previous line is remembered.

use jiff::Timestamp;

use axiom_model::base::ids::{AgentId, OperationId};
use axiom_model::state::event_envelope::EventAuthor;

/// The envelope of a line, without its event.
pub struct EventLineHead {
    pub seq: u64,
    pub at: Timestamp,
    pub txn: OperationId,
    pub by: EventAuthor,
}

/// The beginning of all lines of this form.
pub const BEGINNING: &[u8] = br#"{"axiom":1,"seq":"#;

/// Values of the previous lines.
#[derive(Debug, Default)]
pub struct LineHeadCache {
    txn: Option<OperationId>,
}

impl LineHeadCache {
    fn txn(&mut self, text: &[u8]) -> Option<OperationId> {
        match &self.txn {
            Some(known) if known.as_str().as_bytes() == text => {}
            Some(_) | None => self.txn = Some(OperationId::from_ascii(text)?),
        }
        self.txn.clone()
    }
}

/// Splits the checked bytes of a line into its envelope and the JSON of its event.
pub fn split<'a>(body: &'a [u8], memory: &mut LineHeadCache) -> Option<(EventLineHead, &'a [u8])> {
    let rest = body.strip_prefix(BEGINNING)?;
    let (seq, rest) = number(rest)?;
    let (at, rest) = text(rest.strip_prefix(br#","at":""#)?)?;
    let (txn, rest) = text(rest.strip_prefix(br#","txn":""#)?)?;
    let (by, rest) = author(rest.strip_prefix(br#","by":"#)?)?;
    let event = rest.strip_prefix(br#","event":"#)?;
    Some((EventLineHead { seq, at: timestamp(at)?, txn: memory.txn(txn)?, by }, event))
}

/// A time, as serde would read it.
fn timestamp(text: &[u8]) -> Option<Timestamp> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let end = bytes.iter().position(|byte| !byte.is_ascii_digit())?;
    Some((digits(&bytes[..end])?, &bytes[end..]))
}

/// The number with these digits; at most 18 of them, so that it cannot overflow.
fn digits(bytes: &[u8]) -> Option<u64> {
    if bytes.is_empty() || bytes.len() > 18 {
        return None;
    }
    bytes.iter().try_fold(0_u64, |number, byte| byte.is_ascii_digit().then(|| number * 10 + u64::from(byte - b'0')))
}

/// A string without escapes, up to its closing quote.
fn text(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = memchr::memchr2(b'"', b'\\', bytes)?;
    (bytes[end] == b'"').then(|| (&bytes[..end], &bytes[end + 1..]))
}

fn author(bytes: &[u8]) -> Option<(EventAuthor, &[u8])> {
    if let Some(rest) = bytes.strip_prefix(br#"{"agent":""#) {
        let (agent, rest) = text(rest)?;
        return Some((EventAuthor::Agent(AgentId::from_ascii(agent)?), rest.strip_prefix(b"}")?));
    }
    let (word, rest) = text(bytes.strip_prefix(b"\"")?)?;
    let by = match word {
        b"user" => EventAuthor::User,
        b"supervisor" => EventAuthor::Supervisor,
        b"attached" => EventAuthor::Attached,
        b"recovery" => EventAuthor::Recovery,
        _ => return None,
    };
    Some((by, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line at this time.
    fn line(at: &str) -> String {
        format!(r#"{{"axiom":1,"seq":9,"at":"{at}","txn":"t1","by":"user","event":{{}}"#)
    }

    #[test]
    fn times_are_those_that_serde_reads() {
        for at in ["1970-01-01T00:00:00Z", "2026-01-13T10:00:59.123Z", "2024-02-29T23:59:59.999999999Z"] {
            let line = line(at);
            let (head, _) = split(line.as_bytes(), &mut LineHeadCache::default()).unwrap();
            assert_eq!((head.at, head.at.to_string()), (serde_json::from_str(&format!("\"{at}\"")).unwrap(), at.to_owned()));
        }
        for bad in ["2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-13T10:00:0", "x", ""] {
            assert!(split(line(bad).as_bytes(), &mut LineHeadCache::default()).is_none(), "{bad}");
        }
    }

    #[test]
    fn what_is_remembered_never_stands_for_something_else() {
        let mut memory = LineHeadCache::default();
        let times = ["2026-01-13T10:00:59Z", "2026-01-13T10:00:01.5Z", "2026-01-13T10:01:00Z", "2026-01-13T10:00:00Z"];
        for (txn, at) in ["t1", "t1", "t2", "t1"].into_iter().zip(times) {
            let body = format!(r#"{{"axiom":1,"seq":9,"at":"{at}","txn":"{txn}","by":"user","event":{{}}"#);
            let (head, _) = split(body.as_bytes(), &mut memory).unwrap();
            assert_eq!((head.at, head.txn.as_str()), (at.parse().unwrap(), txn));
        }
        assert_eq!(memory.txn(b"-"), None);
    }

    #[test]
    fn the_author_is_read() {
        let body = br#"{"axiom":1,"seq":9,"at":"2026-01-13T10:00:00.5Z","txn":"t1","by":{"agent":"ed-001"},"event":{"x":1}"#;
        let (head, event) = split(body, &mut LineHeadCache::default()).unwrap();
        assert_eq!((head.seq, head.by), (9, EventAuthor::Agent(AgentId::new("ed-001").unwrap())));
        assert_eq!(event, br#"{"x":1}"#);
        assert!(
            split(
                br#"{"axiom":1,"seq":9,"at":"2026-01-13T10:00:00Z","txn":"t\u0031","by":"user","event":{}"#,
                &mut LineHeadCache::default()
            )
            .is_none()
        );
    }
}
