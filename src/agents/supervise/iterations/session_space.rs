//! What a session knows of the space on the disk, and the gate where it waits for more.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::disk;
use crate::disk::AllowPacking;
use crate::supervise::core::SessionCore;
use crate::supervise::core::agent_runs::AgentRuns;
use crate::supervise::core::desk::SessionDesk;
use crate::supervise::core::failures::StepFailures;
use crate::supervise::setup::SessionSetup;
use crate::supervise::shown::notice::SessionNotice;
use axiom_base::env;
use axiom_base::error::{Code, Result};
use axiom_model::base::ids::Token;
use axiom_model::state::event::Event;
use axiom_model::work::endings::outcome::AgentProgramEnd;
use axiom_model::work::gates::gate::{Gate, GateDecision, GateKind};
use axiom_model::work::iteration::IterationOutcome;
use axiom_model::work::sessions::disk::DiskSpaceLevel;
use axiom_safety::context::handle::Context;
use axiom_safety::folders::disk_space;
use axiom_safety::folders::disk_space::SpaceShortage;

/// How often the file systems are asked. Nothing tells when one fills up.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// The same where there was enough space and no program of ours runs.
const LOOK_IDLE: Duration = Duration::from_secs(5);

/// What a session knows of the space.
#[derive(Debug, Default)]
pub(crate) struct SessionSpace {
    level: DiskSpaceLevel,
    looked_at: Option<Instant>,
    /// Whether the clean-up was done since there was enough space: with programs at work, and without.
    cleaned: Option<AllowPacking>,
    /// What was short while the programs of these iterations ran, or when they failed.
    hit: HashMap<Token, String>,
}

/// What follows a look at the space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SpaceCheckOutcome {
    /// Nothing new.
    Same,
    /// Something was recorded.
    Did,
    /// A human does not want to wait.
    GiveUp,
}

impl SessionSpace {
    /// Whether programs may be started.
    pub(crate) fn has_room(&self) -> bool {
        self.level < DiskSpaceLevel::Critical
    }

    /// Whether a task waits for nothing but space.
    pub(crate) fn waits_for_room(&mut self, core: &mut SessionCore<'_>) -> bool {
        !self.has_room()
            && (core.desk.ctx.state().busy_agents().next().is_some() || !core.ready.order(core.desk.ctx.state()).is_empty())
    }

    /// Whether it is time to look again, or a human has decided; the look begins then.
    pub(crate) fn begins_look(&mut self, ctx: &Context, is_decided: bool) -> bool {
        let is_due = is_decided || self.looked_at.is_none_or(|at| at.elapsed() >= self.look_every(ctx));
        if is_due {
            self.looked_at = Some(Instant::now());
        }
        is_due
    }

    /// This is the level from now on; returns the one before.
    pub(crate) fn comes_to(&mut self, level: DiskSpaceLevel) -> DiskSpaceLevel {
        std::mem::replace(&mut self.level, level)
    }

    fn look_every(&self, ctx: &Context) -> Duration {
        let is_idle = self.level == DiskSpaceLevel::Enough && ctx.state().busy_agents().next().is_none();
        if is_idle { LOOK_IDLE } else { LOOK_EVERY }
    }

    pub(crate) fn there_is_space(
        &mut self,
        desk: &mut SessionDesk<'_>,
        failures: &mut StepFailures,
    ) -> Result<SpaceCheckOutcome> {
        self.cleaned = None;
        if !close_disk_gate(desk, "there is space again")? {
            return Ok(SpaceCheckOutcome::Same);
        }
        desk.tell(SessionNotice::Recovered { what: "there is space again: work goes on".into() });
        failures.standstills.clear();
        desk.keep_reserve();
        Ok(SpaceCheckOutcome::Did)
    }

    /// Cleans up, and asks only where that is not enough.
    pub(crate) fn wait_for_space(&mut self, desk: &mut SessionDesk<'_>, runs: &AgentRuns) -> Result<SpaceCheckOutcome> {
        match disk_gate(desk.ctx).map(|gate| gate.decision.clone()) {
            Some(None) => {
                if self.clean_up_is_due(desk.ctx, runs) {
                    self.clean_up(desk, runs);
                }
                Ok(SpaceCheckOutcome::Same)
            }
            Some(Some(GateDecision::Rejected { .. })) => {
                close_disk_gate(desk, "rejected: the session ends")?;
                Ok(SpaceCheckOutcome::GiveUp)
            }
            Some(Some(GateDecision::Approved | GateDecision::Answered { .. })) => {
                self.cleaned = None;
                close_disk_gate(desk, "looked again")?;
                Ok(SpaceCheckOutcome::Did)
            }
            None => {
                let freed = if self.clean_up_is_due(desk.ctx, runs) { self.clean_up(desk, runs) } else { 0 };
                // What the clean-up freed may be enough.
                match disk_space::shortage(desk.ctx).filter(|now| now.level >= DiskSpaceLevel::Critical) {
                    None => Ok(SpaceCheckOutcome::Same),
                    Some(short) => open_disk_gate(desk, &short, freed).map(|()| SpaceCheckOutcome::Did),
                }
            }
        }
    }

    /// Once while programs run, and once more when none does: only then git may pack.
    fn clean_up_is_due(&self, ctx: &Context, runs: &AgentRuns) -> bool {
        if !ctx.config.system.auto_cleanup_enabled {
            return false;
        }
        match self.cleaned {
            None => true,
            Some(AllowPacking::Allowed) => false,
            Some(AllowPacking::Not) => self.packing(ctx, runs) == AllowPacking::Allowed,
        }
    }

