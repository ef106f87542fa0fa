//! A fast parser for the envelope of a line, because most of the time of replaying a long log is spent there.
//!
//! It only understands the exact form that `line::encode` writes; anything else is left to serde. Consecutive lines mostly
//! have the same minute and often the same transaction, so the values of the previous line are remembered.

use jiff::Timestamp;

use crate::domain::base::ids::{AgentId, TxnId};
use crate::domain::state::event::By;

/// The envelope of a line, without its event.
pub struct Head {
    pub seq: u64,
    pub at: Timestamp,
    pub txn: TxnId,
    pub by: By,
}

/// The beginning of all lines of this form.
pub const BEGINNING: &[u8] = br#"{"v":1,"seq":"#;

/// Values of the previous lines.
#[derive(Debug, Default)]
pub struct Memory {
    minute: Option<(Minute, i64)>,
    txn: Option<TxnId>,
}

/// A time up to its minute, `2026-01-13T10:00:`, as text.
type Minute = [u8; 17];

impl Memory {
    fn txn(&mut self, text: &[u8]) -> Option<TxnId> {
        match &self.txn {
            Some(known) if known.as_str().as_bytes() == text => {}
            Some(_) | None => self.txn = Some(TxnId::from_ascii(text)?),
        }
        self.txn.clone()
    }

    /// Parses `2026-01-13T10:00:00Z`, with up to nine digits of a fraction.
    fn timestamp(&mut self, text: &[u8]) -> Option<Timestamp> {
        let (minute, rest) = text.split_first_chunk()?;
        let start = match self.minute {
            Some((known, start)) if known == *minute => start,
            Some(_) | None => self.minute.insert((*minute, start_of(minute)?)).1,
        };
        let (second, rest) = rest.split_first_chunk::<2>()?;
        let second = digits(second).filter(|second| *second <= 59)?;
        let fraction = rest.strip_suffix(b"Z")?;
        let nanos = match fraction.strip_prefix(b".") {
            Some(fraction) if fraction.len() <= 9 => digits(fraction)? as i64 * 10_i64.pow(9 - fraction.len() as u32),
            None if fraction.is_empty() => 0,
            Some(_) | None => return None,
        };
        Timestamp::new(start + second as i64, i32::try_from(nanos).ok()?).ok()
    }
}

/// Splits the checked bytes of a line into its envelope and the JSON of its event.
pub fn split<'a>(body: &'a [u8], memory: &mut Memory) -> Option<(Head, &'a [u8])> {
    let rest = body.strip_prefix(BEGINNING)?;
    let (seq, rest) = number(rest)?;
    let (at, rest) = text(rest.strip_prefix(br#","at":""#)?)?;
    let (txn, rest) = text(rest.strip_prefix(br#","txn":""#)?)?;
    let (by, rest) = author(rest.strip_prefix(br#","by":"#)?)?;
    let event = rest.strip_prefix(br#","event":"#)?;
    Some((Head { seq, at: memory.timestamp(at)?, txn: memory.txn(txn)?, by }, event))
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

fn author(bytes: &[u8]) -> Option<(By, &[u8])> {
    if let Some(rest) = bytes.strip_prefix(br#"{"agent":""#) {
        let (agent, rest) = text(rest)?;
        return Some((By::Agent(AgentId::from_ascii(agent)?), rest.strip_prefix(b"}")?));
    }
    let (word, rest) = text(bytes.strip_prefix(b"\"")?)?;
    let by = match word {
        b"user" => By::User,
        b"supervisor" => By::Supervisor,
        b"recovery" => By::Recovery,
        _ => return None,
    };
    Some((by, rest))
}

/// The seconds from 1970 to the beginning of a minute.
fn start_of(minute: &Minute) -> Option<i64> {
    let punctuation = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    if punctuation.iter().any(|(at, mark)| minute[*at] != *mark) {
        return None;
    }
    let field = |from: usize, to: usize| digits(&minute[from..to]).map(|number| number as i64);
    let (year, month, day) = (field(0, 4)?, field(5, 7)?, field(8, 10)?);
    let (hour, minute) = (field(11, 13)?, field(14, 16)?);
    // Impossible dates are left to jiff, which refuses them.
    if !(1..=12).contains(&month) || !(1..=28).contains(&day) && !fits(year, month, day) {
        return None;
    }
    let seconds = days_since_epoch(year, month, day) * 86_400 + hour * 3600 + minute * 60;
    (hour <= 23 && minute <= 59 && seconds >= 0).then_some(seconds)
}

fn fits(year: i64, month: i64, day: i64) -> bool {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    (1..=length).contains(&day)
}

/// Days since 1970-01-01 in the Gregorian calendar. Years are counted from March, so that the leap day is the last day of a
/// year.
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timestamp(text: &[u8]) -> Option<Timestamp> {
        Memory::default().timestamp(text)
    }

    #[test]
    fn times_are_read_as_jiff_reads_them() {
        let mut memory = Memory::default();
        for seconds in (0..4_102_444_800_i64).step_by(86_399 * 13) {
            for nanos in [0, 1_000_000, 123_000_000, 999_999_999] {
                let at = Timestamp::new(seconds, nanos).unwrap();
                assert_eq!(timestamp(at.to_string().as_bytes()), Some(at), "{at}");
                assert_eq!(memory.timestamp(at.to_string().as_bytes()), Some(at), "{at}");
            }
        }
    }

    #[test]
    fn times_that_do_not_exist_are_left_to_jiff() {
        for bad in ["2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-01T24:00:00Z", "x", ""] {
            assert_eq!(timestamp(bad.as_bytes()), None, "{bad}");
        }
        assert_eq!(timestamp(b"2024-02-29T00:00:00Z"), "2024-02-29T00:00:00Z".parse().ok());
        assert_eq!(timestamp(b"2026-01-01T00:00:00+01:00"), None);
    }

    #[test]
    fn what_is_remembered_never_stands_for_something_else() {
        let mut memory = Memory::default();
        let times = ["2026-01-13T10:00:59Z", "2026-01-13T10:00:01.5Z", "2026-01-13T10:01:00Z", "2026-01-13T10:00:00Z"];
        for (txn, at) in ["t1", "t1", "t2", "t1"].into_iter().zip(times) {
            let body = format!(r#"{{"v":1,"seq":9,"at":"{at}","txn":"{txn}","by":"user","event":{{}}"#);
            let (head, _) = split(body.as_bytes(), &mut memory).unwrap();
            assert_eq!((head.at, head.txn.as_str()), (at.parse().unwrap(), txn));
        }
        assert_eq!(memory.timestamp(b"2026-01-13T10:00:60Z"), None);
        assert_eq!(memory.timestamp(b"2026-01-13T10:99:00Z"), None);
        assert_eq!(memory.timestamp(b"2026-01-13T10:00:0"), None);
        assert_eq!(memory.txn(b"-"), None);
    }

    #[test]
    fn the_author_is_read() {
        let body = br#"{"v":1,"seq":9,"at":"2026-01-13T10:00:00.5Z","txn":"t1","by":{"agent":"ed-001"},"event":{"x":1}"#;
        let (head, event) = split(body, &mut Memory::default()).unwrap();
        assert_eq!((head.seq, head.by), (9, By::Agent(AgentId::new("ed-001").unwrap())));
        assert_eq!(event, br#"{"x":1}"#);
        assert!(
            split(
                br#"{"v":1,"seq":9,"at":"2026-01-13T10:00:00Z","txn":"t\u0031","by":"user","event":{}"#,
                &mut Memory::default()
            )
            .is_none()
        );
    }
}
