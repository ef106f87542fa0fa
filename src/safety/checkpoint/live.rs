//! Live captures of workspaces: `refs/axiom/live/<task>`, replaced each time. They are made periodically while an agent
//! works, and when uncommitted changes are discarded or go to the trash. Only [`release`] deletes them.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use jiff::Timestamp;

use crate::checkpoint;
use crate::context::handle::Context;
use crate::context::target::left_target_at;
use axiom_base::env;
use axiom_base::error::Result;
use axiom_git::{ExpectedRefValue, RefEdit, TreeChange};
use axiom_model::base::ids::TaskId;
use axiom_model::base::names::{Oid, RefName};
use axiom_model::base::own_names::{LIVE, LOST, STASHED};
use axiom_model::queries::expired_checkpoints;
use axiom_model::state::event::Event;
use axiom_model::state::event_envelope::EventAuthor;

/// How many changed files are asked when the newest of them was changed.
const MOST_ASKED: usize = 1_000;

/// The ref that holds the newest capture of a task's workspace.
pub fn live_ref(task: &TaskId) -> RefName {
    RefName::new(format!("{LIVE}{task}"))
}

/// Captures the workspace of a task while its agent works, if its files have changed since the last capture, and records it: `apart` as
/// done by somebody, or as a part of what is being done. Returns whether it did. A crash leaves the old capture or the new one, which is recorded with the next one.
pub fn capture(ctx: &mut Context, task: &TaskId, apart: Option<EventAuthor>) -> Result<bool> {
    let Some(workspace) = ctx.state().restorable.workspaces.get(task).cloned() else { return Ok(false) };
    let made = ctx.with_change_lock(|ctx| {
        let Some(entry) = ctx.repo.worktrees().worktree_at(Path::new(&workspace.path))? else { return Ok(None) };
        let capture = ctx.repo.captures().capture_worktree(&entry.worktree, &checkpoint::capture_options(ctx))?;
        let name = live_ref(task);
        // No capture is made of what the branch holds already.
        let before = ctx.repo.refs().read_ref(&name)?.or_else(|| capture.head.commit().cloned());
        let before = before.map(|before| ctx.repo.objects().read_commit(&before)).transpose()?.map(|before| before.tree);
        if before.as_ref() == Some(&capture.tree) {
            return Ok(None);
        }
        let changed_at = before.and_then(|before| changed_at(ctx, Path::new(&workspace.path), (&before, &capture.tree)));
        let made = ctx.repo.captures().commit_capture(&capture, &format!("workspace of {task}, while it was worked on"), &[])?;
        let edit = RefEdit { name, expected: ExpectedRefValue::Any, new: Some(made.commit.clone()) };
        ctx.repo.refs().update_refs(&[edit], &format!("git axiom: live capture of {task}"))?;
        let tip = capture.head.commit().cloned();
        Ok(Some((made.commit, changed_at, tip, entry.worktree)))
    })?;
    let Some((capture, changed_at, tip, worktree)) = made else { return Ok(false) };
    // Only for display: a capture whose lines cannot be counted counts as one all the same.
    let left = left_target_at(ctx, tip.as_ref().unwrap_or(&workspace.base), Some(&worktree));
    let base = left.ok().flatten().unwrap_or_else(|| workspace.base.clone());
    let lines = ctx.repo.history().changed_lines(&base, &capture).ok().flatten();
    env::fault_point("live.before-record");
    let event = Event::WorkspaceCaptured { task: task.clone(), capture, lines, changed_at };
    let record = |ctx: &mut Context| ctx.append(event).map(|_| true);
    match apart {
        Some(by) => ctx.in_its_own_transaction(by, record),
        None => record(ctx),
    }
}

/// When the newest of the files in which two trees differ was changed, by the change times that no program can set: that of a deleted file
/// is its folder's. Only for display, so at most [`MOST_ASKED`] files are asked.
fn changed_at(ctx: &Context, root: &Path, (old, new): (&Oid, &Oid)) -> Option<Timestamp> {
    let changes = ctx.repo.history().diff_trees(old, new).ok()?;
    let of = |change: &TreeChange| {
        let path = root.join(change.path.to_path());
        let there =
            path.ancestors().take_while(|above| above.starts_with(root)).find_map(|above| above.symlink_metadata().ok())?;
        Timestamp::new(there.ctime(), i32::try_from(there.ctime_nsec()).ok()?).ok()
    };
    changes.iter().take(MOST_ASKED).filter_map(of).max()
}

/// Deletes expired captures, those from before a loss too, by the rule of [`expired_checkpoints::live_capture_ends`], and returns their
/// number. The caller holds the change lock, and no operation is open. A crash leaves some of them, which the next call deletes.
pub fn release(ctx: &Context) -> Result<usize> {
    let (rules, now) = (checkpoint::rules(ctx), env::now());
    let mut edits = Vec::new();
    let refs = ctx.repo.refs();
    let below =
        |folder: &'static str| -> Result<_> { Ok(refs.refs_below(folder)?.into_iter().map(move |value| (folder, value))) };
    for (folder, live) in below(LIVE)?.chain(below(LOST)?).chain(below(STASHED)?) {
        let Some(task) = live.name.as_str().strip_prefix(folder).and_then(|task| TaskId::new(task).ok()) else { continue };
        // Nothing is known of a damaged capture; `recover` reports it.
        let made = || ctx.repo.objects().commit_time(&live.oid).ok().map(|time| time.unwrap_or(now));
        if expired_checkpoints::live_capture_ends(ctx.state(), &task, made, &rules, now) {
            edits.push(RefEdit { name: live.name, expected: ExpectedRefValue::Value(live.oid), new: None });
        }
    }
    env::fault_point("live.before-release");
    ctx.repo.refs().update_refs(&edits, "git axiom: no longer kept")?;
    Ok(edits.len())
}
