//! The lines to and from a program. The thread that reads its output never waits: what it answers goes through a queue to a thread that writes.
//! No answer is left out: where too many wait to be read, the turn ends.

use std::io::Write;
use std::process::ChildStdin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::line_reader::{AcpLineReader, ReadLine};
use super::permissions::PermissionDesk;
use crate::keeper::spool::SignalSpool;
use crate::run_folder::spec::{KeeperSpec, MAX_PROMPT};
use axiom_base::error::{Error, Result};
use axiom_base::files;
use axiom_model::acp::client::{AcpClient, AcpEffect, AcpOpening, AcpPermissionRequest};
use axiom_model::agent::stream::decode::StreamDecoder;
use axiom_model::agent::stream::stream_event::StreamEvent;
use axiom_model::work::signals::signal::AgentSignal;

/// How many lines may wait to be written when one more request is answered. A program that asks and does not read is at its end.
const MOST_LINES: usize = 1024;

/// How long a program may take to end by itself whose turn is over.
const CLOSING: Duration = Duration::from_millis(500);

/// What both threads know of the session.
#[derive(Debug)]
struct AcpShared {
    client: AcpClient,
    /// To the program; `None` once its input is closed.
    to: Option<LineSender>,
    asked: Vec<AcpPermissionRequest>,
    is_over: bool,
}

impl AcpShared {
    /// Carries out what has nothing to do with the reader; returns what it tells.
    fn carry_out(&mut self, effects: Vec<AcpEffect>) -> Vec<AcpEffect> {
        let mut told = Vec::new();
        for effect in effects {
            match effect {
                AcpEffect::Sends(line) => self.send(line),
                AcpEffect::Asks(request) => self.asked.push(*request),
                AcpEffect::Ends => self.is_over = true,
                AcpEffect::Says(_) | AcpEffect::Reports(_) => told.push(effect),
            }
        }
        told
    }

    fn send(&self, line: String) {
        if let Some(LineSender { to, waiting }) = &self.to {
            waiting.fetch_add(1, Ordering::Relaxed);
            let _ = to.send(line);
        }
    }

    /// What follows from a line of the program.
    fn heard(&mut self, line: ReadLine<'_>) -> Vec<AcpEffect> {
        let effects = match line {
            ReadLine::Whole(line) => self.client.line(&String::from_utf8_lossy(line)),
            ReadLine::Shortened(line) => self.client.long_line(&String::from_utf8_lossy(line)),
        };
        let mut told = self.carry_out(effects);
        if self.to.as_ref().is_some_and(|to| to.waiting.load(Ordering::Relaxed) > MOST_LINES) {
            let effects = self.client.gives_up("the agent does not read what it is answered");
            told.extend(self.carry_out(effects));
        }
        told
    }
}

/// The beginning of the queue.
#[derive(Debug)]
struct LineSender {
    to: Sender<String>,
    /// How many lines are in it.
    waiting: Arc<AtomicUsize>,
}

fn lock(shared: &Mutex<AcpShared>) -> MutexGuard<'_, AcpShared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The side of the thread that reads.
#[derive(Debug)]
pub(in crate::keeper) struct AcpTap {
    lines: AcpLineReader,
    shared: Arc<Mutex<AcpShared>>,
}

impl AcpTap {
    /// Takes up the lines that end in `bytes`: what they say of the work is returned, and what the agent reports by the protocol.
    pub fn feed(&mut self, bytes: &[u8], decoder: &mut StreamDecoder) -> (Vec<StreamEvent>, Vec<AgentSignal>) {
        let Self { lines, shared } = self;
        let mut heard = HeardLines { shared, decoder, seen: Vec::new(), reports: Vec::new() };
        lines.feed(bytes, |line| heard.take(line));
        (heard.seen, heard.reports)
    }

    /// The same of the last line, which may have no end.
    pub fn end(&mut self, decoder: &mut StreamDecoder) -> (Vec<StreamEvent>, Vec<AgentSignal>) {
        let Self { lines, shared } = self;
        let mut heard = HeardLines { shared, decoder, seen: Vec::new(), reports: Vec::new() };
        lines.end(|line| heard.take(line));
        let mut shared = lock(heard.shared);
        let effects = shared.client.hears_no_more();
        let told = shared.carry_out(effects);
        drop(shared);
        heard.say(told);
        (heard.seen, heard.reports)
    }
}

/// What the lines say that come at once.
struct HeardLines<'a> {
    shared: &'a Mutex<AcpShared>,
    decoder: &'a mut StreamDecoder,
    seen: Vec<StreamEvent>,
    reports: Vec<AgentSignal>,
}

