//! What follows when a step fails for an agent and its task.

use crate::supervise::core::SessionCore;
use crate::supervise::core::failures::reason_of;
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::ids::AgentId;
use axiom_model::work::endings::failures::{FailureResponse, SessionStep, StepFailureCounts, what_follows};
use axiom_model::work::gates::gate::TaskHoldReason;
use axiom_model::work::tasks::task::TaskStatus;

impl SessionCore<'_> {
    /// Does what follows when a step fails for an agent and its task.
    pub(crate) fn agent_failed(&mut self, agent: &AgentId, step: SessionStep, error: Error) -> Result<()> {
        // Signals that were read and not recorded are read again.
        self.runs.at(agent).watch = None;
        let Some(task) = self.desk.work_of(agent).map(|work| work.task.clone()) else {
            // Its work was taken from it meanwhile, by a rollback: nothing is left to try.
            return match what_follows(step, error.code(), StepFailureCounts::default()) {
                FailureResponse::EndSession => Err(error),
                FailureResponse::Retry { .. }
                | FailureResponse::Wait { .. }
                | FailureResponse::Again
                | FailureResponse::Gate(_)
                | FailureResponse::Block
                | FailureResponse::GoOn
                | FailureResponse::Answer => Ok(()),
            };
        };
        match self.failures.decide(&mut self.desk, step, &task, &error) {
            FailureResponse::Retry { after } | FailureResponse::Wait { after } => {
                self.failures.delay(&mut self.desk, step, &task, &error, after)
            }
            FailureResponse::Gate(_) if error.code() == Code::WorkspaceBroken => {
                self.hold_back(agent, TaskHoldReason::Broken, &reason_of(&error))
            }
            FailureResponse::Gate(_) => self.hold_back(agent, TaskHoldReason::Failed, &reason_of(&error)),
            FailureResponse::Block => self.release(agent, TaskStatus::Blocked, &reason_of(&error)),
            // Where an iteration has just ended, `finish` does that; elsewhere the next one comes by itself.
            FailureResponse::Again | FailureResponse::GoOn | FailureResponse::Answer => Ok(()),
            FailureResponse::EndSession => Err(error),
        }
    }
}
