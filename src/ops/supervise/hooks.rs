//! Hooks of a session: those that report run beside its work, one event after the other; those that decide are asked before a
//! task is claimed.

use std::time::{Duration, Instant};

use super::Supervisor;
use super::claim::MOST_CLAIM_GATES;
use crate::domain::base::ids::{AgentId, CaseId};
use crate::domain::base::plural::count_of;
use crate::domain::hook::due::of_task;
use crate::domain::hook::event::HookEvent;
use crate::domain::hook::facts::Facts;
use crate::domain::hook::run::HookRun;
use crate::domain::state::event::By;
use crate::domain::work::agent::Workspace;
use crate::domain::work::gate::{Cause, Decision, Gate, GateKind};
use crate::env;
use crate::error::{Error, Result};
use crate::ops::hooks::standing::AtEvent;
use crate::ops::hooks::work;
use crate::ops::steps::{self, AfterFailure, Failure, Job, Runner, Running};
use crate::ops::watch::LOOK;

/// Hooks that are told something.
#[derive(Debug)]
pub(super) struct Reporting {
    facts: Facts,
    running: Running,
}

/// Hooks that are asked whether a task may be started.
#[derive(Debug)]
pub(super) struct Asking {
    /// Who would start which task, why, and where.
    pub(super) claim: Claim,
    facts: Facts,
    running: Running,
}

/// A claim that is about to be made.
#[derive(Debug, Clone)]
pub(super) struct Claim {
    pub(super) task: CaseId,
    pub(super) agent: AgentId,
    pub(super) workspace: Workspace,
    pub(super) why: String,
}