    /// At emergency git has no space to write a pack.
    fn packing(&self, ctx: &Context, runs: &AgentRuns) -> AllowPacking {
        let may = runs.running_agents(ctx).is_empty() && self.level < DiskSpaceLevel::Emergency;
        if may { AllowPacking::Allowed } else { AllowPacking::Not }
    }

    /// Returns how many bytes it freed.
    fn clean_up(&mut self, desk: &mut SessionDesk<'_>, runs: &AgentRuns) -> u64 {
        let packing = self.packing(desk.ctx, runs);
        self.cleaned = Some(packing);
        match disk::clean_up(desk.ctx, packing) {
            Ok(cleaned) => {
                let lines = cleaned.lines.join("; ");
                desk.tell(SessionNotice::Recovered {
                    what: format!("cleaned up, {} MB freed: {lines}", disk::in_mb(cleaned.freed)),
                });
                cleaned.freed
            }
            Err(error) => {
                // Somebody else is at work: the next look tries again.
                if error.code() == Code::Busy {
                    self.cleaned = None;
                }
                desk.warn(format!("the clean-up failed: {error}"));
                0
            }
        }
    }

    /// Remembers which programs ran into an emergency: of one that fails by itself, the end is known only once there is space to
    /// record it.
    pub(crate) fn note_who_runs(&mut self, desk: &SessionDesk<'_>, runs: &AgentRuns, short: &SpaceShortage) {
        for agent in runs.running_agents(desk.ctx) {
            if let Some(token) = desk.work_of(&agent).and_then(|work| work.stage.token()).cloned() {
                self.hit.entry(token).or_insert_with(|| short.with_code());
            }
        }
    }

    /// Remembers that a program failed by itself while the disk was as good as full. By the time its work can be committed there may
    /// be space again.
    pub(crate) fn note_lack_of_space(
        &mut self,
        ctx: &Context,
        setup: &SessionSetup,
        token: &Token,
        end: &AgentProgramEnd,
        outcome: &IterationOutcome,
    ) {
        if !matches!(
            (end, outcome),
            (AgentProgramEnd::Exited(_) | AgentProgramEnd::Signalled(_), IterationOutcome::Unfinished { .. })
        ) {
            self.hit.remove(token);
            return;
        }
        if setup.target.is_none() || self.hit.contains_key(token) {
            return;
        }
        if let Some(short) = disk_space::shortage(ctx).filter(|short| short.level == DiskSpaceLevel::Emergency) {
            self.hit.insert(token.clone(), short.with_code());
        }
    }

    /// Why the task of an iteration waits for a human: its program failed while there was no space, and it is not complete.
    pub(crate) fn was_out_of_space(&mut self, token: &Token, outcome: &IterationOutcome) -> Option<String> {
        let short = self.hit.remove(token)?;
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

pub(crate) fn disk_gate(ctx: &Context) -> Option<&Gate> {
    ctx.state().restorable.gates.values().find(|gate| gate.kind == GateKind::Disk)
}

/// Closes the gate of the disk, if it is open; returns whether it was.
pub(crate) fn close_disk_gate(desk: &mut SessionDesk<'_>, reason: &str) -> Result<bool> {
    let Some(id) = disk_gate(desk.ctx).map(|gate| gate.id.clone()) else { return Ok(false) };
    let closed = || Event::GateClosed { id: id.clone(), reason: reason.to_owned() };
    desk.step_if(|state| state.restorable.gates.contains_key(&id).then(closed))
}

fn open_disk_gate(desk: &mut SessionDesk<'_>, short: &SpaceShortage, freed: u64) -> Result<()> {
    let cleaned = match desk.ctx.config.system.auto_cleanup_enabled {
        true => format!("the clean-up freed {} MB", disk::in_mb(freed)),
        false => "system.autoCleanupEnabled is off: git axiom disk --clean".to_owned(),
    };
    let details = vec![
        format!("{cleaned}; {}, then work goes on by itself", short.to_go_on),
        "git axiom disk    shows who uses the space, and what could go".into(),
        "git axiom checkpoint cleanup --keep 10    deletes old checkpoints".into(),
        "approve: looks again at once; reject: ends the session".into(),
    ];
    desk.open(Gate::of_disk(short.with_code(), details, env::now())?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_program_that_failed_while_there_was_no_space_is_told_from_one_that_did_not() {
        let mut space = SessionSpace::default();
        let token = Token::new("00000000000000000000000000000001").unwrap();
        let failed = || IterationOutcome::Unfinished { why: "exit 1".to_owned() };
        assert!(space.has_room() && space.was_out_of_space(&token, &failed()).is_none());
        space.level = DiskSpaceLevel::Critical;
        space.hit.insert(token.clone(), "DISK_FULL".to_owned());
        assert!(!space.has_room());
        let why = space.was_out_of_space(&token, &failed()).unwrap();
        assert!(why.contains("exit 1") && why.contains("DISK_FULL"), "{why}");
        assert!(space.was_out_of_space(&token, &failed()).is_none(), "it is said once");
        space.hit.insert(token.clone(), "DISK_FULL".to_owned());
        assert!(space.was_out_of_space(&token, &IterationOutcome::Complete).is_none());
    }
}
