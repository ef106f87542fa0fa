//! Reading the event log, without a lock.
//!
//! A reader uses whole lines only, so it never sees an incomplete one. It remembers its position and the checksum of the
//! last line it read, and so detects a log that was replaced or truncated.

use std::cell::RefCell;
use std::fmt;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use crate::layout::StoreLayout;
use crate::log_files::decode_ahead::{DecodeAhead, DecodedLines};
use crate::log_files::line;
use crate::log_files::line::BadLine;
use crate::log_files::segments;
use crate::log_files::segments::LogSegment;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_model::base::sealed::SUM_LENGTH;
use axiom_model::state::event::Event;
use axiom_model::state::event_envelope::EventEnvelope;

/// How much is read at once: small enough for the processor's cache.
const CHUNK: usize = 128 * 1024;

/// The file size from which decoding on other threads pays off.
const MUCH: u64 = 1024 * 1024;

/// The beginning of the next unread line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct LogPosition {
    /// The number of the first event in the file.
    pub first: u64,
    /// The offset in that file.
    pub offset: u64,
    /// The checksum of the line that ends there; 0 at the beginning of a file.
    pub sum: u32,
}

/// The result of reading to the end.
#[derive(Debug, Default, Clone, Copy)]
pub struct LogTail {
    /// Where the next read starts.
    pub position: LogPosition,
    /// Bytes after the last line feed: a line that is being written, or that a crash left incomplete.
    pub torn: u64,
}

/// Reads all events after number `after`, in order, and calls `each` with them. `hint` is the position after event `after`,
/// so that known events need not be read again.
pub fn read_after(
    layout: &StoreLayout,
    after: u64,
    hint: Option<LogPosition>,
    each: impl FnMut(EventEnvelope) -> Result<()>,
) -> Result<LogTail> {
    let mut reader = EventLogReader { expected: after + 1, each };
    if let Some(position) = hint
        && let Some(tail) = read_in_place(layout, position, &mut reader)?
    {
        return Ok(tail);
    }
    let all = segments::list(layout)?;
    let begin = segments::beginning(&all, reader.expected)?;
    // Whether it is certain that event `after` is in the log. Later events that follow it prove that too.
    let mut vouched = after == 0;
    let mut tail = LogTail { position: LogPosition { first: reader.expected, ..LogPosition::default() }, torn: 0 };
    for mut segment in all.into_iter().skip(begin) {
        let known = hint.filter(|hint| segment.first == Some(hint.first));
        let Some(read) = reader.read_segment(&mut segment, known)? else {
            tail = LogTail { position: LogPosition { first: reader.expected, ..LogPosition::default() }, torn: 0 };
            continue;
        };
        vouched |= known.is_some_and(|known| known.offset > 0);
        vouched |= hint.is_none_or(|hint| hint.offset == 0) && segment.first.is_some_and(|first| first <= after);
        tail = read;
    }
    if vouched || reader.expected > after + 1 { Ok(tail) } else { Err(gone(&layout.events(), after)) }
}

/// The usual case: the active log is still the file of the hint. `None` where it is another file.
fn read_in_place<F: FnMut(EventEnvelope) -> Result<()>>(
    layout: &StoreLayout,
    position: LogPosition,
    reader: &mut EventLogReader<F>,
) -> Result<Option<LogTail>> {
    let path = layout.events();
    let Some(file) = files::open_optional(&path)? else {
        // The log was just sealed, and no event appended since.
        let just_sealed = position.offset == 0
            && position.first == reader.expected
            && position.first > 1
            && !segments::segment_path(layout, position.first).exists()
            && segments::sealed(layout)?.last().is_some_and(|last| last.first < Some(position.first));
        return Ok(just_sealed.then_some(LogTail { position, torn: 0 }));
    };
    if segments::first_number(&file, &path)? == Some(position.first) {
        reader.read_file(file, &path, position).map(Some)
    } else {
        Ok(None)
    }
}

fn gone(path: &Path, seq: u64) -> Error {
    Error::new(Code::EventLogTruncated, format!("'{}' does not hold event {seq}, which it held before", path.display()))
        .hint("see 'git axiom recover'")
}

/// The error for a log without events where `evidence` shows that there were some.
pub fn emptied(layout: &StoreLayout, evidence: &str) -> Error {
    let what = format!("'{}' holds no event, but {evidence}", layout.events().display());
    Error::new(Code::EventLogTruncated, what).hint("see 'git axiom recover'")
}

/// Checks lines and passes them to `each`, in order, without gaps.
struct EventLogReader<F> {
    expected: u64,
    each: F,
}

impl<F: FnMut(EventEnvelope) -> Result<()>> EventLogReader<F> {
    fn read_segment(&mut self, segment: &mut LogSegment, known: Option<LogPosition>) -> Result<Option<LogTail>> {
        let Some(file) = segment.open()? else { return Ok(None) };
        let start = known.unwrap_or(LogPosition { first: segment.first.unwrap_or(self.expected), ..LogPosition::default() });
        self.read_file(file, &segment.path, start).map(Some)
    }

