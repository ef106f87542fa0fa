//! Block and archive: a task that an agent works on too, and groups with all that is in them. The agent is stopped, its slot is free, and
//! the workspace stays. What is in a blocked group is held by the group (`model::queries::groups`): its tasks keep their status.

use super::ending::{claim_of, wait_released};
use super::{AgentEndRequest, end_agents};
use crate::supervise;
use crate::supervise::notice::SessionWatcher;
use crate::supervise::{AttendRequest, SupervisorOptions};
use crate::tasks::edit;
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::ids::{AgentId, TaskId};
use axiom_model::state::current_state::State;
use axiom_model::work::endings::after_iteration::TaskHalt;
use axiom_model::work::gates::gate::AfterHalt;
use axiom_model::work::sessions::session::SupervisorRequest;
use axiom_model::work::tasks::task::{Task, TaskStatus};
use axiom_safety::beside_log::supervisor_requests::{RequestOutcome, ask_supervisor};
use axiom_safety::context::handle::Context;

/// How often tasks are looked at again that an agent claims in the same moment.
const TRIES: usize = 5;

/// What was blocked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BlockReport {
    /// The tasks that were not blocked before.
    pub changed: Vec<TaskId>,
    /// The agents that worked on some of them and were stopped.
    pub stopped: Vec<AgentId>,
}

/// Blocks tasks, also those that agents work on.
pub fn block(ctx: &mut Context, ids: &[TaskId], reason: &str, watcher: &mut dyn SessionWatcher) -> Result<BlockReport> {
    edit::may_block(ctx.state(), ids, reason)?;
    let mut blocked = BlockReport::default();
    for _ in 0..TRIES {
        let worked_on: Vec<(AgentId, TaskId)> =
            ids.iter().filter_map(|id| Some((ctx.state().agent_on(id)?.id.clone(), id.clone()))).collect();
        if !worked_on.is_empty() {
            stop(ctx, &worked_on, reason, watcher)?;
            blocked.stopped.extend(worked_on.iter().map(|(agent, _)| agent.clone()));
            let is_blocked = |id: &TaskId| ctx.state().task(id).is_ok_and(|task| task.status == TaskStatus::Blocked);
            blocked.changed.extend(worked_on.into_iter().map(|(_, id)| id).filter(is_blocked));
        }
        let rest: Vec<TaskId> = ids.iter().filter(|id| !blocked.changed.contains(id)).cloned().collect();
        match edit::block(ctx, &rest, reason) {
            Ok(changed) => {
                blocked.changed.extend(changed);
                blocked.stopped.extend(stop_in_groups(ctx, ids, watcher)?);
                return Ok(blocked);
            }
            // Claimed in this very moment.
            Err(_) if rest.iter().any(|id| ctx.state().agent_on(id).is_some()) => {}
            Err(error) => return Err(error),
        }
    }
    Err(Error::new(Code::Busy, "agents claim the tasks again and again").hint("git axiom pause    then run the command again"))
}

/// Archives tasks; of groups all that is in them and not merged, also what agents work on.
pub fn archive(ctx: &mut Context, ids: &[TaskId], watcher: &mut dyn SessionWatcher) -> Result<BlockReport> {
    for id in ids {
        ctx.state().task(id)?;
    }
    let open = |task: &Task| task.merged.is_none() && task.status != TaskStatus::Archived;
    // First what nobody works on, with the groups: from then on nothing in them is claimed.
    let at_rest = |task: &&Task| open(task) && task.status != TaskStatus::Active;
    let of_groups = within(ctx.state(), ids).filter(at_rest).map(|task| task.id.clone());
    let first: Vec<TaskId> = ids.iter().cloned().chain(of_groups).collect();
    let mut archived = BlockReport { changed: edit::archive(ctx, &first)?, stopped: Vec::new() };
    archived.stopped = stop_in_groups(ctx, ids, watcher)?;
    let rest: Vec<TaskId> = within(ctx.state(), ids).filter(|task| open(task)).map(|task| task.id.clone()).collect();
    if !rest.is_empty() {
        archived.changed.extend(edit::archive(ctx, &rest)?);
    }
    Ok(archived)
}

/// The tasks in these groups, however deep; not those that are named themselves.
fn within<'a>(state: &'a State, ids: &'a [TaskId]) -> impl Iterator<Item = &'a Task> {
    let all = &state.restorable;
    let is_within =
        move |task: &&'a Task| !ids.contains(&task.id) && all.groups_around(task).any(|group| ids.contains(&group.id));
    all.tasks.values().filter(is_within)
}

/// Stops the agents that work on tasks of these groups, which are held by now; returns them.
fn stop_in_groups(ctx: &mut Context, ids: &[TaskId], watcher: &mut dyn SessionWatcher) -> Result<Vec<AgentId>> {
    let state = ctx.state();
    let agents: Vec<AgentId> =
        within(state, ids).filter_map(|task| state.agent_on(&task.id)).map(|agent| agent.id.clone()).collect();
    if agents.is_empty() {
        return Ok(agents);
    }
    let how = AgentEndRequest { halt: TaskHalt::Stop, afterwards: AfterHalt::GoesOn };
    let ended = end_agents(ctx, &agents, how, SupervisorOptions::attending(), watcher)?;
    Ok(ended.into_iter().map(|ended| ended.agent).collect())
}

fn stop(ctx: &mut Context, worked_on: &[(AgentId, TaskId)], reason: &str, watcher: &mut dyn SessionWatcher) -> Result<()> {
    let claims: Vec<_> = worked_on.iter().map(|(agent, _)| (agent.clone(), claim_of(ctx, agent))).collect();
    let tasks: Vec<TaskId> = worked_on.iter().map(|(_, task)| task.clone()).collect();
    if ctx.supervisor_alive()? {
        let RequestOutcome { done, message } =
            ask_supervisor(ctx, SupervisorRequest::Block { tasks, reason: reason.to_owned() })?;
        if !done {
            return Err(Error::new(Code::KeeperFailed, message).hint("git axiom status    shows what runs"));
        }
    } else {
        supervise::attend(ctx, &AttendRequest::Block(tasks, reason.to_owned()), SupervisorOptions::attending(), watcher)?;
    }
    wait_released(ctx, &claims, watcher)
}
