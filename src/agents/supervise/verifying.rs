//! Running the verify steps of a task that an agent reported as complete, in the background; and what follows from their results.

use std::collections::VecDeque;
use std::path::Path;
use std::thread::JoinHandle;

use super::core::SessionCore;
use super::desk::SessionDesk;
use super::notice::SessionNotice;
use axiom_base::error::Result;
use axiom_model::base::ids::{AgentId, TaskId};
use axiom_model::base::names::Oid;
use axiom_model::queries::task_checks::TaskCheckSubject;
use axiom_model::state::event::Event;
use axiom_model::work::agent::AgentWork;
use axiom_model::work::gates::gate::TaskHoldReason;
use axiom_model::work::tasks::task::TaskStatus;
use axiom_model::work::verifying::checks::kept_results;
use axiom_model::work::verifying::checks::named_step::NamedVerifyStep;
use axiom_safety::checkpoint::target_branch;
use axiom_safety::running::steps;
use axiom_safety::running::steps::untouched::UntouchedWorkspace;
use axiom_safety::running::steps::{
    AfterStepFailure, EndedStepReport, RunningStep, RunningStepJob, StepCommits, StepContext, StepFailure, StepJob, StepRunner,
    cut_off, untouched,
};

/// A running verification of a task: of some of its steps.
#[derive(Debug)]
pub(super) struct TaskVerificationRun {
    /// The commit of the branch that it looks at.
    of: Oid,
    /// How many steps of the task have passed before, and how many it has.
    counts: (usize, usize),
    running: RunningStepJob,
    /// Results that are not in the log yet.
    to_record: VecDeque<EndedStepReport>,
    /// What the persona that runs has found in the workspace.
    found: Option<UntouchedWorkspace>,
    /// Why it has not passed although its program said so.
    touched: Option<StepFailure>,
}

impl TaskVerificationRun {
    /// Ends it, and waits for nothing.
    pub(super) fn give_up(self) -> Option<JoinHandle<()>> {
        self.running.give_up()
    }

    /// The step that runs now, by its name and counted among all of the task.
    pub(super) fn now(&self) -> Option<RunningStep> {
        let now = self.running.now()?;
        let (passed, of) = self.counts;
        Some(RunningStep { name: NamedVerifyStep::of(&now.name).label().to_owned(), place: now.place + passed, of, ..now })
    }
}

