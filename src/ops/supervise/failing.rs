//! What a session does when a step fails: it asks the table in `domain::work::failures`, and nothing else decides. The counts and
//! pauses are in the memory of the session: the next one tries everything at once, and a crash is no reason to give up sooner.
//! Why something waits is in the log, for `status` and `log`.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::Supervisor;
use super::notice::Notice;
use crate::domain::base::ids::{AgentId, CaseId};
use crate::domain::state::event::{By, Event};
use crate::domain::work::case::Status;
use crate::domain::work::failures::{Delay, Follows, Step, Times, is_counted, what_follows};
use crate::domain::work::gate::{Gate, Held};
use crate::env;
use crate::error::{Code, Error, Result};
use crate::ops::recover::repair;

/// What failed for a task since something last went well.
#[derive(Debug)]
pub(super) struct Trouble {
    times: HashMap<Step, Times>,
    pub(super) until: Instant,
    /// What was told last, so that a long wait is told once.
    told: Option<Delay>,
}

/// An error as the reason for a decision of the user's: with what to do next.
pub(super) fn reason_of(error: &Error) -> String {
    let mut reason = error.to_string();
    for hint in error.hints() {
        reason.push_str(&format!(" ({hint})"));
    }
    reason
}

impl Supervisor<'_> {
    /// Counts the failure of a step for a task, and asks the table what follows.
    pub(super) fn decide(&mut self, step: Step, task: &CaseId, error: &Error) -> Follows {
        let fresh = || Trouble { times: HashMap::new(), until: Instant::now(), told: None };
        let times = self.troubles.entry(task.clone()).or_insert_with(fresh).times.entry(step).or_default();
        if is_counted(step, error.code()) {
            times.tried = times.tried.saturating_add(1);
        } else {
            times.looked = times.looked.saturating_add(1);
        }
        what_follows(step, error.code(), *times)
    }

    /// The step is tried again after a pause. Tells why, and records it, where that is new.
    pub(super) fn delay(&mut self, step: Step, task: &CaseId, error: &Error, after: Duration) -> Result<()> {
        if error.code() == Code::GitLocked {
            self.clear_dead_locks();
        }
        let Some(trouble) = self.troubles.get_mut(task) else { return Ok(()) };
        trouble.until = Instant::now() + after;
        let tried = if is_counted(step, error.code()) { trouble.times.get(&step).map_or(0, |times| times.tried) } else { 0 };
        let failed_at = trouble.told.as_ref().filter(|told| told.step == step).map_or_else(env::now, |told| told.failed_at);
        let delay = Delay { step, code: error.code().as_str().to_owned(), why: reason_of(error), tried, failed_at };
        if !trouble.told.as_ref().is_some_and(|told| told.is_same_wait(&delay)) {
            trouble.told = Some(delay.clone());
            self.warn(format!("{task} {}", delay.in_words()));
        }
        if self.ctx.state().record.delays.get(task).is_some_and(|known| known.is_same_wait(&delay)) {
            return Ok(());
        }
        self.ctx.act_as(By::Supervisor)?;
        match self.ctx.append(Event::Delayed { id: task.clone(), delay: Some(Box::new(delay)) }) {
            Ok(_) => Ok(()),
            // On a full disk nothing can be recorded: the notice above has told it.
            Err(error) => self.log_failed(error).map(drop),
        }
    }

    /// A step for the task went well: what failed before counts no more.
    pub(super) fn passed(&mut self, task: &CaseId) -> Result<()> {
        self.troubles.remove(task);
        if self.ctx.state().record.delays.contains_key(task) {
            self.step(Event::Delayed { id: task.clone(), delay: None })?;
        }
        Ok(())
    }

    /// Does what follows when a step fails for an agent and its task.
    pub(super) fn agent_failed(&mut self, agent: &AgentId, step: Step, error: Error) -> Result<()> {
        // Signals that were read and not recorded are read again.
        self.watches.remove(agent);
        let Some(task) = self.work_of(agent).map(|work| work.task.clone()) else { return Err(error) };
        match self.decide(step, &task, &error) {
            Follows::Retry { after } | Follows::Wait { after } => self.delay(step, &task, &error, after),
            Follows::Gate(_) if error.code() == Code::WorkspaceBroken => self.hold_back(agent, Held::Broken, &reason_of(&error)),
            Follows::Gate(_) => self.hold_back(agent, Held::Failed, &reason_of(&error)),
            Follows::Block => self.release(agent, Status::Blocked, &reason_of(&error), false),
            // Where an iteration has just ended, `finish` does that; elsewhere the next one comes by itself.
            Follows::Again | Follows::GoOn => Ok(()),
            Follows::EndSession => Err(error),
        }
    }

    /// Does what follows when the claim of a task fails.
    pub(super) fn claim_failed(&mut self, task: &CaseId, error: Error) -> Result<()> {
        match self.decide(Step::Claim, task, &error) {
            Follows::Retry { after } | Follows::Wait { after } => self.delay(Step::Claim, task, &error, after),
            Follows::Gate(_) => {
                self.forget_missing_workspace(task)?;
                self.passed(task)?;
                self.hold_pending(task, reason_of(&error))
            }
            Follows::Block => {
                self.warn(format!("{task} cannot be claimed: {error}"));
                self.forget_missing_workspace(task)?;
                self.passed(task)?;
                self.block(task, Status::Pending, &reason_of(&error))
            }
            Follows::Again | Follows::GoOn => Ok(()),
            Follows::EndSession => Err(error),
        }
    }

    /// Does what follows when a merge or its verification fails.
    pub(super) fn merge_failed(&mut self, step: Step, task: &CaseId, error: Error) -> Result<()> {
        match self.decide(step, task, &error) {
            Follows::Retry { after } | Follows::Wait { after } => self.delay(step, task, &error, after),
            Follows::Gate(_) => {
                self.passed(task)?;
                self.wait_at_gate(task, reason_of(&error), &[])
            }
            Follows::Block => self.block(task, Status::Done, &reason_of(&error)),
            Follows::Again | Follows::GoOn => Ok(()),
            Follows::EndSession => Err(error),
        }
    }

    /// The log could not be written: where that passes, everything is looked at again after the returned pause.
    pub(super) fn log_failed(&mut self, error: Error) -> Result<Duration> {
        let seq = self.ctx.state().seq;
        // Since the last failure something was written.
        if self.log_trouble.is_none_or(|(last, _)| last != seq) {
            self.warn(format!("everything waits while {}: {}: {error}", Step::Log.words(), error.code()));
            self.log_trouble = Some((seq, Times::default()));
        }
        let Some((_, times)) = &mut self.log_trouble else { return Err(error) };
        times.looked = times.looked.saturating_add(1);
        match what_follows(Step::Log, error.code(), *times) {
            Follows::Retry { after } | Follows::Wait { after } => Ok(after),
            Follows::Gate(_) | Follows::Block | Follows::Again | Follows::GoOn | Follows::EndSession => Err(error),
        }
    }

    /// The work does not depend on this step: its failure is told, where it is another one than before.
    pub(super) fn goes_on_without(&mut self, step: Step, what: &str, error: Error) -> Result<()> {
        match what_follows(step, error.code(), Times::default()) {
            Follows::GoOn => {
                if self.told_without.insert(step, error.code()) != Some(error.code()) {
                    self.warn(format!("{what}: {error}"));
                }
                Ok(())
            }
            Follows::Retry { .. }
            | Follows::Wait { .. }
            | Follows::Again
            | Follows::Gate(_)
            | Follows::Block
            | Follows::EndSession => Err(error),
        }
    }

    /// Removes lock files whose owners are dead. What cannot be done now is tried with the next look.
    pub(super) fn clear_dead_locks(&mut self) {
        match repair::clear_dead_locks(self.ctx) {
            Ok(report) => report.done.into_iter().for_each(|what| self.tell(Notice::Recovered { what })),
            Err(error) => tracing::info!(%error, "dead locks could not be looked for"),
        }
    }

    /// A task that nobody works on waits for a human to look at what failed.
    fn hold_pending(&mut self, task: &CaseId, why: String) -> Result<()> {
        let Some(gate) = Gate::holding(task, Held::Failed, env::now()) else { return Ok(()) };
        self.open(Gate { details: vec![why], ..gate })
    }
}
