//! How events change agents and their work: claim, iterations, signals, release.

use crate::state::delayed_steps;
use jiff::Timestamp;

use super::{Result, refuse};
use crate::base::ids::{AgentId, TaskId, Token};
use crate::base::names::Oid;
use crate::recovery::decide::{CrashAction, CrashDecision, LastCrashDecision};
use crate::state::current_state::State;
use crate::work::agent::{Agent, AgentWork, EarlierReports, IterationStage, Workspace};
use crate::work::endings::conflict::AssignedConflict;
use crate::work::endings::delay::DelayedSessionStep;
use crate::work::endings::last_run::LastIteration;
use crate::work::iteration::{IterationOutcome, IterationReport};
use crate::work::money::spending::TaskResult;
use crate::work::signals::report_parts::TaskCaptureRecord;
use crate::work::signals::signal::AgentSignal;
use crate::work::tasks::learnings;
use crate::work::tasks::task::{TaskKind, TaskStatus};
use crate::work::verifying::checks::kept_results;
use crate::work::verifying::checks::kept_results::KeptVerifyResult;
use crate::work::verifying::verification::{MergeVerification, ProgramUsage, VerifyStepResult};
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

    fn work_of(&mut self, agent: &AgentId) -> Result<&mut AgentWork> {
        match self.restorable.agents.get_mut(agent).and_then(|agent| agent.work.as_mut()) {
            Some(work) => Ok(work),
            None => refuse(Code::InvalidTransition, format!("agent '{agent}' is not working")),
        }
    }

    fn work_with(&mut self, agent: &AgentId, token: &Token) -> Result<&mut AgentWork> {
        let work = self.work_of(agent)?;
        if work.stage.token() == Some(token) {
            Ok(work)
        } else {
            refuse(Code::InvalidTransition, format!("'{agent}' is in another iteration"))
        }
    }

    pub(super) fn start_iteration(&mut self, agent: &AgentId, token: &Token, pid: u32, at: Timestamp) -> Result<()> {
        let work = self.work_with(agent, token)?;
        work.stage = IterationStage::Running { token: token.clone(), pid };
        work.last_activity = at;
        let task = work.task.clone();
        // The program has it in its prompt.
        if let Some(record) = self.record.tasks.get_mut(&task) {
            record.told();
        }
        self.record.session_time.begun(at);
        Ok(())
    }

    pub(super) fn intend(&mut self, agent: &AgentId, iteration: u32, token: &Token, at: Timestamp) -> Result<&mut AgentWork> {
        let seq = self.seq;
        let work = self.work_of(agent)?;
        // The last one that was allowed may be made again, and a human may have it counted from 1.
        if work.stage.token().is_some() || iteration == 0 || iteration > work.iteration.saturating_add(1) {
            return refuse(
                Code::InvalidTransition,
                format!("agent '{agent}' is not between iterations {} and {iteration}", work.iteration),
            );
        }
        work.iteration = iteration;
        work.signals = 0;
        work.added = 0;
        work.stage = IterationStage::Intended { token: token.clone() };
        work.last_activity = at;
        let task = work.task.clone();
        if let Some(record) = self.record.tasks.get_mut(&task) {
            record.set_aside = None;
        }
        let reports = self.restorable.reports.get(&task).cloned().unwrap_or_default();
        let work = self.work_of(agent)?;
        work.said_before = Some(Box::new(EarlierReports { seq, reports }));
        Ok(work)
    }

    /// Takes back what an agent said in its newest iteration: it was killed.
    fn withdraw(&mut self, agent: &AgentId) {
        let Some(work) = self.restorable.agents.get_mut(agent).and_then(|agent| agent.work.as_mut()) else { return };
        let Some(before) = work.said_before.take() else { return };
        (work.progress, work.phase) = (before.reports.progress, before.reports.phase.clone());
        let task = work.task.clone();
        self.restorable.reports.entry(task.clone()).or_default().withdraw(&before.reports);
        learnings::withdraw(&mut self.record.learnings, (agent, &task), before.seq);
    }

    /// Takes up a signal that an agent sent at this time.
    pub fn signalled(&mut self, agent: &AgentId, token: &Token, signal: &AgentSignal, at: Timestamp) -> Result<()> {
        let work = self.work_with(agent, token)?;
        work.last_activity = at;
        work.signals += 1;
        if let AgentSignal::Progress { percent } = signal {
            work.progress = Some(*percent);
        }
        if let AgentSignal::Phase { name, .. } = signal {
            work.phase = Some(name.clone());
        }
        let task = work.task.clone();
        self.restorable.reports.entry(task).or_default().hear(signal, at);
        Ok(())
    }

    pub(super) fn end_iteration(
        &mut self,
        agent: &AgentId,
        token: &Token,
        report: &IterationReport,
        at: Timestamp,
    ) -> Result<()> {
        let work = self.work_with(agent, token)?;
        work.last_activity = at;
        if report.not_started {
            work.iteration = work.iteration.saturating_sub(1);
            work.stage = IterationStage::Between { last: None };
            self.end_program(report, at);
            return Ok(());
        }
        let never_seen = matches!(work.stage, IterationStage::Intended { .. });
        work.stage = IterationStage::Between { last: Some(report.outcome.clone()) };
        work.same_ends = match (&work.silent_end, &report.silent_end) {
            (Some(before), Some(now)) if before.is_like(now) => work.same_ends + 1,
            (_, Some(_)) => 1,
            (_, None) => 0,
        };
        work.silent_end.clone_from(&report.silent_end);
        let iteration = work.iteration;
        if !report.counts() {
            work.iteration = work.iteration.saturating_sub(1);
        }
        let (task, made) = (work.task.clone(), work.iteration);
        if report.discarded {
            self.withdraw(agent);
        }
        let reports = self.restorable.reports.entry(task.clone()).or_default();
        reports.iteration = made;
        reports.iterated(report, at);
        let record = self.record.tasks.entry(task.clone()).or_default();
        // A program that was as quick as this ran before its start was recorded.
        if never_seen && (report.exit_code.is_some() || report.signal.is_some()) {
            record.told();
        }
        let never_began =
            never_seen && report.exit_code.is_none() && report.signal.is_none() && report.outcome == IterationOutcome::Stopped;
        if !never_began || record.last_run.is_none() {
            record.last_run = Some(Box::new(LastIteration::of(report, iteration, record.last_run.as_deref())));
        }
        record.interrupted = report.outcome == IterationOutcome::Crashed;
        if let (Some(round), Some(conflict)) = (report.conflict_round, &mut record.conflict) {
            conflict.round = round;
        }
        self.ran(agent, &task, report, at);
        self.end_program(report, at);
        self.record.last_action = Some(format!("iteration of {task} ended"));
        Ok(())
    }

    /// What becomes of a task after a crash, or after a pause: whether what is there is kept aside, and whether it was a pause.
    pub(super) fn decide(
        &mut self,
        agent: &AgentId,
        decision: &CrashDecision,
        (puts_aside, paused): (bool, bool),
        at: Timestamp,
    ) -> Result<()> {
        let decided = LastCrashDecision { decision: decision.clone(), at, open: false, puts_aside };
        if paused { self.decide_after_pause(agent, decided) } else { self.decide_after_crash(agent, decided) }
    }

    /// What becomes of a task after a crash. The release follows; where its work is complete, its verification.
    fn decide_after_crash(&mut self, agent: &AgentId, decided: LastCrashDecision) -> Result<()> {
        let work = self.work_of(agent)?;
        let action = decided.decision.action;
        let is_complete = action == CrashAction::NextTask;
        let last = |outcome| IterationStage::Between { last: Some(outcome) };
        // An agent that had reported that it is complete before the crash has its decision too.
        if work.stage != last(IterationOutcome::Crashed) && !(is_complete && work.stage == last(IterationOutcome::Complete)) {
            return refuse(Code::InvalidTransition, format!("agent '{agent}' was not cut off by a crash"));
        }
        if is_complete {
            work.stage = IterationStage::Between { last: Some(IterationOutcome::Complete) };
        }
        let task = work.task.clone();
        let record = self.record.tasks.entry(task.clone()).or_default();
        record.interrupted = !is_complete;
        record.set_aside = None;
        record.recovery = Some(Box::new(LastCrashDecision { open: !is_complete, ..decided }));
        self.record.last_action = Some(format!("{task}: {}", action.as_str()));
        Ok(())
    }

    /// How the work on a task goes on whose session was paused and then ended: its next iteration follows, its verification, or its
    /// release.
    fn decide_after_pause(&mut self, agent: &AgentId, decided: LastCrashDecision) -> Result<()> {
        let work = self.work_of(agent)?;
        if work.stage.token().is_some() {
            return refuse(Code::InvalidTransition, format!("agent '{agent}' is in an iteration"));
        }
        let action = decided.decision.action;
        let open = match action {
            CrashAction::ContinueTask => false,
            CrashAction::NextTask => {
                work.stage = IterationStage::Between { last: Some(IterationOutcome::Complete) };
                false
            }
            CrashAction::RestartTask | CrashAction::HumanReview => true,
        };
        let task = work.task.clone();
        let record = self.record.tasks.entry(task.clone()).or_default();
        record.set_aside = None;
        record.recovery = Some(Box::new(LastCrashDecision { open, ..decided }));
        self.record.last_action = Some(format!("{task}: {}", action.as_str()));
        Ok(())
    }

    pub(super) fn fail_verification(&mut self, agent: &AgentId, why: &str, round: u32, at: Timestamp) -> Result<()> {
        let work = self.work_of(agent)?;
        if !matches!(work.stage, IterationStage::Between { last: Some(IterationOutcome::Complete) }) {
            return refuse(Code::InvalidTransition, format!("agent '{agent}' has nothing to verify"));
        }
        work.stage = IterationStage::Between { last: Some(IterationOutcome::Unfinished { why: why.to_owned() }) };
        work.last_activity = at;
        (work.progress, work.phase) = (None, None);
        let task = work.task.clone();
        self.record.last_action = Some(format!("verification of {task} failed"));
        let record = self.record.tasks.entry(task.clone()).or_default();
        record.failed_rounds = round;
        if let Some(run) = &mut record.last_run {
            run.failed_verify = Some(why.to_owned());
        }
        let reports = self.restorable.reports.entry(task).or_default();
        reports.give_back();
        reports.verified = Some(false);
        Ok(())
    }

    pub(super) fn step_verified(&mut self, task: &TaskId, of: &Oid, result: &VerifyStepResult, at: Timestamp) -> Result<()> {
        let steps = self.task(task)?.verify.clone();
        self.looked(task, result, at);
        let record = self.record.tasks.entry(task.clone()).or_default();
        kept_results::keep(&mut record.verified, KeptVerifyResult { of: of.clone(), result: result.clone() }, &steps);
        Ok(())
    }

    pub(super) fn look_cut_off(&mut self, task: &TaskId, persona: &str, used: (&ProgramUsage, u64), at: Timestamp) -> Result<()> {
        self.task(task)?;
        self.paid_for_look(task, persona, used, at);
        Ok(())
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

    pub(super) fn verified(&mut self, task: &TaskId, verification: &MergeVerification, at: Timestamp) -> Result<()> {
        self.task(task)?;
        let older = self.record.tasks.get(task).and_then(|record| record.merge_verified.clone());
        verification.news(older.as_deref()).for_each(|result| self.looked(task, result, at));
        let record = self.record.tasks.entry(task.clone()).or_default();
        record.merge_verified = Some(Box::new(verification.clone()));
        // As long as steps are left to run, nothing is known.
        let known = verification.passed() || verification.failed().is_some();
        if let Some(reports) = self.restorable.reports.get_mut(task).filter(|_| known) {
            reports.verified = Some(verification.summary().is_none());
        }
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