impl Supervisor<'_> {
    /// Tells hooks what has happened; returns whether anything was done.
    pub(super) fn look_after_reports(&mut self) -> bool {
        if let Some(reporting) = &self.reporting {
            let Some(verdict) = reporting.running.verdict() else { return false };
            let runs = work::records(&reporting.facts, &verdict.ran);
            self.reporting = None;
            for run in runs.iter().filter(|run| run.failure.is_some()) {
                let last = run.lines.last().map_or_else(String::new, |line| format!(": {line}"));
                self.warn(format!("{}{last} (git axiom hooks log)", run.summary()));
            }
            if let Err(error) = self.record(&runs) {
                self.warn(format!("what hooks did is not recorded: {error}"));
            }
        }
        match self.ctx.hooks.take_dropped() {
            0 => {}
            many => {
                let told = count_of(many, "event was", "events were");
                self.warn(format!("hooks are slower than what happens: {told} not told"));
            }
        }
        let Some(facts) = self.ctx.hooks.next_due() else { return false };
        let AtEvent::Run(hooks, tree) = self.ctx.hooks.at(facts.event) else { return true };
        match work::of(self.ctx, (&hooks, &tree), &facts) {
            Ok(steps) => {
                let job = Job::new(self.ctx, Runner::Session, AfterFailure::GoOn, steps);
                let running = steps::start(job, self.bell.rope().ok());
                self.reporting = Some(Reporting { facts, running });
            }
            Err(error) => self.warn(format!("hooks of {} were not run: {error}", facts.event)),
        }
        true
    }

    /// Records runs in a transaction of their own.
    fn record(&mut self, runs: &[HookRun]) -> Result<()> {
        self.ctx.in_its_own_transaction(By::Supervisor, |ctx| work::record(ctx, runs))
    }

    /// Whether hooks run, or are still to be told something.
    pub(super) fn hooks_are_busy(&self) -> bool {
        self.reporting.is_some() || self.asking.is_some() || self.ctx.hooks.has_due()
    }

    /// Prepares the claim of a task, for this reason, and makes it, or asks the hooks first where there are any: their answer comes
    /// later, by [`Supervisor::look_after_asking`]. Where a human has to approve the hooks, the task waits for that, and nothing is
    /// made for it before.
    ///
    /// # Errors
    /// Those of the log and of preparing the claim.
    pub(super) fn claim_or_ask(&mut self, task: &CaseId, why: &str) -> Result<()> {
        self.ctx.read_hooks_again();
        match self.ctx.hooks.at(HookEvent::PreTaskStart) {
            AtEvent::NotApproved(what) => {
                self.veto(task, format!("{what} (git axiom trust); approve to ask it again"), Vec::new())
            }
            AtEvent::Nothing => {
                let claim = self.prepare_claim(task, why)?;
                self.take(&claim)
            }
            AtEvent::Run(hooks, tree) => {
                let claim = self.prepare_claim(task, why)?;
                let about = of_task(self.ctx.state(), task, HookEvent::PreTaskStart, env::now());
                let facts = Facts { agent: Some(claim.agent.clone()), ..about };
                let steps = work::of(self.ctx, (&hooks, &tree), &facts)?;
                let job = Job::new(self.ctx, Runner::Session, AfterFailure::Stop, steps);
                let running = steps::start(job, self.bell.rope().ok());
                self.asking = Some(Asking { claim, facts, running });
                Ok(())
            }
        }
    }

    /// Whether further tasks may wait because of hooks: a human should not have to decide on a thousand.
    pub(super) fn asks_to_start(&self) -> bool {
        if matches!(self.ctx.hooks.at(HookEvent::PreTaskStart), AtEvent::Nothing) {
            return true;
        }
        let gates = self.ctx.state().restorable.gates.values();
        gates.filter(|gate| is_about_start(gate) && gate.decision.is_none()).count() < MOST_CLAIM_GATES
    }

    /// The claim that hooks have let pass, once they have; what follows where they have not. Returns whether anything was done.
    ///
    /// # Errors
    /// Those of the log, and why a hook could not be run, with the task.
    pub(super) fn look_after_asking(&mut self) -> std::result::Result<(bool, Option<Claim>), (CaseId, Error)> {
        let Some(Asking { running, .. }) = &self.asking else { return Ok((false, None)) };
        let Some(verdict) = running.verdict() else { return Ok((false, None)) };
        let Some(Asking { claim, facts, running: _ }) = self.asking.take() else { return Ok((false, None)) };
        let of_task = |error| (claim.task.clone(), error);
        let runs = work::records(&facts, &verdict.ran);
        self.record(&runs).map_err(of_task)?;
        if let Some(error) = verdict.not_run {
            return Err(of_task(error));
        }
        let Some(Failure { summary, .. }) = verdict.failure else { return Ok((true, Some(claim))) };
        let lines = runs.last().map(|run| run.lines.clone()).unwrap_or_default();
        let reason = summary.replacen("hook", "hook pre-task-start", 1);
        self.veto(&claim.task, format!("{reason}; approve to ask it again"), lines).map_err(of_task)?;
        Ok((true, None))
    }

    /// A task is not started: it waits for a human, in every mode.
    fn veto(&mut self, task: &CaseId, reason: String, lines: Vec<String>) -> Result<()> {
        self.open_gate_about(GateKind::HumanReview, task, (reason, Some(Cause::HookVeto)), lines)
    }

    /// Whether a hook keeps a pending task from being started, and nobody has decided yet.
    pub(super) fn is_vetoed(&self, task: &CaseId) -> bool {
        self.gate(GateKind::HumanReview, task).is_some_and(|gate| gate.decision.is_none())
    }

    /// Whether a human has decided about a veto.
    pub(super) fn is_review_decided(&self, task: &CaseId) -> bool {
        self.gate(GateKind::HumanReview, task).is_some_and(|gate| gate.decision.is_some())
    }

    /// Ends hooks that are asked. Those that are told something go on.
    pub(super) fn abandon_asking(&mut self) {
        self.asking = None;
    }

    /// At the end of the session, when its lock is free: tells hooks what they have not been told yet, for as long as one hook may
    /// take. Another signal ends that.
    pub(super) fn tell_the_rest(&mut self) {
        self.abandon_asking();
        let (before, begun) = (self.interrupts.count(), Instant::now());
        let limit = Duration::from_secs(self.ctx.config.hooks.timeout);
        while self.hooks_are_busy() && self.interrupts.count() == before && begun.elapsed() < limit {
            if !self.look_after_reports() {
                self.bell.wait(LOOK);
            }
        }
        if self.hooks_are_busy() {
            let left = self.ctx.hooks.forget_due() + usize::from(self.reporting.take().is_some());
            self.warn(format!("{} not told to hooks: the session has ended", count_of(left, "event was", "events were")));
        }
    }
}

/// Whether a gate concerns the start of its task.
pub(super) fn is_about_start(gate: &Gate) -> bool {
    let is_about_start = gate.cause.is_some_and(|cause| match cause {
        Cause::HookVeto | Cause::SignIn | Cause::ToolDenied | Cause::Recovery => true,
        // Of a task whose own steps failed, it is held; else it is about its merge.
        Cause::VerifyFailed => gate.held.is_some(),
    });
    gate.kind == GateKind::HumanReview && is_about_start
}

/// Why a human rejected the start of its task at a gate, if that is what was decided there.
pub(super) fn rejected_start(gate: &Gate) -> Option<&str> {
    match gate.decision.as_ref().filter(|_| gate.kind == GateKind::Claim || is_about_start(gate))? {
        Decision::Rejected { reason } => Some(reason),
        Decision::Approved | Decision::Answered { .. } => None,
    }
}
