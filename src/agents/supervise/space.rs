//! What a session does when there is too little space: it says so; it starts no further program, cleans up, and waits behind a gate;
//! it stops the programs that run. Once there is space it goes on by itself.
//!
//! Not here: a write that finds the disk full all the same, which is a failed step like any other (`failing`).

use super::Supervisor;
use super::core::work_ends::HaltedTaskFate;
use super::iterations::session_space::{SpaceCheckOutcome, disk_gate};
use axiom_base::error::{Code, Result};
use axiom_model::work::sessions::disk::DiskSpaceLevel;
use axiom_safety::folders::disk_space;
use axiom_safety::folders::disk_space::SpaceShortage;

impl Supervisor<'_> {
    /// Asks the file systems, and does what their level demands. Agents are looked after whatever becomes of this.
    pub(crate) fn look_at_space(&mut self) -> Result<SpaceCheckOutcome> {
        let decided = disk_gate(self.core.desk.ctx).is_some_and(|gate| gate.decision.is_some());
        // Without a session nothing is begun.
        if self.core.setup.target.is_none() || !self.iterations.room.begins_look(self.core.desk.ctx, decided) {
            return Ok(SpaceCheckOutcome::Same);
        }
        let short = disk_space::shortage(self.core.desk.ctx);
        let level = short.as_ref().map_or(DiskSpaceLevel::Enough, |short| short.level);
        let before = self.iterations.room.comes_to(level);
        if let Some(short) = short.as_ref().filter(|_| level > before) {
            self.core.desk.warn(short.with_code());
        }
        let done = match short {
            Some(short) if level >= DiskSpaceLevel::Critical => {
                self.make_way(&short).and_then(|()| self.iterations.room.wait_for_space(&mut self.core.desk, &self.core.runs))
            }
            Some(_) | None => self.iterations.room.there_is_space(&mut self.core.desk, &mut self.core.failures),
        };
        match done {
            // Not even this can be recorded: there will be another look.
            Err(error) if error.code() == Code::DiskFull => {
                tracing::warn!(%error, "the lack of space is not recorded");
                Ok(SpaceCheckOutcome::Same)
            }
            done => done,
        }
    }

    /// Stops programs at emergency.
    fn make_way(&mut self, short: &SpaceShortage) -> Result<()> {
        if short.level < DiskSpaceLevel::Emergency {
            return Ok(());
        }
        self.iterations.room.note_who_runs(&self.core.desk, &self.core.runs, short);
        self.merges.abandon_merge_check(&mut self.core.leaving);
        self.claims.abandon_starting(&mut self.core);
        self.core.stop_running(&HaltedTaskFate::GoesOn)
    }
}
