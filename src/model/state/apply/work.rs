//! How events change agents and their work: claim, iterations, signals, release.

use crate::state::delayed_steps;
use jiff::Timestamp;

use super::{Result, refuse};
use crate::base::ids::{AgentId, TaskId, Token};
use crate::base::names::Oid;
use crate::state::current_state::State;
use crate::work::agent::{Agent, AgentWork, Workspace};
use crate::work::endings::conflict::AssignedConflict;
use crate::work::endings::delay::DelayedSessionStep;
use crate::work::iteration::IterationOutcome;
use crate::work::money::spending::TaskResult;
use crate::work::signals::report_parts::TaskCaptureRecord;
use crate::work::tasks::task::{TaskKind, TaskStatus};
use axiom_base::error::Code;

impl State {
    /// A new workspace: what was known of the work in the last one does not count for it.
    pub(super) fn open_workspace(&mut self, task: &TaskId, workspace: &Workspace) -> Result<()> {
        self.task(task)?;
        self.restorable.workspaces.insert(task.clone(), workspace.clone());
        self.restorable.reports.remove(task);
        let at_work = self.restorable.agents.values_mut().filter_map(|agent| agent.work.as_mut());
        for work in at_work.filter(|work| work.task == *task) {
            (work.iteration, work.progress, work.phase) = (0, None, None);
        }
        if let Some(record) = self.record.tasks.get_mut(task) {
            record.last_run = None;
            record.edited.clear();
            record.verified.clear();
            record.merge_verified = None;
            if let Some(recovery) = &mut record.recovery {
                recovery.puts_aside = false;
            }
            record.set_aside = None;
            record.conflict = None;
        }
        self.make_branch(&workspace.branch);
        Ok(())
    }

    pub(super) fn claim(&mut self, agent: &AgentId, task: &TaskId, complete: bool, at: Timestamp) -> Result<()> {
        let case = self.task(task)?;
        if case.status != TaskStatus::Pending || case.kind != TaskKind::Task {
            return refuse(
                Code::InvalidTransition,
                format!("'{task}' is a {} that is {}, not a pending task", case.kind, case.status),
            );
        }
        if self.restorable.agents.get(agent).is_some_and(|agent| agent.work.is_some()) {
            return refuse(Code::InvalidTransition, format!("agent '{agent}' is busy"));
        }
        let reports = self.restorable.reports.entry(task.clone()).or_default();
        reports.started_at = reports.started_at.or(Some(at));
        reports.recorded_at = Some(at);
        let iteration = reports.iteration;
        let work =
            AgentWork { iteration, ..AgentWork::claimed(task.clone(), complete.then_some(IterationOutcome::Complete), at) };
        self.restorable.agents.insert(agent.clone(), Agent { id: agent.clone(), work: Some(work) });
        if let Some(case) = self.restorable.tasks.get_mut(task) {
            case.status = TaskStatus::Active;
            case.reason = None;
        }
        let record = self.record.tasks.entry(task.clone()).or_default();
        record.last_agent = Some(agent.clone());
        record.complete = None;
        if let Some(recovery) = &mut record.recovery {
            recovery.puts_aside = false;
        }
        self.record.last_action = Some(format!("{agent} claimed {task}"));
        Ok(())
    }

    pub(super) fn work_of(&mut self, agent: &AgentId) -> Result<&mut AgentWork> {
        match self.restorable.agents.get_mut(agent).and_then(|agent| agent.work.as_mut()) {
            Some(work) => Ok(work),
            None => refuse(Code::InvalidTransition, format!("agent '{agent}' is not working")),
        }
    }

    pub(super) fn work_with(&mut self, agent: &AgentId, token: &Token) -> Result<&mut AgentWork> {
        let work = self.work_of(agent)?;
        if work.stage.token() == Some(token) {
            Ok(work)
        } else {
            refuse(Code::InvalidTransition, format!("'{agent}' is in another iteration"))
        }
    }

