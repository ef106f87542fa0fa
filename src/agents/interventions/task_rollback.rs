//! The rollback of a task: agents that work on it are ended first.

use super::ending::{AgentEndRequest, end_agents};
use crate::revert_task;
use crate::revert_task::{TaskRollbackOutcome, TaskRollbackRequest};
use crate::supervise::SupervisorOptions;
use crate::supervise::notice::SessionWatcher;
use axiom_base::error::Result;
use axiom_model::base::ids::AgentId;
use axiom_model::work::endings::after_iteration::TaskHalt;
use axiom_model::work::gates::gate::AfterHalt;
use axiom_safety::context::handle::Context;

/// Rolls the task back: see [`revert_task::run`]. An agent that works on it is stopped first, as `stop` says; without `stop` the error
/// is `BUSY`.
pub fn roll_back(
    ctx: &mut Context,
    wanted: &TaskRollbackRequest,
    stop: Option<SupervisorOptions>,
    watcher: &mut dyn SessionWatcher,
) -> Result<TaskRollbackOutcome> {
    // The rollback itself opens the gates that hold the tasks, once it is done.
    let ending = AgentEndRequest { halt: TaskHalt::Stop, afterwards: AfterHalt::Again };
    let end =
        stop.map(|options| move |ctx: &mut Context, busy: &[AgentId]| end_agents(ctx, busy, ending, options, watcher).map(drop));
    revert_task::run(ctx, wanted, end)
}
