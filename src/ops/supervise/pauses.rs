//! Pauses before something is tried again: the next iteration of an agent, a step that failed.

use std::time::Instant;

use super::Supervisor;
use crate::domain::base::ids::{AgentId, CaseId};
use crate::domain::work::failures::pause_after;

/// A pause before the next iteration of an agent whose last one did not complete its task.
#[derive(Debug, Clone, Copy)]
pub(super) struct Backoff {
    until: Instant,
    failures: u32,
}

impl Supervisor<'_> {
    /// Whether the next iteration of an agent has to wait.
    pub(super) fn must_wait(&self, agent: &AgentId) -> bool {
        self.backoffs.get(agent).is_some_and(|backoff| backoff.until > Instant::now())
    }

    pub(super) fn back_off(&mut self, agent: &AgentId) {
        let failures = self.backoffs.get(agent).map_or(0, |backoff| backoff.failures) + 1;
        self.backoffs.insert(agent.clone(), Backoff { until: Instant::now() + pause_after(failures), failures });
    }

    pub(super) fn no_back_off(&mut self, agent: &AgentId) {
        self.backoffs.remove(agent);
    }

    /// Whether a step for the task failed a moment ago.
    pub(super) fn is_held_up(&self, task: &CaseId) -> bool {
        self.troubles.get(task).is_some_and(|trouble| trouble.until > Instant::now())
    }

    /// Whether a step for any task failed a moment ago, and is tried again.
    pub(super) fn a_task_is_held_up(&self) -> bool {
        let cases = &self.ctx.state().restorable.cases;
        self.troubles.keys().any(|task| self.is_held_up(task) && cases.contains_key(task))
    }

    /// Whether anything has to wait for a moment.
    pub(super) fn backs_off(&self) -> bool {
        self.backoffs.keys().any(|agent| self.must_wait(agent)) || self.a_task_is_held_up()
    }
}
