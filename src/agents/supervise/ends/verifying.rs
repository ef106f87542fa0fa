//! Running the verify steps of a task that an agent reported as complete, in the background; and what follows from their results.

use std::path::Path;

use crate::supervise::core::SessionCore;
use crate::supervise::core::task_verification::TaskVerificationRun;
use crate::supervise::shown::notice::SessionNotice;
use axiom_base::error::Result;
use axiom_model::base::ids::AgentId;
use axiom_model::queries::task_checks::TaskCheckSubject;
use axiom_model::state::event::Event;
use axiom_model::work::agent::{AgentWork, Workspace};
use axiom_model::work::gates::gate::TaskHoldReason;
use axiom_model::work::tasks::task::TaskStatus;
use axiom_model::work::verifying::checks::named_step::NamedVerifyStep;
use axiom_model::work::verifying::kept_results;
use axiom_safety::context::target::target_branch;
use axiom_safety::folders::workspaces;
use axiom_safety::running::steps;
use axiom_safety::running::steps::{AfterStepFailure, StepCommits, StepContext, StepFailure, StepJob, StepRunner, untouched};

impl SessionCore<'_> {
    /// Runs the task's verify steps that have not passed on the branch's commit; when all have, the task is done. Each result is
    /// recorded as soon as it is there, so that a crash costs only the step that runs.
    pub(crate) fn verify(&mut self, agent: &AgentId, work: &AgentWork) -> Result<bool> {
        let Some(mut verifying) = self.runs.at(agent).verifying.take() else { return self.begin_to_verify(agent, work) };
        if let Err(error) = verifying.record_ended(&mut self.desk, work) {
            self.runs.at(agent).verifying = Some(verifying);
            return Err(error);
        }
        let Some(verdict) = verifying.verdict() else {
            self.runs.at(agent).verifying = Some(verifying);
            return Ok(false);
        };
        self.desk.tell(SessionNotice::ChecksEnded { agent: agent.clone() });
        // The last step may have ended since.
        verifying.record_ended(&mut self.desk, work)?;
        match (verdict.not_run, verifying.touched().or(verdict.failure)) {
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
            self.release(agent, TaskStatus::Done, "complete")?;
            return Ok(true);
        }
        let workspace = state.restorable.workspaces.get(&work.task).cloned();
        let tip =
            workspace.as_ref().map(|workspace| self.desk.ctx.repo.refs().read_ref(&workspace.branch)).transpose()?.flatten();
        let (Some(workspace), Some(of)) = (workspace.as_ref(), tip) else {
            let gone = |workspace: &Workspace| workspaces::branch_is_gone(self.desk.ctx, workspace);
            let why = workspace.as_ref().map_or_else(|| "its workspace is gone".to_owned(), gone);
            self.hold_back(agent, TaskHoldReason::Broken, &why)?;
            return Ok(true);
        };
        let known = state.record.tasks.get(&work.task).map_or(&[][..], |record| &record.verified);
        let to_run = kept_results::still_to_run(known, &task.verify, &of);
        if to_run.is_empty() {
            self.release(agent, TaskStatus::Done, "complete and verified")?;
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
        let found = if is_persona { Some(untouched::look(self.desk.ctx, workspace)?) } else { None };
        let job = StepJob::new(self.desk.ctx, StepRunner::Session, AfterStepFailure::Stop, steps);
        let running = steps::start(job, self.bell.rope().ok());
        self.desk.tell(SessionNotice::Verifying { agent: agent.clone(), task: work.task.clone(), steps: called });
        self.runs.at(agent).verifying = Some(TaskVerificationRun::of((of, counts), running, found));
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
