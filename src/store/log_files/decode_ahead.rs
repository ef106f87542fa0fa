//! Decoding lines on other threads, ahead of the thread that applies them: most of the time of replaying a long log is
//! decoding.
//!
//! The order is kept: pieces of the log are given to the threads in turn, and the results are taken in the same order.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, Scope};

use crate::log_files::head::LineHeadCache;
use crate::log_files::line;
use crate::log_files::line::BadLine;
use axiom_base::own_process::threads;
use axiom_model::state::event_envelope::EventEnvelope;

/// More threads than this do not help, because one thread applies what they decode.
const MOST_THREADS: usize = 4;

/// Whole lines and their events. After a bad line there is nothing more.
pub struct DecodedLines {
    /// The lines.
    pub bytes: Vec<u8>,
    /// The events, each with the length of its line without the line feed.
    pub lines: Vec<(usize, Result<EventEnvelope, BadLine>)>,
}

impl DecodedLines {
    /// Decodes all lines of `bytes` up to the first bad one.
    pub fn decode(bytes: Vec<u8>) -> Self {
        let mut lines = Vec::with_capacity(bytes.len() / 128);
        let (mut used, mut memory) = (0, LineHeadCache::default());
        while let Some(length) = line::find_end(&bytes[used..]) {
            let decoded = line::decode_next(&bytes[used..used + length], &mut memory);
            used += length + 1;
            let bad = decoded.is_err();
            lines.push((length, decoded));
            if bad {
                break;
            }
        }
        Self { bytes, lines }
    }
}

struct DecodeWorker {
    give: Sender<Vec<u8>>,
    take: Receiver<DecodedLines>,
}

/// The threads, or none: then the caller decodes.
pub struct DecodeAhead {
    workers: Vec<DecodeWorker>,
    given: usize,
    taken: usize,
}

impl DecodeAhead {
    /// Starts threads that end with `scope`, if there is more than one processor.
    pub fn start<'scope>(scope: &'scope Scope<'scope, '_>) -> Self {
        let processors = threads::at_once();
        let wanted = if processors > 1 { processors.min(MOST_THREADS) } else { 0 };
        let mut workers = Vec::new();
        for _ in 0..wanted {
            let (give, pieces) = channel::<Vec<u8>>();
            let (results, take) = channel();
            let work = move || {
                for bytes in pieces {
                    if results.send(DecodedLines::decode(bytes)).is_err() {
                        return;
                    }
                }
            };
            // If no thread can be started, the current one decodes.
            if Builder::new().name("replay".into()).spawn_scoped(scope, work).is_ok() {
                workers.push(DecodeWorker { give, take });
            }
        }
        Self { workers, given: 0, taken: 0 }
    }

    /// Adds the next piece. Returns the oldest result if enough pieces are in progress.
    pub fn give(&mut self, bytes: Vec<u8>) -> Option<DecodedLines> {
        let count = self.workers.len();
        if count == 0 {
            return Some(DecodedLines::decode(bytes));
        }
        let oldest = if self.given - self.taken >= 2 * count { self.take() } else { None };
        let worker = &self.workers[self.given % count];
        self.given += 1;
        // A worker ends only after its sender. If it did not, the missing events would be detected as a gap.
        let _ = worker.give.send(bytes);
        oldest
    }

    /// The oldest result that was not returned yet; `None` where no piece is in progress.
    pub fn take(&mut self) -> Option<DecodedLines> {
        if self.taken == self.given {
            return None;
        }
        let worker = &self.workers[self.taken % self.workers.len()];
        self.taken += 1;
        worker.take.recv().ok()
    }
}
