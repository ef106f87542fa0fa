//! What a program's output says, as it comes: decoded where it is read, recorded by the keeper beside the reports of the agent. Only of
//! programs whose output has rules; of others the last lines are looked through at the end.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};

use serde::{Deserialize, Serialize};

use super::spool::Spool;
use crate::domain::agent::adapter::ToolKind;
use crate::domain::agent::stream::about::about;
use crate::domain::agent::stream::decode::Decoder;
use crate::domain::agent::stream::rules::{Format, Output, StreamRules};
use crate::domain::agent::stream::seen::{MAX_WORDS, Seen, ToolCompleted, ToolStarted, cut};
use crate::domain::agent::stream::summary::Summary;
use crate::domain::base::ids::Token;
use crate::domain::work::signal::{MAX_NAME, Signal, ToolReport, markers};
use crate::error::Result;
use crate::process::os::bell::Rope;

/// How much may wait to be recorded. A program that says more at once loses the rest: its log has it.
const MOST_WAITING: u64 = 1_000;
/// How much more of what decides about the end of a run.
const MOST_DECIDING: u64 = 10_000;
/// How many calls and requests of one run are recorded. What decides about its end always is.
const MOST_MARKERS: u64 = 20_000;
/// How many other things.
const MOST_OTHERS: u64 = 2_000;
/// The longest words about a tool call, in characters.
const ABOUT: usize = 200;

/// How the output is read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Reading {
    /// The program's name: its adapter's.
    pub program: String,
    /// What lines say.
    pub rules: StreamRules,
    /// What tools do.
    pub tools: std::collections::BTreeMap<String, ToolKind>,
}

impl Reading {
    /// Whether the output has rules.
    pub fn has_rules(&self) -> bool {
        self.rules.format == Format::JsonLines || !self.rules.rules.is_empty()
    }

    /// Whether the rules say what the agent speaks. Otherwise the last lines are looked through at the end.
    pub fn finds_texts(&self) -> bool {
        self.rules.format == Format::JsonLines
    }
}

/// The side of the reader: decodes.
#[derive(Debug)]
pub(super) struct Tap {
    decoder: Decoder,
    texts: bool,
    to: Sender<Seen>,
    waiting: Arc<AtomicU64>,
    rope: Arc<Rope>,
}

impl Tap {
    pub fn feed(&mut self, bytes: &[u8]) {
        let seen = self.decoder.feed(bytes);
        self.tell(seen);
    }

    pub fn end(&mut self) {
        let seen = self.decoder.end();
        self.tell(seen);
    }

    fn tell(&self, seen: Vec<Seen>) {
        if seen.is_empty() {
            return;
        }
        for one in seen.into_iter().filter(|one| self.texts || !matches!(one, Seen::Text { .. })) {
            let most = match one {
                Seen::Session { .. } | Seen::Usage(_) | Seen::Ended(_) | Seen::Failed(_) => MOST_DECIDING,
                Seen::Text { .. }
                | Seen::RequestSent
                | Seen::ResponseReceived
                | Seen::ToolStarted(_)
                | Seen::ToolCompleted(_)
                | Seen::Denied(_)
                | Seen::Waits(_) => MOST_WAITING,
            };
            if self.waiting.load(Ordering::Relaxed) < most && self.to.send(one).is_ok() {
                self.waiting.fetch_add(1, Ordering::Relaxed);
            }
        }
        self.rope.ring();
    }
}

/// The side of the keeper: makes signals.
#[derive(Debug)]
pub(super) struct Told {
    from: Receiver<Seen>,
    waiting: Arc<AtomicU64>,
    token: Token,
    summary: Summary,
    markers: u64,
    others: u64,
    /// What could not be recorded yet.
    pending: Vec<Signal>,
}

/// Both sides: what reads standard output, what reads standard error, and what the keeper has.
pub(super) fn open(reading: &Reading, token: &Token, rope: &Arc<Rope>) -> ([Tap; 2], Told) {
    let (to, from) = mpsc::channel();
    let waiting = Arc::new(AtomicU64::new(0));
    let tap = |output, texts| Tap {
        decoder: Decoder::of(output, &reading.rules, &reading.tools),
        texts,
        to: to.clone(),
        waiting: Arc::clone(&waiting),
        rope: Arc::clone(rope),
    };
    let taps = [tap(Output::Standard, reading.finds_texts()), tap(Output::Error, false)];
    let told = Told {
        from,
        waiting: Arc::clone(&waiting),
        token: token.clone(),
        summary: Summary::new(&reading.rules),
        markers: 0,
        others: 0,
        pending: Vec::new(),
    };
    (taps, told)
}

