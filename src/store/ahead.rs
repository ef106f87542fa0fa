//! Decoding lines on other threads, ahead of the one that applies them: replaying a long log is mostly decoding.
//!
//! The order is kept: pieces of the log go to the threads in turns, and their results are taken back in the same turns.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, Scope};

use super::head::Memory;
use super::line::{self, BadLine};
use crate::domain::state::event::Envelope;

/// More threads than this do not help: one applies what they decode.
const MOST_THREADS: usize = 4;

/// Whole lines, and what they say; after a bad line there is nothing more.
pub struct Piece {
    /// The lines.
    pub bytes: Vec<u8>,
    /// What they say, each with its length, the line feed not counted.
    pub lines: Vec<(usize, Result<Envelope, BadLine>)>,
}

impl Piece {
    /// Decodes all lines of `bytes` up to the first bad one.
    pub fn decode(bytes: Vec<u8>) -> Self {
        let mut lines = Vec::with_capacity(bytes.len() / 128);
        let (mut used, mut memory) = (0, Memory::default());
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

struct Worker {
    give: Sender<Vec<u8>>,
    take: Receiver<Piece>,
}

/// The threads, or none: then pieces are decoded by the caller.
pub struct Ahead {
    workers: Vec<Worker>,
    given: usize,
    taken: usize,
}

impl Ahead {
    /// Starts threads that end with `scope`, where there are processors for them.
    pub fn start<'scope>(scope: &'scope Scope<'scope, '_>) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let wanted = if processors > 1 { processors.min(MOST_THREADS) } else { 0 };
        let mut workers = Vec::new();
        for _ in 0..wanted {
            let (give, pieces) = channel::<Vec<u8>>();
            let (results, take) = channel();
            let work = move || {
                for bytes in pieces {
                    if results.send(Piece::decode(bytes)).is_err() {
                        return;
                    }
                }
            };
            // A system that has no thread for us still has this one.
            if Builder::new().name("replay".into()).spawn_scoped(scope, work).is_ok() {
                workers.push(Worker { give, take });
            }
        }
        Self { workers, given: 0, taken: 0 }
    }

    /// Hands in the next piece; returns the oldest result where enough is under way.
    pub fn give(&mut self, bytes: Vec<u8>) -> Option<Piece> {
        let count = self.workers.len();
        if count == 0 {
            return Some(Piece::decode(bytes));
        }
        let oldest = if self.given - self.taken >= 2 * count { self.take() } else { None };
        let worker = &self.workers[self.given % count];
        self.given += 1;
        // A worker ends only after its sender; were it otherwise, the missing events would be noticed as a gap.
        let _ = worker.give.send(bytes);
        oldest
    }

    /// The oldest result that was not returned yet; `None` where nothing is under way.
    pub fn take(&mut self) -> Option<Piece> {
        if self.taken == self.given {
            return None;
        }
        let worker = &self.workers[self.taken % self.workers.len()];
        self.taken += 1;
        worker.take.recv().ok()
    }
}
