//! Whether anything differs from the newest checkpoint, and the captures of it that are as good as new ones.

use super::captured::{CapturedWorktree, CheckpointCaptures};
use super::checkpoint_list::document_of;
use crate::context::handle::Context;
use crate::operation::extras_of;
use axiom_base::error::Result;
use axiom_git::{HeldRefs, Repository};
use axiom_model::base::names::{Oid, RefName};
use axiom_model::checkpoint::document::{CheckpointDocument, WorkspaceState};
use axiom_model::checkpoint::submodules::SubmoduleState;

/// The newest checkpoint, where it can be read.
pub(super) fn newest(ctx: &Context) -> Result<Option<(Oid, CheckpointDocument)>> {
    let newest = ctx.state().record.checkpoints.newest(1)?;
    let Some(record) = newest.first() else { return Ok(None) };
    // One that cannot be read has nothing to compare with, and keeps nothing from being saved.
    Ok(document_of(ctx, &record.capture).ok().map(|(_, document)| (record.capture.clone(), document)))
}

/// Whether the worktrees and the local refs are as the newest checkpoint has them.
pub(super) fn is_as_newest(ctx: &Context, (captured, refs): &(CheckpointCaptures, HeldRefs)) -> Result<bool> {
    let Some((capture, document)) = newest(ctx)? else { return Ok(false) };
    let same_place = document.coverage.keys().eq(captured.coverage.keys());
    let same_head = is_checked_out(&captured.main, document.branch.as_ref(), document.git_commit.as_ref());
    if !same_place || !same_head || !refs.are_those_of(&ctx.repo, &capture)? {
        return Ok(false);
    }
    if !is_same(&ctx.repo, &captured.main, &capture)? || document.workspaces.len() != captured.states().count() {
        return Ok(false);
    }
    let has = |one: &WorkspaceState| document.workspaces.iter().any(|then| then.path == one.path && then.capture == one.capture);
    if !captured.earlier.iter().all(has) {
        return Ok(false);
    }
    for one in &captured.workspaces {
        let then = document.workspaces.iter().find(|then| then.path == one.state.path);
        let Some(then) = then.filter(|then| then.branch == one.state.branch && then.head == one.state.head) else {
            return Ok(false);
        };
        if then.capture != one.state.capture && !is_same(&ctx.repo, &one.captured, &then.capture)? {
            return Ok(false);
        }
    }
    if document.submodules.len() != captured.submodules.len() {
        return Ok(false);
    }
    for (then, now) in document.submodules.iter().zip(&captured.submodules) {
        if then != now && !is_same_submodule(captured, then, now)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a submodule is as an earlier checkpoint has it.
fn is_same_submodule(captured: &CheckpointCaptures, then: &SubmoduleState, now: &SubmoduleState) -> Result<bool> {
    let same_place = (&then.worktree, &then.path, &then.git_dir) == (&now.worktree, &now.path, &now.git_dir);
    let same_head = (&then.branch, &then.head) == (&now.branch, &now.head);
    if !same_place || !same_head || then.coverage != now.coverage {
        return Ok(false);
    }
    let found = captured.worktrees().flat_map(|one| &one.submodules);
    let Some(found) = found.into_iter().find(|one| one.folder() == now.folder()) else { return Ok(then.capture == now.capture) };
    Ok(found.repo.connectivity().holds(&then.capture) && is_same(&found.repo, &found.present, &then.capture)?)
}

/// Takes the newest checkpoint's captures of linked worktrees in which nothing has changed since, in place of new commits that say
/// the same.
pub(super) fn use_again(ctx: &Context, captured: &mut CheckpointCaptures) -> Result<()> {
    if captured.workspaces.is_empty() && captured.submodules.is_empty() {
        return Ok(());
    }
    let Some((_, document)) = newest(ctx)? else { return Ok(()) };
    let mut submodules = std::mem::take(&mut captured.submodules);
    for now in &mut submodules {
        let then = document.submodules.iter().find(|then| (&then.worktree, &then.path) == (&now.worktree, &now.path));
        if let Some(then) = then.filter(|then| then.capture != now.capture)
            && is_same_submodule(captured, then, now)?
        {
            now.capture = then.capture.clone();
        }
    }
    captured.submodules = submodules;
    for one in &mut captured.workspaces {
        let then = document.workspaces.iter().find(|then| then.path == one.state.path);
        if let Some(then) = then.filter(|then| then.capture != one.state.capture)
            && is_same(&ctx.repo, &one.captured, &then.capture)?
        {
            one.state.capture = then.capture.clone();
        }
    }
    Ok(())
}

fn is_checked_out(main: &CapturedWorktree, branch: Option<&RefName>, commit: Option<&Oid>) -> bool {
    let head = &main.capture.head;
    (head.branch(), head.commit()) == (branch, commit)
}

/// Whether a capture has the same files, index and extras on the same commit.
fn is_same(repo: &Repository, now: &CapturedWorktree, then: &Oid) -> Result<bool> {
    let parts = repo.captures().capture_parts(then)?;
    let is_on = now.capture.head.commit().is_none_or(|commit| *commit == parts.base);
    if !is_on || parts.files != now.capture.tree || parts.index != now.capture.index_tree {
        return Ok(false);
    }
    Ok(extras_of(repo, Some(then))? == now.capture.extras)
}
