//! How work goes on whose session a human had paused and that has ended since: decided before its next iteration, by the rules in
//! `model::recovery` or by an evaluator. Not here: what a crash cut off, which is in `crash`.

use super::set_aside::{open_decision, put_aside_now};
use crate::crashed_tasks::scan;
use crate::crashed_tasks::scan::TaskIterationTotals;
use crate::supervise::core::SessionCore;
use crate::supervise::shown::notice::SessionNotice;
use axiom_base::env;
use axiom_base::error::Result;
use axiom_model::base::ids::AgentId;
use axiom_model::recovery::decide::{CrashAction, CrashDecision, certain_after_pause};
use axiom_model::state::event::Event;
use axiom_model::work::agent::AgentWork;
use axiom_model::work::iteration::ReviewCause;
use axiom_model::work::iteration_marker::IterationRecordState;

impl SessionCore<'_> {
    /// Decides how the work goes on, and does it; returns whether anything was done.
    pub(crate) fn after_pause(&mut self, agent: &AgentId, work: &AgentWork) -> Result<bool> {
        let task = &work.task;
        let decision = match open_decision(self.desk.ctx, task) {
            Some(decided) => decided.decision.clone(),
            None => {
                let Some((decision, puts_aside)) = self.decision_after_pause(agent, work)? else { return Ok(false) };
                self.desk.step(Event::RecoveryDecided {
                    agent: agent.clone(),
                    decision: Box::new(decision.clone()),
                    puts_aside,
                    paused: true,
                })?;
                env::fault_point("pause.decided");
                self.desk.tell(SessionNotice::Recovered { what: format!("{task} was paused; {decision}") });
                decision
            }
        };
        match decision.action {
            // Its next iteration follows, or its verification.
            CrashAction::ContinueTask | CrashAction::NextTask => {}
            CrashAction::RestartTask => {
                self.release_to_begin_anew(agent, task, &decision.to_string())?;
                put_aside_now(&mut self.desk, task);
            }
            CrashAction::HumanReview => self.review_agent(agent, ReviewCause::Recovery, &decision.reasoning)?,
        }
        Ok(true)
    }

    /// The decision, and whether what is there is kept aside; `None` while an evaluator is asked.
    fn decision_after_pause(&mut self, agent: &AgentId, work: &AgentWork) -> Result<Option<(CrashDecision, bool)>> {
        let state = self.desk.ctx.state();
        // Where its program was is told to an evaluator; what is left of its record does not matter: its end is recorded.
        let last = state.record.tasks.get(&work.task).and_then(|record| record.last_run.as_ref());
        let cut = last.and_then(|run| run.cut.as_deref());
        let facts = scan::facts(
            self.desk.ctx,
            &work.task,
            (IterationRecordState::Whole, cut),
            &TaskIterationTotals::of(state, &work.task),
        )?;
        let decided = match certain_after_pause(&facts) {
            Some(decision) => Some(decision),
            None => self.evaluated(agent, work, &facts)?,
        };
        Ok(decided.map(|decision| {
            let puts_aside = decision.action == CrashAction::RestartTask && facts.work.changed > 0;
            (decision, puts_aside)
        }))
    }
}
