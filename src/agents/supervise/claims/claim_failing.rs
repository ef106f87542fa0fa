//! What follows when the claim of a task fails.

use std::path::Path;

use crate::supervise::core::desk::SessionDesk;
use crate::supervise::core::failures::{StepFailures, reason_of};
use axiom_base::env;
use axiom_base::error::{Error, Result};
use axiom_model::base::ids::TaskId;
use axiom_model::state::event::Event;
use axiom_model::work::endings::failures::{FailureResponse, SessionStep};
use axiom_model::work::gates::gate::{Gate, TaskHoldReason};
use axiom_model::work::tasks::task::TaskStatus;

impl StepFailures {
    /// Does what follows when the claim of a task fails.
    pub(crate) fn claim_failed(&mut self, desk: &mut SessionDesk<'_>, task: &TaskId, error: Error) -> Result<()> {
        match self.decide(desk, SessionStep::Claim, task, &error) {
            FailureResponse::Retry { after } | FailureResponse::Wait { after } => {
                self.delay(desk, SessionStep::Claim, task, &error, after)
            }
            FailureResponse::Gate(_) => {
                forget_missing_workspace(desk, task)?;
                self.passed(desk, task)?;
                hold_pending(desk, task, reason_of(&error))
            }
            FailureResponse::Block => {
                desk.warn(format!("{task} cannot be claimed: {error}"));
                forget_missing_workspace(desk, task)?;
                self.passed(desk, task)?;
                desk.block(task, TaskStatus::Pending, &reason_of(&error))
            }
            FailureResponse::Again | FailureResponse::GoOn | FailureResponse::Answer => Ok(()),
            FailureResponse::EndSession => Err(error),
        }
    }
}

/// A task that nobody works on waits for a human to look at what failed.
fn hold_pending(desk: &mut SessionDesk<'_>, task: &TaskId, why: String) -> Result<()> {
    let Some(gate) = Gate::holding(task, TaskHoldReason::Failed, env::now()) else { return Ok(()) };
    desk.open(Gate { details: vec![why], ..gate })
}

/// Forgets a workspace that was announced and does not exist, so that the next try may make it elsewhere.
pub(crate) fn forget_missing_workspace(desk: &mut SessionDesk<'_>, task: &TaskId) -> Result<()> {
    let Some(workspace) = desk.ctx.state().restorable.workspaces.get(task) else { return Ok(()) };
    // Where that cannot be found out, it is taken for there.
    let is_there = desk.ctx.repo.worktrees().worktree_at(Path::new(&workspace.path)).map_or(true, |entry| entry.is_some());
    if is_there {
        return Ok(());
    }
    desk.step(Event::WorkspaceClosed { task: task.clone(), trash: None, handed_on: false })
}