impl HeardLines<'_> {
    fn take(&mut self, line: ReadLine<'_>) {
        let mut shared = lock(self.shared);
        let again = shared.client.is_told_again();
        let told = shared.heard(line);
        drop(shared);
        let (ReadLine::Whole(text) | ReadLine::Shortened(text)) = line;
        if !again {
            self.seen.extend(self.decoder.line(text).unwrap_or_default());
        }
        self.say(told);
    }

    fn say(&mut self, told: Vec<AcpEffect>) {
        for effect in told {
            match effect {
                AcpEffect::Says(event) => {
                    // A text whose pieces were coming is whole.
                    self.seen.extend(self.decoder.end());
                    self.seen.push(event);
                }
                AcpEffect::Reports(signal) => self.reports.push(signal),
                AcpEffect::Sends(_) | AcpEffect::Asks(_) | AcpEffect::Ends => {}
            }
        }
    }
}

/// The side of the keeper.
#[derive(Debug)]
pub(in crate::keeper) struct AcpConnection {
    /// The lines of the session.
    pub lines: AcpSessionLines,
    /// The permissions that are asked for.
    pub permissions: PermissionDesk,
    /// Since when the turn is known to be over.
    pub over: Option<Instant>,
}

impl AcpConnection {
    /// Looks after the session; returns whether it is over, and the program had the time to end by itself.
    pub fn is_over(&mut self, spool: &mut SignalSpool) -> bool {
        self.look_after_permissions(spool);
        if self.over.is_none() && self.lines.is_over() {
            self.lines.close();
            self.over = Some(Instant::now());
        }
        self.over.is_some_and(|over| over.elapsed() >= CLOSING)
    }

    /// Judges what was asked for, and takes up answers; returns whether anything was said or recorded.
    fn look_after_permissions(&mut self, spool: &mut SignalSpool) -> bool {
        let asked = self.lines.take_asked();
        if asked.is_empty() && self.permissions.next_look() == Duration::MAX {
            return false;
        }
        let Self { lines, permissions, .. } = self;
        let answer = |number: u64, allowed: bool| lines.answer(number, allowed);
        asked.iter().for_each(|request| permissions.judge(&answer, request));
        permissions.answers(&answer);
        permissions.count();
        permissions.record(spool);
        !asked.is_empty()
    }

    /// When to look again, if nothing rings.
    pub fn next_look(&self) -> Duration {
        if self.over.is_some() { CLOSING / 10 } else { self.permissions.next_look() }
    }
}

/// Begins the session of a program that was started; `None` where it speaks no such protocol.
pub(in crate::keeper) fn open(spec: &KeeperSpec, stdin: Option<ChildStdin>) -> Result<Option<(AcpTap, AcpConnection)>> {
    let (Some(settings), Some(stdin)) = (&spec.acp, stdin) else { return Ok(None) };
    let prompt = files::read(&spec.prompt_file, MAX_PROMPT)?;
    let opening = AcpOpening {
        folder: spec.workspace.to_string_lossy().into_owned(),
        prompt: String::from_utf8_lossy(&prompt).into_owned(),
        resumes: settings.resumes.clone(),
        mode: settings.mode.clone(),
        trouble: spec.reading.rules.trouble.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let ((to, lines), waiting) = (channel(), Arc::new(AtomicUsize::new(0)));
    let to = LineSender { to, waiting: Arc::clone(&waiting) };
    let thread = std::thread::Builder::new().name("stdin".into()).spawn(move || write(stdin, &lines, &waiting));
    thread.map_err(|e| Error::io("start a thread for", &spec.prompt_file, e))?;
    let (client, first) = AcpClient::begin(opening);
    let mut shared = AcpShared { client, to: Some(to), asked: Vec::new(), is_over: false };
    shared.carry_out(vec![first]);
    let shared = Arc::new(Mutex::new(shared));
    let tap = AcpTap { lines: AcpLineReader::default(), shared: Arc::clone(&shared) };
    Ok(Some((
        tap,
        AcpConnection { lines: AcpSessionLines(shared), permissions: PermissionDesk::new(spec, settings), over: None },
    )))
}

fn write(mut stdin: ChildStdin, lines: &Receiver<String>, waiting: &AtomicUsize) {
    // The input ends with the queue, or where the program reads no more.
    while let Ok(mut line) = lines.recv() {
        line.push('\n');
        if stdin.write_all(line.as_bytes()).and_then(|()| stdin.flush()).is_err() {
            return;
        }
        waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What the keeper says to the program.
#[derive(Debug)]
pub(in crate::keeper) struct AcpSessionLines(Arc<Mutex<AcpShared>>);

impl AcpSessionLines {
    /// Whether the turn is over.
    pub fn is_over(&self) -> bool {
        lock(&self.0).is_over
    }

    /// What the program has asked for since the last call.
    pub fn take_asked(&self) -> Vec<AcpPermissionRequest> {
        std::mem::take(&mut lock(&self.0).asked)
    }

    /// Answers a permission.
    pub fn answer(&self, number: u64, allowed: bool) {
        let mut shared = lock(&self.0);
        if let Some(effect) = shared.client.answer(number, allowed) {
            shared.carry_out(vec![effect]);
        }
    }

    /// Asks the agent to end its turn.
    pub fn cancel(&self) {
        let mut shared = lock(&self.0);
        let effects = shared.client.cancel();
        shared.carry_out(effects);
    }

    /// Ends the input of the program.
    pub fn close(&self) {
        lock(&self.0).to = None;
    }
}
