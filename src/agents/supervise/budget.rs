//! Budgets of tasks and of the session: looked at before an iteration begins and, where its program tells what it uses, while it
//! runs. The rules are in `model::work::money::budget`; a human decides at the gate.

use std::time::{Duration, Instant};

use super::agent_runs::{AgentRuns, HaltedTaskFate};
use super::core::SessionCore;
use super::desk::SessionDesk;
use super::iterate::IterationCare;
use super::setup::SessionSetup;
use crate::tasks::limits;
use crate::tasks::usage::{counted, limits_of, spent_on};
use axiom_base::env;
use axiom_base::error::Result;
use axiom_model::base::ids::{AgentId, TaskId};
use axiom_model::state::event::Event;
use axiom_model::work::agent::AgentWork;
use axiom_model::work::endings::outcome::TaskHalt;
use axiom_model::work::gates::gate::{Gate, GateDecision, GateKind};
use axiom_model::work::money::budget::{BudgetResource, BudgetSpending, BudgetUsage, RunningIterationUsage};
use axiom_model::work::sessions::session::SupervisorRequest;
use axiom_model::work::tasks::task::TaskStatus;
use axiom_process::keeper::spec::KeeperRecord;
use axiom_safety::beside_log::supervisor_requests;
use axiom_safety::context::handle::Context;

/// How long a tool call that runs may take to end before its program is stopped, and a program that has said its last word: neither
/// uses tokens any more.
const USES_NONE: Duration = Duration::from_secs(20);

/// How long programs have run in this session. It stands still while none runs and while the machine sleeps.
#[derive(Debug, Default)]
pub(super) struct ProgramClock {
    ran: Duration,
    since: Option<Instant>,
}

impl ProgramClock {
    /// From now on, programs run or not.
    fn tick(&mut self, runs: bool) {
        self.ran += self.since.take().map_or(Duration::ZERO, |since| since.elapsed());
        self.since = runs.then(Instant::now);
    }