impl SessionCore<'_> {
    /// Runs the task's verify steps that have not passed on the branch's commit; when all have, the task is done. Each result is
    /// recorded as soon as it is there, so that a crash costs only the step that runs.
    pub(super) fn verify(&mut self, agent: &AgentId, work: &AgentWork) -> Result<bool> {
        let Some(mut verifying) = self.runs.at(agent).verifying.take() else { return self.begin_to_verify(agent, work) };
        if let Err(error) = record_ended(&mut self.desk, work, &mut verifying) {
            self.runs.at(agent).verifying = Some(verifying);
            return Err(error);
        }
        let Some(verdict) = verifying.running.verdict() else {
            self.runs.at(agent).verifying = Some(verifying);
            return Ok(false);
        };
        self.desk.tell(SessionNotice::ChecksEnded { agent: agent.clone() });
        // The last step may have ended since.
        record_ended(&mut self.desk, work, &mut verifying)?;
        match (verdict.not_run, verifying.touched.or(verdict.failure)) {
            (Some(error), _) => Err(error),
            (None, Some(failure)) => self.verification_failed(agent, work, failure).map(|()| true),
            // The next look finds that nothing is left to run, or what has changed meanwhile.
            (None, None) => Ok(true),
        }
    }

    fn begin_to_verify(&mut self, agent: &AgentId, work: &AgentWork) -> Result<bool> {
        // The next look takes the place of what an earlier one has left.
        self.desk.count_cut_off(Some(&work.task))?;
        let state = self.desk.ctx.state();
        let task = state.task(&work.task)?;
        if task.verify.is_empty() {
            self.release(agent, TaskStatus::Done, "complete", false)?;
            return Ok(true);
        }
        let workspace = state.restorable.workspaces.get(&work.task).cloned();
        let tip =
            workspace.as_ref().map(|workspace| self.desk.ctx.repo.refs().read_ref(&workspace.branch)).transpose()?.flatten();
        let (Some(workspace), Some(of)) = (workspace, tip) else {
            self.hold_back(agent, TaskHoldReason::Broken, "its workspace or its branch is gone")?;
            return Ok(true);
        };
        let known = state.record.tasks.get(&work.task).map_or(&[][..], |record| &record.verified);
        let to_run = kept_results::still_to_run(known, &task.verify, &of);
        if to_run.is_empty() {
            self.release(agent, TaskStatus::Done, "complete and verified", false)?;
            return Ok(true);
        }
        let counts = (task.verify.len().saturating_sub(to_run.len()), task.verify.len());
        let now = kept_results::first_together(&to_run);
        let called: Vec<String> = now.iter().map(|(_, step)| NamedVerifyStep::of(step).label().to_owned()).collect();
        let is_persona = now.iter().any(|(_, step)| NamedVerifyStep::of(step).persona().is_some());
        let target = self.desk.ctx.repo.refs().read_ref(&target_branch(self.desk.ctx)?)?;
        let difference = target.as_ref().map(|target| StepCommits { from: target, to: &of });
        let about = StepContext {
            task: &work.task,
            agent: Some(agent),
            what: TaskCheckSubject::Task.as_str(),
            of: of.as_str(),
            work: difference,
        };
        let steps = steps::commands(self.desk.ctx, now, Path::new(&workspace.path), about)?;
        let found = if is_persona { Some(untouched::look(self.desk.ctx, &workspace)?) } else { None };
        let job = StepJob::new(self.desk.ctx, StepRunner::Session, AfterStepFailure::Stop, steps);
        let running = steps::start(job, self.bell.rope().ok());
        self.desk.tell(SessionNotice::Verifying { agent: agent.clone(), task: work.task.clone(), steps: called });
        self.runs.at(agent).verifying =
            Some(TaskVerificationRun { of, counts, running, to_record: VecDeque::new(), found, touched: None });
        Ok(true)
    }

    fn verification_failed(&mut self, agent: &AgentId, work: &AgentWork, failure: StepFailure) -> Result<()> {
        let before = self.desk.ctx.state().record.tasks.get(&work.task).map_or(0, |record| record.failed_rounds);
        let round = before.saturating_add(1);
        self.tasks.notes.entry(work.task.clone()).or_default().verification = Some(failure.details);
        self.desk.warn(format!("{}: {}", work.task, failure.summary));
        self.runs.back_off(agent);
        self.desk.step(Event::VerificationFailed { agent: agent.clone(), why: failure.summary, round })
    }
}

impl SessionDesk<'_> {
    /// Counts what personas used whose looks at this task, or at any, were cut off.
    pub(super) fn count_cut_off(&mut self, task: Option<&TaskId>) -> Result<()> {
        for look in cut_off::find(self.ctx, task)? {
            look.event.clone().map_or(Ok(()), |event| self.step(event))?;
            look.recorded();
        }
        Ok(())
    }
}

/// Records the results of the steps that have ended. One that cannot be recorded stays, with those after it.
fn record_ended(desk: &mut SessionDesk<'_>, work: &AgentWork, verifying: &mut TaskVerificationRun) -> Result<()> {
    for mut ran in verifying.running.ended() {
        if let Some(found) = verifying.found.take() {
            verifying.touched = untouched::judge(desk.ctx, desk.by.clone(), &work.task, &found, &mut ran);
        }
        verifying.to_record.push_back(ran);
    }
    while let Some(ran) = verifying.to_record.front() {
        let (id, of, result) = (work.task.clone(), verifying.of.clone(), Box::new(ran.result.clone()));
        desk.step(Event::StepVerified { id, of, result })?;
        verifying.to_record.pop_front();
    }
    Ok(())
}
