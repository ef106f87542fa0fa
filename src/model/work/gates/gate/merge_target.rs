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

    /// Whether it only asks whether a task may be merged into this branch, because of the mode, and nobody has answered.
    pub fn only_asks_to_merge(&self, target: &RefName) -> bool {
        self.decision.is_none() && self.task_id.as_ref().is_some_and(|task| self.reason == Self::to_merge(task, target))
    }

    /// Whether it is the gate of a merge into another branch than this: what was said there, and approved, is not about this one. What a
    /// human has rejected stays rejected.
    pub fn is_of_another_target(&self, target: &RefName) -> bool {
        let rejected = matches!(self.decision, Some(GateDecision::Rejected { .. }));
        let Some(task) = self.task_id.as_ref().filter(|_| self.kind == GateKind::Merge && !rejected) else { return false };
        let asked = self.reason.strip_prefix(&format!("merge {task} into ")).or_else(|| in_conflict_with(task, &self.reason));
        asked.is_some_and(|asked| asked != target.short())
    }
}
