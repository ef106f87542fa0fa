//! The folder of a workspace that is gone (deleted, or lost with a disk): where the work is then, and bringing it back. What a capture
//! holds comes back from it, else what is committed; where nothing was saved, only the decisions in `model::recovery` say what
//! follows. Files that are lost out of a folder that is there are in `lost_files`.

use super::work_places::place;
use crate::repair::lost_files;
use axiom_base::error::Result;
use axiom_git::{ExpectedRefValue, RefEdit};
use axiom_model::base::ids::{OperationId, TaskId};
use axiom_model::recovery::decide::WorkPlace;
use axiom_model::state::event_envelope::EventAuthor;
use axiom_safety::context::handle::Context;
use axiom_safety::folders::workspaces;

/// What came back.
#[derive(Debug)]
pub struct RemadeFolder {
    /// Where it was taken from.
    pub from: WorkPlace,
    /// The operation that an undo takes back, where files came from a capture.
    pub operation: Option<OperationId>,
    /// What is said of a repository that was in the folder.
    pub aside: Option<String>,
}

/// Makes the folder of a task again that is gone, with what was saved of the work; `None` where it is there, or nothing was saved.
/// A crash leaves the folder gone, or made from its branch, with the capture kept for a human's choice, which `recover` names.
pub fn bring_back(ctx: &mut Context, task: &TaskId) -> Result<Option<RemadeFolder>> {
    let from = place(ctx, task)?;
    match from {
        WorkPlace::There | WorkPlace::Gone(_) => return Ok(None),
        WorkPlace::Captured(_) => ctx.with_change_lock(|ctx| lost_files::keep_capture(ctx, task))?,
        WorkPlace::Committed => {}
    }
    let Some(workspace) = ctx.state().restorable.workspaces.get(task).cloned() else { return Ok(None) };
    let aside = workspaces::ensure(ctx, task, &workspace)?;
    let operation = if let WorkPlace::Captured(_) = from { files_back(ctx, task)? } else { None };
    Ok(Some(RemadeFolder { from, operation, aside }))
}

/// All files come back that the kept capture holds; then it is not kept for a choice any more.
fn files_back(ctx: &mut Context, task: &TaskId) -> Result<Option<OperationId>> {
    let back = ctx.in_its_own_transaction(EventAuthor::Recovery, |ctx| lost_files::put_back(ctx, task, None, |_| true))?;
    ctx.with_change_lock(|ctx| {
        let edit = RefEdit { name: lost_files::lost_ref(task), expected: ExpectedRefValue::Any, new: None };
        ctx.repo.refs().update_refs(&[edit], &format!("git axiom: the workspace of {task} is back"))
    })?;
    Ok(back.map(|back| back.txn))
}
