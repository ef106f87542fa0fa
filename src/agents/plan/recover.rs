//! What becomes of a plan whose planner was cut off.

use super::{advance, finish, it_runs, open, planner, planner_runs, take};
use axiom_base::env;
use axiom_base::error::Result;
use axiom_model::base::ids::TaskId;
use axiom_model::planning::plan::GoalPlan;
use axiom_model::planning::recover::{PlanRecoveryChoice, PlanRecoveryDecision};
use axiom_model::planning::step::PlanStep;
use axiom_safety::context::handle::Context;

/// The plan that was cut off; `None` where there is nothing to recover.
pub fn cut_off(ctx: &Context) -> Result<Option<&GoalPlan>> {
    let Some(plan) = ctx.state().open_plan().filter(|plan| plan.running.is_some()) else { return Ok(None) };
    if planner_runs(ctx)? {
        return Err(it_runs());
    }
    Ok(Some(plan))
}

/// Takes up what a planner had printed of its tasks before a crash cut it off: it counts as what it printed before it failed by itself.
/// Returns how many tasks that made. Repeating it makes none twice.
pub fn take_up_printed(ctx: &mut Context) -> Result<usize> {
    let Some(plan) = cut_off(ctx)?.cloned() else { return Ok(0) };
    let printed = planner::printed_before(ctx, &plan)?;
    let before = plan.created().count();
    advance::make_printed(ctx, &plan, &printed)?;
    Ok(open(ctx.state())?.created().count().saturating_sub(before))
}

/// Carries a decision out, and records it with its reason. Returns the tasks that were made, if it keeps some. Running the planner
/// again is the caller's.
pub fn carry_out(ctx: &mut Context, decided: &PlanRecoveryDecision) -> Result<Vec<TaskId>> {
    open(ctx.state())?;
    cut_off(ctx)?;
    env::fault_point("plan.before-recovery");
    let why = decided.why.clone();
    match decided.choice {
        PlanRecoveryChoice::Resume => take(ctx, PlanStep::Resumed { why }).map(|()| Vec::new()),
        PlanRecoveryChoice::StartOver => take(ctx, PlanStep::StartedOver { why }).map(|()| Vec::new()),
        PlanRecoveryChoice::Keep => finish::keep(ctx, &why),
    }
}
