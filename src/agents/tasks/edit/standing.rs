//! Blocking, unblocking and archiving tasks.

use super::checks::MAX_COMMAND;
use super::{RestatedTask, active, no_way, restate};
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::ids::{GateId, TaskId};
use axiom_model::state::current_state::State;
use axiom_model::work::gates::gate::GateDecision;
use axiom_model::work::tasks::task::TaskStatus;
use axiom_safety::context::handle::Context;

/// Blocks tasks: no agent takes them until they are unblocked.
pub fn block(ctx: &mut Context, ids: &[TaskId], reason: &str) -> Result<Vec<TaskId>> {
    may_block(ctx.state(), ids, reason)?;
    restate(ctx, ids, |state, task| match task.status {
        TaskStatus::Pending | TaskStatus::Blocked | TaskStatus::Failed => {
            Ok(RestatedTask::to(TaskStatus::Blocked, Some(reason.to_owned())))
        }
        TaskStatus::Active => Err(active(state, task, "blocked")),
        TaskStatus::Done | TaskStatus::Archived => Err(no_way(state, task, "blocked")),
    })
}

/// Checks whether tasks can be blocked for this reason, once no agent works on them any more.
pub fn may_block(state: &State, ids: &[TaskId], reason: &str) -> Result<()> {
    if reason.trim().is_empty() {
        return Err(Error::new(Code::InvalidInput, "a reason is needed").hint("give it with --reason"));
    }
    if reason.len() > MAX_COMMAND {
        return Err(Error::new(Code::TooLarge, format!("the reason is over {MAX_COMMAND} bytes")));
    }
    ids.iter().try_for_each(|id| {
        let task = state.task(id)?;
        match task.status {
            TaskStatus::Pending | TaskStatus::Blocked | TaskStatus::Failed | TaskStatus::Active => Ok(()),
            TaskStatus::Done | TaskStatus::Archived => Err(no_way(state, task, "blocked")),
        }
    })
}

/// Makes tasks pending again: blocked and failed ones, and unmerged pending or done ones with a rejected gate on which no
/// session has acted yet. Closes their rejected gates.
pub fn unblock(ctx: &mut Context, ids: &[TaskId]) -> Result<Vec<TaskId>> {
    restate(ctx, ids, |state, task| {
        let closes = rejected_gates(state, &task.id);
        let pending = RestatedTask { status: TaskStatus::Pending, reason: None, closes };
        match task.status {
            TaskStatus::Blocked | TaskStatus::Failed => Ok(pending),
            TaskStatus::Pending | TaskStatus::Done if task.merged.is_none() && !pending.closes.is_empty() => Ok(pending),
            TaskStatus::Active if !pending.closes.is_empty() => Err(no_way(state, task, "unblocked")
                .hint(format!("its gate was rejected: once a session has blocked it, git axiom task unblock {}", task.id))),
            TaskStatus::Pending | TaskStatus::Active | TaskStatus::Done | TaskStatus::Archived => {
                Err(no_way(state, task, "unblocked"))
            }
        }
    })
}

/// The gates of a task that a human rejected, which no session has acted on yet.
fn rejected_gates(state: &State, id: &TaskId) -> Vec<GateId> {
    let gates = state.restorable.gates.values().filter(|gate| gate.task_id.as_ref() == Some(id));
    let rejected = gates.filter(|gate| matches!(gate.decision, Some(GateDecision::Rejected { .. })));
    rejected.map(|gate| gate.id.clone()).collect()
}

/// Archives tasks. Tasks that depend on them no longer wait for them.
pub fn archive(ctx: &mut Context, ids: &[TaskId]) -> Result<Vec<TaskId>> {
    restate(ctx, ids, |state, task| match task.status {
        TaskStatus::Active => Err(active(state, task, "archived")),
        TaskStatus::Pending | TaskStatus::Done | TaskStatus::Blocked | TaskStatus::Failed | TaskStatus::Archived => {
            Ok(RestatedTask::to(TaskStatus::Archived, task.reason.clone()))
        }
    })
}
