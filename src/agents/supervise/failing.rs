//! What a session does when a step fails: it asks the table in `model::work::endings::failures`, and nothing else decides. The counts and
//! pauses are in the memory of the session: the next one tries everything at once, and a crash is no reason to give up sooner.
//! Why something waits is in the log, for `status` and `log`.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::claim::forget_missing_workspace;
use super::core::SessionCore;
use super::desk::SessionDesk;
use super::merging::wait_at_gate;
use super::notice::SessionNotice;
use super::pauses::{Backoff, PauseEnd};
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::ids::{AgentId, TaskId};
use axiom_model::hook::due::of_task;
use axiom_model::state::current_state::State;
use axiom_model::state::delayed_steps;
use axiom_model::state::event::Event;
use axiom_model::work::endings::delay::DelayedSessionStep;
use axiom_model::work::endings::failures::{
    FailureResponse, SessionStep, SharedSessionStep, StepFailureCounts, is_counted, stands_still, what_follows,
};
use axiom_model::work::gates::gate::{Gate, TaskHoldReason};
use axiom_model::work::hooks::hook_event::HookEvent;
use axiom_model::work::tasks::task::TaskStatus;
use axiom_safety::context::handle::Context;
use axiom_safety::upkeep::mend::locks;

/// What failed in a session, and what waits for it.
#[derive(Debug, Default)]
pub(super) struct StepFailures {
    /// What failed for tasks, and how often.
    pub(super) troubles: HashMap<TaskId, TaskStepTrouble>,
    /// Steps that stand still for all tasks.
    pub(super) standstills: HashMap<SharedSessionStep, Backoff>,
    /// How many times in a row the model's service refused for a task.
    pub(super) limits_met: HashMap<TaskId, u32>,
    /// How often the log could not be written since this event.
    log_trouble: Option<(u64, StepFailureCounts)>,
    /// What failed last at steps on which nothing depends.
    pub(super) told_without: HashMap<SessionStep, Code>,
}

/// What failed for a task since something last went well.
#[derive(Debug)]
pub(super) struct TaskStepTrouble {
    times: HashMap<SessionStep, StepFailureCounts>,
    /// When it failed last.
    pub(super) failed_at: Instant,
    pub(super) until: PauseEnd,
    /// What was told last, so that a long wait is told once.
    told: Option<DelayedSessionStep>,
}

/// An error as the reason for a decision of the user's, an answer or a gate: with its code, and what to do next.
pub(super) fn reason_of(error: &Error) -> String {
    format!("{}: {}", error.code(), words_of(error))
}

/// The same where the code stands beside it.
fn words_of(error: &Error) -> String {
    let mut reason = error.to_string();
    for hint in error.hints() {
        reason.push_str(&format!(" ({hint})"));
    }
    reason
}

impl StepFailures {
    /// Counts the failure of a step for a task, and asks the table what follows.
    pub(super) fn decide(
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
    pub(super) fn delay(
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

    /// Whether another task is known to wait for the same: it stands for all.
    fn is_known_of_another(&self, ctx: &Context, task: &TaskId, delay: &DelayedSessionStep) -> bool {
        let mut others = self.troubles.iter().filter(|(other, _)| *other != task);
        others.any(|(other, trouble)| {
            let told = trouble.told.as_ref();
            told.is_some_and(|told| (told.step, &told.code) == (delay.step, &delay.code))
                && delayed_steps::is_still_tried(ctx.state(), other, delay.step)
        })
    }

    /// A step for the task went well: what failed before counts no more.
    pub(super) fn passed(&mut self, desk: &mut SessionDesk<'_>, task: &TaskId) -> Result<()> {
        self.troubles.remove(task);
        desk.forget_delay(task, |_| true)
    }

    /// This step for the task was possible just now, so it waits for it no longer. How often it failed still counts, until it has
    /// come to something.
    pub(super) fn waits_no_longer(&mut self, desk: &mut SessionDesk<'_>, task: &TaskId, step: SessionStep) -> Result<()> {
        if let Some(trouble) = self.troubles.get_mut(task) {
            trouble.told.take_if(|told| told.step == step);
        }
        desk.forget_delay(task, |known| known == step)
    }

    /// Does what follows when the claim of a task fails.
    pub(super) fn claim_failed(&mut self, desk: &mut SessionDesk<'_>, task: &TaskId, error: Error) -> Result<()> {
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

    /// Does what follows when a merge or its verification fails.
    pub(super) fn merge_failed(
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

    /// The log could not be written: where that passes, everything is looked at again after the returned pause.
    pub(super) fn log_failed(&mut self, desk: &mut SessionDesk<'_>, error: Error) -> Result<Duration> {
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

    /// All could be looked at: what somebody else recorded first is known by now.
    pub(super) fn log_is_well(&mut self) {
        if let Some((_, times)) = &mut self.log_trouble {
            times.tried = 0;
        }
    }

    /// The work does not depend on this step: its failure is told, where it is another one than before.
    pub(super) fn goes_on_without(
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
}

impl SessionCore<'_> {
    /// Does what follows when a step fails for an agent and its task.
    pub(super) fn agent_failed(&mut self, agent: &AgentId, step: SessionStep, error: Error) -> Result<()> {
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
            FailureResponse::Block => self.release(agent, TaskStatus::Blocked, &reason_of(&error), false),
            // Where an iteration has just ended, `finish` does that; elsewhere the next one comes by itself.
            FailureResponse::Again | FailureResponse::GoOn | FailureResponse::Answer => Ok(()),
            FailureResponse::EndSession => Err(error),
        }
    }
}

impl SessionDesk<'_> {
    /// Hooks are told of an error.
    fn tell_error(&mut self, task: &TaskId, error: &Error) {
        let about = of_task(self.ctx.state(), task, HookEvent::OnError, env::now());
        self.ctx.hooks.note(about.with_error(error.code(), words_of(error)));
    }

    fn forget_delay(&mut self, task: &TaskId, of: impl Fn(SessionStep) -> bool) -> Result<()> {
        let is_there = |state: &State| state.record.delays.get(task).is_some_and(|delay| of(delay.step));
        if !is_there(self.ctx.state()) {
            return Ok(());
        }
        self.step_if(|state| is_there(state).then(|| Event::Delayed { id: task.clone(), delay: None })).map(drop)
    }

    /// Removes lock files whose owners are dead. What cannot be done now is tried with the next look.
    pub(super) fn clear_dead_locks(&mut self) {
        match locks::clear_dead_locks(self.ctx) {
            Ok(report) => report.done.into_iter().for_each(|what| self.tell(SessionNotice::Recovered { what })),
            Err(error) => tracing::info!(%error, "dead locks could not be looked for"),
        }
    }
}

/// A task that nobody works on waits for a human to look at what failed.
fn hold_pending(desk: &mut SessionDesk<'_>, task: &TaskId, why: String) -> Result<()> {
    let Some(gate) = Gate::holding(task, TaskHoldReason::Failed, env::now()) else { return Ok(()) };
    desk.open(Gate { details: vec![why], ..gate })
}
