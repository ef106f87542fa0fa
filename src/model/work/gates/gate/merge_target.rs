//! What the gate of a merge says of the branch into which it is to go.

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
        let asks = |(task, target)| self.reason == Self::to_merge(task, target);
        self.decision.is_none() && self.task_id.as_ref().zip(self.target.as_ref()).is_some_and(asks)
    }

    /// Whether it is about a merge into another branch than this: what was said there, and approved, is not about this one. What a human
    /// has rejected stays rejected.
    pub fn is_of_another_target(&self, target: &RefName) -> bool {
        let is_rejected = matches!(self.decision, Some(GateDecision::Rejected { .. }));
        let of_merge = matches!(self.kind, GateKind::Merge | GateKind::HumanReview) && !self.is_about_start();
        of_merge && !is_rejected && self.target.as_ref().is_some_and(|asked| asked != target)
    }
}
