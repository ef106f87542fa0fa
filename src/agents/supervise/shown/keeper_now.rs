//! What is seen of the keeper of an agent's iteration: the one answer to whether somebody works on its task. The state alone says only
//! that an iteration was begun.

use std::collections::HashSet;

use jiff::Timestamp;

use crate::tasks::usage;
use axiom_base::error::Result;
use axiom_model::base::ids::TaskId;
use axiom_model::work::agent::{Agent, IterationStage};
use axiom_process::client::leftovers;
use axiom_process::{KeeperState, keeper_state};
use axiom_safety::context::handle::Context;

/// What is seen of the keeper of an agent's iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeeperObservation {
    /// There is no iteration, or none was started.
    NotStarted,
    /// It runs the program, or is about to.
    Works,
    /// It has recorded the end of its program.
    Ended,
    /// It has died, and the program that it owned still runs: it writes, and nobody looks after it.
    Orphaned,
    /// It has died: no process works on the task until a supervisor handles it.
    Dead,
}

/// The active tasks on which nobody works and after which no supervisor looks: a crash cut them off, and nothing has recovered that yet.
pub fn cut_off(ctx: &Context) -> Result<HashSet<TaskId>> {
    if ctx.supervisor_alive()? {
        return Ok(HashSet::new());
    }
    let dead = ctx.state().busy_agents().filter(|agent| KeeperObservation::of(ctx, agent).leaves(agent));
    Ok(dead.filter_map(|agent| agent.work.as_ref()).map(|work| work.task.clone()).collect())
}

/// Until when an agent worked after which no supervisor looks, and whose last sign of life was then; `None` where it still works. Of what
/// ended without a record it is the least.
pub(crate) fn worked_until(ctx: &Context, agent: &Agent, sign: Timestamp) -> Option<Timestamp> {
    let Some(token) = agent.token() else { return Some(sign) };
    let run = ctx.layout().agents().run(&agent.id, token);
    leftovers::worked_until(&run, &usage::keeper_of(&run), sign)
}

impl KeeperObservation {
    /// Whether, without a supervisor, nobody works on an agent's task, and nothing is known of how its work ended. A keeper that was not
    /// started when its supervisor died is not started any more.
    pub(crate) fn leaves(self, agent: &Agent) -> bool {
        match (self, agent.work.as_ref().map(|work| &work.stage)) {
            (Self::Dead | Self::Orphaned, _) => true,
            (
                Self::NotStarted,
                Some(IterationStage::Intended { .. } | IterationStage::Running { .. } | IterationStage::Between { last: None }),
            ) => true,
            (Self::NotStarted, Some(IterationStage::Between { last: Some(_) }) | None) | (Self::Works | Self::Ended, _) => false,
        }
    }

    /// Looks. A record that cannot be read is taken for that of a dead keeper.
    pub(crate) fn of(ctx: &Context, agent: &Agent) -> Self {
        let Some(token) = agent.token() else { return Self::NotStarted };
        match keeper_state(&ctx.layout().agents().run(&agent.id, token)) {
            Ok(KeeperState::NotStarted) => Self::NotStarted,
            Ok(KeeperState::Starting | KeeperState::Alive(_)) => Self::Works,
            Ok(KeeperState::Ended(_)) => Self::Ended,
            // What cannot be looked at is taken for nothing.
            Ok(KeeperState::Dead(ref record)) if leftovers::is_any_left(record).unwrap_or_default() => Self::Orphaned,
            Ok(KeeperState::Dead(_) | KeeperState::Unproved(_)) | Err(_) => Self::Dead,
        }
    }
}
