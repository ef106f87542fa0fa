//! How events change agents and their work: claim, iterations, signals, release.

use crate::state::delayed_steps;
use jiff::Timestamp;

use super::{Result, agent_work, refuse, spending};
use crate::base::ids::{AgentId, TaskId};
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

/// A workspace goes. What was reported is of work that is on the task's branch, where it was handed on.
pub(super) fn close_workspace(state: &mut State, task: &TaskId, handed_on: bool) {
    state.restorable.workspaces.remove(task);
    if let Some(reports) = state.restorable.reports.get_mut(task) {
        reports.on_branch = handed_on;
    }
}

/// A new workspace: what was known of the work in the last one does not count for it, but where its branch has that work.
pub(super) fn open_workspace(state: &mut State, task: &TaskId, workspace: &Workspace, goes_on: bool) -> Result<()> {
    state.task(task)?;
    state.restorable.workspaces.insert(task.clone(), workspace.clone());
    if let Some(reports) = state.restorable.reports.get_mut(task).filter(|reports| goes_on && reports.on_branch) {
        reports.on_branch = false;
        state.make_branch(&workspace.branch);
        return Ok(());
    }
    state.restorable.reports.remove(task);
    let at_work = state.restorable.agents.values_mut().filter_map(|agent| agent.work.as_mut());
    for work in at_work.filter(|work| work.task == *task) {
        (work.iteration, work.progress, work.phase) = (0, None, None);
    }
    if let Some(record) = state.record.tasks.get_mut(task) {
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
    state.make_branch(&workspace.branch);
    Ok(())
}

pub(super) fn claim(state: &mut State, agent: &AgentId, task: &TaskId, complete: bool, at: Timestamp) -> Result<()> {
    let case = state.task(task)?;
    if case.status != TaskStatus::Pending || case.kind != TaskKind::Task {
        return refuse(
            Code::InvalidTransition,
            format!("'{task}' is a {} that is {}, not a pending task", case.kind, case.status),
        );
    }
    if state.restorable.agents.get(agent).is_some_and(|agent| agent.work.is_some()) {
        return refuse(Code::InvalidTransition, format!("agent '{agent}' is busy"));
    }
    let reports = state.restorable.reports.entry(task.clone()).or_default();
    reports.started_at = reports.started_at.or(Some(at));
    reports.recorded_at = Some(at);
    let iteration = reports.iteration;
    let work = AgentWork { iteration, ..AgentWork::claimed(task.clone(), complete.then_some(IterationOutcome::Complete), at) };
    state.restorable.agents.insert(agent.clone(), Agent { id: agent.clone(), work: Some(work) });
    if let Some(case) = state.restorable.tasks.get_mut(task) {
        case.status = TaskStatus::Active;
        case.reason = None;
    }
    let record = state.record.tasks.entry(task.clone()).or_default();
    record.last_agent = Some(agent.clone());
    record.complete = None;
    if let Some(recovery) = &mut record.recovery {
        recovery.puts_aside = false;
    }
    state.record.last_action = Some(format!("{agent} claimed {task}"));
    Ok(())
}

/// Records a conflict for the next iteration; that the task is pending again is an edit of its own.
pub(super) fn give_back(state: &mut State, task: &TaskId, conflict: &AssignedConflict) -> Result<()> {
    state.task(task)?;
    state.record.tasks.entry(task.clone()).or_default().conflict = Some(Box::new(conflict.clone()));
    state.record.last_action = Some(format!("{task} conflicts"));
    Ok(())
}

/// Records what is tried again later. It ends with the session: the next one tries everything at once.
pub(super) fn delay(state: &mut State, task: &TaskId, delay: Option<&DelayedSessionStep>) -> Result<()> {
    state.task(task)?;
    match delay {
        Some(delay) => {
            state.record.last_action = Some(format!("{task} {}", delay.in_short()));
            state.record.delays.insert(task.clone(), delay.clone());
        }
        None => drop(state.record.delays.remove(task)),
    }
    Ok(())
}

/// After each event: a delay exists only while its step is still going to be tried.
pub(super) fn end_delays(state: &mut State) {
    let delays = state.record.delays.iter();
    let ended = delays.filter(|(task, delay)| !delayed_steps::is_still_tried(state, task, delay.step));
    let ended: Vec<TaskId> = ended.map(|(task, _)| task.clone()).collect();
    ended.iter().for_each(|task| drop(state.record.delays.remove(task)));
}

pub(super) fn captured(state: &mut State, task: &TaskId, captured: TaskCaptureRecord) -> Result<()> {
    state.task(task)?;
    // Without a workspace there is nothing left that was captured.
    if state.restorable.workspaces.contains_key(task) {
        let reports = state.restorable.reports.entry(task.clone()).or_default();
        // What is there now, not what iterations that ended had changed.
        reports.files_modified = captured.lines.map_or(reports.files_modified, |lines| lines.files);
        // Recovery captures too: a sign of life is what the agent changed.
        let changed = captured.changed_at.map(|_| captured.seen_at_work());
        reports.recorded_at = reports.recorded_at.max(changed).or(Some(captured.at));
        reports.captured = Some(captured);
    }
    state.record.last_action = Some(format!("captured the workspace of {task}"));
    Ok(())
}

pub(super) fn release(
    state: &mut State,
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
    let task = agent_work::work_of(state, agent)?.task.clone();
    if discarded {
        agent_work::withdraw(state, agent);
    }
    if status == TaskStatus::Failed {
        spending::became(state, &task, TaskResult::Failed, at);
    }
    if let Some(agent) = state.restorable.agents.get_mut(agent) {
        agent.work = None;
    }
    // Nobody works towards it any more.
    if let Some(reports) = state.restorable.reports.get_mut(&task) {
        reports.expected_at = None;
    }
    let mut verifies = false;
    if let Some(case) = state.restorable.tasks.get_mut(&task) {
        verifies = !case.verify.is_empty();
        case.status = status;
        case.reason = matches!(status, TaskStatus::Blocked | TaskStatus::Failed).then(|| reason.to_owned());
    }
    let record = state.record.tasks.entry(task.clone()).or_default();
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
        if let Some(reports) = state.restorable.reports.get_mut(&task) {
            reports.completed();
            // It is done only when its verify steps have passed.
            reports.verified = verifies.then_some(true).or(reports.verified);
        }
        record.completed_at = Some(at);
        state.record.tasks_completed += 1;
    }
    state.record.last_action = Some(format!("{task} is {status}"));
    Ok(())
}
