//! What a program's output says, as it comes: decoded where it is read, recorded by the keeper beside the reports of the agent. Only of
//! programs whose output has rules; of others the last lines are looked through at the end.

use std::process::ChildStdin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::acp::connection::{self, AcpConnection, AcpTap};
use super::spool::SignalSpool;
use crate::os::bell::WakeSender;
use crate::run_folder::spec::{KeeperSpec, MAX_PROMPT};
use axiom_base::error::Result;
use axiom_base::files;
use axiom_model::agent::stream::decode::StreamDecoder;
use axiom_model::agent::stream::rules::AgentOutputStream;
use axiom_model::agent::stream::stream_event::StreamEvent;
use axiom_model::base::text_hash::text_hash;
use axiom_model::work::signals::signal::AgentSignal;
use axiom_model::work::signals::signal_queue::RunSignalQueue;

/// What both sides share. The reader never waits for a disk: nobody records while it is locked.
type SharedStreamState = Arc<Mutex<RunSignalQueue>>;

fn lock(shared: &SharedStreamState) -> MutexGuard<'_, RunSignalQueue> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The side of the reader: decodes.
#[derive(Debug)]
pub(super) struct StreamTap {
    decoder: StreamDecoder,
    texts: bool,
    heard: SharedStreamState,
    rope: Arc<WakeSender>,
    /// Of a program that is talked to: what answers it.
    acp: Option<AcpTap>,
}

impl StreamTap {
    /// The same, of a program that is talked to.
    pub fn talking(self, acp: AcpTap) -> Self {
        Self { acp: Some(acp), ..self }
    }

    pub fn feed(&mut self, bytes: &[u8]) {
        match &mut self.acp {
            Some(acp) => {
                let said = acp.feed(bytes, &mut self.decoder);
                self.talked(said);
            }
            None => {
                let seen = self.decoder.feed(bytes);
                self.tell(seen);
            }
        }
    }

    pub fn end(&mut self) {
        if let Some(acp) = &mut self.acp {
            let said = acp.end(&mut self.decoder);
            self.talked(said);
        }
        let seen = self.decoder.end();
        self.tell(seen);
    }

    fn talked(&self, (seen, reports): (Vec<StreamEvent>, Vec<AgentSignal>)) {
        let mut heard = lock(&self.heard);
        reports.into_iter().for_each(|signal| heard.report(signal));
        drop(heard);
        // What it asks for is no part of that.
        self.rope.ring();
        self.tell(seen);
    }

    fn tell(&self, seen: Vec<StreamEvent>) {
        if seen.is_empty() {
            return;
        }
        let counts = |one: &StreamEvent| self.texts || !matches!(one, StreamEvent::Text { .. });
        let mut heard = lock(&self.heard);
        seen.into_iter().filter(counts).for_each(|one| heard.add(one));
        drop(heard);
        self.rope.ring();
    }
}

/// The side of the keeper: records.
#[derive(Debug)]
pub(super) struct StreamRecorder {
    heard: SharedStreamState,
    /// What could not be recorded yet.
    pending: Vec<AgentSignal>,
}

/// Both sides: what reads standard output, what reads standard error, and what the keeper has.
pub(super) fn open(spec: &KeeperSpec, rope: &Arc<WakeSender>) -> ([StreamTap; 2], StreamRecorder) {
    let reading = &spec.reading;
    // Only to recognise it again: a prompt that cannot be read has failed already.
    let prompt = files::read(&spec.prompt_file, MAX_PROMPT).ok();
    let prompt = prompt.map(|prompt| text_hash(&[&String::from_utf8_lossy(&prompt)]));
    let heard = Arc::new(Mutex::new(RunSignalQueue::new(&reading.rules, &spec.token, prompt)));
    let tap = |output, texts| StreamTap {
        decoder: StreamDecoder::of(output, &reading.rules, &reading.tools),
        texts,
        heard: Arc::clone(&heard),
        rope: Arc::clone(rope),
        acp: None,
    };
    let taps = [tap(AgentOutputStream::Standard, reading.finds_texts()), tap(AgentOutputStream::Error, false)];
    (taps, StreamRecorder { heard, pending: Vec::new() })
}

/// Begins to talk to a program that is talked to.
pub(super) fn talking(
    spec: &KeeperSpec,
    stdin: Option<ChildStdin>,
    taps: [Option<StreamTap>; 2],
) -> Result<([Option<StreamTap>; 2], Option<AcpConnection>)> {
    let Some((tap, connection)) = connection::open(spec, stdin)? else { return Ok((taps, None)) };
    let [output, errors] = taps;
    Ok(([output.map(|output| output.talking(tap)), errors], Some(connection)))
}

impl StreamRecorder {
    /// Records what was read since the last call, and what could not be recorded then.
    pub fn record(&mut self, spool: &mut SignalSpool) -> Result<()> {
        if self.pending.is_empty() {
            self.pending = lock(&self.heard).take();
        }
        self.write(spool)
    }

    /// Records what is left.
    pub fn end(&mut self, spool: &mut SignalSpool) -> Result<()> {
        self.pending.append(&mut lock(&self.heard).end());
        self.write(spool)
    }

    fn write(&mut self, spool: &mut SignalSpool) -> Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        spool.record_all(&self.pending).inspect(|()| self.pending.clear())
    }
}
