//! The writer of an agent's log, in a thread of its own.

use std::io::Read;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Instant;

use jiff::Timestamp;

use super::log_line::{LogLine, LogLineSource};
use super::{AgentOutputMessage, AgentOutputSettings, AgentOutputWritten, MAX_PIECE, SYNC_EVERY};
use axiom_base::env;
use axiom_base::error::Error;
use axiom_base::files::AppendFile;
use axiom_model::base::forms::hex::to_hex;

pub(super) struct AgentOutputWriter {
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

impl AgentOutputWriter {
    pub(super) fn open(path: &Path, kept: AgentOutputSettings) -> Self {
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

    pub(super) fn run(&mut self, messages: &Receiver<AgentOutputMessage>) -> AgentOutputWritten {
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
