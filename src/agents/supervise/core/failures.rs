//! What failed in a session, how often, and what waits for it. Nothing of it is needed after a crash: the next session tries
//! everything at once. What follows from a failure is in `failing`.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::desk::SessionDesk;
use super::pauses::{Backoff, PauseEnd};
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::ids::TaskId;
use axiom_model::state::current_state::State;
use axiom_model::state::delayed_steps;
use axiom_model::state::event::Event;
use axiom_model::work::endings::delay::DelayedSessionStep;
use axiom_model::work::endings::failures::{SessionStep, SharedSessionStep, StepFailureCounts};
use axiom_safety::context::handle::Context;

/// What failed in a session, and what waits for it.
#[derive(Debug, Default)]
pub(crate) struct StepFailures {
    /// What failed for tasks, and how often.
    pub(crate) troubles: HashMap<TaskId, TaskStepTrouble>,
    /// Steps that stand still for all tasks.
    pub(crate) standstills: HashMap<SharedSessionStep, Backoff>,
    /// How many times in a row the model's service refused for a task.
    pub(crate) limits_met: HashMap<TaskId, u32>,
    /// How often the log could not be written since this event.
    pub(crate) log_trouble: Option<(u64, StepFailureCounts)>,
    /// What failed last at steps on which nothing depends.
    pub(crate) told_without: HashMap<SessionStep, Code>,
}

/// What failed for a task since something last went well.
#[derive(Debug)]
pub(crate) struct TaskStepTrouble {
    pub(crate) times: HashMap<SessionStep, StepFailureCounts>,
    /// When it failed last.
    pub(crate) failed_at: Instant,
    pub(crate) until: PauseEnd,
    /// What was told last, so that a long wait is told once.
    pub(crate) told: Option<DelayedSessionStep>,
}

/// An error as the reason for a decision of the user's, an answer or a gate: with its code, and what to do next.
pub(crate) fn reason_of(error: &Error) -> String {
    format!("{}: {}", error.code(), words_of(error))
}

/// The same where the code stands beside it.
pub(crate) fn words_of(error: &Error) -> String {
    let mut reason = error.to_string();
    for hint in error.hints() {
        reason.push_str(&format!(" ({hint})"));
    }
    reason
}

impl StepFailures {
    /// A step for the task went well: what failed before counts no more.
    pub(crate) fn passed(&mut self, desk: &mut SessionDesk<'_>, task: &TaskId) -> Result<()> {
        self.troubles.remove(task);
        desk.forget_delay(task, |_| true)
    }

    /// This step for the task was possible just now, so it waits for it no longer. How often it failed still counts, until it has
    /// come to something.
    pub(crate) fn waits_no_longer(&mut self, desk: &mut SessionDesk<'_>, task: &TaskId, step: SessionStep) -> Result<()> {
        if let Some(trouble) = self.troubles.get_mut(task) {
            trouble.told.take_if(|told| told.step == step);
        }
        desk.forget_delay(task, |known| known == step)
    }

    /// Whether another task is known to wait for the same: it stands for all.
    pub(crate) fn is_known_of_another(&self, ctx: &Context, task: &TaskId, delay: &DelayedSessionStep) -> bool {
        let mut others = self.troubles.iter().filter(|(other, _)| *other != task);
        others.any(|(other, trouble)| {
            let told = trouble.told.as_ref();
            told.is_some_and(|told| (told.step, &told.code) == (delay.step, &delay.code))
                && delayed_steps::is_still_tried(ctx.state(), other, delay.step)
        })
    }

    /// All could be looked at: what somebody else recorded first is known by now.
    pub(crate) fn log_is_well(&mut self) {
        if let Some((_, times)) = &mut self.log_trouble {
            times.tried = 0;
        }
    }
}

impl SessionDesk<'_> {
    fn forget_delay(&mut self, task: &TaskId, of: impl Fn(SessionStep) -> bool) -> Result<()> {
        let is_there = |state: &State| state.record.delays.get(task).is_some_and(|delay| of(delay.step));
        if !is_there(self.ctx.state()) {
            return Ok(());
        }
        self.step_if(|state| is_there(state).then(|| Event::Delayed { id: task.clone(), delay: None })).map(drop)
    }
}

impl StepFailures {
    /// Whether claims or merges stand still for all tasks now.
    pub(crate) fn stands_still(&self, shared: SharedSessionStep) -> bool {
        self.standstills.get(&shared).is_some_and(Backoff::lasts)
    }

    /// From now on they stand still; returns until when.
    pub(crate) fn stand_still(&mut self, shared: SharedSessionStep) -> PauseEnd {
        let next = Backoff::after(self.standstills.get(&shared));
        self.standstills.insert(shared, next);
        next.until
    }

    /// How often one of them failed in a row.
    pub(crate) fn failures_of(&self, shared: SharedSessionStep) -> u32 {
        self.standstills.get(&shared).map_or(0, |backoff| backoff.failures)
    }

    /// One of them was possible.
    pub(crate) fn no_standstill(&mut self, shared: SharedSessionStep) {
        self.standstills.remove(&shared);
    }

    /// Of several tasks the one to try next: the first for which nothing failed; else the one whose last failure is longest ago,
    /// so that one that needs more space than there is does not stop the others.
    pub(crate) fn next_to_try<T>(&self, tasks: impl IntoIterator<Item = T>, id: impl Fn(&T) -> &TaskId) -> Option<T> {
        tasks.into_iter().min_by_key(|task| self.troubles.get(id(task)).map(|trouble| trouble.failed_at))
    }

    /// Whether a step for the task failed a moment ago.
    pub(crate) fn is_held_up(&self, task: &TaskId) -> bool {
        self.troubles.get(task).is_some_and(|trouble| trouble.until.left().is_some())
    }

    /// Whether a step for any task failed a moment ago, and is tried again.
    pub(crate) fn a_task_is_held_up(&self, ctx: &Context) -> bool {
        let tasks = &ctx.state().restorable.tasks;
        self.standstills.values().any(Backoff::lasts)
            || self.troubles.keys().any(|task| self.is_held_up(task) && tasks.contains_key(task))
    }

    /// When the first pause after a failure ends.
    pub(crate) fn first_pause(&self, ctx: &Context) -> Option<Duration> {
        let cases = &ctx.state().restorable.tasks;
        let tasks = self.troubles.iter().filter(|(task, _)| cases.contains_key(*task)).map(|(_, trouble)| trouble.until);
        let others = self.standstills.values().map(|backoff| backoff.until);
        tasks.chain(others).filter_map(|until| until.left()).min()
    }
}
