//! What follows from an iteration's outcome: another one, verification, a question, release.

use super::notice::Notice;
use super::{Supervisor, verify};
use crate::domain::agent::{Outcome, Stage, Work};
use crate::domain::case::Status;
use crate::domain::checkpoint::Trigger;
use crate::domain::event::Event;
use crate::domain::gate::{Decision, GateKind};
use crate::domain::ids::AgentId;
use crate::domain::names::Oid;
use crate::domain::outcome::{Halt, Limits, Next, after_halt, after_iteration};
use crate::env;
use crate::error::Result;

/// What a release leaves in the record of the task.
struct Counts {
    /// Whether it is a retry.
    retry: bool,
    /// The commit with which the work is complete, and not verified.
    complete: Option<Oid>,
}

impl Supervisor<'_> {
    /// Does what the outcome of the last iteration asks for; says whether anything was done.
    pub(super) fn settle(&mut self, agent: &AgentId, work: &Work, outcome: &Outcome) -> Result<bool> {
        let next = after_iteration(outcome, self.limits(work));
        self.follow(agent, work, next)
    }

    fn limits(&self, work: &Work) -> Limits {
        Limits {
            iteration: work.iteration,
            max_iterations: self.options.max_iterations,
            retry_count: self.context.state().record.cases.get(&work.task).map_or(0, |record| record.retry_count),
            max_retries: self.context.config.recovery.max_retries,
        }
    }

    fn follow(&mut self, agent: &AgentId, work: &Work, next: Next) -> Result<bool> {
        match next {
            Next::Iterate if self.may_iterate(agent) => {
                self.start_iteration(agent, work)?;
                Ok(true)
            }
            Next::Iterate => Ok(false),
            Next::Verify => self.verify(agent, work),
            Next::Ask { question } => self.ask(agent, work, &question),
            Next::Release { status, reason, retry } => {
                self.release(agent, status, &reason, retry)?;
                Ok(true)
            }
        }
    }

    /// Runs the task's verify steps in the background; when all have passed, the task is done.
    fn verify(&mut self, agent: &AgentId, work: &Work) -> Result<bool> {
        let Some(running) = self.verifying.get(agent) else {
            let case = self.context.state().case(&work.task)?;
            if case.verify.is_empty() {
                self.release(agent, Status::Done, "complete", false)?;
                return Ok(true);
            }
            let commands = case.verify.clone();
            let Some(workspace) = self.context.state().restorable.workspaces.get(&work.task) else {
                self.release_with_gate(agent, "its workspace is gone")?;
                return Ok(true);
            };
            let job = verify::Job {
                commands,
                folder: workspace.path.clone().into(),
                marker: (verify::VARIABLE, self.context.repo.common_dir().to_owned()),
                output: self.context.layout().tmp_dir().join(format!("verify-{}", env::fresh_id())),
            };
            self.verifying.insert(agent.clone(), verify::start(job));
            return Ok(true);
        };
        let Some(verdict) = running.verdict() else { return Ok(false) };
        self.verifying.remove(agent);
        for text in &verdict.results {
            self.step(Event::Audited { id: work.task.clone(), text: text.clone() })?;
        }
        match verdict.failure {
            None => self.release(agent, Status::Done, "complete and verified", false)?,
            Some(failure) => {
                self.notes.entry(work.task.clone()).or_default().push(format!("## Verification failed\n\n{}", failure.details));
                self.warn(format!("{}: {}", work.task, failure.summary));
                self.back_off(agent.as_str());
                self.step(Event::VerificationFailed { agent: agent.clone(), why: failure.summary })?;
            }
        }
        Ok(true)
    }

    /// The agent asks a human: a gate, and another iteration with the answer.
    fn ask(&mut self, agent: &AgentId, work: &Work, question: &str) -> Result<bool> {
        let decision = self.gate(GateKind::Question, &work.task).map(|gate| gate.decision.clone());
        match decision {
            None => self.open_gate(GateKind::Question, &work.task, question.to_owned(), Vec::new())?,
            Some(None) => return Ok(false),
            Some(Some(Decision::Rejected { reason })) => {
                self.close_gate(GateKind::Question, &work.task, "rejected")?;
                self.release(agent, Status::Blocked, &reason, false)?;
            }
            Some(Some(decision)) => {
                if !self.may_iterate(agent) {
                    return Ok(false);
                }
                let answer = match decision {
                    Decision::Answered { text } => text,
                    Decision::Approved | Decision::Rejected { .. } => "Yes.".to_owned(),
                };
                let note = format!("## Answer of a human\n\nYou asked: {question}\n\nThe answer: {answer}");
                self.notes.entry(work.task.clone()).or_default().push(note);
                self.start_iteration(agent, work)?;
                self.close_gate(GateKind::Question, &work.task, "answered")?;
            }
        }
        Ok(true)
    }

    /// Frees an agent that runs no program, because somebody wants it to end; what its last iteration came to decides what
    /// becomes of the task.
    pub(super) fn halt(&mut self, agent: &AgentId, halt: Halt) -> Result<()> {
        let Some(work) = self.work_of(agent).cloned() else { return Ok(()) };
        let last = match &work.stage {
            Stage::Between { last } => last.as_ref(),
            Stage::Intended { .. } | Stage::Running { .. } => None,
        };
        let left = after_halt(halt, last, &self.context.state().case(&work.task)?.verify);
        let branch = self.context.state().restorable.workspaces.get(&work.task).map(|workspace| workspace.branch.clone());
        let complete = match branch.filter(|_| left.complete) {
            Some(branch) => self.context.repo.read_ref(&branch)?,
            None => None,
        };
        self.release_with(agent, left.status, &left.reason, Counts { retry: false, complete })
    }

    /// Frees the agent; the task gets `status`.
    pub(super) fn release(&mut self, agent: &AgentId, status: Status, reason: &str, retry: bool) -> Result<()> {
        self.release_with(agent, status, reason, Counts { retry, complete: None })
    }

    fn release_with(&mut self, agent: &AgentId, status: Status, reason: &str, counts: Counts) -> Result<()> {
        let Some(work) = self.context.state().restorable.agents.get(agent).and_then(|agent| agent.work.clone()) else {
            return Ok(());
        };
        self.verifying.remove(agent);
        let Counts { retry, complete } = counts;
        self.step(Event::WorkReleased { agent: agent.clone(), status, reason: reason.to_owned(), retry, complete })?;
        env::fault_point("settle.released");
        self.close_gate(GateKind::Question, &work.task, "the task was released")?;
        self.no_back_off(agent.as_str());
        self.tell(Notice::Released { agent: agent.clone(), task: work.task.clone(), status, reason: reason.to_owned() });
        self.context.store.save_snapshot()?;
        let every = self.context.config.checkpoints.periodic;
        if status == Status::Done && every > 0 && self.context.state().record.tasks_completed.is_multiple_of(every) {
            // The task is done already. A checkpoint that cannot be made now is no reason to stop everything.
            if let Err(error) = self.make_checkpoint(Trigger::Periodic) {
                self.warn(format!("no periodic checkpoint: {error}"));
            }
        }
        Ok(())
    }

    /// Frees the agent because something is broken that a human has to look at.
    pub(super) fn release_with_gate(&mut self, agent: &AgentId, why: &str) -> Result<()> {
        self.release(agent, Status::Blocked, why, false)
    }
}
