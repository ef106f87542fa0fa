//! How events change the sums of what was used, and of what became of work.

use jiff::Timestamp;

use crate::base::ids::{AgentId, TaskId};
use crate::journal::journaled::OperationKind;
use crate::planning::plan::{PLANNER, PLANNER_AGENT};
use crate::planning::step::PlannerRun;
use crate::state::current_state::State;
use crate::work::gates::gate::{Gate, GateDecision};
use crate::work::iteration::IterationReport;
use crate::work::money::budget::raised;
use crate::work::money::ledger::UsageOwner;
use crate::work::money::spending::{TaskResult, UsageTally};
use crate::work::restorable::restorable_changes::RestorableChanges;
use crate::work::tasks::task::{Task, TaskStatus};
use crate::work::verifying::verification::{ProgramUsage, VerifyStepResult};
use axiom_base::error::Result;

/// Counts an iteration that has ended.
pub(super) fn ran(state: &mut State, agent: &AgentId, task: &TaskId, report: &IterationReport, at: Timestamp) {
    let persona = state.restorable.tasks.get(task).and_then(|case| case.persona.as_deref()).unwrap_or_default();
    let most = state.record.ledger.most_of(&report.ran);
    state.record.ledger.ran(UsageOwner { agent: agent.as_str(), persona, program: &report.ran, at }, report);
    state.record.session_spent.add(report, most);
    state.record.tasks.entry(task.clone()).or_default().ran(report, most);
}

/// Counts what personas used that looked at the work on a task.
pub(super) fn looked(state: &mut State, task: &TaskId, result: &VerifyStepResult, at: Timestamp) {
    if let Some((persona, used, duration_ms)) = result.used() {
        paid_for_look(state, task, persona, (used, duration_ms), at);
    }
}

/// Counts what a persona used that looked at the work on a task, whether or not its look came to an end.
pub(super) fn paid_for_look(
    state: &mut State,
    task: &TaskId,
    persona: &str,
    (used, duration_ms): (&ProgramUsage, u64),
    at: Timestamp,
) {
    let record = state.record.tasks.entry(task.clone()).or_default();
    let most = state.record.ledger.most_of(&used.program);
    record.looked(used, duration_ms, most);
    let agent = record.last_agent.as_ref().map_or("", AgentId::as_str);
    state.record.session_spent.looked(used, duration_ms, most);
    let ended = used.ended_at.map_or(at, |ended| ended.min(at));
    state.record.session_time.ran_for(duration_ms, ended);
    state.record.ledger.looked(UsageOwner { agent, persona, program: &used.program, at }, used, duration_ms);
}

/// Counts what a planner used, for the goal that it planned.
pub(super) fn planned(state: &mut State, goal: &TaskId, run: &PlannerRun, at: Timestamp) {
    let PlannerRun { used, duration_ms } = run;
    let most = state.record.ledger.most_of(&used.program);
    state.record.tasks.entry(goal.clone()).or_default().planned(used, *duration_ms, most);
    state.record.ledger.planned(
        UsageOwner { agent: PLANNER_AGENT, persona: PLANNER, program: &used.program, at },
        used,
        *duration_ms,
    );
}

/// Counts what became of the work on a task, for whoever worked on it last.
pub(super) fn became(state: &mut State, task: &TaskId, what: TaskResult, at: Timestamp) {
    let record = state.record.tasks.entry(task.clone()).or_default();
    record.results.count(what);
    state.record.session_spent.results.count(what);
    let agent = record.last_agent.as_ref().map_or("", AgentId::as_str);
    let persona = state.restorable.tasks.get(task).and_then(|case| case.persona.as_deref()).unwrap_or_default();
    state.record.ledger.became(UsageOwner { agent, persona, program: &record.last_program, at }, what);
}

/// Counts what follows from a change of a task, as it was before. What is brought back was counted when it was merged, and is not taken
/// back any more.
pub(super) fn changed(state: &mut State, old: &Task, at: Timestamp) {
    let Some(new) = state.restorable.tasks.get(&old.id) else { return };
    let completed = &mut state.record.tasks_completed;
    match (old.status == TaskStatus::Done, new.status == TaskStatus::Done) {
        (true, false) => *completed = completed.saturating_sub(1),
        (false, true) => {
            *completed += 1;
            state.record.tasks.entry(old.id.clone()).or_default().completed_at.get_or_insert(at);
        }
        (true, true) | (false, false) => {}
    }
    let brings_back = state.record.open.as_ref().is_some_and(|open| match open.operation.kind {
        OperationKind::RollbackCheckpoint { .. } | OperationKind::RollbackTask { .. } | OperationKind::Undo { .. } => true,
        OperationKind::Merge { .. }
        | OperationKind::BeginMerge { .. }
        | OperationKind::RecoverFiles { .. }
        | OperationKind::StashTaken { .. }
        | OperationKind::DeleteCheckpoints { .. } => false,
    });
    let merged = match (&old.merged, &new.merged) {
        (None, Some(_)) if brings_back => Some(TaskResult::BroughtBack),
        (None, Some(_)) => Some(TaskResult::Merged),
        (Some(_), None) => Some(TaskResult::TakenBack),
        (None, None) | (Some(_), Some(_)) => None,
    };
    let failed = (old.status != TaskStatus::Failed && new.status == TaskStatus::Failed).then_some(TaskResult::Failed);
    for what in merged.into_iter().chain(failed) {
        became(state, &old.id, what, at);
    }
}

/// The tasks that a restored state concerns, as they are now.
pub(super) fn concerned(state: &State, changes: Option<&RestorableChanges>) -> Vec<Task> {
    let ids = changes.into_iter().flat_map(|changes| changes.tasks.keys());
    ids.filter_map(|id| state.restorable.tasks.get(id).cloned()).collect()
}

/// A human allows as much again, counted from now; or the session more. A task's limits are raised by an edit.
pub(super) fn decide_budget(state: &mut State, gate: &Gate, decision: &GateDecision, at: Timestamp) -> Result<()> {
    match (decision, &gate.task_id) {
        (GateDecision::Approved, Some(task)) => {
            let record = state.record.tasks.entry(task.clone()).or_default();
            record.counted_from = Some(record.tally());
        }
        (GateDecision::Approved, None) => {
            let duration_ms = state.record.session_time.millis(at);
            state.record.session_counted_from = Some(UsageTally { duration_ms, ..state.record.session_spent });
        }
        (GateDecision::Answered { text }, None) => {
            let raised = raised(text, &gate.used)?;
            if let Some(session) = &mut state.record.session {
                session.limits = raised.on(session.limits);
            }
        }
        (GateDecision::Answered { .. }, Some(_)) | (GateDecision::Rejected { .. }, _) => {}
    }
    Ok(())
}
