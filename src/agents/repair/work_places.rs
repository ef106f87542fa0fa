//! Where the work on a task is: in its workspace, or in a capture.

use std::path::Path;

use jiff::Timestamp;

use axiom_base::error::Result;
use axiom_model::base::ids::TaskId;
use axiom_model::base::names::Oid;
use axiom_model::recovery::decide::{MayBeginAnew, WorkPlace};
use axiom_model::work::agent::Workspace;
use axiom_model::work::sessions::session::SessionMode;
use axiom_safety::checkpoint::live::live_ref;
use axiom_safety::context::handle::Context;

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
