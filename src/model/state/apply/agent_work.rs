//! The work of an agent, as events of it find it.

use super::{Result, refuse};
use crate::base::ids::{AgentId, Token};
use crate::state::current_state::State;
use crate::work::agent::AgentWork;
use crate::work::tasks::learnings;
use axiom_base::error::Code;

pub(super) fn work_of<'s>(state: &'s mut State, agent: &AgentId) -> Result<&'s mut AgentWork> {
    match state.restorable.agents.get_mut(agent).and_then(|agent| agent.work.as_mut()) {
        Some(work) => Ok(work),
        None => refuse(Code::InvalidTransition, format!("agent '{agent}' is not working")),
    }
}

pub(super) fn work_with<'s>(state: &'s mut State, agent: &AgentId, token: &Token) -> Result<&'s mut AgentWork> {
    let work = work_of(state, agent)?;
    if work.stage.token() == Some(token) {
        Ok(work)
    } else {
        refuse(Code::InvalidTransition, format!("'{agent}' is in another iteration"))
    }
}

/// Takes back what an agent said in its newest iteration: it was killed.
pub(super) fn withdraw(state: &mut State, agent: &AgentId) {
    let Some(work) = state.restorable.agents.get_mut(agent).and_then(|agent| agent.work.as_mut()) else { return };
    let Some(before) = work.said_before.take() else { return };
    (work.progress, work.phase) = (before.reports.progress, before.reports.phase.clone());
    let task = work.task.clone();
    state.restorable.reports.entry(task.clone()).or_default().withdraw(&before.reports);
    learnings::withdraw(&mut state.record.learnings, (agent, &task), before.seq);
}
