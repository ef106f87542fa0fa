//! Where the branch of a task and the target were when they were looked at: only what moved since is looked at again.

use std::collections::BTreeMap;

use crate::supervise::setup::SessionSetup;
use axiom_base::error::Result;
use axiom_model::base::ids::TaskId;
use axiom_model::base::names::Oid;
use axiom_safety::context::handle::Context;
use axiom_safety::folders::workspaces;

/// The branch of a task, and the target.
pub(crate) type MergeTips = (Oid, Oid);

/// The tips at which a look at the merges of tasks found nothing new.
#[derive(Debug, Default)]
pub(crate) struct SeenTips(BTreeMap<TaskId, MergeTips>);

impl SeenTips {
    pub(crate) fn knows(&self, task: &TaskId, tips: &MergeTips) -> bool {
        self.0.get(task) == Some(tips)
    }

    pub(crate) fn note(&mut self, task: &TaskId, tips: MergeTips) {
        self.0.insert(task.clone(), tips);
    }
}

/// Where both are now; `None` where one is gone.
pub(crate) fn tips(ctx: &Context, setup: &SessionSetup, task: &TaskId) -> Result<Option<MergeTips>> {
    let refs = ctx.repo.refs();
    let work = refs.read_ref(&workspaces::branch_of(ctx, task))?;
    Ok(work.zip(refs.read_ref(setup.target()?)?))
}
