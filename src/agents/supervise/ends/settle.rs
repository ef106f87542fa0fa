//! What follows from an iteration's outcome: another iteration, verification, a question, or the release of the task.

use super::set_aside::is_set_aside;
use crate::supervise::core::SessionCore;
use crate::supervise::core::slots::slots_taken;
use crate::supervise::iterations::iteration_care::IterationCare;
use crate::supervise::iterations::releasing::waits_for_others;
use crate::supervise::setup::SessionSetup;
use axiom_base::env;
use axiom_base::error::Result;
use axiom_model::base::ids::AgentId;
use axiom_model::work::agent::{AgentWork, IterationStage};
use axiom_model::work::endings::after_iteration::{AfterIteration, AttemptLimits, after_iteration};
use axiom_model::work::gates::gate::{GateDecision, GateKind};
use axiom_model::work::iteration::IterationOutcome;
use axiom_model::work::tasks::task::TaskStatus;
use axiom_safety::context::handle::Context;

impl IterationCare {
    /// Does what the outcome of the last iteration requires; returns whether anything was done.
    pub(crate) fn settle(
        &mut self,
        core: &mut SessionCore<'_>,
        agent: &AgentId,
        work: &AgentWork,
        outcome: &IterationOutcome,
    ) -> Result<bool> {
        let next = after_iteration(outcome, limits_of_attempt(core.desk.ctx, &core.setup, work));
        // It has done what it could before what it needs is ready.
        let waits = waits_for_others(core.desk.ctx, work)
            .filter(|_| matches!((&next, outcome), (AfterIteration::Iterate, IterationOutcome::Unfinished { .. })));
        match waits {
            Some(reason) => self.follow(core, agent, work, AfterIteration::Release { status: TaskStatus::Pending, reason }),
            None => self.follow(core, agent, work, next),
        }
    }

    fn follow(&mut self, core: &mut SessionCore<'_>, agent: &AgentId, work: &AgentWork, next: AfterIteration) -> Result<bool> {
        match next {
            AfterIteration::Iterate if self.may_iterate(core, agent) => self.go_on(core, agent, work),
            AfterIteration::Iterate => Ok(false),
            AfterIteration::Verify => core.verify(agent, work),
            AfterIteration::Ask { question } => self.ask(core, agent, work, &question),
            AfterIteration::Review { cause, why } => {
                core.review_agent(agent, cause, &why)?;
                Ok(true)
            }
            AfterIteration::Recover => core.after_crash(agent, work),
            AfterIteration::Release { status, reason } => {
                core.release(agent, status, &reason)?;
                Ok(true)
            }
        }
    }

    /// Handles an agent's question: opens a gate, and starts another iteration with the answer.
    fn ask(&mut self, core: &mut SessionCore<'_>, agent: &AgentId, work: &AgentWork, question: &str) -> Result<bool> {
        let asked = core.desk.gate(GateKind::Question, &work.task).map(|gate| (gate.reason == question, gate.decision.clone()));
        if let Some((false, _)) = asked {
            // That of an earlier question, whose end could not be recorded: its answer is none to this one.
            core.desk.close_gate(GateKind::Question, &work.task, "another question was asked since")?;
        }
        match asked.filter(|(is_this, _)| *is_this).map(|(_, decision)| decision) {
            None => core.desk.open_gate(GateKind::Question, &work.task, question.to_owned(), Vec::new())?,
            Some(None) => return Ok(false),
            Some(Some(GateDecision::Rejected { reason })) => {
                core.release(agent, TaskStatus::Blocked, &reason)?;
            }
            // The answer is in the record of the task, until a program runs that has it in its prompt.
            Some(Some(GateDecision::Approved | GateDecision::Answered { .. })) => {
                if !self.may_iterate(core, agent)
                    || slots_taken(core.desk.ctx) + self.slots_reserved >= core.setup.options.slots as usize
                {
                    return Ok(false);
                }
                self.start_iteration(core, agent, work)?;
                env::fault_point("settle.answered");
                // Where it was not begun, the agent still waits, and takes no slot.
                let waits = IterationStage::Between { last: Some(IterationOutcome::Waiting { question: question.to_owned() }) };
                if core.desk.work_of(agent).is_none_or(|work| work.stage != waits) {
                    core.desk.close_gate(GateKind::Question, &work.task, "answered")?;
                }
            }
        }
        Ok(true)
    }

    /// Starts the next iteration. First it is decided how work goes on whose session was paused and then ended.
    pub(crate) fn go_on(&mut self, core: &mut SessionCore<'_>, agent: &AgentId, work: &AgentWork) -> Result<bool> {
        if is_set_aside(core.desk.ctx, &work.task) {
            return core.after_pause(agent, work);
        }
        self.start_iteration(core, agent, work)?;
        Ok(true)
    }

    /// Between two iterations: does what the last outcome requires.
    pub(crate) fn between(
        &mut self,
        core: &mut SessionCore<'_>,
        agent: &AgentId,
        work: &AgentWork,
        last: Option<&IterationOutcome>,
    ) -> Result<bool> {
        if core.end_work(agent)? {
            return Ok(true);
        }
        match last {
            Some(outcome) => self.settle(core, agent, work, outcome),
            None if self.may_iterate(core, agent) => self.go_on(core, agent, work),
            None => Ok(false),
        }
    }
}

fn limits_of_attempt<'w>(ctx: &Context, setup: &SessionSetup, work: &'w AgentWork) -> AttemptLimits<'w> {
    AttemptLimits {
        same_end: work.silent_end.as_ref().map(|end| (work.same_ends, end)),
        iteration: work.iteration,
        max_iterations: setup.options.max_iterations,
        failed_rounds: ctx.state().record.tasks.get(&work.task).map_or(0, |record| record.failed_rounds),
        max_retries: ctx.config.recovery.max_retries,
    }
}
