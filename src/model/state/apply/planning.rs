//! How steps of planning change the state.

use jiff::Timestamp;

use super::{Result, refuse, spending, tasks};
use crate::planning::gates;
use crate::planning::plan::GoalPlan;
use crate::planning::step::PlanStep;
use crate::state::current_state::State;
use crate::state::event_envelope::EventAuthor;
use axiom_base::error::Code;

/// Takes a step of planning, with the gates that follow from it.
pub(super) fn plan(state: &mut State, step: &PlanStep, by: &EventAuthor, at: Timestamp) -> Result<()> {
    let next = match (step, state.open_plan()) {
        (PlanStep::Started { plan }, None) => GoalPlan { last_checkpoint: at, ..GoalPlan::clone(plan) },
        (_, Some(open)) => open.after(step, at)?,
        (_, None) => return refuse(Code::NoPlan, "no plan is open"),
    };
    let before = state.record.plan.replace(Box::new(next));
    // The plan no longer reserves the ids of its tasks here.
    if let PlanStep::Finished { tasks, .. } = step
        && let Err(error) = tasks::add_tasks(state, tasks)
    {
        state.record.plan = before;
        return Err(error);
    }
    gates::settle(&mut state.restorable.gates, state.record.plan.as_deref());
    state.record.last_action = Some(step.in_words());
    if let PlanStep::TasksMade { tasks, .. } = step {
        tasks::count_added(state, by, tasks.len());
    }
    if let (PlanStep::PlannerRan { run }, Some(plan)) = (step, &state.record.plan) {
        let goal = plan.goal.id.clone();
        spending::planned(state, &goal, run, at);
    }
    Ok(())
}
