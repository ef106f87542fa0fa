//! The agent's output: read without ever blocking the agent, and written to its log as JSON lines, up to a cap.
//!
//! One thread reads each stream, and one writes. The queue between them is limited by the cap, so a slow disk costs memory
//! (at most the cap) and does not slow the agent down.

use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::spec::{KeeperSpec, OutputRecord, TAIL_BYTES};
use super::stream::StreamTap;
use axiom_base::env;
use axiom_base::error::{Error, Result};
use axiom_base::files::AppendFile;
use axiom_model::base::forms::hex::{from_hex, to_hex};
use axiom_model::state::audit::signal_text;
use axiom_model::work::signals::signal::AgentSignal;

/// Longer lines are split into pieces of this many bytes; all but the last have [`LogLine::cont`].
const MAX_PIECE: usize = 1024 * 1024;
/// How often the log is synced while there is output.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// The source of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LogLineSource {
    /// The program's standard output.
    Stdout,
    /// The program's standard error.
    Stderr,
    /// A remark of the keeper.
    Keeper,
    /// What the agent reported, in words. Its program printed nothing of it.
    Report,
}

/// One line of an agent's log. The program's output is all the pieces joined, with a line feed after each that has neither
/// `cont` nor `noEol`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LogLine {
    /// When it was read.
    pub at: Timestamp,
    /// The iteration, from 1.
    pub iteration: u64,
    /// Its source.
    pub stream: LogLineSource,
    /// The name of the agent program, where there are rules for its output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The line without its line feed, if it is UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The line without its line feed, in hexadecimal, if it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hex: Option<String>,
    /// The next line of this stream continues this one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cont: bool,
    /// The stream ended here without a line feed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_eol: bool,
    /// A run of the program begins here. An iteration that did not count has the number of the next one, and a task that is claimed
    /// again begins with 1 again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub first: bool,
}

impl LogLine {
    /// A line of which only its bytes are known, with its line feed where it has one.
    pub fn of_bytes(line: &[u8], at: Timestamp, stream: LogLineSource) -> Self {
        let (line, no_eol) = line.strip_suffix(b"\n").map_or((line, true), |line| (line, false));
        let (text, hex) = match std::str::from_utf8(line) {
            Ok(text) => (Some(text.to_owned()), None),
            Err(_) => (None, Some(to_hex(line))),
        };
        Self { at, iteration: 1, stream, program: None, text, hex, cont: false, no_eol, first: false }
    }

    /// The bytes of the output, with the line feed.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = match (&self.text, &self.hex) {
            (Some(text), _) => text.clone().into_bytes(),
            (None, Some(hex)) => from_hex(hex).unwrap_or_default(),
            (None, None) => Vec::new(),
        };
        if !self.cont && !self.no_eol {
            bytes.push(b'\n');
        }
        bytes
    }
}

enum AgentOutputMessage {
    Chunk { at: Timestamp, stream: LogLineSource, bytes: Vec<u8> },
    Report { at: Timestamp, words: String },
    Finish,
}

#[derive(Debug, Default)]
struct AgentOutputCounts {
    bytes: AtomicU64,
    lines: AtomicU64,
    queued: AtomicU64,
    last_millis: AtomicU64,
    tail: Mutex<Vec<u8>>,
}

/// What is kept of the output of an iteration, and under which names.
#[derive(Debug)]
pub(super) struct AgentOutputSettings {
    /// The iteration, from 1.
    pub iteration: u64,
    /// How many bytes of the log.
    pub cap: u64,
    /// The program's name, where there are rules for its output.
    pub program: Option<String>,
}

impl AgentOutputSettings {
    /// As the specification says.
    pub fn of(spec: &KeeperSpec) -> Self {
        let program = Some(&spec.reading).filter(|reading| reading.has_rules()).map(|reading| reading.program.clone());
        Self { iteration: spec.iteration, cap: spec.output_cap, program: program.filter(|name| !name.is_empty()) }
    }
}

/// The collection of a running program's output.
#[derive(Debug)]
pub(crate) struct AgentOutputCollector {
    counts: Arc<AgentOutputCounts>,
    begun: Instant,
    queue: Sender<AgentOutputMessage>,
    ended: Receiver<()>,
    readers: usize,
    writer: JoinHandle<AgentOutputWritten>,
}

/// What the writer has written.
#[derive(Debug, Default)]
struct AgentOutputWritten {
    raw: u64,
    error: Option<String>,
}

