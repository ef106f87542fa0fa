//! Budgets of tasks and of the session: looked at before an iteration begins and, where its program tells what it uses, while it
//! runs. The rules are in `model::work::money::budget`; a human decides at the gate.

use std::time::{Duration, Instant};

use super::{HaltedTaskFate, Supervisor};
use crate::tasks::limits;
use crate::tasks::usage::{counted, limits_of, spent_on};
use axiom_base::env;
use axiom_base::error::Result;
use axiom_model::base::ids::{AgentId, TaskId, Token};
use axiom_model::state::event::Event;
use axiom_model::work::agent::AgentWork;
use axiom_model::work::endings::outcome::TaskHalt;
use axiom_model::work::gates::gate::{Gate, GateDecision, GateKind};
use axiom_model::work::money::budget::{BudgetResource, BudgetSpending, BudgetUsage, RunningIterationUsage};
use axiom_model::work::sessions::session::SupervisorRequest;
use axiom_model::work::tasks::task::TaskStatus;
use axiom_process::keeper::spec::KeeperRecord;
use axiom_safety::beside_log::supervisor_requests;

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

impl Supervisor<'_> {
    /// Keeps the time of the session.
    pub(super) fn keep_time(&mut self) {
        let runs = !self.running_agents().is_empty();
        self.clock.tick(runs);
    }

    /// The limits of a task that are reached, with what runs for it.
    fn reached(&self, task: &TaskId, running: RunningIterationUsage) -> Vec<BudgetUsage> {
        let Some(case) = self.ctx.state().restorable.tasks.get(task) else { return Vec::new() };
        let limits = limits_of(case, self.ctx.config.budget.of_a_task());
        if limits.is_empty() { Vec::new() } else { spent_on(self.ctx.state(), task).with(running).reached(limits) }
    }

    /// Whether a task may not be claimed because nothing of its budget is left.
    pub(super) fn is_over_budget(&self, task: &TaskId) -> bool {
        !self.reached(task, RunningIterationUsage::default()).is_empty()
    }

    /// The limits of the session that are reached, with all that runs.
    fn session_reached(&self) -> Vec<BudgetUsage> {
        let record = &self.ctx.state().record;
        let Some(limits) = record.session.as_ref().map(|session| session.limits).filter(|limits| !limits.is_empty()) else {
            return Vec::new();
        };
        let mut spent = BudgetSpending::since(&record.session_spent, record.session_counted_from.as_ref());
        for agent in self.watches.keys() {
            let runs = self.work_of(agent).filter(|work| work.stage.token().is_some());
            spent = runs.map_or(spent, |work| spent.with(self.running(agent, work)));
        }
        spent.in_time(self.clock.millis()).reached(limits)
    }

    /// Whether no task may be claimed because nothing of the session's budget is left.
    pub(super) fn session_is_over_budget(&self) -> bool {
        !self.session_reached().is_empty()
    }

    /// What the iteration that runs has used, as far as its program tells.
    fn running(&self, agent: &AgentId, work: &AgentWork) -> RunningIterationUsage {
        let (Some(watch), Ok(task)) = (self.watches.get(agent), self.ctx.state().task(&work.task)) else {
            return RunningIterationUsage::default();
        };
        let time_ms = watch.begun.map_or(0, |(at, before)| millis(before + at.elapsed()));
        counted(self.ctx.state(), (work, self.options.programs.of(task)), &watch.told.usage, time_ms)
    }

    /// Ends the program of an iteration whose budget, or the session's, is used up: what it left is kept, no retry is counted, and
    /// it can go on in its session. A tool call may end first, and a program that is about to end does so by itself.
    pub(super) fn watch_budget(&mut self, agent: &AgentId, work: &AgentWork, record: &KeeperRecord) -> Result<()> {
        // Without a session nobody decides about running agents.
        if self.target.is_none() {
            return Ok(());
        }
        if let Some(watch) = self.watches.get_mut(agent) {
            let slept = || env::now().duration_since(record.started_at).unsigned_abs();
            watch.begun.get_or_insert_with(|| (Instant::now(), slept()));
        }
        let mut reached = self.reached(&work.task, self.running(agent, work));
        let of_session = self.session_reached();
        if !of_session.is_empty() {
            self.open_session_gate(of_session.clone())?;
        }
        reached.extend(of_session);
        let Some(watch) = self.watches.get_mut(agent).filter(|_| !reached.is_empty()) else { return Ok(()) };
        let since = *watch.over_since.get_or_insert_with(Instant::now);
        let uses_none = !watch.told.begun.is_empty() || watch.told.ended.is_some();
        if uses_none && reached.iter().all(|used| used.of != BudgetResource::Time) && since.elapsed() < USES_NONE {
            return Ok(());
        }
        let Some(token) = work.stage.token().cloned().filter(|token| !self.is_being_ended(token)) else { return Ok(()) };
        self.end_program(agent, &token, TaskHalt::Stop, HaltedTaskFate::Free)
    }

    fn is_being_ended(&self, token: &Token) -> bool {
        self.halted.contains_key(token)
    }

    /// The gate at which a task waits because its budget is used up, if it is.
    pub(super) fn budget_gate(&self, task: &TaskId) -> Result<Option<Gate>> {
        let reached = self.reached(task, RunningIterationUsage::default());
        if reached.is_empty() { Ok(None) } else { Gate::for_budget(Some(task), reached, env::now()).map(Some) }
    }

    /// Releases a task before its next iteration where nothing of its budget or of the session's is left; returns whether it did.
    pub(super) fn stop_for_budget(&mut self, agent: &AgentId, work: &AgentWork) -> Result<bool> {
        let of_session = self.session_reached();
        if of_session.is_empty() && !self.is_over_budget(&work.task) {
            return Ok(false);
        }
        if !of_session.is_empty() {
            self.open_session_gate(of_session)?;
        }
        self.halt(agent, TaskHalt::Stop, HaltedTaskFate::Free)?;
        Ok(true)
    }

    /// Checks that the limits of a task can be kept by the program that is to work on it.
    pub(super) fn budget_can_be_kept(&self, task: &TaskId) -> Result<()> {
        let case = self.ctx.state().task(task)?;
        let limits = limits_of(case, self.ctx.config.budget.of_a_task());
        limits::program_keeps(self.options.programs.of(case), limits)?;
        limits::personas_keep(&self.ctx.config, &case.verify, limits)?;
        limits::personas_keep(&self.ctx.config, &self.ctx.config.merge.verify, limits)
    }

    /// Opens gates where budgets are used up, and does what was decided at them; returns whether anything was done.
    pub(super) fn settle_budgets(&mut self) -> Result<bool> {
        if self.settle_session_budget()? {
            return Ok(true);
        }
        let gates = self.ctx.state().restorable.gates.values();
        let of_tasks: Vec<(TaskId, Gate)> = gates
            .filter(|gate| gate.kind == GateKind::Budget)
            .filter_map(|gate| Some((gate.task_id.clone()?, gate.clone())))
            .collect();
        for (task, gate) in of_tasks {
            let status = self.ctx.state().restorable.tasks.get(&task).map(|case| case.status);
            let why = match &gate.decision {
                Some(GateDecision::Rejected { reason }) => {
                    self.block(&task, TaskStatus::Pending, reason)?;
                    "rejected"
                }
                Some(GateDecision::Approved) => "as much again is allowed",
                Some(GateDecision::Answered { .. }) => "the limit was changed",
                None if status != Some(TaskStatus::Pending) || !self.is_over_budget(&task) => "settled otherwise",
                None => continue,
            };
            self.close_gate(GateKind::Budget, &task, why)?;
            return Ok(true);
        }
        let ready = self.ready.order(self.ctx.state());
        let waits = ready.iter().find(|task| self.is_over_budget(task) && self.gate(GateKind::Budget, task).is_none()).cloned();
        let Some(gate) = waits.map(|task| self.budget_gate(&task)).transpose()?.flatten() else { return Ok(false) };
        self.open(gate).map(|()| true)
    }

    fn settle_session_budget(&mut self) -> Result<bool> {
        let id = Gate::of_session()?;
        let gate = self.ctx.state().restorable.gates.get(&id).cloned();
        let reached = self.session_reached();
        let why = match gate.as_ref().map(|gate| &gate.decision) {
            None if reached.is_empty() => return Ok(false),
            None => return self.open_session_gate(reached),
            Some(None) if reached.is_empty() => "settled otherwise",
            Some(None) => return Ok(false),
            Some(Some(GateDecision::Approved)) => {
                self.clock = ProgramClock::default();
                "as much again is allowed"
            }
            Some(Some(GateDecision::Answered { .. })) => "the limit was changed",
            Some(Some(GateDecision::Rejected { .. })) => {
                supervisor_requests::make(self.ctx, SupervisorRequest::Quit)?;
                "rejected"
            }
        };
        self.step_if(|state| {
            let is_there = gate.as_ref() == state.restorable.gates.get(&id);
            is_there.then(|| Event::GateClosed { id: id.clone(), reason: why.to_owned() })
        })
    }

    /// Closes the session's gate where no work is left that could wait at it.
    pub(super) fn close_session_gate(&mut self, reason: &str) -> Result<bool> {
        let id = Gate::of_session()?;
        let closed = || Event::GateClosed { id: id.clone(), reason: reason.to_owned() };
        self.step_if(|state| state.restorable.gates.contains_key(&id).then(closed))
    }

    /// Opens the session's gate, if it is not open; returns whether it did.
    fn open_session_gate(&mut self, reached: Vec<BudgetUsage>) -> Result<bool> {
        let gate = Gate::for_budget(None, reached, env::now())?;
        if self.ctx.state().restorable.gates.contains_key(&gate.id) {
            return Ok(false);
        }
        self.open(gate).map(|()| true)
    }
}
