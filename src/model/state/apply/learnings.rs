//! How events change what is known of learnings.

use jiff::Timestamp;

use super::Result;
use crate::base::ids::AgentId;
use crate::state::current_state::State;
use crate::work::signals::learning_scope::LearningScope;
use crate::work::signals::signal::AgentSignal;
use crate::work::tasks::learnings;
use crate::work::tasks::learnings::{Learning, LearningId};

impl State {
    /// Takes up what a working agent learnt; its id is that of event `seq`.
    pub(super) fn learn(&mut self, agent: &AgentId, signal: &AgentSignal, seq: u64, at: Timestamp) {
        if let Some(learning) = self.learning_of(agent, signal, seq, at) {
            learnings::add(&mut self.record.learnings, learning);
        }
    }

    /// What a signal of a working agent says that it learnt.
    fn learning_of(&self, agent: &AgentId, signal: &AgentSignal, seq: u64, at: Timestamp) -> Option<Learning> {
        let AgentSignal::Learning { text, scope } = signal else { return None };
        let work = self.restorable.agents.get(agent).and_then(|agent| agent.work.as_ref())?;
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

    /// The id of what a signal adds to what is known: none where it was known before.
    pub fn learns(&self, agent: &AgentId, signal: &AgentSignal, seq: u64, at: Timestamp) -> Option<LearningId> {
        let new = self.learning_of(agent, signal, seq, at)?;
        (!learnings::is_known(&self.record.learnings, &new)).then_some(new.id)
    }

    pub(super) fn edit_learning(&mut self, id: LearningId, text: &str) -> Result<()> {
        self.learning(id)?;
        for learning in self.record.learnings.iter_mut().filter(|learning| learning.id == id) {
            text.clone_into(&mut learning.text);
            learning.edited = true;
        }
        self.record.last_action = Some(format!("edited {id}"));
        Ok(())
    }

    pub(super) fn forget_learning(&mut self, id: LearningId) -> Result<()> {
        self.learning(id)?;
        self.record.learnings.retain(|learning| learning.id != id);
        self.record.last_action = Some(format!("forgot {id}"));
        Ok(())
    }
}