impl Told {
    /// Records what was read since the last call, and what could not be recorded then.
    ///
    /// # Errors
    /// `DISK_FULL`, `IO_FAILED`: the next call tries it again.
    pub fn record(&mut self, spool: &mut Spool) -> Result<()> {
        let mut signals = std::mem::take(&mut self.pending);
        signals.extend(self.take());
        if signals.is_empty() {
            return Ok(());
        }
        spool.record_all(&signals).inspect_err(|_| self.pending = signals)
    }

    /// Adds what the agent said last, so that whoever looks for the reason of an end need not read its log.
    ///
    /// # Errors
    /// As [`Told::record`], which tries it again.
    pub fn end(&mut self, spool: &mut Spool) -> Result<()> {
        let signals = self.take();
        self.pending.extend(signals);
        if let Some(text) = self.summary.last_text.take() {
            self.pending.push(Signal::Seen(Box::new(Seen::Text { text: cut(text, MAX_WORDS) })));
        }
        self.record(spool)
    }

    /// The signals of what was read since the last call.
    fn take(&mut self) -> Vec<Signal> {
        let mut signals = Vec::new();
        while let Ok(seen) = self.from.try_recv() {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            self.summary.add(&seen);
            self.push(seen, &mut signals);
        }
        signals
    }

    fn push(&mut self, seen: Seen, signals: &mut Vec<Signal>) {
        match seen {
            Seen::Text { text } => {
                let said = markers(&text, &self.token).into_iter().filter(|_| count(&mut self.others, MOST_OTHERS));
                signals.extend(said);
            }
            Seen::RequestSent => self.marker(Signal::RequestSent {}, signals),
            Seen::ResponseReceived => self.marker(Signal::ResponseReceived {}, signals),
            Seen::ToolStarted(call) => self.marker(Signal::ToolStarted(begun(call)), signals),
            Seen::ToolCompleted(call) => self.marker(Signal::ToolCompleted(ended(call)), signals),
            Seen::Session { id } => {
                if count(&mut self.others, MOST_OTHERS) {
                    signals.extend(Signal::Session { id }.validated());
                }
            }
            // The sum so far, so that whoever reads it needs to know no rule of the program's.
            Seen::Usage(_) => {
                if count(&mut self.markers, MOST_MARKERS) {
                    signals.push(Signal::Seen(Box::new(Seen::Usage(self.summary.usage))));
                }
            }
            Seen::Denied(_) | Seen::Waits(_) | Seen::Ended(_) | Seen::Failed(_) => {
                if count(&mut self.others, MOST_OTHERS) {
                    signals.push(Signal::Seen(Box::new(seen)));
                }
            }
        }
    }

    fn marker(&mut self, signal: Signal, signals: &mut Vec<Signal>) {
        if count(&mut self.markers, MOST_MARKERS) {
            signals.extend(signal.validated());
        }
    }
}

/// Counts one more, where there may be.
fn count(counter: &mut u64, most: u64) -> bool {
    *counter = counter.saturating_add(1);
    *counter <= most
}

fn begun(call: ToolStarted) -> ToolReport {
    let about = about(&call.input).map(|text| one_line(&text, ABOUT)).filter(|text| !text.is_empty());
    ToolReport {
        name: tool(&call.name),
        id: call.id.map(|id| one_line(&id, MAX_NAME / 4)),
        hash: Some(call.hash),
        does: Some(call.kind),
        about,
        failed: false,
    }
}

fn ended(call: ToolCompleted) -> ToolReport {
    let id = call.id.map(|id| one_line(&id, MAX_NAME / 4));
    ToolReport { name: tool(&call.name), id, hash: Some(call.hash), does: None, about: None, failed: call.failed }
}

fn tool(name: &str) -> String {
    let name = one_line(name, MAX_NAME / 4);
    if name.is_empty() { "a tool".to_owned() } else { name }
}

/// The beginning of a text, in one line.
fn one_line(text: &str, most: usize) -> String {
    let words = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    words.take(most).collect::<String>().trim().to_owned()
}
