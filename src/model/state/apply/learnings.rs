//! How events change what is known of learnings.

use jiff::Timestamp;

use super::Result;
use crate::base::ids::AgentId;
use crate::state::current_state::State;
use crate::work::signals::learning_scope::LearningScope;
use crate::work::signals::signal::AgentSignal;
use crate::work::tasks::learnings;
use crate::work::tasks::learnings::{Learning, LearningId};

/// Takes up what a working agent learnt; its id is that of event `seq`.
pub(super) fn learn(state: &mut State, agent: &AgentId, signal: &AgentSignal, seq: u64, at: Timestamp) {
    if let Some(learning) = learning_of(state, agent, signal, seq, at) {
        learnings::add(&mut state.record.learnings, learning);
    }
}

/// What a signal of a working agent says that it learnt.
fn learning_of(state: &State, agent: &AgentId, signal: &AgentSignal, seq: u64, at: Timestamp) -> Option<Learning> {
    let AgentSignal::Learning { text, scope } = signal else { return None };
    let work = state.restorable.agents.get(agent).and_then(|agent| agent.work.as_ref())?;
    Some(Learning {
        id: LearningId::of_event(seq),
        scope: LearningScope::of_signal(scope.as_deref()),
        task: work.task.clone(),
        agent: agent.clone(),
        text: text.clone(),
        at,
        edited: false,
    })
}

impl State {
    /// The id of what a signal adds to what is known: none where it was known before.
    pub fn learns(&self, agent: &AgentId, signal: &AgentSignal, seq: u64, at: Timestamp) -> Option<LearningId> {
        let new = learning_of(self, agent, signal, seq, at)?;
        (!learnings::is_known(&self.record.learnings, &new)).then_some(new.id)
    }
}

pub(super) fn edit_learning(state: &mut State, id: LearningId, text: &str) -> Result<()> {
    state.learning(id)?;
    for learning in state.record.learnings.iter_mut().filter(|learning| learning.id == id) {
        text.clone_into(&mut learning.text);
        learning.edited = true;
    }
    state.record.last_action = Some(format!("edited {id}"));
    Ok(())
}

pub(super) fn forget_learning(state: &mut State, id: LearningId) -> Result<()> {
    state.learning(id)?;
    state.record.learnings.retain(|learning| learning.id != id);
    state.record.last_action = Some(format!("forgot {id}"));
    Ok(())
}
