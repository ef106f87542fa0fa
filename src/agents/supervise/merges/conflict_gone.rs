//! A conflict that is none any more, since the target has moved: then its gate has nothing to ask.

use std::path::Path;

use super::seen_tips::{SeenTips, tips};
use crate::merge::conflict_sides::conflicts_now;
use crate::merge::{nothing_in_progress, uncommitted};
use crate::supervise::core::desk::SessionDesk;
use crate::supervise::setup::SessionSetup;
use axiom_base::error::Result;
use axiom_model::base::ids::TaskId;
use axiom_model::work::gates::gate::GateKind;

/// The tips at which a task's branch was last seen to conflict with the target, or to be settled by a human.
#[derive(Debug, Default)]
pub(crate) struct SeenInConflict(SeenTips);

impl SeenInConflict {
    /// Whether a conflict that a human was asked to settle is none any more, and nobody has begun to settle it: then the branch is where
    /// the agent left it, and nothing is in progress or uncommitted in the workspace.
    pub(crate) fn is_gone(&mut self, desk: &SessionDesk<'_>, setup: &SessionSetup, task: &TaskId) -> Result<bool> {
        let asks = desk.gate(GateKind::Merge, task).filter(|gate| gate.decision.is_none());
        let Some(left_at) = asks.and_then(|gate| gate.conflict_of.as_ref()) else { return Ok(false) };
        let Some(tips) = tips(desk.ctx, setup, task)?.filter(|(work, _)| work == left_at) else { return Ok(false) };
        if self.0.knows(task, &tips) {
            return Ok(false);
        }
        let is_gone = !conflicts_now(desk.ctx, task)? && !is_being_settled(desk, task)?;
        if !is_gone {
            self.0.note(task, tips);
        }
        Ok(is_gone)
    }
}

fn is_being_settled(desk: &SessionDesk<'_>, task: &TaskId) -> Result<bool> {
    let Some(workspace) = desk.ctx.state().restorable.workspaces.get(task) else { return Ok(false) };
    let entry = desk.ctx.repo.worktrees().worktree_at(Path::new(&workspace.path))?.filter(|entry| entry.present);
    let Some(entry) = entry else { return Ok(false) };
    Ok(nothing_in_progress(desk.ctx, &entry.worktree).is_err() || !uncommitted(desk.ctx, &entry.worktree)?.is_empty())
}
