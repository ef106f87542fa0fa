//! How events change the session, the mode, and gates.

use jiff::Timestamp;

use super::{Result, refuse, spending};
use crate::base::ids::{GateId, TaskId};
use crate::base::names::Oid;
use crate::base::text::ValueChange;
use crate::state::audit;
use crate::state::current_state::State;
use crate::work::agent::{AgentWork, IterationStage};
use crate::work::gates::gate::{Gate, GateDecision, GateKind, TaskHoldReason};
use crate::work::gates::pending_answer::PendingAnswer;
use crate::work::iteration::IterationReport;
use crate::work::money::spending::UsageTally;
use crate::work::sessions::session::{Session, SessionMode, SessionState};
use crate::work::sessions::session_time::SessionRunTime;
use crate::work::tasks::masked::may_run;
use crate::work::tasks::task::TaskStatus;
use axiom_base::error::Code;

pub(super) fn start_session(state: &mut State, session: &Session) -> Result<()> {
    let before = state.record.session.replace(session.clone());
    // What a crashed one has used counts in the one that goes on with it.
    if !before.is_some_and(|before| before.state == SessionState::Crashed) {
        state.record.added_by_agents = 0;
        (state.record.session_spent, state.record.session_counted_from) = (UsageTally::default(), None);
        state.record.session_time = SessionRunTime::beginning(programs_run(state), session.started_at);
    }
    state.record.delays.clear();
    state.record.last_action = Some("session started".into());
    Ok(())
}

/// Follows the end of an iteration, which was seen `at` this time; its program may have been so quick that nobody saw it begin.
pub(super) fn end_program(state: &mut State, (report, never_seen): (&IterationReport, bool), at: Timestamp) {
    let ended = report.ended_at.map_or(at, |ended| ended.min(at));
    let others_run = programs_run(state);
    match never_seen {
        true => state.record.session_time.ran_for(report.duration_ms, ended),
        false => state.record.session_time.ended(ended, others_run),
    }
}

fn programs_run(state: &State) -> bool {
    let runs = |work: &AgentWork| matches!(work.stage, IterationStage::Running { .. });
    state.restorable.agents.values().any(|agent| agent.work.as_ref().is_some_and(runs))
}

pub(super) fn change_session(state: &mut State, to: SessionState, reason: &str, at: Timestamp) -> Result<()> {
    let Some(session) = &mut state.record.session else {
        return refuse(Code::InvalidTransition, "there is no session to change");
    };
    session.state = to;
    match to {
        SessionState::Pausing | SessionState::Paused => session.paused_at = Some(at),
        SessionState::Running => session.paused_at = None,
        SessionState::Ending | SessionState::Ended | SessionState::Interrupted | SessionState::Crashed => {}
    }
    let paused_at = session.paused_at;
    if !to.is_open() {
        state.record.delays.clear();
        if let Some(paused_at) = paused_at {
            set_aside(state, paused_at);
        }
    }
    state.record.last_action = Some(audit::session_text(to, reason));
    Ok(())
}

/// A paused session has ended: before the work that it had begun goes on, it is decided how. What waits for a human in any case is
/// a human's decision.
fn set_aside(state: &mut State, paused_at: Timestamp) {
    let waits = |task: &TaskId| {
        let mut gates = state.restorable.gates.values().filter(|gate| gate.task_id.as_ref() == Some(task));
        gates.any(|gate| gate.holds() || gate.kind == GateKind::HumanReview)
    };
    for task in state.restorable.workspaces.keys().filter(|task| !waits(task)) {
        let status = state.restorable.tasks.get(task).map(|case| case.status);
        let Some(record) = state.record.tasks.get_mut(task) else { continue };
        let has_begun = match status {
            Some(TaskStatus::Active) => true,
            Some(TaskStatus::Pending) => record.last_run.is_some(),
            Some(TaskStatus::Done | TaskStatus::Blocked | TaskStatus::Failed | TaskStatus::Archived) | None => false,
        };
        record.set_aside = has_begun.then_some(paused_at);
    }
}

pub(super) fn change_mode(state: &mut State, mode: &ValueChange<SessionMode>) -> Result<()> {
    if state.restorable.mode != mode.old {
        return refuse(Code::ChangedMeanwhile, "the mode is not what the change expects");
    }
    state.restorable.mode = mode.new;
    state.record.last_action = Some(format!("mode {}", mode.new.as_str()));
    Ok(())
}

/// What waits on its way into a branch waits for that of the session.
pub(super) fn open_gate(state: &mut State, gate: &Gate) {
    let mut gate = gate.clone();
    if matches!(gate.kind, GateKind::Merge | GateKind::HumanReview) && gate.target.is_none() {
        gate.target = state.record.session.as_ref().map(|session| session.target.clone());
    }
    state.record.last_action = Some(format!("gate {} opened", gate.id));
    state.restorable.gates.insert(gate.id.clone(), gate);
}

/// Opens a gate on a task, if the task could be claimed otherwise.
pub(super) fn hold(state: &mut State, gate: &Gate) {
    let case = gate.task_id.as_ref().and_then(|task| state.restorable.tasks.get(task));
    if case.is_some_and(|case| case.status == TaskStatus::Pending) {
        state.restorable.gates.insert(gate.id.clone(), gate.clone());
    }
}

/// Tasks whose words a purge masked wait for a human, before whatever runs them next.
pub(super) fn hold_masked(state: &mut State, tasks: &[TaskId], at: Timestamp) {
    for task in tasks {
        let gate = Gate::holding(task, TaskHoldReason::Masked, at);
        let may_run = state.restorable.tasks.get(task).is_some_and(may_run);
        state.restorable.gates.extend(gate.filter(|_| may_run).map(|gate| (gate.id.clone(), gate)));
    }
}

pub(super) fn decide_gate(
    state: &mut State,
    id: &GateId,
    decision: &GateDecision,
    complete: Option<&Oid>,
    at: Timestamp,
) -> Result<()> {
    match state.restorable.gates.get_mut(id) {
        Some(gate) => {
            gate.decision = Some(decision.clone());
            let gate = gate.clone();
            if gate.kind == GateKind::Budget {
                spending::decide_budget(state, &gate, decision, at)?;
            }
            if let (Some(complete), Some(task)) = (complete, &gate.task_id) {
                state.record.tasks.entry(task.clone()).or_default().complete = Some(complete.clone());
            }
            if let (Some(answer), Some(task)) = (PendingAnswer::given(&gate, decision), &gate.task_id) {
                state.record.tasks.entry(task.clone()).or_default().answer = Some(answer);
            }
            let rule = gate.always.as_deref().filter(|_| matches!(decision, GateDecision::Answered { .. }));
            if let (Some(rule), Some(task)) = (rule, &gate.task_id) {
                state.record.tasks.entry(task.clone()).or_default().allow(rule);
            }
            state.record.last_action = Some(format!("decided {id}"));
            Ok(())
        }
        None => refuse(Code::UnknownGate, format!("there is no open gate '{id}'")),
    }
}
