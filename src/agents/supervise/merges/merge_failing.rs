//! What follows when a merge or its verification fails, or has to wait.

use super::merge_gates::wait_at_gate;
use crate::supervise::core::SessionCore;
use crate::supervise::core::desk::SessionDesk;
use crate::supervise::core::failures::{StepFailures, reason_of};
use axiom_base::error::{Error, Result};
use axiom_model::base::ids::TaskId;
use axiom_model::work::endings::failures::{FailureResponse, SessionStep};
use axiom_model::work::tasks::task::TaskStatus;

impl StepFailures {
    /// Does what follows when a merge or its verification fails.
    pub(crate) fn merge_failed(
        &mut self,
        desk: &mut SessionDesk<'_>,
        step: SessionStep,
        task: &TaskId,
        error: Error,
    ) -> Result<()> {
        match self.decide(desk, step, task, &error) {
            FailureResponse::Retry { after } | FailureResponse::Wait { after } => self.delay(desk, step, task, &error, after),
            FailureResponse::Gate(_) => {
                self.passed(desk, task)?;
                wait_at_gate(desk, task, reason_of(&error), &[])
            }
            FailureResponse::Block => desk.block(task, TaskStatus::Done, &reason_of(&error)),
            FailureResponse::Again | FailureResponse::GoOn | FailureResponse::Answer => Ok(()),
            FailureResponse::EndSession => Err(error),
        }
    }
}

/// Does what follows when a merge or its verification could not go on.
pub(crate) fn merge_waits_or_failed(core: &mut SessionCore<'_>, step: SessionStep, task: &TaskId, error: Error) -> Result<()> {
    match core.drivers.waits_for(&mut core.desk, &core.bell, step, task, error) {
        Ok(()) => Ok(()),
        Err(error) => core.failures.merge_failed(&mut core.desk, step, task, error),
    }
}
