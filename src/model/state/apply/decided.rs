//! How work goes on after a crash or a pause, as it was decided.

use super::{Result, agent_work, refuse};
use crate::base::ids::AgentId;
use crate::recovery::decide::{CrashAction, CrashDecision, LastCrashDecision};
use crate::state::current_state::State;
use crate::work::agent::IterationStage;
use crate::work::iteration::IterationOutcome;
use axiom_base::error::Code;
use jiff::Timestamp;

/// What becomes of a task after a crash, or after a pause: whether what is there is kept aside, and whether it was a pause.
pub(super) fn decide(
    state: &mut State,
    agent: &AgentId,
    decision: &CrashDecision,
    (puts_aside, paused): (bool, bool),
    at: Timestamp,
) -> Result<()> {
    let decided = LastCrashDecision { decision: decision.clone(), at, open: false, puts_aside };
    if paused { decide_after_pause(state, agent, decided) } else { decide_after_crash(state, agent, decided) }
}

/// What becomes of a task after a crash. The release follows; where its work is complete, its verification.
fn decide_after_crash(state: &mut State, agent: &AgentId, decided: LastCrashDecision) -> Result<()> {
    let work = agent_work::work_of(state, agent)?;
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
    let record = state.record.tasks.entry(task.clone()).or_default();
    record.interrupted = !is_complete;
    record.set_aside = None;
    record.recovery = Some(Box::new(LastCrashDecision { open: !is_complete, ..decided }));
    state.record.last_action = Some(format!("{task}: {}", action.as_str()));
    Ok(())
}

/// How the work on a task goes on whose session was paused and then ended: its next iteration follows, its verification, or its
/// release.
fn decide_after_pause(state: &mut State, agent: &AgentId, decided: LastCrashDecision) -> Result<()> {
    let work = agent_work::work_of(state, agent)?;
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
    let record = state.record.tasks.entry(task.clone()).or_default();
    record.set_aside = None;
    record.recovery = Some(Box::new(LastCrashDecision { open, ..decided }));
    state.record.last_action = Some(format!("{task}: {}", action.as_str()));
    Ok(())
}