    fn millis(&self) -> u64 {
        millis(self.ran + self.since.map_or(Duration::ZERO, |since| since.elapsed()))
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl ProgramClock {
    /// Keeps the time of the session.
    pub(super) fn keep_time(&mut self, ctx: &Context, runs: &AgentRuns) {
        let runs = !runs.running_agents(ctx).is_empty();
        self.tick(runs);
    }

    /// The limits of the session that are reached, with all that runs.
    fn session_reached(&self, ctx: &Context, setup: &SessionSetup, runs: &AgentRuns) -> Vec<BudgetUsage> {
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
    pub(super) fn session_is_over_budget(&self, ctx: &Context, setup: &SessionSetup, runs: &AgentRuns) -> bool {
        !self.session_reached(ctx, setup, runs).is_empty()
    }

    /// Opens gates where budgets are used up, and does what was decided at them; returns whether anything was done.
    pub(super) fn settle_budgets(&mut self, core: &mut SessionCore<'_>) -> Result<bool> {
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

impl IterationCare {
    /// Ends the program of an iteration whose budget, or the session's, is used up: what it left is kept, no retry is counted, and
    /// it can go on in its session. A tool call may end first, and a program that is about to end does so by itself.
    pub(super) fn watch_budget(
        &mut self,
        core: &mut SessionCore<'_>,
        agent: &AgentId,
        work: &AgentWork,
        record: &KeeperRecord,
    ) -> Result<()> {
        // Without a session nobody decides about running agents.
        if core.setup.target.is_none() {
            return Ok(());
        }
        if let Some(watch) = core.runs.watch_mut(agent) {
            let slept = || env::now().duration_since(record.started_at).unsigned_abs();
            watch.begun.get_or_insert_with(|| (Instant::now(), slept()));
        }
        let mut reached = limits_reached(core.desk.ctx, &work.task, core.runs.usage_of(core.desk.ctx, &core.setup, agent, work));
        let of_session = self.clock.session_reached(core.desk.ctx, &core.setup, &core.runs);
        if !of_session.is_empty() {
            open_session_gate(&mut core.desk, of_session.clone())?;
        }
        reached.extend(of_session);
        let Some(watch) = core.runs.watch_mut(agent).filter(|_| !reached.is_empty()) else { return Ok(()) };
        let since = *watch.over_since.get_or_insert_with(Instant::now);
        let uses_none = !watch.told.begun.is_empty() || watch.told.ended.is_some();
        if uses_none && reached.iter().all(|used| used.of != BudgetResource::Time) && since.elapsed() < USES_NONE {
            return Ok(());
        }
        let Some(token) = work.stage.token().cloned().filter(|token| core.runs.halt_of(agent, token).is_none()) else {
            return Ok(());
        };
        core.runs.end_program(&mut core.desk, agent, &token, TaskHalt::Stop, HaltedTaskFate::Free)
    }

    /// Releases a task before its next iteration where nothing of its budget or of the session's is left; returns whether it did.
    pub(super) fn stop_for_budget(&mut self, core: &mut SessionCore<'_>, agent: &AgentId, work: &AgentWork) -> Result<bool> {
        let of_session = self.clock.session_reached(core.desk.ctx, &core.setup, &core.runs);
        if of_session.is_empty() && !is_over_budget(core.desk.ctx, &work.task) {
            return Ok(false);
        }
        if !of_session.is_empty() {
            open_session_gate(&mut core.desk, of_session)?;
        }
        core.halt(agent, TaskHalt::Stop, HaltedTaskFate::Free)?;
        Ok(true)
    }
}

impl AgentRuns {
    /// What the iteration that runs has used, as far as its program tells.
    fn usage_of(&self, ctx: &Context, setup: &SessionSetup, agent: &AgentId, work: &AgentWork) -> RunningIterationUsage {
        let (Some(watch), Ok(task)) = (self.watch(agent), ctx.state().task(&work.task)) else {
            return RunningIterationUsage::default();
        };
        let time_ms = watch.begun.map_or(0, |(at, before)| millis(before + at.elapsed()));
        counted(ctx.state(), (work, setup.options.programs.of(task)), &watch.told.usage, time_ms)
    }
}

/// The limits of a task that are reached, with what runs for it.
fn limits_reached(ctx: &Context, task: &TaskId, running: RunningIterationUsage) -> Vec<BudgetUsage> {
    let Some(case) = ctx.state().restorable.tasks.get(task) else { return Vec::new() };
    let limits = limits_of(case, ctx.config.budget.of_a_task());
    if limits.is_empty() { Vec::new() } else { spent_on(ctx.state(), task).with(running).reached(limits) }
}

/// Whether a task may not be claimed because nothing of its budget is left.
pub(super) fn is_over_budget(ctx: &Context, task: &TaskId) -> bool {
    !limits_reached(ctx, task, RunningIterationUsage::default()).is_empty()
}

/// The gate at which a task waits because its budget is used up, if it is.
pub(super) fn budget_gate(ctx: &Context, task: &TaskId) -> Result<Option<Gate>> {
    let reached = limits_reached(ctx, task, RunningIterationUsage::default());
    if reached.is_empty() { Ok(None) } else { Gate::for_budget(Some(task), reached, env::now()).map(Some) }
}

/// Checks that the limits of a task can be kept by the program that is to work on it.
pub(super) fn budget_can_be_kept(ctx: &Context, setup: &SessionSetup, task: &TaskId) -> Result<()> {
    let case = ctx.state().task(task)?;
    let limits = limits_of(case, ctx.config.budget.of_a_task());
    limits::program_keeps(setup.options.programs.of(case), limits)?;
    limits::personas_keep(&ctx.config, &case.verify, limits)?;
    limits::personas_keep(&ctx.config, &ctx.config.merge.verify, limits)
}

/// Closes the session's gate where no work is left that could wait at it.
pub(super) fn close_session_gate(desk: &mut SessionDesk<'_>, reason: &str) -> Result<bool> {
    let id = Gate::of_session()?;
    let closed = || Event::GateClosed { id: id.clone(), reason: reason.to_owned() };
    desk.step_if(|state| state.restorable.gates.contains_key(&id).then(closed))
}

/// Opens the session's gate, if it is not open; returns whether it did.
fn open_session_gate(desk: &mut SessionDesk<'_>, reached: Vec<BudgetUsage>) -> Result<bool> {
    let gate = Gate::for_budget(None, reached, env::now())?;
    if desk.ctx.state().restorable.gates.contains_key(&gate.id) {
        return Ok(false);
    }
    desk.open(gate).map(|()| true)
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
