//! The time that programs run in a session, and its budget.

use std::time::{Duration, Instant};

use super::budget_gates::{budget_gate, is_over_budget, open_session_gate};
use crate::supervise::core::SessionCore;
use crate::supervise::core::agent_runs::AgentRuns;
use crate::supervise::core::task_verification::TaskVerificationRun;
use crate::supervise::setup::SessionSetup;
use crate::supervise::shown::keeper_now::worked_until;
use crate::tasks::usage::counted;
use axiom_base::env;
use axiom_base::error::Result;
use axiom_model::base::ids::{AgentId, TaskId};
use axiom_model::state::event::Event;
use axiom_model::work::agent::{Agent, AgentWork, IterationStage};
use axiom_model::work::gates::gate::{Gate, GateDecision, GateKind};
use axiom_model::work::money::budget::{BudgetSpending, BudgetUsage, RunningIterationUsage};
use axiom_model::work::sessions::session::SupervisorRequest;
use axiom_model::work::tasks::task::TaskStatus;
use axiom_safety::beside_log::supervisor_requests;
use axiom_safety::context::handle::Context;

/// How long programs have run in this session. It stands still while none runs and while the machine sleeps.
#[derive(Debug, Default)]
pub(crate) struct ProgramClock {
    ran: Duration,
    since: Option<Instant>,
}

impl ProgramClock {
    /// That of a session that begins: one that goes on with a crashed one counts on, but no time in which nothing ran.
    pub(crate) fn of_session(ctx: &Context) -> Self {
        let (state, now) = (ctx.state(), env::now());
        let until = |agent: &Agent| {
            let work = agent.work.as_ref().filter(|work| matches!(work.stage, IterationStage::Running { .. }))?;
            Some(worked_until(ctx, agent, work.last_activity).unwrap_or(now))
        };
        let until = state.busy_agents().filter_map(until).max().unwrap_or(now);
        let allowed_from = state.record.session_counted_from.as_ref().map_or(0, |tally| tally.duration_ms);
        let ran = state.record.session_time.millis(until).saturating_sub(allowed_from);
        Self { ran: Duration::from_millis(ran), since: None }
    }

    /// From now on, programs run or not.
    fn tick(&mut self, runs: bool) {
        self.ran += self.since.take().map_or(Duration::ZERO, |since| since.elapsed());
        self.since = runs.then(Instant::now);
    }

    fn millis(&self) -> u64 {
        millis(self.ran + self.since.map_or(Duration::ZERO, |since| since.elapsed()))
    }
}

impl ProgramClock {
    /// Keeps the time of the session: whether the program of an iteration runs, or that of a persona that looks at the work, or at a merge.
    /// Commands that verify do not count.
    pub(crate) fn keep_time(&mut self, ctx: &Context, runs: &AgentRuns, looks_at_merge: bool) {
        // One whose program has ended is still there while what it left is being stored.
        let has_ended = |agent: &Agent| runs.watch(&agent.id).is_some_and(|watch| watch.time.ran_ms.is_some());
        let iterations = || ctx.state().busy_agents().any(|agent| agent.token().is_some() && !has_ended(agent));
        let looks = || runs.any(|run| run.verifying.as_ref().is_some_and(TaskVerificationRun::is_look));
        self.tick(looks_at_merge || looks() || iterations());
    }

    /// The limits of the session that are reached, with all that runs.
    pub(crate) fn session_reached(&self, ctx: &Context, setup: &SessionSetup, runs: &AgentRuns) -> Vec<BudgetUsage> {
        let record = &ctx.state().record;
        let Some(limits) = record.session.as_ref().map(|session| session.limits).filter(|limits| !limits.is_empty()) else {
            return Vec::new();
        };
        let mut spent = BudgetSpending::since(&record.session_spent, record.session_counted_from.as_ref());
        for agent in runs.watched() {
            let work = ctx.state().restorable.agents.get(agent).and_then(|agent| agent.work.as_ref());
            let running = work.filter(|work| work.stage.token().is_some());
            spent = running.map_or(spent, |work| spent.with(runs.usage_of(ctx, setup, agent, work)));
        }
        spent.in_time(self.millis()).reached(limits)
    }