impl AgentOutputCollector {
    /// Opens the log and starts collecting `stdout` and `stderr`.
    pub(super) fn start(
        log: &Path,
        kept: AgentOutputSettings,
        (stdout, stderr): (impl Read + Send + 'static, impl Read + Send + 'static),
        [tap, error_tap]: [Option<StreamTap>; 2],
    ) -> Result<Self> {
        let counts = Arc::new(AgentOutputCounts::default());
        let begun = Instant::now();
        let (queue, messages) = mpsc::channel();
        let (done, ended) = mpsc::channel();
        let thread = |name: &str| std::thread::Builder::new().name(name.to_owned());
        let failed = |e| Error::io("start a thread for", log, e);
        let cap = kept.cap;
        let mut writer = AgentOutputWriter::open(log, kept);
        let writer = thread("log").spawn(move || writer.run(&messages)).map_err(failed)?;
        let reader = AgentOutputReader { counts: counts.clone(), begun, cap, queue: queue.clone(), done };
        let other = reader.clone();
        thread("stdout").spawn(move || reader.run(LogLineSource::Stdout, stdout, tap)).map_err(failed)?;
        thread("stderr").spawn(move || other.run(LogLineSource::Stderr, stderr, error_tap)).map_err(failed)?;
        Ok(Self { counts, begun, queue, ended, readers: 2, writer })
    }

    /// Puts a report of the agent between its output.
    pub fn report(&self, signal: &AgentSignal) {
        let words = signal_text(signal).split_whitespace().collect::<Vec<_>>().join(" ");
        let _ = self.queue.send(AgentOutputMessage::Report { at: env::now(), words });
    }

    /// How long there has been no output.
    pub fn silent_for(&self) -> Duration {
        let last = Duration::from_millis(self.counts.last_millis.load(Ordering::Relaxed));
        self.begun.elapsed().saturating_sub(last)
    }