    /// Records a conflict for the next iteration; that the task is pending again is an edit of its own.
    pub(super) fn give_back(&mut self, task: &TaskId, conflict: &AssignedConflict) -> Result<()> {
        self.task(task)?;
        self.record.tasks.entry(task.clone()).or_default().conflict = Some(Box::new(conflict.clone()));
        self.record.last_action = Some(format!("{task} conflicts"));
        Ok(())
    }

    /// Records what is tried again later. It ends with the session: the next one tries everything at once.
    pub(super) fn delay(&mut self, task: &TaskId, delay: Option<&DelayedSessionStep>) -> Result<()> {
        self.task(task)?;
        match delay {
            Some(delay) => {
                self.record.last_action = Some(format!("{task} {}", delay.in_short()));
                self.record.delays.insert(task.clone(), delay.clone());
            }
            None => drop(self.record.delays.remove(task)),
        }
        Ok(())
    }

    /// After each event: a delay exists only while its step is still going to be tried.
    pub(super) fn end_delays(&mut self) {
        let delays = self.record.delays.iter();
        let ended = delays.filter(|(task, delay)| !delayed_steps::is_still_tried(self, task, delay.step));
        let ended: Vec<TaskId> = ended.map(|(task, _)| task.clone()).collect();
        ended.iter().for_each(|task| drop(self.record.delays.remove(task)));
    }

    pub(super) fn captured(&mut self, task: &TaskId, captured: TaskCaptureRecord) -> Result<()> {
        self.task(task)?;
        // Without a workspace there is nothing left that was captured.
        if self.restorable.workspaces.contains_key(task) {
            let reports = self.restorable.reports.entry(task.clone()).or_default();
            // What is there now, not what iterations that ended had changed.
            reports.files_modified = captured.lines.map_or(reports.files_modified, |lines| lines.files);
            reports.recorded_at = Some(captured.at);
            reports.captured = Some(captured);
        }
        self.record.last_action = Some(format!("captured the workspace of {task}"));
        Ok(())
    }

    pub(super) fn release(
        &mut self,
        agent: &AgentId,
        status: TaskStatus,
        reason: &str,
        (retry, discarded, goes_on): (bool, bool, bool),
        complete: Option<&Oid>,
        at: Timestamp,
    ) -> Result<()> {
        if status == TaskStatus::Active {
            return refuse(Code::InvalidTransition, "a released task is not active");
        }
        let task = self.work_of(agent)?.task.clone();
        if discarded {
            self.withdraw(agent);
        }
        if status == TaskStatus::Failed {
            self.became(&task, TaskResult::Failed, at);
        }
        if let Some(agent) = self.restorable.agents.get_mut(agent) {
            agent.work = None;
        }
        // Nobody works towards it any more.
        if let Some(reports) = self.restorable.reports.get_mut(&task) {
            reports.expected_at = None;
        }
        let mut verifies = false;
        if let Some(case) = self.restorable.tasks.get_mut(&task) {
            verifies = !case.verify.is_empty();
            case.status = status;
            case.reason = matches!(status, TaskStatus::Blocked | TaskStatus::Failed).then(|| reason.to_owned());
        }
        let record = self.record.tasks.entry(task.clone()).or_default();
        if retry {
            record.retry_count += 1;
        }
        record.interrupted = retry;
        // What a pause or the end of a session cut short goes on with its count.
        if !goes_on {
            record.failed_rounds = 0;
        }
        if let Some(recovery) = &mut record.recovery {
            recovery.open = false;
        }
        record.complete = complete.filter(|_| status == TaskStatus::Pending).cloned();
        if status == TaskStatus::Done {
            record.answer = None;
            record.answered.clear();
            record.last_run = None;
            record.recovery = None;
            record.set_aside = None;
            if let Some(reports) = self.restorable.reports.get_mut(&task) {
                reports.completed();
                // It is done only when its verify steps have passed.
                reports.verified = verifies.then_some(true).or(reports.verified);
            }
            self.record.tasks_completed += 1;
        }
        self.record.last_action = Some(format!("{task} is {status}"));
        Ok(())
    }
}
