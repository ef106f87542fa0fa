//! The agent's output: read without ever blocking the agent, and written to its log as JSON lines, up to a cap.
//!
//! One thread reads each stream, and one writes. The queue between them is limited by the cap, so a slow disk costs memory
//! (at most the cap) and does not slow the agent down.

mod log_line;
mod writer;

use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use writer::AgentOutputWriter;

use super::stream::StreamTap;
use crate::run_folder::records::OutputRecord;
use crate::run_folder::spec::{KeeperSpec, TAIL_BYTES};
use axiom_base::env;
use axiom_base::error::{Error, Result};
use axiom_model::state::audit::signal_text;
use axiom_model::work::signals::signal::AgentSignal;
pub use log_line::{LogLine, LogLineSource};

/// Longer lines are split into pieces of this many bytes; all but the last have [`LogLine::cont`].
const MAX_PIECE: usize = 1024 * 1024;
/// How often the log is synced while there is output.
const SYNC_EVERY: Duration = Duration::from_secs(1);

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
