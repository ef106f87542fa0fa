//! Copies of the state beside the log: the snapshot and what else is written after an event.

use super::{BYTES_FOR_EVENT, MOMENT, SNAPSHOT_AFTER, Store};
use crate::log_files::log::LogPosition;
use crate::log_files::segments;
use crate::states::snapshot;
use axiom_base::error::Result;
use axiom_base::files::{FileLock, LockAttempt};
use axiom_model::base::ids::TaskId;

impl Store {
    pub(super) fn write_copies(&mut self, touched: &[TaskId]) -> Result<()> {
        if let Err(error) = self.tasks.catch_up(&self.layout, &self.state, touched) {
            // The next append or snapshot, in this process or another, detects this.
            tracing::warn!(%error, "the tasks could not be recorded beside the log, and will be later");
        }
        if self.position.offset > segments::SEAL_AT {
            segments::seal(&self.layout, self.position.first)?;
            self.position = LogPosition { first: self.state.seq + 1, ..LogPosition::default() };
        }
        if self.snapshot.lacks(&self.state) >= SNAPSHOT_AFTER.max(self.snapshot.size / BYTES_FOR_EVENT) {
            self.write_snapshot()?;
        }
        Ok(())
    }

    /// Writes a snapshot if anything has changed since the last one, and completes `cases.jsonl`. A newer snapshot of
    /// another process is kept, and so is the old one while another process writes one. Nothing is written where the state in
    /// memory may not be that of the log: after a failed sync a power loss may take the last events, but not the snapshot.
    pub fn save_snapshot(&mut self) -> Result<()> {
        if self.only_shown || self.poisoned {
            return Ok(());
        }
        if let Err(error) = self.record_what_is_missing() {
            tracing::warn!(%error, "the tasks could not be recorded beside the log, and will be later");
        }
        self.write_snapshot()
    }

    /// As [`Store::save_snapshot`], from time to time: only where it pays for whoever reads the state next.
    pub fn save_snapshot_in_time(&mut self) -> Result<()> {
        if self.snapshot.lacks(&self.state) < self.snapshot.size / (2 * BYTES_FOR_EVENT) { Ok(()) } else { self.save_snapshot() }
    }

    fn record_what_is_missing(&mut self) -> Result<()> {
        if self.tasks.is_behind(&self.layout, &self.state)?
            && let LockAttempt::Taken(_lock) = FileLock::take(&self.layout.locks().state(), MOMENT)?
        {
            self.catch_up()?;
            self.tasks.catch_up(&self.layout, &self.state, &[])?;
        }
        Ok(())
    }

    fn write_snapshot(&mut self) -> Result<()> {
        if self.snapshot.lacks(&self.state) > 0 {
            let (changed, older) = (self.tasks.changed(), &mut self.older);
            let saved = snapshot::save(&self.layout, &mut self.state, self.position, changed, older)?;
            if saved.seq >= self.snapshot.seq {
                self.snapshot = saved;
            }
        }
        Ok(())
    }
}
