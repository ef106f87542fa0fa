//! The end of a plan: its tasks get into the store, all or none, in one event. One undo takes them back.

use jiff::Timestamp;

use super::{at_rest, event, open};
use axiom_base::env;
use axiom_base::error::{Code, Error, Result, some_of};
use axiom_model::base::ids::TaskId;
use axiom_model::planning::plan::GoalPlan;
use axiom_model::planning::step::{PlanEnding, PlanStep};
use axiom_model::queries::plan_check;
use axiom_model::state::current_state::State;
use axiom_model::work::tasks::task::Task;
use axiom_safety::context::handle::Context;

/// How many problems an error names at most.
const NAMED: usize = 10;

/// Checks whether a plan can be finished now, and returns the tasks that it would become.
pub fn look(ctx: &Context) -> Result<Vec<Task>> {
    at_rest(ctx)?;
    ready(ctx.state()).map(plan_check::outcome)
}

/// The plan, if it can be finished.
fn ready(state: &State) -> Result<&GoalPlan> {
    let plan = open(state)?;
    sound(plan_check::problems(state, plan))?;
    if !plan.is_approved() {
        return Err(Error::new(Code::PlanNotApproved, "nobody has approved the plan as it is now")
            .hint("git axiom plan show    shows it")
            .hint("git axiom plan approve    approves it"));
    }
    Ok(plan)
}

fn sound(problems: Vec<String>) -> Result<()> {
    if problems.is_empty() {
        return Ok(());
    }
    Err(Error::new(Code::PlanInvalid, "the tasks of the plan cannot be made as they are")
        .why(some_of(&problems, NAMED))
        .hint("git axiom plan validate    lists what is wrong"))
}

/// Makes the tasks of the plan that was shown, as it was at `seen`. Returns their ids.
pub fn finish(ctx: &mut Context, seen: Option<Timestamp>) -> Result<Vec<TaskId>> {
    at_rest(ctx)?;
    env::fault_point("plan.before-finish");
    ctx.append_with(|state| {
        let plan = ready(state)?;
        if seen.is_some_and(|seen| seen != plan.last_checkpoint) {
            return Err(Error::new(Code::ChangedMeanwhile, "the plan was changed since it was shown; nothing was made")
                .hint("git axiom plan finish    shows it as it is now"));
        }
        let tasks = plan_check::outcome(plan);
        Ok(event(PlanStep::Finished { ending: PlanEnding::Finished, why: String::new(), tasks }))
    })?;
    Ok(became(ctx))
}

/// Makes tasks of what is made by now, and ends the plan. Returns their ids.
pub fn keep(ctx: &mut Context, why: &str) -> Result<Vec<TaskId>> {
    ctx.append_with(|state| {
        let plan = open(state)?;
        let tasks = plan_check::kept(plan);
        if plan.created().next().is_none() {
            return Err(Error::new(Code::InvalidTransition, "no task is made yet, so nothing can be kept")
                .hint("git axiom plan recover --start-over    begins anew"));
        }
        sound(plan_check::of_tasks(state, &tasks))?;
        Ok(event(PlanStep::Finished { ending: PlanEnding::Kept, why: why.to_owned(), tasks }))
    })?;
    Ok(became(ctx))
}

fn became(ctx: &Context) -> Vec<TaskId> {
    ctx.state().record.plan.as_ref().map(|plan| plan.became.clone()).unwrap_or_default()
}
