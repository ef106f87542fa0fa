//! A conflict that is none any more since what it was with was taken back: then its gate has nothing to ask.

use std::collections::BTreeMap;
use std::path::Path;

use crate::merge::conflict_sides::conflicts_now;
use crate::merge::{nothing_in_progress, uncommitted};
use crate::supervise::core::desk::SessionDesk;
use crate::supervise::setup::SessionSetup;
use axiom_base::error::Result;
use axiom_model::base::ids::TaskId;
use axiom_model::base::names::Oid;
use axiom_model::work::gates::gate::GateKind;
use axiom_safety::folders::workspaces;

/// The branch of each task and the target with which it conflicted: only what moved since is looked at again.
#[derive(Debug, Default)]
pub(crate) struct SeenInConflict(BTreeMap<TaskId, (Oid, Oid)>);

impl SeenInConflict {
    /// Whether a conflict that a human was asked to settle is none any more, and nobody has begun to settle it: then the branch is where
    /// the agent left it, and nothing is in progress or uncommitted in the workspace.
    pub(crate) fn is_gone(&mut self, desk: &SessionDesk<'_>, setup: &SessionSetup, task: &TaskId) -> Result<bool> {
        let asks = desk.gate(GateKind::Merge, task).filter(|gate| gate.decision.is_none());
        let Some(left_at) = asks.and_then(|gate| gate.conflict_of.clone()) else { return Ok(false) };
        let refs = desk.ctx.repo.refs();
        let (work, into) = (refs.read_ref(&workspaces::branch_of(desk.ctx, task))?, refs.read_ref(setup.target()?)?);
        let Some((work, into)) = work.filter(|work| *work == left_at).zip(into) else { return Ok(false) };
        if self.0.get(task).is_some_and(|known| *known == (work.clone(), into.clone())) {
            return Ok(false);
        }
        let is_gone = !conflicts_now(desk.ctx, task)? && !is_being_settled(desk, task)?;
        if !is_gone {
            self.0.insert(task.clone(), (work, into));
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
