//! Work that a human merged with git itself, while its merge still waited for an answer: then nothing is left to ask.

use std::collections::BTreeMap;

use crate::supervise::setup::SessionSetup;
use axiom_base::error::Result;
use axiom_model::base::ids::TaskId;
use axiom_model::base::names::Oid;
use axiom_safety::context::handle::Context;
use axiom_safety::folders::workspaces;

/// The branch of each task and the target as they were when the branch was last seen not to be in the target: only what moved since is
/// looked at again, since a look may walk the whole history.
#[derive(Debug, Default)]
pub(crate) struct SeenApart(BTreeMap<TaskId, (Oid, Oid)>);

impl SeenApart {
    fn knows(&self, task: &TaskId, tips: &(Oid, Oid)) -> bool {
        self.0.get(task) == Some(tips)
    }
}

impl SeenApart {
    /// Whether the target has all of a task's commits by now. Without any commit there is nothing that could have been merged.
    pub(crate) fn is_merged_by_hand(&mut self, ctx: &Context, setup: &SessionSetup, task: &TaskId) -> Result<bool> {
        let (branch, target) = (workspaces::branch_of(ctx, task), setup.target()?.clone());
        let refs = ctx.repo.refs();
        let (Some(work), Some(into)) = (refs.read_ref(&branch)?, refs.read_ref(&target)?) else { return Ok(false) };
        let base = ctx.state().restorable.workspaces.get(task).map(|place| &place.base);
        let tips = (work, into);
        if base == Some(&tips.0) || self.knows(task, &tips) {
            return Ok(false);
        }
        let is_in = ctx.repo.history().is_ancestor(&tips.0, &tips.1)?;
        if !is_in {
            self.0.insert(task.clone(), tips);
        }
        Ok(is_in)
    }
}
