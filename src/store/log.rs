//! The event log's files: the active one, sealed segments named by their first number, and reading them without a lock.
//!
//! A reader takes whole lines only, so it never sees half a line. The active file is opened before the segments are
//! listed: a log that is sealed in between is then seen twice, never not at all.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::layout::Layout;
use super::line::{self, BadLine};
use crate::domain::event::Envelope;
use crate::error::{Code, Error, Result};
use crate::files;

/// The active log is sealed when it is longer than this, in bytes.
pub const SEAL_AT: u64 = 8 * 1024 * 1024;

/// Where the next unread line begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Position {
    /// The number of the first event in the file.
    pub first: u64,
    /// The offset in that file.
    pub offset: u64,
}

/// One file of the log.
#[derive(Debug)]
pub struct Segment {
    /// The number of its first event; for an empty active log, of the one to come.
    pub first: u64,
    /// Its path when it was listed.
    pub path: PathBuf,
    file: Option<File>,
}

/// How reading to the end went.
#[derive(Debug, Default)]
pub struct Tail {
    /// Where to go on.
    pub position: Position,
    /// Bytes behind the last line feed: a line being written, or one that a crash tore.
    pub torn: u64,
}

/// The name of a sealed segment.
pub fn segment_path(layout: &Layout, first: u64) -> PathBuf {
    layout.state_dir().join(format!("events-{first:020}.jsonl"))
}

fn segment_number(path: &Path) -> Option<u64> {
    path.file_name()?.to_str()?.strip_prefix("events-")?.strip_suffix(".jsonl")?.parse().ok()
}

/// All segments, oldest first, the active one last.
///
/// # Errors
/// `IO_FAILED`; `EVENT_LOG_CORRUPTED` where the first line of the active log has no number.
pub fn segments(layout: &Layout) -> Result<Vec<Segment>> {
    let active = open_optional(&layout.events())?;
    let mut sealed = Vec::new();
    let folder = layout.state_dir();
    match std::fs::read_dir(&folder) {
        Ok(entries) => {
            for entry in entries {
                let path = entry.map_err(|e| Error::io("list", &folder, e))?.path();
                if let Some(first) = segment_number(&path) {
                    sealed.push(Segment { first, path, file: None });
                }
            }
        }
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
        Err(e) => return Err(Error::io("list", &folder, e)),
    }
    sealed.sort_by_key(|segment| segment.first);
    let path = layout.events();
    match active {
        Some(mut file) => match first_number(&mut file, &path)? {
            // Sealed between our two looks: it is in the list already.
            Some(first) if sealed.last().is_some_and(|last| last.first == first) => {}
            Some(first) => sealed.push(Segment { first, path, file: Some(file) }),
            None => sealed.push(Segment { first: 0, path, file: Some(file) }),
        },
        None => sealed.push(Segment { first: 0, path, file: None }),
    }
    Ok(sealed)
}

fn open_optional(path: &Path) -> Result<Option<File>> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(Error::io("open", path, e)),
    }
}

/// The number of the first event of a file; `None` where it has no whole line yet.
fn first_number(file: &mut File, path: &Path) -> Result<Option<u64>> {
    let mut head = [0_u8; 64];
    let mut filled = 0;
    while filled < head.len() {
        match file.read(&mut head[filled..]).map_err(|e| Error::io("read", path, e))? {
            0 => break,
            n => filled += n,
        }
    }
    if filled == 0 {
        return Ok(None);
    }
    match line::sequence_of(&head[..filled]) {
        Some(first) => Ok(Some(first)),
        None if filled < head.len() => Ok(None),
        None => Err(BadLine::Corrupt("it has no number".into()).into_error("events.jsonl", 1)),
    }
}

