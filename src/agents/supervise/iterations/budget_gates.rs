//! Limits that are reached, and the gates where a human decides about them.

use crate::supervise::core::desk::SessionDesk;
use crate::supervise::setup::SessionSetup;
use crate::tasks::limits;
use crate::tasks::usage::{limits_of, reached};
use axiom_base::env;
use axiom_base::error::Result;
use axiom_model::base::ids::TaskId;
use axiom_model::state::event::Event;
use axiom_model::work::gates::gate::Gate;
use axiom_model::work::money::budget::{BudgetUsage, RunningIterationUsage};
use axiom_safety::context::handle::Context;

/// The limits of a task that are reached, with what runs for it.
pub(crate) fn limits_reached(ctx: &Context, task: &TaskId, running: RunningIterationUsage) -> Vec<BudgetUsage> {
    let Some(case) = ctx.state().restorable.tasks.get(task) else { return Vec::new() };
    reached(ctx, case, running)
}

/// Whether a task may not be claimed because nothing of its budget is left.
pub(crate) fn is_over_budget(ctx: &Context, task: &TaskId) -> bool {
    !limits_reached(ctx, task, RunningIterationUsage::default()).is_empty()
}

/// The gate at which a task waits because its budget is used up, if it is.
pub(crate) fn budget_gate(ctx: &Context, task: &TaskId) -> Result<Option<Gate>> {
    let reached = limits_reached(ctx, task, RunningIterationUsage::default());
    if reached.is_empty() { Ok(None) } else { Gate::for_budget(Some(task), reached, env::now()).map(Some) }
}

/// Checks that the limits of a task can be kept by the program that is to work on it.
pub(crate) fn budget_can_be_kept(ctx: &Context, setup: &SessionSetup, task: &TaskId) -> Result<()> {
    let case = ctx.state().task(task)?;
    let limits = limits_of(case, ctx.config.budget.of_a_task());
    limits::program_keeps(setup.options.programs.of(case), limits)?;
    limits::personas_keep(&ctx.config, &case.verify, limits)?;
    limits::personas_keep(&ctx.config, &ctx.config.merge.verify, limits)
}

/// Closes the session's gate where no work is left that could wait at it.
pub(crate) fn close_session_gate(desk: &mut SessionDesk<'_>, reason: &str) -> Result<bool> {
    let id = Gate::of_session()?;
    let closed = || Event::GateClosed { id: id.clone(), reason: reason.to_owned() };
    desk.step_if(|state| state.restorable.gates.contains_key(&id).then(closed))
}

/// Opens the session's gate, if it is not open; returns whether it did.
pub(crate) fn open_session_gate(desk: &mut SessionDesk<'_>, reached: Vec<BudgetUsage>) -> Result<bool> {
    let gate = Gate::for_budget(None, reached, env::now())?;
    if desk.ctx.state().restorable.gates.contains_key(&gate.id) {
        return Ok(false);
    }
    desk.open(gate).map(|()| true)
}
