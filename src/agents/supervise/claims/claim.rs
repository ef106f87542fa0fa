//! Which ready task is claimed next, and the gates in semi-auto mode. The claim itself is in `preparing` and `waiting_claims`.

use std::collections::BTreeSet;

use super::redirecting::awaits_agent;
use super::start_gates::{MOST_CLAIM_GATES, asks_to_start, is_claim_approved, is_held, is_review_decided, rejected_start, veto};
use super::waiting_claims::{ClaimsUnderWay, is_complete};
use crate::supervise::core::SessionCore;
use crate::supervise::core::slots::{answered, slots_taken};
use crate::supervise::idle_gates::is_pending;
use crate::supervise::iterations::budget_gates::is_over_budget;
use crate::supervise::iterations::iteration_care::IterationCare;
use crate::supervise::iterations::lost_files::asks_to_begin_anew;
use axiom_base::error::Result;
use axiom_model::base::ids::TaskId;
use axiom_model::state::current_state::State;
use axiom_model::work::endings::failures::SharedSessionStep;
use axiom_model::work::gates::gate::{Gate, GateKind, wants_trust};
use axiom_model::work::hooks::hook_event::HookEvent;
use axiom_model::work::sessions::session::SessionMode;
use axiom_model::work::tasks::task::TaskStatus;
use axiom_safety::context::approved_hooks::EventHooks;

impl ClaimsUnderWay {
    /// Claims one ready task if a slot is free; returns whether anything was done.
    pub(crate) fn claim_next(&mut self, core: &mut SessionCore<'_>, iterations: &IterationCare) -> Result<bool> {
        if self.look_after_starting(core)? {
            return Ok(true);
        }
        let slots = if core.failures.stands_still(SharedSessionStep::Claims)
            || iterations.clock.session_is_over_budget(core.desk.ctx, &core.setup, &core.runs)
            || !iterations.room.has_room()
        {
            0
        } else {
            core.setup.options.slots as usize
        };
        let free = slots.saturating_sub(slots_taken(core.desk.ctx) + self.starting.len() + answered(core.desk.ctx));
        let ready = core.ready.order(core.desk.ctx.state());
        // Whoever rejected it, and whatever keeps others from being asked about.
        if let Some((kind, task, reason)) = next_rejected(core.desk.ctx.state()) {
            core.desk.block(&task, TaskStatus::Pending, &reason)?;
            core.desk.close_gate(kind, &task, "rejected")?;
            return Ok(true);
        }
        let asks = asks_to_start(core.desk.ctx);
        let may_go = |task: &&TaskId| {
            let may_start = !self.is_starting(task)
                && !core.leaving.is_leaving(task)
                && !is_held(&core.desk, task)
                && !awaits_agent(&core.desk, task);
            may_start && !core.failures.is_held_up(task) && (asks || is_review_decided(&core.desk, task))
        };
        // Whoever is sent to a task by a human takes it before anything else takes the agent.
        let sent = ready.iter().filter(|task| free > 0 && self.free_agent_sent_to(&core.desk, task).is_some() && may_go(task));
        if let Some(task) = core.failures.next_to_try(sent, |task| task) {
            self.claim(core, task, "redirected")?;
            return Ok(true);
        }
        // This task was claimed before and stopped when only its verification was missing: no human is asked again.
        let complete = ready.iter().filter(|task| free > 0 && is_complete(core.desk.ctx, task) && may_go(task));
        if let Some(task) = core.failures.next_to_try(complete, |task| task) {
            self.claim(core, task, "its work is complete")?;
            return Ok(true);
        }
        let may_go = |task: &&TaskId| may_go(task) && !is_over_budget(core.desk.ctx, task);
        match core.desk.ctx.state().restorable.mode {
            SessionMode::Autopilot | SessionMode::Review => {
                match core.failures.next_to_try(ready.iter().filter(may_go), |task| task) {
                    Some(task) if free > 0 => {
                        let approved = core.desk.gate(GateKind::Claim, task).is_some_and(|gate| gate.decision.is_some());
                        let why = if approved { "approved" } else { "claimed automatically" };
                        self.claim(core, task, why)?;
                        Ok(true)
                    }
                    Some(_) | None => Ok(false),
                }
            }
            SessionMode::SemiAuto => {
                let may_go: Vec<&TaskId> = ready.iter().filter(may_go).collect();
                self.claim_at_gates(core, &may_go, free)
            }
        }
    }

    fn claim_at_gates(&mut self, core: &mut SessionCore<'_>, ready: &[&TaskId], free: usize) -> Result<bool> {
        let approved = ready.iter().filter(|task| is_claim_approved(&core.desk, task));
        // What a human has decided is done, however many wait.
        if let Some(task) = core.failures.next_to_try(approved, |task| task).filter(|_| free > 0) {
            self.claim(core, task, "approved")?;
            return Ok(true);
        }
        let gates = core.desk.ctx.state().restorable.gates.values().filter(|gate| gate.kind == GateKind::Claim);
        let (held, asked): (Vec<_>, Vec<_>) = gates.partition(|gate| gate.held.is_some());
        let has_gate: BTreeSet<&TaskId> = held.iter().chain(&asked).filter_map(|gate| gate.task_id.as_ref()).collect();
        // Tasks that a human held are decided one by one: they do not count towards the limit.
        let may_ask = asked.iter().filter(|gate| gate.decision.is_none()).count() < MOST_CLAIM_GATES;
        let Some(task) = ready.iter().find(|task| may_ask && !has_gate.contains(**task)) else { return Ok(false) };
        let title = core.desk.ctx.state().task(task)?.title.clone();
        core.desk.open_gate(GateKind::Claim, task, Gate::to_start(task, &title), Vec::new())?;
        Ok(true)
    }

    /// Begins to claim a task, for this reason: makes its workspace, asks the hooks. Until it is claimed its gate stays: what a human
    /// approved is not asked again where the claim has to be tried again. Where a human has to approve the hooks, the task waits for that,
    /// and nothing is made for it before.
    pub(crate) fn claim(&mut self, core: &mut SessionCore<'_>, task: &TaskId, why: &str) -> Result<()> {
        match asks_to_begin_anew(&mut core.desk, task) {
            Ok(true) => return Ok(()),
            Ok(false) => {}
            Err(error) => return core.failures.claim_failed(&mut core.desk, task, error),
        }
        core.desk.ctx.read_hooks_again();
        if let EventHooks::NotApproved(what) = core.desk.ctx.hooks.at(HookEvent::PreTaskStart) {
            return veto(&mut core.desk, task, wants_trust(&what), Vec::new());
        }
        // At the gate of a task that was paused nobody has decided.
        let goes_on = core.desk.gate(GateKind::Claim, task).is_some_and(Gate::goes_on);
        match self.prepare_claim(core, task, if goes_on { "it goes on after the pause" } else { why }) {
            Ok(claim) => self.begins(core, claim),
            Err(error) => core.failures.claim_failed(&mut core.desk, task, error),
        }
    }
}

/// A task whose start a human has rejected, at which gate and why; it may wait for others, too.
fn next_rejected(state: &State) -> Option<(GateKind, TaskId, String)> {
    state.restorable.gates.values().find_map(|gate| {
        let reason = rejected_start(gate)?;
        let task = gate.task_id.as_ref().filter(|task| is_pending(state, task))?;
        Some((gate.kind, task.clone(), reason.to_owned()))
    })
}