    /// Reads from `start` to the end. The lines of a large file are decoded on other threads.
    fn read_file(&mut self, mut file: File, path: &Path, start: LogPosition) -> Result<LogTail> {
        let io = |e| Error::io("read", path, e);
        let length = file.metadata().map_err(io)?.len();
        if start.offset > 0 {
            check_end_of_known(&file, path, start, length, self.expected)?;
        }
        file.seek(SeekFrom::Start(start.offset)).map_err(io)?;
        let place = LogLineLocation { path, start, tail: LogTail { position: start, torn: 0 }, number: 0, passed_over: false };
        let known = self.expected - 1;
        let read = if length.saturating_sub(start.offset) < MUCH {
            self.read_lines(&mut file, place, |bytes| Some(DecodedLines::decode(bytes)), || None)
        } else {
            std::thread::scope(|scope| {
                let ahead = RefCell::new(DecodeAhead::start(scope));
                self.read_lines(&mut file, place, |bytes| ahead.borrow_mut().give(bytes), || ahead.borrow_mut().take())
            })
        };
        let (tail, passed_over) = read?;
        if passed_over && start.offset > 0 && number_before(&mut file, path, start.offset)? != Some(known) {
            // What knows of later events than there were at that place was not made from this log.
            return Err(gone(path, known));
        }
        Ok(tail)
    }

    /// Cuts the file into pieces of whole lines, and tells whether events were passed over that are known already. `give` takes each
    /// piece and returns one that is decoded, if any; `rest` returns the remaining ones.
    fn read_lines(
        &mut self,
        file: &mut File,
        mut place: LogLineLocation<'_>,
        give: impl Fn(Vec<u8>) -> Option<DecodedLines>,
        rest: impl Fn() -> Option<DecodedLines>,
    ) -> Result<(LogTail, bool)> {
        let mut buffer: Vec<u8> = Vec::new();
        loop {
            let filled = buffer.len();
            let wanted = CHUNK.max(filled);
            buffer.reserve(wanted);
            file.take(wanted as u64).read_to_end(&mut buffer).map_err(|e| Error::io("read", place.path, e))?;
            if buffer.len() == filled {
                break;
            }
            // Only the new bytes can contain the missing line feed.
            if let Some(end) = line::find_last_end(&buffer[filled..]) {
                let behind = buffer.split_off(filled + end + 1);
                let whole = std::mem::replace(&mut buffer, behind);
                if let Some(piece) = give(whole) {
                    self.take_piece(piece, &mut place)?;
                }
            } else if buffer.len() > line::MAX_LINE {
                place.number += 1;
                return Err(BadLine::Corrupt("it is too long".into()).into_error(&place.to_string()));
            }
        }
        while let Some(piece) = rest() {
            self.take_piece(piece, &mut place)?;
        }
        place.tail.torn = buffer.len() as u64;
        Ok((place.tail, place.passed_over))
    }

    /// Passes on all lines of a piece.
    fn take_piece(&mut self, piece: DecodedLines, place: &mut LogLineLocation<'_>) -> Result<()> {
        for (length, decoded) in piece.lines {
            place.number += 1;
            let envelope = decoded.map_err(|bad| bad.into_error(&place.to_string()))?;
            if envelope.seq >= self.expected {
                // An adopted state replaces all events before it, so numbers may be skipped.
                if envelope.seq > self.expected && !matches!(envelope.event, Event::StateAdopted { .. }) {
                    let what = format!("{place} is event {}, but event {} is missing", envelope.seq, self.expected);
                    return Err(Error::new(Code::EventLogTruncated, what).hint("see 'git axiom recover'"));
                }
                self.expected = envelope.seq + 1;
                (self.each)(envelope)?;
            } else {
                place.passed_over = true;
            }
            place.tail.position.offset += length as u64 + 1;
        }
        place.tail.position.sum = line::last_sum(&piece.bytes);
        Ok(())
    }
}

/// The current position of a reader.
struct LogLineLocation<'a> {
    path: &'a Path,
    start: LogPosition,
    tail: LogTail,
    number: u64,
    /// Whether there were events that are known already.
    passed_over: bool,
}

/// For messages: the number of the line, or its offset where the lines before it were not read.
impl fmt::Display for LogLineLocation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        match self.start.offset {
            0 => write!(f, "line {} of {name}", self.number),
            _ => write!(f, "the line at byte {} of {name}", self.tail.position.offset),
        }
    }
}

/// The number of the event whose line ends at `offset`; `None` where that is none.
fn number_before(file: &mut File, path: &Path, offset: u64) -> Result<Option<u64>> {
    let end = offset.saturating_sub(1);
    let mut length = CHUNK as u64;
    loop {
        let from = end.saturating_sub(length);
        let mut bytes = Vec::new();
        let read = file.seek(SeekFrom::Start(from)).and_then(|_| file.take(end - from).read_to_end(&mut bytes));
        read.map_err(|e| Error::io("read", path, e))?;
        match line::find_last_end(&bytes) {
            // The line is longer than that.
            None if from > 0 => length *= 2,
            found => {
                let begin = found.map_or(0, |end| end + 1);
                return Ok(line::decode(&bytes[begin..]).ok().map(|envelope| envelope.seq));
            }
        }
    }
}

/// Checks that the line that ends at `start` is the one that was read earlier.
fn check_end_of_known(file: &File, path: &Path, start: LogPosition, length: u64, expected: u64) -> Result<()> {
    use std::os::unix::fs::FileExt;
    let mut end = [0_u8; SUM_LENGTH + 1];
    let from = start.offset.saturating_sub(end.len() as u64);
    if length < start.offset {
        return Err(gone(path, expected - 1));
    }
    file.read_exact_at(&mut end, from).map_err(|e| Error::io("read", path, e))?;
    if line::ends_with_sum(&end, start.sum) { Ok(()) } else { Err(gone(path, expected - 1)) }
}
