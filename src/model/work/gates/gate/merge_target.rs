//! What the gate of a merge says of the branch into which it is to go.

use super::gate_reasons::in_conflict_with;
use super::{Gate, GateDecision, GateKind};
use crate::base::ids::TaskId;
use crate::base::names::RefName;

impl Gate {
    /// What the gate of a merge says that only asks, because of the mode.
    pub fn to_merge(task: &TaskId, target: &RefName) -> String {
        format!("merge {task} into {}", target.short())
    }

    /// Whether it only asks whether a task may be merged, because of the mode, and nobody has answered.
    pub fn only_asks_to_merge(&self) -> bool {
        self.decision.is_none() && self.kind == GateKind::Merge && asked_target(self).is_some()
    }

    /// The branch that it is about, where its merge is not rejected: what was said there, and approved, is not about another one. What a
    /// human has rejected stays rejected.
    pub fn target_in_short(&self) -> Option<&str> {
        let is_rejected = matches!(self.decision, Some(GateDecision::Rejected { .. }));
        let task = self.task_id.as_ref().filter(|_| self.kind == GateKind::Merge && !is_rejected)?;
        asked_target(self).or_else(|| in_conflict_with(task, &self.reason))
    }

    /// Whether it is the gate of a merge into another branch than this.
    pub fn is_of_another_target(&self, target: &RefName) -> bool {
        self.target_in_short().is_some_and(|asked| asked != target.short())
    }
}

/// The branch into which it asks to merge, in short.
fn asked_target(gate: &Gate) -> Option<&str> {
    gate.reason.strip_prefix(&format!("merge {} into ", gate.task_id.as_ref()?))
}
