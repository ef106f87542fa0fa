//! What a session does when there is too little space: it says so; it starts no further program, cleans up, and waits behind a gate;
//! it stops the programs that run. Once there is space it goes on by itself.
//!
//! Not here: a write that finds the disk full all the same, which is a failed step like any other (`failing`).

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::notice::SessionNotice;
use super::{HaltedTaskFate, Supervisor};
use crate::disk;
use crate::disk::AllowPacking;
use axiom_base::env;
use axiom_base::error::{Code, Result};
use axiom_model::base::ids::Token;
use axiom_model::state::event::Event;
use axiom_model::work::endings::outcome::AgentProgramEnd;
use axiom_model::work::gates::gate::{Gate, GateDecision, GateKind};
use axiom_model::work::iteration::IterationOutcome;
use axiom_model::work::sessions::disk::DiskSpaceLevel;
use axiom_safety::folders::disk_space;
use axiom_safety::folders::disk_space::SpaceShortage;

/// How often the file systems are asked. Nothing tells when one fills up.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// The same where there was enough space and no program of ours runs.
const LOOK_IDLE: Duration = Duration::from_secs(5);

/// What a session knows of the space.
#[derive(Debug, Default)]
pub(super) struct SessionSpace {
    level: DiskSpaceLevel,
    looked_at: Option<Instant>,
    /// Whether the clean-up was done since there was enough space: with programs at work, and without.
    cleaned: Option<AllowPacking>,
    /// What was short while the programs of these iterations ran, or when they failed.
    hit: HashMap<Token, String>,
}

/// What follows a look at the space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpaceCheckOutcome {
    /// Nothing new.
    Same,
    /// Something was recorded.
    Did,
    /// A human does not want to wait.
    GiveUp,
}

