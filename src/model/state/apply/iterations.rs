//! How events change an iteration: intended, started, what its agent signals, its end, and what is verified of it.

use super::{Result, agent_work, refuse, session, spending};
use crate::base::ids::{AgentId, TaskId, Token};
use crate::base::names::Oid;
use crate::state::current_state::State;
use crate::work::agent::{AgentWork, EarlierReports, IterationStage};
use crate::work::endings::last_run::LastIteration;
use crate::work::iteration::{IterationOutcome, IterationReport};
use crate::work::money::spending::TaskResult;
use crate::work::permissions::permission_question::{PermissionEnd, PermissionStanding};
use crate::work::signals::signal::AgentSignal;
use crate::work::verifying::kept_results;
use crate::work::verifying::kept_results::KeptVerifyResult;
use crate::work::verifying::verification::{MergeVerification, ProgramUsage, VerifyStepResult};
use axiom_base::error::Code;
use jiff::Timestamp;

pub(super) fn start_iteration(state: &mut State, agent: &AgentId, token: &Token, pid: u32, at: Timestamp) -> Result<()> {
    let work = agent_work::work_with(state, agent, token)?;
    work.stage = IterationStage::Running { token: token.clone(), pid };
    work.last_activity = at;
    let task = work.task.clone();
    // The program has it in its prompt.
    if let Some(record) = state.record.tasks.get_mut(&task) {
        record.told();
    }
    state.record.session_time.begun(at);
    Ok(())
}

pub(super) fn intend<'s>(
    state: &'s mut State,
    agent: &AgentId,
    iteration: u32,
    token: &Token,
    at: Timestamp,
) -> Result<&'s mut AgentWork> {
    let seq = state.seq;
    let work = agent_work::work_of(state, agent)?;
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
    if let Some(record) = state.record.tasks.get_mut(&task) {
        record.set_aside = None;
    }
    let reports = state.restorable.reports.get(&task).cloned().unwrap_or_default();
    let work = agent_work::work_of(state, agent)?;
    work.said_before = Some(Box::new(EarlierReports { seq, reports }));
    Ok(work)
}

impl State {
    /// Takes up a signal that an agent sent at this time.
    pub fn signalled(&mut self, agent: &AgentId, token: &Token, signal: &AgentSignal, at: Timestamp) -> Result<()> {
        let work = agent_work::work_with(self, agent, token)?;
        work.last_activity = at;
        work.signals += 1;
        if let AgentSignal::Progress { percent } = signal {
            work.progress = Some(*percent);
        }
        if let AgentSignal::Phase { name, .. } = signal {
            work.phase = Some(name.clone());
        }
        let task = work.task.clone();
        if let Some(result) = result_of_permission(signal) {
            spending::became(self, &task, result, at);
        }
        self.restorable.reports.entry(task).or_default().hear(signal, at);
        Ok(())
    }
}

/// What an answer to an agent counts as.
fn result_of_permission(signal: &AgentSignal) -> Option<TaskResult> {
    if let AgentSignal::PermissionAsked(question) = signal {
        return (question.standing == PermissionStanding::Forbidden).then_some(TaskResult::Refused);
    }
    let AgentSignal::PermissionEnded { end, .. } = signal else { return None };
    match end {
        PermissionEnd::Allowed => Some(TaskResult::Permitted),
        PermissionEnd::Rejected | PermissionEnd::Unanswered => Some(TaskResult::Refused),
        PermissionEnd::Cancelled => None,
    }
}

pub(super) fn end_iteration(
    state: &mut State,
    agent: &AgentId,
    token: &Token,
    report: &IterationReport,
    at: Timestamp,
) -> Result<()> {
    let work = agent_work::work_with(state, agent, token)?;
    work.last_activity = at;
    if report.not_started {
        work.iteration = work.iteration.saturating_sub(1);
        work.stage = IterationStage::Between { last: None };
        session::end_program(state, (report, false), at);
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
        agent_work::withdraw(state, agent);
    }
    let reports = state.restorable.reports.entry(task.clone()).or_default();
    reports.iteration = made;
    reports.iterated(report, at);
    let record = state.record.tasks.entry(task.clone()).or_default();
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
    spending::ran(state, agent, &task, report, at);
    session::end_program(state, (report, never_seen), at);
    state.record.last_action = Some(format!("iteration of {task} ended"));
    Ok(())
}

pub(super) fn fail_verification(state: &mut State, agent: &AgentId, why: &str, round: u32, at: Timestamp) -> Result<()> {
    let work = agent_work::work_of(state, agent)?;
    if !matches!(work.stage, IterationStage::Between { last: Some(IterationOutcome::Complete) }) {
        return refuse(Code::InvalidTransition, format!("agent '{agent}' has nothing to verify"));
    }
    work.stage = IterationStage::Between { last: Some(IterationOutcome::Unfinished { why: why.to_owned() }) };
    work.last_activity = at;
    (work.progress, work.phase) = (None, None);
    let task = work.task.clone();
    state.record.last_action = Some(format!("verification of {task} failed"));
    let record = state.record.tasks.entry(task.clone()).or_default();
    record.failed_rounds = round;
    if let Some(run) = &mut record.last_run {
        run.failed_verify = Some(why.to_owned());
    }
    let reports = state.restorable.reports.entry(task).or_default();
    reports.give_back();
    reports.verified = Some(false);
    Ok(())
}

pub(super) fn step_verified(state: &mut State, task: &TaskId, of: &Oid, result: &VerifyStepResult, at: Timestamp) -> Result<()> {
    let steps = state.task(task)?.verify.clone();
    spending::looked(state, task, result, at);
    let record = state.record.tasks.entry(task.clone()).or_default();
    kept_results::keep(&mut record.verified, KeptVerifyResult { of: of.clone(), result: result.clone() }, &steps);
    Ok(())
}

pub(super) fn look_cut_off(
    state: &mut State,
    task: &TaskId,
    persona: &str,
    used: (&ProgramUsage, u64),
    at: Timestamp,
) -> Result<()> {
    state.task(task)?;
    spending::paid_for_look(state, task, persona, used, at);
    Ok(())
}

pub(super) fn verified(state: &mut State, task: &TaskId, verification: &MergeVerification, at: Timestamp) -> Result<()> {
    state.task(task)?;
    let older = state.record.tasks.get(task).and_then(|record| record.merge_verified.clone());
    verification.news(older.as_deref()).for_each(|result| spending::looked(state, task, result, at));
    let record = state.record.tasks.entry(task.clone()).or_default();
    record.merge_verified = Some(Box::new(verification.clone()));
    // As long as steps are left to run, nothing is known.
    let known = verification.ran_commands() && (verification.passed() || verification.failed().is_some());
    if let Some(reports) = state.restorable.reports.get_mut(task).filter(|_| known) {
        reports.verified = Some(verification.summary().is_none());
    }
    Ok(())
}
