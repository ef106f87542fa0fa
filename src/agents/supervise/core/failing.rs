//! What a session does when a step fails: it asks the table in `model::work::endings::failures`, and nothing else decides. The counts and
//! pauses are in the memory of the session: the next one tries everything at once, and a crash is no reason to give up sooner.
//! Why something waits is in the log, for `status` and `log`.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::desk::SessionDesk;
use super::failures::{StepFailures, TaskStepTrouble, words_of};
use super::pauses::PauseEnd;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::ids::TaskId;
use axiom_model::hook::due::of_task;
use axiom_model::state::delayed_steps;
use axiom_model::state::event::Event;
use axiom_model::work::endings::delay::DelayedSessionStep;
use axiom_model::work::endings::failures::{
    FailureResponse, SessionStep, StepFailureCounts, is_counted, stands_still, what_follows,
};
use axiom_model::work::hooks::hook_event::HookEvent;

impl StepFailures {
    /// Counts the failure of a step for a task, and asks the table what follows.
    pub(crate) fn decide(
        &mut self,
        desk: &mut SessionDesk<'_>,
        step: SessionStep,
        task: &TaskId,
        error: &Error,
    ) -> FailureResponse {
        let now = Instant::now();
        let fresh =
            || TaskStepTrouble { times: HashMap::new(), failed_at: now, until: PauseEnd::after(Duration::ZERO), told: None };
        let trouble = self.troubles.entry(task.clone()).or_insert_with(fresh);
        trouble.failed_at = now;
        let times = trouble.times.entry(step).or_default();
        if is_counted(step, error.code()) {
            times.tried = times.tried.saturating_add(1);
        } else {
            times.looked = times.looked.saturating_add(1);
        }
        let follows = what_follows(step, error.code(), *times);
        match follows {
            FailureResponse::Gate(_) | FailureResponse::Block => desk.tell_error(task, error),
            // Told where it is new, or where the session ends.
            FailureResponse::Retry { .. }
            | FailureResponse::Wait { .. }
            | FailureResponse::Again
            | FailureResponse::GoOn
            | FailureResponse::Answer
            | FailureResponse::EndSession => {}
        }
        follows
    }

    /// The step is tried again after a pause. Tells why, and records it, where that is new and the task is still at that step.
    /// Of several tasks for which a step stands still, only the first is recorded.
    pub(crate) fn delay(
        &mut self,
        desk: &mut SessionDesk<'_>,
        step: SessionStep,
        task: &TaskId,
        error: &Error,
        after: Duration,
    ) -> Result<()> {
        if error.code() == Code::GitLocked {
            desk.clear_dead_locks();
        }
        let shared = stands_still(step, error.code());
        let until = shared.map_or_else(|| PauseEnd::after(after), |shared| self.stand_still(shared));
        let Some(trouble) = self.troubles.get_mut(task) else { return Ok(()) };
        trouble.until = until;
        let tried = if is_counted(step, error.code()) { trouble.times.get(&step).map_or(0, |times| times.tried) } else { 0 };
        let failed_at = trouble.told.as_ref().filter(|told| told.step == step).map_or_else(env::now, |told| told.failed_at);
        let until = (error.code() == Code::ModelBusy).then(|| until.at());
        let (code, why) = (error.code().as_str().to_owned(), words_of(error));
        let delay = DelayedSessionStep { step, code, why, tried, failed_at, until };
        if shared.is_some() && self.is_known_of_another(desk.ctx, task, &delay) {
            return Ok(());
        }
        let before = self.troubles.get_mut(task).and_then(|trouble| trouble.told.replace(delay.clone()));
        if !before.is_some_and(|told| told.is_same_wait(&delay)) {
            desk.warn(format!("{task} {}", delay.in_words()));
            desk.tell_error(task, error);
        }
        let recorded = desk.step_if(|state| {
            let is_known = state.record.delays.get(task).is_some_and(|known| known.is_same_wait(&delay));
            let is_due = delayed_steps::is_still_tried(state, task, step) && !is_known;
            is_due.then(|| Event::Delayed { id: task.clone(), delay: Some(Box::new(delay)) })
        });
        match recorded {
            Ok(_) => Ok(()),
            // On a full disk nothing can be recorded: the notice above has told it.
            Err(error) => self.log_failed(desk, error).map(drop),
        }
    }

