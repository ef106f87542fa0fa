//! How steps of planning change the state.

use jiff::Timestamp;

use super::{Result, refuse};
use crate::planning::gates;
use crate::planning::plan::GoalPlan;
use crate::planning::step::PlanStep;
use crate::state::current_state::State;
use crate::state::event_envelope::EventAuthor;
use axiom_base::error::Code;

impl State {
    /// Takes a step of planning, with the gates that follow from it.
    pub(super) fn plan(&mut self, step: &PlanStep, by: &EventAuthor, at: Timestamp) -> Result<()> {
        let next = match (step, self.open_plan()) {
            (PlanStep::Started { plan }, None) => GoalPlan { last_checkpoint: at, ..GoalPlan::clone(plan) },
            (_, Some(open)) => open.after(step, at)?,
            (_, None) => return refuse(Code::NoPlan, "no plan is open"),
        };
        let before = self.record.plan.replace(Box::new(next));
        // The plan no longer reserves the ids of its tasks here.
        if let PlanStep::Finished { tasks, .. } = step
            && let Err(error) = self.add_tasks(tasks)
        {
            self.record.plan = before;
            return Err(error);
        }
        gates::settle(&mut self.restorable.gates, self.record.plan.as_deref());
        self.record.last_action = Some(step.in_words());
        if let PlanStep::TasksMade { tasks, .. } = step {
            self.count_added(by, tasks.len());
        }
        if let (PlanStep::PlannerRan { run }, Some(plan)) = (step, &self.record.plan) {
            let goal = plan.goal.id.clone();
            self.planned(&goal, run, at);
        }
        Ok(())
    }
}