/// Reads all events after number `after`, in order, and calls `each` with them. `hint` says where to begin, so that what
/// is known need not be read again; a hint that fits no file is ignored.
///
/// # Errors
/// `EVENT_LOG_CORRUPTED`, `EVENT_SCHEMA_INVALID`, `EVENT_LOG_TOO_NEW` with file and line; `EVENT_LOG_TRUNCATED` where
/// events are missing; what `each` returns.
pub fn read_after(
    layout: &Layout,
    after: u64,
    hint: Option<Position>,
    mut each: impl FnMut(Envelope) -> Result<()>,
) -> Result<Tail> {
    let mut expected = after + 1;
    let mut tail = Tail { position: hint.unwrap_or(Position { first: expected, offset: 0 }), torn: 0 };
    if let Some(position) = hint
        && read_in_place(layout, position, &mut expected, &mut each, &mut tail)?
    {
        return Ok(tail);
    }
    let all = segments(layout)?;
    let last_wanted = all.iter().rposition(|segment| segment.first != 0 && segment.first <= expected).unwrap_or(0);
    let mut buffer = Vec::new();
    for mut segment in all.into_iter().skip(last_wanted) {
        let start = hint.filter(|hint| hint.first == segment.first).map_or(0, |hint| hint.offset);
        let Some(file) = segment.file.take().map_or_else(|| open_optional(&segment.path), |file| Ok(Some(file)))? else {
            tail.position = Position { first: expected, offset: 0 };
            continue;
        };
        read_file(file, &segment.path, start, &mut buffer)?;
        let (used, count) = take_lines(&buffer, &segment.path, &mut expected, &mut each)?;
        tail.torn = (buffer.len() - used) as u64;
        let first = if segment.first == 0 { expected - count } else { segment.first };
        tail.position = Position { first, offset: start + used as u64 };
    }
    Ok(tail)
}

/// The usual case: the active log is still the file of the hint. Says whether it was.
fn read_in_place(
    layout: &Layout,
    position: Position,
    expected: &mut u64,
    each: &mut impl FnMut(Envelope) -> Result<()>,
    tail: &mut Tail,
) -> Result<bool> {
    let path = layout.events();
    let Some(mut file) = open_optional(&path)? else {
        // Just sealed, and nothing appended since: the usual case after a seal.
        let nothing_new = position.offset == 0 && position.first == *expected && !segment_path(layout, position.first).exists();
        return Ok(nothing_new);
    };
    let first = first_number(&mut file, &path)?.unwrap_or(*expected);
    if first != position.first {
        return Ok(false);
    }
    let length = file.metadata().map_err(|e| Error::io("measure", &path, e))?.len();
    if length < position.offset {
        return Err(Error::new(
            Code::EventLogTruncated,
            format!("'{}' is shorter than what was read of it before", path.display()),
        )
        .hint("see 'git axiom recover'"));
    }
    let mut buffer = Vec::new();
    read_file(file, &path, position.offset, &mut buffer)?;
    let (used, _) = take_lines(&buffer, &path, expected, each)?;
    *tail = Tail { position: Position { first, offset: position.offset + used as u64 }, torn: (buffer.len() - used) as u64 };
    Ok(true)
}

fn read_file(mut file: File, path: &Path, offset: u64, buffer: &mut Vec<u8>) -> Result<()> {
    buffer.clear();
    file.seek(SeekFrom::Start(offset)).and_then(|_| file.read_to_end(buffer)).map_err(|e| Error::io("read", path, e))?;
    Ok(())
}

/// Hands on all whole lines of `buffer`; returns the bytes used and how many events were handed on.
fn take_lines(
    buffer: &[u8],
    path: &Path,
    expected: &mut u64,
    each: &mut impl FnMut(Envelope) -> Result<()>,
) -> Result<(usize, u64)> {
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let (mut used, mut number, mut count) = (0, 0_u64, 0_u64);
    while let Some(length) = buffer[used..].iter().position(|byte| *byte == b'\n') {
        number += 1;
        let envelope = line::decode(&buffer[used..used + length]).map_err(|bad| bad.into_error(&name, number))?;
        used += length + 1;
        if envelope.seq < *expected {
            continue;
        }
        if envelope.seq > *expected {
            return Err(Error::new(
                Code::EventLogTruncated,
                format!("line {number} of {name} is event {}, but event {expected} is missing", envelope.seq),
            )
            .hint("see 'git axiom recover'"));
        }
        each(envelope)?;
        *expected += 1;
        count += 1;
    }
    Ok((used, count))
}

/// Seals the active log: it becomes the segment of its first number. The caller holds the state lock. A crash leaves the
/// log under its old or its new name.
///
/// # Errors
/// `IO_FAILED` with both paths.
pub fn seal(layout: &Layout, first: u64) -> Result<()> {
    files::rename(&layout.events(), &segment_path(layout, first))
}
