//! Live captures of workspaces: `refs/axiom/live/<task>`, replaced each time. They are made periodically while an agent
//! works, and when uncommitted changes are discarded or go to the trash. Only [`release`] deletes them.

use std::path::Path;

use crate::checkpoint;
use crate::context::handle::Context;
use axiom_base::env;
use axiom_base::error::Result;
use axiom_git::{ExpectedRefValue, RefEdit};
use axiom_model::base::ids::TaskId;
use axiom_model::base::names::RefName;
use axiom_model::base::own_names::{LIVE, LOST, STASHED};
use axiom_model::queries::retention;
use axiom_model::state::event::{Event, EventAuthor};

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
        let same_tree = match (ctx.repo.refs().read_ref(&name)?, capture.head.commit()) {
            (Some(last), _) => ctx.repo.objects().read_commit(&last)?.tree == capture.tree,
            // No capture is made of what the branch holds already.
            (None, Some(head)) => ctx.repo.objects().read_commit(head)?.tree == capture.tree,
            (None, None) => false,
        };
        if same_tree {
            return Ok(None);
        }
        let made = ctx.repo.captures().commit_capture(&capture, &format!("workspace of {task}, while it was worked on"), &[])?;
        let edit = RefEdit { name, expected: ExpectedRefValue::Any, new: Some(made.commit.clone()) };
        ctx.repo.refs().update_refs(&[edit], &format!("git axiom: live capture of {task}"))?;
        Ok(Some(made.commit))
    })?;
    let Some(capture) = made else { return Ok(false) };
    // Only for display: a capture whose lines cannot be counted counts as one all the same.
    let lines = ctx.repo.history().changed_lines(&workspace.base, &capture).ok().flatten();
    env::fault_point("live.before-record");
    let record = |ctx: &mut Context| ctx.append(Event::WorkspaceCaptured { task: task.clone(), capture, lines }).map(|_| true);
    match apart {
        Some(by) => ctx.in_its_own_transaction(by, record),
        None => record(ctx),
    }
}

/// Deletes expired captures, those from before a loss too, by the rule of [`retention::live_capture_ends`], and returns their
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
        if retention::live_capture_ends(ctx.state(), &task, made, &rules, now) {
            edits.push(RefEdit { name: live.name, expected: ExpectedRefValue::Value(live.oid), new: None });
        }
    }
    env::fault_point("live.before-release");
    ctx.repo.refs().update_refs(&edits, "git axiom: no longer kept")?;
    Ok(edits.len())
}