    /// Waits until both streams have ended, at most `patience`, then until everything is in the log and synced. Returns
    /// the record and the last bytes of stdout.
    pub fn finish(self, patience: Duration) -> (OutputRecord, Vec<u8>) {
        let begun = Instant::now();
        let mut open = self.readers;
        while open > 0 {
            match self.ended.recv_timeout(patience.saturating_sub(begun.elapsed())) {
                Ok(()) => open -= 1,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
        let _ = self.queue.send(AgentOutputMessage::Finish);
        let written =
            self.writer.join().unwrap_or_else(|_| AgentOutputWritten { raw: 0, error: Some("the log's writer failed".into()) });
        let bytes = self.counts.bytes.load(Ordering::Relaxed);
        let record = OutputRecord {
            bytes,
            lines: self.counts.lines.load(Ordering::Relaxed),
            dropped: bytes.saturating_sub(written.raw),
            log_error: written.error,
            cut_short: open > 0,
        };
        let tail = self.counts.tail.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (record, tail)
    }
}

#[derive(Clone)]
struct AgentOutputReader {
    counts: Arc<AgentOutputCounts>,
    begun: Instant,
    cap: u64,
    queue: Sender<AgentOutputMessage>,
    done: Sender<()>,
}

impl AgentOutputReader {
    fn run(self, stream: LogLineSource, mut from: impl Read, mut tap: Option<StreamTap>) {
        let mut buffer = vec![0_u8; 64 * 1024];
        loop {
            match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => {
                    self.take(stream, &buffer[..count]);
                    if let Some(tap) = &mut tap {
                        tap.feed(&buffer[..count]);
                    }
                }
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        if let Some(tap) = &mut tap {
            tap.end();
        }
        let _ = self.done.send(());
    }

    fn take(&self, stream: LogLineSource, bytes: &[u8]) {
        let count = bytes.len() as u64;
        self.counts.bytes.fetch_add(count, Ordering::Relaxed);
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
        self.counts.lines.fetch_add(lines as u64, Ordering::Relaxed);
        let now = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.counts.last_millis.store(now, Ordering::Relaxed);
        if stream == LogLineSource::Stdout {
            let mut tail = self.counts.tail.lock().unwrap_or_else(PoisonError::into_inner);
            tail.extend_from_slice(bytes);
            if tail.len() > TAIL_BYTES {
                let over = tail.len() - TAIL_BYTES;
                tail.drain(..over);
            }
        }
        let before = self.counts.queued.fetch_add(count, Ordering::Relaxed);
        let room = usize::try_from(self.cap.saturating_sub(before)).unwrap_or(usize::MAX).min(bytes.len());
        // The writer counts the bytes after escaping, so it reaches the cap first, and writes a remark to the log.
        if room > 0 {
            let bytes = bytes[..room].to_vec();
            let _ = self.queue.send(AgentOutputMessage::Chunk { at: env::now(), stream, bytes });
        }
    }
}

struct AgentOutputWriter {
    log: Option<AppendFile>,
    kept: AgentOutputSettings,
    logged: u64,
    full: bool,
    pending: [Vec<u8>; 2],
    batch: Vec<u8>,
    batch_raw: u64,
    dirty: bool,
    written: AgentOutputWritten,
}

/// How a piece of a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LinePieceEnd {
    /// With the line feed.
    Whole,
    /// The line is too long for one piece.
    GoesOn,
    /// The stream ended within the line.
    Missing,
}

impl AgentOutputWriter {
    fn open(path: &Path, kept: AgentOutputSettings) -> Self {
        let (mut log, mut error) = match AppendFile::open(path) {
            Ok(log) => (Some(log), None),
            Err(e) => (None, Some(e.to_string())),
        };
        // A keeper that was killed may have left an incomplete line. The first new line must not be appended to it.
        if ends_torn(path)
            && let Some(Err(e)) = log.as_mut().map(|log| log.append(b"\n"))
        {
            (log, error) = (None, Some(e.to_string()));
        }
        let written = AgentOutputWritten { raw: 0, error };
        let (pending, batch) = ([Vec::new(), Vec::new()], Vec::new());
        Self { log, kept, logged: 0, full: false, pending, batch, batch_raw: 0, dirty: false, written }
    }

    fn run(&mut self, messages: &Receiver<AgentOutputMessage>) -> AgentOutputWritten {
        let mut synced = Instant::now();
        let mut open = true;
        while open {
            let message = match self.dirty {
                true => messages.recv_timeout(SYNC_EVERY),
                false => messages.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match message {
                Ok(message) => open = self.take(message),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => open = false,
            }
            while open && self.batch.len() < MAX_PIECE {
                match messages.try_recv() {
                    Ok(message) => open = self.take(message),
                    Err(_) => break,
                }
            }
            if !open {
                self.flush_pending();
            }
            self.append();
            if self.dirty && (!open || synced.elapsed() >= SYNC_EVERY) {
                self.sync();
                synced = Instant::now();
            }
        }
        std::mem::take(&mut self.written)
    }

    /// Handles a message. Returns whether more may follow.
    fn take(&mut self, message: AgentOutputMessage) -> bool {
        let (at, stream, bytes) = match message {
            AgentOutputMessage::Chunk { at, stream, bytes } => (at, stream, bytes),
            AgentOutputMessage::Report { at, words } => {
                self.line(at, LogLineSource::Report, words.as_bytes(), LinePieceEnd::Whole, 0);
                return true;
            }
            AgentOutputMessage::Finish => return false,
        };
        let slot = usize::from(stream != LogLineSource::Stdout);
        let mut pending = std::mem::take(&mut self.pending[slot]);
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            pending.extend_from_slice(piece);
            if pending.ends_with(b"\n") {
                let line = &pending[..pending.len() - 1];
                self.line(at, stream, line, LinePieceEnd::Whole, pending.len());
                pending.clear();
            }
            while pending.len() >= MAX_PIECE {
                let cut = boundary(&pending, MAX_PIECE);
                self.line(at, stream, &pending[..cut], LinePieceEnd::GoesOn, cut);
                pending.drain(..cut);
            }
        }
        self.pending[slot] = pending;
        true
    }

    fn flush_pending(&mut self) {
        for (slot, stream) in [(0, LogLineSource::Stdout), (1, LogLineSource::Stderr)] {
            let rest = std::mem::take(&mut self.pending[slot]);
            if !rest.is_empty() {
                self.line(env::now(), stream, &rest, LinePieceEnd::Missing, rest.len());
            }
        }
    }

    fn line(&mut self, at: Timestamp, stream: LogLineSource, bytes: &[u8], ending: LinePieceEnd, raw: usize) {
        if self.full || self.log.is_none() {
            return;
        }
        let (text, hex) = match std::str::from_utf8(bytes) {
            Ok(text) => (Some(text.to_owned()), None),
            Err(_) => (None, Some(to_hex(bytes))),
        };
        let (cont, no_eol) = (ending == LinePieceEnd::GoesOn, ending == LinePieceEnd::Missing);
        let (iteration, program) = (self.kept.iteration, self.kept.program.clone());
        let first = self.logged == 0;
        let line = LogLine { at, iteration, stream, program, text, hex, cont, no_eol, first };
        let Ok(mut json) = serde_json::to_vec(&line) else { return };
        json.push(b'\n');
        if self.logged + json.len() as u64 > self.kept.cap {
            self.full = true;
            let text = format!("more than {} bytes of output: the rest is read and counted, not kept", self.kept.cap);
            let note = LogLine { stream: LogLineSource::Keeper, text: Some(text), hex: None, cont: false, no_eol: false, ..line };
            json = serde_json::to_vec(&note).unwrap_or_default();
            json.push(b'\n');
        } else {
            self.batch_raw += raw as u64;
        }
        self.logged += json.len() as u64;
        self.batch.extend_from_slice(&json);
    }

    fn append(&mut self) {
        let batch = std::mem::take(&mut self.batch);
        let raw = std::mem::take(&mut self.batch_raw);
        let Some(log) = self.log.as_mut().filter(|_| !batch.is_empty()) else { return };
        match log.append(&batch) {
            Ok(()) => {
                self.written.raw += raw;
                self.dirty = true;
            }
            // From here on, output is only counted: the agent goes on, and the record has the error.
            Err(e) => self.give_up(&e),
        }
    }

    fn sync(&mut self) {
        self.dirty = false;
        if let Some(Err(e)) = self.log.as_ref().map(AppendFile::sync) {
            self.give_up(&e);
        }
    }

    fn give_up(&mut self, error: &Error) {
        self.written.error = Some(error.to_string());
        self.log = None;
    }
}

/// Where to cut, after at most `limit` bytes, without splitting a UTF-8 character.
fn boundary(bytes: &[u8], limit: usize) -> usize {
    match std::str::from_utf8(&bytes[..limit]) {
        Err(e) if e.error_len().is_none() && e.valid_up_to() > 0 => e.valid_up_to(),
        Ok(_) | Err(_) => limit,
    }
}

fn ends_torn(path: &Path) -> bool {
    use std::io::{Seek, SeekFrom};
    let last = std::fs::File::open(path).and_then(|mut file| {
        file.seek(SeekFrom::End(-1))?;
        let mut byte = [0_u8; 1];
        file.read_exact(&mut byte)?;
        Ok(byte[0])
    });
    last.is_ok_and(|byte| byte != b'\n')
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]
    use super::*;

    fn collect(dir: &Path, cap: u64, stdout: Vec<u8>) -> (OutputRecord, Vec<u8>, Vec<LogLine>) {
        let log = dir.join("log");
        let pipes = (std::io::Cursor::new(stdout), std::io::empty());
        let output =
            AgentOutputCollector::start(&log, AgentOutputSettings { iteration: 1, cap, program: None }, pipes, [None, None])
                .unwrap();
        let (record, tail) = output.finish(Duration::from_secs(20));
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        (record, tail, text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
    }

    #[test]
    fn every_byte_is_in_the_log() {
        let dir = tempfile::tempdir().unwrap();
        let mut printed = "plain\r\n\n\u{e9}\u{0}\n".as_bytes().to_vec();
        printed.extend_from_slice(b"\xff\xfe bad\n");
        printed.extend_from_slice("\u{20ac}".repeat(MAX_PIECE).as_bytes());
        printed.extend_from_slice(b"\nno end");
        let (record, tail, lines) = collect(dir.path(), 1 << 30, printed.clone());
        assert_eq!(lines.iter().flat_map(LogLine::bytes).collect::<Vec<u8>>(), printed);
        assert_eq!((record.bytes, record.lines, record.dropped), (printed.len() as u64, 5, 0));
        assert!(lines.iter().filter(|line| line.hex.is_some()).count() == 1, "only the line that is not UTF-8");
        assert_eq!(tail, printed[printed.len() - TAIL_BYTES..]);
    }

    #[test]
    fn the_cap_holds_for_the_log_and_is_said() {
        let dir = tempfile::tempdir().unwrap();
        let (record, tail, lines) = collect(dir.path(), 10_000, b"y\n".repeat(100_000));
        assert_eq!((record.bytes, record.lines), (200_000, 100_000));
        assert!(std::fs::metadata(dir.path().join("log")).unwrap().len() < 10_300);
        assert_eq!(record.dropped, 200_000 - 2 * (lines.len() as u64 - 1));
        assert_eq!(lines.last().unwrap().stream, LogLineSource::Keeper);
        assert_eq!(tail.len(), TAIL_BYTES);
    }

    #[test]
    fn a_log_that_cannot_be_written_is_recorded_and_a_torn_line_is_closed() {
        let dir = tempfile::tempdir().unwrap();
        let (record, _, _) = collect(&dir.path().join("missing"), 10_000, b"y\n".to_vec());
        assert!(record.log_error.is_some());
        assert_eq!(record.dropped, 2);
        std::fs::write(dir.path().join("log"), b"{\"at\":").unwrap();
        let (_, _, lines) = collect(dir.path(), 10_000, b"y\n".to_vec());
        assert_eq!(lines.len(), 1);
    }
}
