//! Events are appended: decided on the newest state, written under the lock of the log.

use std::path::PathBuf;

use super::{AppendAuthor, PATIENCE, Store};
use crate::layout::StoreLayout;
use crate::log_files::{backup, line, reserve, segments};
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files::{AppendFile, FileLock, LockAttempt};
use axiom_model::base::ids::TaskId;
use axiom_model::operation::touched::touched_tasks;
use axiom_model::state::current_state::State;
use axiom_model::state::event::Event;
use axiom_model::state::event_envelope::EventEnvelope;

impl Store {
    /// Appends the events that `decide` returns for the newest state. One write and one sync: the events are acknowledged
    /// when this returns. A crash leaves none of them, the first few, or all: changes that must happen together are one
    /// event.
    pub fn append_with(
        &mut self,
        author: &AppendAuthor,
        decide: impl FnOnce(&State) -> Result<Vec<Event>>,
    ) -> Result<Vec<EventEnvelope>> {
        self.append_how(author, SyncTime::Now, decide)
    }

    /// As [`Store::append_with`], for an intent: it acknowledges nothing, and is synced together with the later event that
    /// it announces. A power failure may lose the events; a crash of the process does not.
    pub fn append_unsynced(
        &mut self,
        author: &AppendAuthor,
        decide: impl FnOnce(&State) -> Result<Vec<Event>>,
    ) -> Result<Vec<EventEnvelope>> {
        self.append_how(author, SyncTime::Later, decide)
    }

    fn append_how(
        &mut self,
        author: &AppendAuthor,
        sync: SyncTime,
        decide: impl FnOnce(&State) -> Result<Vec<Event>>,
    ) -> Result<Vec<EventEnvelope>> {
        if self.only_shown {
            return Err(Error::new(Code::Internal, "a read-only command was about to write"));
        }
        if self.poisoned {
            return Err(Error::new(Code::IoFailed, "an earlier write to the event log could not be synced")
                .hint("check the disk, then run the command again"));
        }
        let take = || FileLock::take(&self.layout.locks().state(), PATIENCE);
        // Nearly always the folders are there.
        let lock = match take().or_else(|_| self.layout.ensure().and_then(|()| take()))? {
            LockAttempt::Taken(lock) => lock,
            LockAttempt::Held => return Err(Error::new(Code::Busy, "the state is locked by another process for too long")),
        };
        let torn = self.catch_up()?;
        let mut file = AppendFile::open(&self.layout.events())?;
        if torn > 0 {
            let repaired = self.cut_torn_end(&mut file)?;
            self.write(author, vec![repaired], &mut file, SyncTime::Now)?;
            file = AppendFile::open(&self.layout.events())?;
        }
        let outcome = decide(&self.state).and_then(|events| self.write(author, events, &mut file, sync));
        drop(lock);
        outcome
    }

    /// Appends events; see [`Store::append_with`].
    pub fn append(&mut self, author: &AppendAuthor, events: Vec<Event>) -> Result<Vec<EventEnvelope>> {
        self.append_with(author, |_| Ok(events))
    }

    fn write(
        &mut self,
        author: &AppendAuthor,
        events: Vec<Event>,
        file: &mut AppendFile,
        sync: SyncTime,
    ) -> Result<Vec<EventEnvelope>> {
        let seq = self.state.seq;
        let prepared = self.prepare(author, events);
        let outcome = prepared.and_then(|prepared| {
            if !prepared.envelopes.is_empty() {
                self.commit(&prepared, file, sync)?;
            }
            Ok(prepared.envelopes)
        });
        // After a refused or failed write, the state in memory may be ahead of the log.
        if outcome.is_err() && self.state.seq != seq && !self.poisoned {
            self.reload();
        }
        outcome
    }

    /// Numbers the events, applies them to the state in memory, and encodes their lines.
    fn prepare(&mut self, author: &AppendAuthor, events: Vec<Event>) -> Result<PreparedAppend> {
        let mut prepared = PreparedAppend::default();
        for event in events {
            let envelope =
                EventEnvelope { seq: self.state.seq + 1, at: env::now(), txn: author.txn.clone(), by: author.by.clone(), event };
            // Before `apply`: a line that is too long is refused while nothing has changed.
            let line = line::encode(&envelope)?;
            let touched = touched_tasks(&self.state, &envelope.event);
            self.state.apply(&envelope)?;
            prepared.touched.extend(touched);
            prepared.bytes.extend(line);
            prepared.envelopes.push(envelope);
        }
        Ok(prepared)
    }

    fn commit(&mut self, prepared: &PreparedAppend, file: &mut AppendFile, sync: SyncTime) -> Result<()> {
        env::fault_point("store.before-append");
        env::refusal_point("store.append").map_err(|e| Error::io("append to", &self.layout.events(), e))?;
        if let Err(error) = file.append(&prepared.bytes) {
            // What a session records last is worth more than the space that waits for it, and how the work of its agents ended, whoever
            // records that.
            let ends_work = |event: &Event| matches!(event, Event::IterationEnded { .. } | Event::WorkReleased { .. });
            let is_worth_it = |envelope: &EventEnvelope| envelope.by.is_automatic() || ends_work(&envelope.event);
            if !(error.code() == Code::DiskFull && prepared.envelopes.iter().any(is_worth_it) && reserve::give_up(&self.layout)) {
                return Err(error);
            }
            file.append(&prepared.bytes)?;
        }
        env::fault_point("store.after-append");
        // The log has the lines from here on, whatever becomes of them: memory and file say the same.
        self.position.offset += prepared.bytes.len() as u64;
        self.position.sum = line::last_sum(&prepared.bytes);
        let refused = || env::refusal_point("store.sync").map_err(|e| Error::io("sync", &self.layout.events(), e));
        if sync == SyncTime::Now
            && let Err(error) = refused().and_then(|()| file.sync())
        {
            self.poisoned = true;
            return Err(
                error.hint("it is unknown whether the last change is on disk: check the disk, then run 'git axiom status'")
            );
        }
        env::fault_point("store.after-sync");
        // The change is made now. The rest are copies of it: if they fail, the change must still be acknowledged.
        if let Err(error) = self.write_copies(&prepared.touched) {
            tracing::warn!(%error, "a copy of the state could not be written");
        }
        Ok(())
    }
}

/// When an append is synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SyncTime {
    Now,
    Later,
}

/// Events to be appended, and the tasks they touch.
#[derive(Default)]
struct PreparedAppend {
    bytes: Vec<u8>,
    envelopes: Vec<EventEnvelope>,
    touched: Vec<TaskId>,
}

/// Whether applying an event failed for another reason than the event: the older checkpoints could not be read.
pub(super) fn is_not_about_the_event(code: Code) -> bool {
    let of_log = [Code::EventLogTooNew, Code::EventLogTooOld, Code::EventLogCorrupted, Code::EventLogTruncated];
    [Code::IoFailed, Code::DiskFull].contains(&code) || of_log.contains(&code)
}

/// A file that is only written after the first event. If there is one and the log is empty, the log has lost its events.
pub(super) fn trace_of_events(layout: &StoreLayout) -> Result<Option<PathBuf>> {
    if let Some(segment) = segments::sealed(layout)?.pop() {
        return Ok(Some(segment.path));
    }
    let traces = [layout.snapshot(), backup::path(layout, 0), layout.tasks()];
    Ok(traces.into_iter().find(|path| path.metadata().is_ok_and(|meta| meta.len() > 0)))
}