impl Supervisor<'_> {
    /// Whether programs may be started.
    pub(super) fn has_room(&self) -> bool {
        self.room.level < DiskSpaceLevel::Critical
    }

    /// Whether a task waits for nothing but space.
    pub(super) fn waits_for_room(&mut self) -> bool {
        !self.has_room() && (self.ctx.state().busy_agents().next().is_some() || !self.ready.order(self.ctx.state()).is_empty())
    }

    /// Asks the file systems, and does what their level demands. Agents are looked after whatever becomes of this.
    pub(super) fn look_at_space(&mut self) -> Result<SpaceCheckOutcome> {
        let decided = self.disk_gate().is_some_and(|gate| gate.decision.is_some());
        // Without a session nothing is begun.
        if self.target.is_none() || (!decided && self.room.looked_at.is_some_and(|at| at.elapsed() < self.look_every())) {
            return Ok(SpaceCheckOutcome::Same);
        }
        self.room.looked_at = Some(Instant::now());
        let short = disk_space::shortage(self.ctx);
        let (before, level) = (self.room.level, short.as_ref().map_or(DiskSpaceLevel::Enough, |short| short.level));
        self.room.level = level;
        if let Some(short) = short.as_ref().filter(|_| level > before) {
            self.warn(short.with_code());
        }
        let done = match short {
            Some(short) if level >= DiskSpaceLevel::Critical => self.wait_for_space(short),
            Some(_) | None => self.there_is_space(),
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

    fn look_every(&self) -> Duration {
        let is_idle = self.room.level == DiskSpaceLevel::Enough && self.ctx.state().busy_agents().next().is_none();
        if is_idle { LOOK_IDLE } else { LOOK_EVERY }
    }

    fn disk_gate(&self) -> Option<&Gate> {
        self.ctx.state().restorable.gates.values().find(|gate| gate.kind == GateKind::Disk)
    }

    /// Closes the gate of the disk, if it is open; returns whether it was.
    pub(super) fn close_disk_gate(&mut self, reason: &str) -> Result<bool> {
        let Some(id) = self.disk_gate().map(|gate| gate.id.clone()) else { return Ok(false) };
        let closed = || Event::GateClosed { id: id.clone(), reason: reason.to_owned() };
        self.step_if(|state| state.restorable.gates.contains_key(&id).then(closed))
    }

    fn there_is_space(&mut self) -> Result<SpaceCheckOutcome> {
        self.room.cleaned = None;
        if !self.close_disk_gate("there is space again")? {
            return Ok(SpaceCheckOutcome::Same);
        }
        self.tell(SessionNotice::Recovered { what: "there is space again: work goes on".into() });
        self.standstills.clear();
        self.keep_reserve();
        Ok(SpaceCheckOutcome::Did)
    }

    /// Stops programs at emergency; then cleans up, and asks only where that is not enough.
    fn wait_for_space(&mut self, short: SpaceShortage) -> Result<SpaceCheckOutcome> {
        if short.level == DiskSpaceLevel::Emergency {
            self.note_who_runs(&short);
            self.abandon_merge_check();
            self.abandon_starting();
            self.stop_running(&HaltedTaskFate::GoesOn)?;
        }
        match self.disk_gate().map(|gate| gate.decision.clone()) {
            Some(None) => {
                if self.clean_up_is_due() {
                    self.clean_up();
                }
                Ok(SpaceCheckOutcome::Same)
            }
            Some(Some(GateDecision::Rejected { .. })) => {
                self.close_disk_gate("rejected: the session ends")?;
                Ok(SpaceCheckOutcome::GiveUp)
            }
            Some(Some(GateDecision::Approved | GateDecision::Answered { .. })) => {
                self.room.cleaned = None;
                self.close_disk_gate("looked again")?;
                Ok(SpaceCheckOutcome::Did)
            }
            None => {
                let freed = if self.clean_up_is_due() { self.clean_up() } else { 0 };
                // What the clean-up freed may be enough.
                match disk_space::shortage(self.ctx).filter(|now| now.level >= DiskSpaceLevel::Critical) {
                    None => Ok(SpaceCheckOutcome::Same),
                    Some(short) => self.open_disk_gate(&short, freed).map(|()| SpaceCheckOutcome::Did),
                }
            }
        }
    }

    fn open_disk_gate(&mut self, short: &SpaceShortage, freed: u64) -> Result<()> {
        let cleaned = match self.ctx.config.system.auto_cleanup_enabled {
            true => format!("the clean-up freed {} MB", disk::in_mb(freed)),
            false => "system.autoCleanupEnabled is off: git axiom disk --clean".to_owned(),
        };
        let details = vec![
            format!("{cleaned}; {}, then work goes on by itself", short.to_go_on),
            "git axiom disk    shows who uses the space, and what could go".into(),
            "git axiom checkpoint cleanup --keep 10    deletes old checkpoints".into(),
            "approve: looks again at once; reject: ends the session".into(),
        ];
        self.open(Gate::of_disk(short.with_code(), details, env::now())?)
    }

    /// Once while programs run, and once more when none does: only then git may pack.
    fn clean_up_is_due(&self) -> bool {
        if !self.ctx.config.system.auto_cleanup_enabled {
            return false;
        }
        match self.room.cleaned {
            None => true,
            Some(AllowPacking::Allowed) => false,
            Some(AllowPacking::Not) => self.packing() == AllowPacking::Allowed,
        }
    }

    /// At emergency git has no space to write a pack.
    fn packing(&self) -> AllowPacking {
        let may = self.running_agents().is_empty() && self.room.level < DiskSpaceLevel::Emergency;
        if may { AllowPacking::Allowed } else { AllowPacking::Not }
    }

    /// Returns how many bytes it freed.
    fn clean_up(&mut self) -> u64 {
        let packing = self.packing();
        self.room.cleaned = Some(packing);
        match disk::clean_up(self.ctx, packing) {
            Ok(cleaned) => {
                let lines = cleaned.lines.join("; ");
                self.tell(SessionNotice::Recovered {
                    what: format!("cleaned up, {} MB freed: {lines}", disk::in_mb(cleaned.freed)),
                });
                cleaned.freed
            }
            Err(error) => {
                // Somebody else is at work: the next look tries again.
                if error.code() == Code::Busy {
                    self.room.cleaned = None;
                }
                self.warn(format!("the clean-up failed: {error}"));
                0
            }
        }
    }

    /// Sets space aside for the last events of a full disk. Work does not depend on it.
    pub(super) fn keep_reserve(&mut self) {
        if let Err(error) = self.ctx.store.keep_reserve() {
            tracing::warn!(%error, "no space is set aside");
        }
    }

    /// Remembers which programs ran into an emergency: of one that fails by itself, the end is known only once there is space to
    /// record it.
    fn note_who_runs(&mut self, short: &SpaceShortage) {
        for agent in self.running_agents() {
            if let Some(token) = self.work_of(&agent).and_then(|work| work.stage.token()).cloned() {
                self.room.hit.entry(token).or_insert_with(|| short.with_code());
            }
        }
    }

    /// Remembers that a program failed by itself while the disk was as good as full. By the time its work can be committed there may
    /// be space again.
    pub(super) fn note_lack_of_space(&mut self, token: &Token, end: &AgentProgramEnd, outcome: &IterationOutcome) {
        if !matches!(
            (end, outcome),
            (AgentProgramEnd::Exited(_) | AgentProgramEnd::Signalled(_), IterationOutcome::Unfinished { .. })
        ) {
            self.room.hit.remove(token);
            return;
        }
        if self.target.is_none() || self.room.hit.contains_key(token) {
            return;
        }
        if let Some(short) = disk_space::shortage(self.ctx).filter(|short| short.level == DiskSpaceLevel::Emergency) {
            self.room.hit.insert(token.clone(), short.with_code());
        }
    }

    /// Why the task of an iteration waits for a human: its program failed while there was no space, and it is not complete.
    pub(super) fn was_out_of_space(&mut self, token: &Token, outcome: &IterationOutcome) -> Option<String> {
        let short = self.room.hit.remove(token)?;
        match outcome {
            IterationOutcome::Unfinished { why } => {
                Some(format!("{why}, when there was no space ({short}); then: git axiom task unblock"))
            }
            IterationOutcome::Complete
            | IterationOutcome::Blocked { .. }
            | IterationOutcome::Waiting { .. }
            | IterationOutcome::Limited { .. }
            | IterationOutcome::NeedsHuman { .. }
            | IterationOutcome::Stopped
            | IterationOutcome::Crashed => None,
        }
    }
}
