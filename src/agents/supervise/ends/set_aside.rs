//! What was decided of a task after a crash or a pause, and putting aside what is there of one that begins anew.

use crate::revert_task;
use crate::supervise::core::desk::SessionDesk;
use axiom_base::error::{Code, Result};
use axiom_model::base::ids::TaskId;
use axiom_model::recovery::decide::{CrashDecider, CrashDecision, LastCrashDecision};
use axiom_model::state::event_envelope::EventAuthor;
use axiom_safety::context::handle::Context;

/// Whose an order is in the log: what a human decided is the human's, the rest is of `whoever` looks after it.
pub(crate) fn who_orders(decision: &CrashDecision, whoever: &EventAuthor) -> EventAuthor {
    match decision.by {
        CrashDecider::Human => EventAuthor::User,
        CrashDecider::Rules | CrashDecider::Evaluator => whoever.clone(),
    }
}

/// Puts aside what is there of a task that begins anew. Where that fails now, it is tried again before the task is claimed.
pub(crate) fn put_aside_now(desk: &mut SessionDesk<'_>, task: &TaskId) {
    if let Err(error) = put_aside_first(desk, task) {
        desk.warn(format!("{task}: {error}"));
    }
}

/// Before a task is claimed that begins anew: what is there goes aside, and an undo brings it back.
pub(crate) fn put_aside_first(desk: &mut SessionDesk<'_>, task: &TaskId) -> Result<()> {
    let state = desk.ctx.state();
    let recovery = state.record.tasks.get(task).and_then(|record| record.recovery.as_ref());
    let Some(recovery) = recovery.filter(|recovery| recovery.puts_aside && state.restorable.workspaces.contains_key(task)) else {
        return Ok(());
    };
    let by = who_orders(&recovery.decision, &desk.by);
    desk.ctx.act_as(by)?;
    let done = match revert_task::put_aside(desk.ctx, task) {
        Err(error) if error.code() == Code::HasDependents => {
            desk.warn(format!("{task} goes on with what is there: {error}"));
            return Ok(());
        }
        done => done?,
    };
    desk.warn(format!("{task} begins anew; 'git axiom undo {done}' brings back what was there"));
    Ok(())
}

/// Whether it has to be decided how the work goes on, or what was decided is not done yet.
pub(crate) fn is_set_aside(ctx: &Context, task: &TaskId) -> bool {
    let record = ctx.state().record.tasks.get(task);
    record.is_some_and(|record| record.set_aside.is_some()) || open_decision(ctx, task).is_some()
}

/// What was decided of a task, where that is not done yet.
pub(crate) fn open_decision<'c>(ctx: &'c Context, task: &TaskId) -> Option<&'c LastCrashDecision> {
    let recovery = ctx.state().record.tasks.get(task)?.recovery.as_deref();
    recovery.filter(|decided| decided.open)
}
