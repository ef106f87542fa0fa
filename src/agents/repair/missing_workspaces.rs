//! The folder of a workspace that is gone (deleted, or lost with a disk): where the work is then, and bringing it back. What a capture
//! holds comes back from it, else what is committed; where nothing was saved, only the decisions in `model::recovery` say what
//! follows. Files that are lost out of a folder that is there are in `lost_files`.

use std::path::Path;

use jiff::Timestamp;

use crate::repair::lost_files;
use axiom_base::error::Result;
use axiom_git::{ExpectedRefValue, RefEdit};
use axiom_model::base::ids::{OperationId, TaskId};
use axiom_model::base::names::Oid;
use axiom_model::recovery::decide::{MayBeginAnew, WorkPlace};
use axiom_model::state::event_envelope::EventAuthor;
use axiom_model::work::agent::Workspace;
use axiom_model::work::sessions::session::SessionMode;
use axiom_safety::checkpoint::live::live_ref;
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

/// Whether nothing is left of a folder: neither files nor the connection to its repository.
pub fn is_vanished(path: &Path) -> bool {
    let Ok(meta) = path.symlink_metadata() else { return true };
    meta.is_dir() && path.read_dir().is_ok_and(|mut entries| entries.next().is_none())
}

/// Where the work on a task is.
pub fn place(ctx: &Context, task: &TaskId) -> Result<WorkPlace> {
    let Some(workspace) = ctx.state().restorable.workspaces.get(task) else { return Ok(WorkPlace::There) };
    if !is_vanished(Path::new(&workspace.path)) {
        return Ok(WorkPlace::There);
    }
    if let Some((_, at)) = capture_of(ctx, task, workspace)? {
        return Ok(WorkPlace::Captured(at));
    }
    let tip = ctx.repo.refs().read_ref(&workspace.branch)?;
    Ok(match (tip, ctx.state().restorable.mode) {
        (Some(tip), _) if tip != workspace.base => WorkPlace::Committed,
        (_, SessionMode::Autopilot) => WorkPlace::Gone(MayBeginAnew::Yes),
        (_, SessionMode::SemiAuto | SessionMode::Review) => WorkPlace::Gone(MayBeginAnew::Asks),
    })
}

/// The newest capture of a workspace, with its time, where it is of this attempt, newer than what is committed, and holds more. The ref
/// outlives an attempt that was put aside.
pub fn capture_of(ctx: &Context, task: &TaskId, workspace: &Workspace) -> Result<Option<(Oid, Timestamp)>> {
    let Some(capture) = ctx.repo.refs().read_ref(&live_ref(task))? else { return Ok(None) };
    let at = ctx.repo.objects().commit_time(&capture)?.unwrap_or(Timestamp::UNIX_EPOCH);
    let reports = ctx.state().reports(task);
    let is_known = reports.and_then(|reports| reports.captured.as_ref()).is_some_and(|known| known.capture == capture);
    let begun = reports.and_then(|reports| reports.started_at);
    if !is_known && begun.is_none_or(|begun| at.as_second() < begun.as_second()) {
        return Ok(None);
    }
    let parts = ctx.repo.captures().capture_parts(&capture)?;
    let Some(tip) = ctx.repo.refs().read_ref(&workspace.branch)? else { return Ok(None) };
    let holds = |older: &Oid, newer: &Oid| older == newer || ctx.repo.history().is_ancestor(older, newer).unwrap_or(false);
    // What an iteration left was committed at its end: a capture from before that is older than the branch.
    let ended = ctx.state().record.tasks.get(task).and_then(|record| record.last_run.as_ref()).map(|run| &run.to);
    let is_newest = holds(&parts.base, &tip) && ended.is_none_or(|ended| holds(ended, &parts.base));
    let holds_more = ctx.repo.trees().tree_of(&tip)? != parts.files;
    Ok((is_newest && holds_more).then_some((capture, at)))
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
