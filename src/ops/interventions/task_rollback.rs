//! The rollback of a task: agents that work on it are ended first.

use super::ending::{AgentEndRequest, end_agents};
use crate::domain::base::ids::AgentId;
use crate::domain::work::gate::AfterHalt;
use crate::domain::work::outcome::TaskHalt;
use crate::error::Result;
use crate::ops::context::handle::Context;
use crate::ops::revert_task::{self, TaskRollbackOutcome, TaskRollbackRequest};
use crate::ops::supervise::SupervisorOptions;
use crate::ops::supervise::notice::SessionWatcher;

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