    /// The log could not be written: where that passes, everything is looked at again after the returned pause.
    pub(crate) fn log_failed(&mut self, desk: &mut SessionDesk<'_>, error: Error) -> Result<Duration> {
        let seq = desk.ctx.state().seq;
        // Since the last failure something was written.
        if self.log_trouble.is_none_or(|(last, _)| last != seq) {
            desk.warn(format!("everything waits while {}: {}: {error}", SessionStep::Log.words(), error.code()));
            let tried = self.log_trouble.map_or(0, |(_, times)| times.tried);
            self.log_trouble = Some((seq, StepFailureCounts { tried, looked: 0 }));
        }
        let Some((_, times)) = &mut self.log_trouble else { return Err(error) };
        if is_counted(SessionStep::Log, error.code()) {
            times.tried = times.tried.saturating_add(1);
        } else {
            times.looked = times.looked.saturating_add(1);
        }
        match what_follows(SessionStep::Log, error.code(), *times) {
            FailureResponse::Retry { after } | FailureResponse::Wait { after } => Ok(after),
            FailureResponse::Gate(_)
            | FailureResponse::Block
            | FailureResponse::Again
            | FailureResponse::GoOn
            | FailureResponse::Answer
            | FailureResponse::EndSession => Err(error),
        }
    }

    /// The work does not depend on this step: its failure is told, where it is another one than before.
    pub(crate) fn goes_on_without(
        &mut self,
        desk: &mut SessionDesk<'_>,
        step: SessionStep,
        what: &str,
        error: Error,
    ) -> Result<()> {
        match what_follows(step, error.code(), StepFailureCounts::default()) {
            FailureResponse::GoOn => {
                if self.told_without.insert(step, error.code()) != Some(error.code()) {
                    desk.warn(format!("{what}: {error}"));
                }
                Ok(())
            }
            FailureResponse::Retry { .. }
            | FailureResponse::Wait { .. }
            | FailureResponse::Again
            | FailureResponse::Gate(_)
            | FailureResponse::Block
            | FailureResponse::Answer
            | FailureResponse::EndSession => Err(error),
        }
    }

    /// Writes the snapshot. It is a copy: where it cannot be written, what is in the log stands.
    pub(crate) fn save_snapshot(&mut self, desk: &mut SessionDesk<'_>) -> Result<()> {
        let saved = desk.ctx.store.save_snapshot();
        self.is_saved(desk, saved)
    }

    /// As [`StepFailures::save_snapshot`], where that is due.
    pub(crate) fn save_snapshot_in_time(&mut self, desk: &mut SessionDesk<'_>) -> Result<()> {
        let saved = desk.ctx.store.save_snapshot_in_time();
        self.is_saved(desk, saved)
    }

    fn is_saved(&mut self, desk: &mut SessionDesk<'_>, saved: Result<()>) -> Result<()> {
        match saved {
            Ok(()) => drop(self.told_without.remove(&SessionStep::Copies)),
            Err(error) => {
                self.goes_on_without(desk, SessionStep::Copies, "the snapshot of the state could not be written", error)?
            }
        }
        Ok(())
    }
}

impl SessionDesk<'_> {
    /// Hooks are told of an error.
    fn tell_error(&mut self, task: &TaskId, error: &Error) {
        let about = of_task(self.ctx.state(), task, HookEvent::OnError, env::now());
        self.ctx.hooks.note(about.with_error(error.code(), words_of(error)));
    }
}
