//! Planning: a goal becomes cases, by hand or by a planner.
//!
//! Not here: the rules (`domain::planning`), and what is asked and printed (`commands::plan`).
//!
//! Begin reading with `by_hand`.

pub mod advance;
pub mod by_hand;
pub mod finish;
pub mod planner;
pub mod recover;

use crate::domain::planning::plan::Plan;
use crate::domain::planning::step::PlanStep;
use crate::domain::state::event::Event;
use crate::domain::state::whole::State;
use crate::error::{Code, Error, Result};
use crate::files;
use crate::ops::context::handle::Context;
use crate::store::planning;

/// The name of the folder with the files of a planner's runs, below that of the checks of what the plan becomes.
pub const RUNS_OF_PLANNER: &str = "plan";

/// The plan that is worked on.
///
/// # Errors
/// `NO_PLAN`.
pub fn open(state: &State) -> Result<&Plan> {
    state.open_plan().ok_or_else(|| Error::new(Code::NoPlan, "no plan is open").hint("git axiom plan start GOAL    begins one"))
}

/// Writes `planning-state.json` where it is not as the state has it. Returns where a damaged one is kept.
///
/// # Errors
/// `IO_FAILED`, `DISK_FULL`.
pub fn heal(ctx: &Context) -> Result<Option<String>> {
    planning::heal(ctx.layout(), ctx.state())
}

/// Whether a process runs the planner now.
///
/// # Errors
/// `IO_FAILED`.
pub fn planner_runs(ctx: &Context) -> Result<bool> {
    files::is_locked(&ctx.layout().planning_lock())
}

/// Refuses what a human does to a plan while its planner runs, or was cut off.
///
/// # Errors
/// `NO_PLAN`, `BUSY`, `RECOVERY_NEEDED`.
pub fn at_rest(ctx: &Context) -> Result<&Plan> {
    let plan = open(ctx.state())?;
    if plan.running.is_none() {
        return Ok(plan);
    }
    if planner_runs(ctx)? {
        return Err(it_runs());
    }
    let what = format!("planning was cut off in the phase {}", plan.phase.as_str());
    Err(Error::new(Code::RecoveryNeeded, what).hint("git axiom plan recover    shows the choices"))
}

fn it_runs() -> Error {
    Error::new(Code::Busy, "the planner runs").hint("git axiom plan show    shows how far it is")
}

/// Appends one step.
///
/// # Errors
/// As [`Plan::after`], and those of appending.
fn take(ctx: &mut Context, step: PlanStep) -> Result<()> {
    ctx.append(Event::Planned { step: Box::new(step) }).map(drop)
}

fn event(step: PlanStep) -> Vec<Event> {
    vec![Event::Planned { step: Box::new(step) }]
}
