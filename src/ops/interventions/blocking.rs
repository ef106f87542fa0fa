//! Block: a task that an agent works on too. The agent is stopped, its slot is free, and the workspace stays.

use super::ending::{claim_of, wait_released};
use super::request::{Handled, ask_supervisor};
use crate::domain::base::ids::{AgentId, CaseId};
use crate::domain::work::case::Status;
use crate::domain::work::session::Request;
use crate::error::{Code, Error, Result};
use crate::ops::cases::edit;
use crate::ops::context::handle::Context;
use crate::ops::supervise::notice::Watcher;
use crate::ops::supervise::{self, Attend, Options};

/// How often tasks are looked at again that an agent claims in the same moment.
const TRIES: usize = 5;

/// What was blocked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Blocked {
    /// The cases that were not blocked before.
    pub changed: Vec<CaseId>,
    /// The agents that worked on some of them and were stopped.
    pub stopped: Vec<AgentId>,
}

/// Blocks cases, also those that agents work on.
///
/// # Errors
/// As [`edit::block`]; `INVALID_TRANSITION` where an agent completed its task before it could be stopped; as
/// [`super::end_agents`].
pub fn block(ctx: &mut Context, ids: &[CaseId], reason: &str, watcher: &mut dyn Watcher) -> Result<Blocked> {
    edit::may_block(ctx.state(), ids, reason)?;
    let mut blocked = Blocked::default();
    for _ in 0..TRIES {
        let worked_on: Vec<(AgentId, CaseId)> =
            ids.iter().filter_map(|id| Some((ctx.state().agent_on(id)?.id.clone(), id.clone()))).collect();
        if !worked_on.is_empty() {
            stop(ctx, &worked_on, reason, watcher)?;
            blocked.stopped.extend(worked_on.iter().map(|(agent, _)| agent.clone()));
            let is_blocked = |id: &CaseId| ctx.state().case(id).is_ok_and(|case| case.status == Status::Blocked);
            blocked.changed.extend(worked_on.into_iter().map(|(_, id)| id).filter(is_blocked));
        }
        let rest: Vec<CaseId> = ids.iter().filter(|id| !blocked.changed.contains(id)).cloned().collect();
        match edit::block(ctx, &rest, reason) {
            Ok(changed) => {
                blocked.changed.extend(changed);
                return Ok(blocked);
            }
            // Claimed in this very moment.
            Err(_) if rest.iter().any(|id| ctx.state().agent_on(id).is_some()) => {}
            Err(error) => return Err(error),
        }
    }
    Err(Error::new(Code::Busy, "agents claim the tasks again and again").hint("git axiom pause    then run the command again"))
}

fn stop(ctx: &mut Context, worked_on: &[(AgentId, CaseId)], reason: &str, watcher: &mut dyn Watcher) -> Result<()> {
    let claims: Vec<_> = worked_on.iter().map(|(agent, _)| (agent.clone(), claim_of(ctx, agent))).collect();
    let tasks: Vec<CaseId> = worked_on.iter().map(|(_, task)| task.clone()).collect();
    if ctx.supervisor_alive()? {
        let Handled { done, message } = ask_supervisor(ctx, Request::Block { tasks, reason: reason.to_owned() })?;
        if !done {
            return Err(Error::new(Code::KeeperFailed, message).hint("git axiom status    shows what runs"));
        }
    } else {
        supervise::attend(ctx, &Attend::Block(tasks, reason.to_owned()), Options::attending(), watcher)?;
    }
    wait_released(ctx, &claims)
}