    /// Whether no task may be claimed because nothing of the session's budget is left.
    pub(crate) fn session_is_over_budget(&self, ctx: &Context, setup: &SessionSetup, runs: &AgentRuns) -> bool {
        !self.session_reached(ctx, setup, runs).is_empty()
    }

    /// Opens gates where budgets are used up, and does what was decided at them; returns whether anything was done.
    pub(crate) fn settle_budgets(&mut self, core: &mut SessionCore<'_>) -> Result<bool> {
        if self.settle_session_budget(core)? {
            return Ok(true);
        }
        let gates = core.desk.ctx.state().restorable.gates.values();
        let of_tasks: Vec<(TaskId, Gate)> = gates
            .filter(|gate| gate.kind == GateKind::Budget)
            .filter_map(|gate| Some((gate.task_id.clone()?, gate.clone())))
            .collect();
        for (task, gate) in of_tasks {
            let status = core.desk.ctx.state().restorable.tasks.get(&task).map(|case| case.status);
            let why = match &gate.decision {
                Some(GateDecision::Rejected { reason }) => {
                    core.desk.block(&task, TaskStatus::Pending, reason)?;
                    "rejected"
                }
                Some(GateDecision::Approved) => "as much again is allowed",
                Some(GateDecision::Answered { .. }) => "the limit was changed",
                None if status != Some(TaskStatus::Pending) || !is_over_budget(core.desk.ctx, &task) => "settled otherwise",
                None => continue,
            };
            core.desk.close_gate(GateKind::Budget, &task, why)?;
            return Ok(true);
        }
        let ready = core.ready.order(core.desk.ctx.state());
        let waits = ready
            .iter()
            .find(|task| is_over_budget(core.desk.ctx, task) && core.desk.gate(GateKind::Budget, task).is_none())
            .cloned();
        let Some(gate) = waits.map(|task| budget_gate(core.desk.ctx, &task)).transpose()?.flatten() else {
            return Ok(false);
        };
        core.desk.open(gate).map(|()| true)
    }

    fn settle_session_budget(&mut self, core: &mut SessionCore<'_>) -> Result<bool> {
        let id = Gate::of_session()?;
        let gate = core.desk.ctx.state().restorable.gates.get(&id).cloned();
        let reached = self.session_reached(core.desk.ctx, &core.setup, &core.runs);
        let why = match gate.as_ref().map(|gate| &gate.decision) {
            None if reached.is_empty() => return Ok(false),
            None => return open_session_gate(&mut core.desk, reached),
            Some(None) if reached.is_empty() => "settled otherwise",
            Some(None) => return Ok(false),
            Some(Some(GateDecision::Approved)) => {
                *self = ProgramClock::default();
                "as much again is allowed"
            }
            Some(Some(GateDecision::Answered { .. })) => "the limit was changed",
            Some(Some(GateDecision::Rejected { .. })) => {
                supervisor_requests::make(core.desk.ctx, SupervisorRequest::Quit)?;
                "rejected"
            }
        };
        core.desk.step_if(|state| {
            let is_there = gate.as_ref() == state.restorable.gates.get(&id);
            is_there.then(|| Event::GateClosed { id: id.clone(), reason: why.to_owned() })
        })
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl AgentRuns {
    /// What the iteration that runs has used, as far as its program tells.
    pub(crate) fn usage_of(
        &self,
        ctx: &Context,
        setup: &SessionSetup,
        agent: &AgentId,
        work: &AgentWork,
    ) -> RunningIterationUsage {
        let (Some(watch), Ok(task)) = (self.watch(agent), ctx.state().task(&work.task)) else {
            return RunningIterationUsage::default();
        };
        counted(ctx.state(), (work, setup.options.programs.of(task)), &watch.told.usage, watch.time.millis())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_of_programs_stands_still_while_none_runs() {
        let mut clock = ProgramClock { ran: Duration::from_secs(3), since: None };
        clock.tick(false);
        assert_eq!(clock.millis(), 3000);
        clock.since = Instant::now().checked_sub(Duration::from_secs(60));
        clock.tick(false);
        assert!(clock.millis() >= 63_000 && clock.since.is_none(), "what ran before counts");
        clock.tick(true);
        assert!(clock.since.is_some());
    }
}
