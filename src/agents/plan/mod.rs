//! Planning: a goal becomes tasks, by hand or by a planner.
//!
//! Not here: the rules (`model::planning`), and what is asked and printed (`ui::commands::plan`).
//!
//! Begin reading with `by_hand`.

pub mod advance;
pub mod by_hand;
pub mod finish;
pub mod planner;
pub mod recover;

use std::time::{Duration, Instant};

use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_model::base::ids::AgentId;
use axiom_model::planning::plan::{GoalPlan, PLANNER_AGENT};
use axiom_model::planning::step::PlanStep;
use axiom_model::state::current_state::State;
use axiom_model::state::event::Event;
use axiom_model::work::sessions::supervisor_activity::{SupervisorActivity, SupervisorActivityKind};
use axiom_process::os::caller;
use axiom_safety::context::event_waiter::LogEventWaiter;
use axiom_safety::context::handle::Context;
use axiom_store::beside::planning;

/// How much longer than its grace a planner may take to end.
const PATIENCE: Duration = Duration::from_secs(5);

/// The most bytes of a process's number.
const MOST_PID: u64 = 64;

/// The plan that is worked on.
pub fn open(state: &State) -> Result<&GoalPlan> {
    state.open_plan().ok_or_else(|| Error::new(Code::NoPlan, "no plan is open").hint("git axiom plan start GOAL    begins one"))
}

/// Writes `planning-state.json` where it is not as the state has it. Returns where a damaged one is kept.
pub fn heal(ctx: &Context) -> Result<Option<String>> {
    planning::heal(ctx.layout(), ctx.state())
}

/// Whether a process runs the planner now.
pub fn planner_runs(ctx: &Context) -> Result<bool> {
    files::is_locked(&ctx.layout().locks().planning())
}

/// What the planner does, while it runs.
pub fn planner_doing(ctx: &Context) -> Result<Option<SupervisorActivity>> {
    let Some((plan, since)) = ctx.state().open_plan().and_then(|plan| Some((plan, plan.running?))) else { return Ok(None) };
    if !planner_runs(ctx)? {
        return Ok(None);
    }
    let name = Some(plan.phase.as_str().to_owned());
    let agent_id = AgentId::new(PLANNER_AGENT).ok();
    Ok(Some(SupervisorActivity { name, agent_id, ..SupervisorActivity::of_session(SupervisorActivityKind::Plans, since) }))
}

/// Asks the process that runs the planner to end it, and waits until it has; returns whether one ran. What the planner printed by then
/// is kept, as where Ctrl+C ends it in its own terminal.
pub fn end_planner(ctx: &mut Context) -> Result<bool> {
    let lock = ctx.layout().locks().planning();
    if !planner_runs(ctx)? {
        return Ok(false);
    }
    let begun = Instant::now();
    let most = Duration::from_secs(ctx.config.agents.grace_seconds) + PATIENCE;
    let said = files::read_optional(&lock, MOST_PID)?.unwrap_or_default();
    let pid = std::str::from_utf8(&said).ok().and_then(|pid| pid.trim().parse().ok());
    // Whoever wrote that holds the lock as long as it lives.
    if planner_runs(ctx)? {
        pid.into_iter().for_each(caller::ask_to_end);
    }
    let mut waiting = LogEventWaiter::begin();
    while planner_runs(ctx)? {
        if begun.elapsed() > most {
            return Err(Error::new(Code::Busy, "the planner does not end").hint("Ctrl+C in its terminal ends it"));
        }
        waiting.for_the_log(ctx);
    }
    ctx.store.refresh().map(|_| true)
}

/// Refuses what a human does to a plan while its planner runs, or was cut off.
///
/// # Errors
/// `NO_PLAN`, `BUSY`, `RECOVERY_NEEDED`.
pub fn at_rest(ctx: &Context) -> Result<&GoalPlan> {
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
fn take(ctx: &mut Context, step: PlanStep) -> Result<()> {
    ctx.append(Event::Planned { step: Box::new(step) }).map(drop)
}

fn event(step: PlanStep) -> Vec<Event> {
    vec![Event::Planned { step: Box::new(step) }]
}
