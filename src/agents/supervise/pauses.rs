//! Pauses before something is tried again: the next iteration of an agent, a step that failed for a task, a step that stands
//! still for all tasks.

use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::agent_runs::AgentRuns;
use super::core::SessionCore;
use super::failing::StepFailures;
use axiom_base::env;
use axiom_model::base::ids::{AgentId, TaskId};
use axiom_model::work::endings::failures::{SharedSessionStep, pause_after};
use axiom_safety::context::handle::Context;

/// When a pause ends: after so much time awake, or at a time of day, whichever comes first. A machine that slept through it has
/// waited long enough, and a clock that is set back makes no pause longer.
#[derive(Debug, Clone, Copy)]
pub(super) struct PauseEnd {
    awake: Instant,
    at: Timestamp,
}

impl PauseEnd {
    /// The end of a pause that begins now.
    pub(super) fn after(pause: Duration) -> Self {
        Self { awake: Instant::now() + pause, at: env::now().checked_add(pause).unwrap_or(Timestamp::MAX) }
    }

    /// The time of day.
    pub(super) fn at(&self) -> Timestamp {
        self.at
    }

    /// How long it still lasts; `None` when it is over.
    pub(super) fn left(&self) -> Option<Duration> {
        self.left_at(Instant::now(), env::now())
    }

    fn left_at(&self, awake: Instant, at: Timestamp) -> Option<Duration> {
        let of_clock = Duration::try_from(self.at.duration_since(at)).ok()?;
        let left = self.awake.checked_duration_since(awake)?.min(of_clock);
        (!left.is_zero()).then_some(left)
    }
}

/// A pause that gets longer with each failure in a row: before the next iteration of an agent whose last one did not complete
/// its task; before the next claim or merge where the last one failed because of what concerns all.
#[derive(Debug, Clone, Copy)]
pub(super) struct Backoff {
    until: PauseEnd,
    failures: u32,
}

impl Backoff {
    fn after(before: Option<&Self>) -> Self {
        let failures = before.map_or(0, |backoff| backoff.failures).saturating_add(1);
        Self { until: PauseEnd::after(pause_after(failures)), failures }
    }

    /// How long it still lasts; `None` when it is over.
    pub(super) fn left(&self) -> Option<Duration> {
        self.until.left()
    }

    fn lasts(&self) -> bool {
        self.until.left().is_some()
    }
}

impl AgentRuns {
    /// Whether the next iteration of an agent has to wait.
    pub(super) fn must_wait(&self, agent: &AgentId) -> bool {
        self.get(agent).and_then(|run| run.backoff.as_ref()).is_some_and(Backoff::lasts)
    }

    pub(super) fn back_off(&mut self, agent: &AgentId) {
        let run = self.at(agent);
        run.backoff = Some(Backoff::after(run.backoff.as_ref()));
    }

    pub(super) fn no_back_off(&mut self, agent: &AgentId) {
        self.at(agent).backoff = None;
    }
}

impl StepFailures {
    /// Whether claims or merges stand still for all tasks now.
    pub(super) fn stands_still(&self, shared: SharedSessionStep) -> bool {
        self.standstills.get(&shared).is_some_and(Backoff::lasts)
    }

    /// From now on they stand still; returns until when.
    pub(super) fn stand_still(&mut self, shared: SharedSessionStep) -> PauseEnd {
        let next = Backoff::after(self.standstills.get(&shared));
        self.standstills.insert(shared, next);
        next.until
    }

    /// How often one of them failed in a row.
    pub(super) fn failures_of(&self, shared: SharedSessionStep) -> u32 {
        self.standstills.get(&shared).map_or(0, |backoff| backoff.failures)
    }

    /// One of them was possible.
    pub(super) fn no_standstill(&mut self, shared: SharedSessionStep) {
        self.standstills.remove(&shared);
    }

    /// Of several tasks the one to try next: the first for which nothing failed; else the one whose last failure is longest ago,
    /// so that one that needs more space than there is does not stop the others.
    pub(super) fn next_to_try<T>(&self, tasks: impl IntoIterator<Item = T>, id: impl Fn(&T) -> &TaskId) -> Option<T> {
        tasks.into_iter().min_by_key(|task| self.troubles.get(id(task)).map(|trouble| trouble.failed_at))
    }

    /// Whether a step for the task failed a moment ago.
    pub(super) fn is_held_up(&self, task: &TaskId) -> bool {
        self.troubles.get(task).is_some_and(|trouble| trouble.until.left().is_some())
    }

    /// Whether a step for any task failed a moment ago, and is tried again.
    pub(super) fn a_task_is_held_up(&self, ctx: &Context) -> bool {
        let tasks = &ctx.state().restorable.tasks;
        self.standstills.values().any(Backoff::lasts)
            || self.troubles.keys().any(|task| self.is_held_up(task) && tasks.contains_key(task))
    }

    /// When the first pause after a failure ends.
    pub(super) fn first_pause(&self, ctx: &Context) -> Option<Duration> {
        let cases = &ctx.state().restorable.tasks;
        let tasks = self.troubles.iter().filter(|(task, _)| cases.contains_key(*task)).map(|(_, trouble)| trouble.until);
        let others = self.standstills.values().map(|backoff| backoff.until);
        tasks.chain(others).filter_map(|until| until.left()).min()
    }
}

impl SessionCore<'_> {
    /// Whether anything has to wait for a moment.
    pub(super) fn backs_off(&self) -> bool {
        self.first_pause_ends_in().is_some()
    }

    /// When the first of all pauses ends.
    pub(super) fn first_pause_ends_in(&self) -> Option<Duration> {
        self.failures.first_pause(self.desk.ctx).into_iter().chain(self.runs.first_pause()).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_ends_while_the_machine_sleeps_and_no_clock_makes_it_longer() {
        let (awake, at) = (Instant::now(), axiom_base::env::now());
        let (pause, second) = (Duration::from_secs(3600), Duration::from_secs(1));
        let until = PauseEnd { awake: awake + pause, at: at + pause };
        assert_eq!(until.left_at(awake, at), Some(pause));
        assert_eq!(until.left_at(awake + second, at + second), Some(pause - second));
        assert_eq!(until.left_at(awake + pause, at + pause), None);
        // Asleep for a night: the clock that stands still then says nothing.
        assert_eq!(until.left_at(awake + second, at + pause * 8), None);
        // Somebody set the clock back by a year, or to the year 1.
        assert_eq!(until.left_at(awake + second, at - pause * 9000), Some(pause - second));
        assert_eq!(until.left_at(awake + pause, Timestamp::MIN), None);
        assert_eq!(PauseEnd::after(Duration::MAX / 4).at, Timestamp::MAX);
    }
}
