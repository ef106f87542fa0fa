//! Local refs of the user's in a rollback: deleted refs come back, moved refs are listed and stay unless the user wants them
//! to move back, and new refs stay.

use std::collections::BTreeSet;

use crate::context::handle::Context;
use axiom_base::error::Result;
use axiom_model::base::names::{Oid, RefName};
use axiom_model::base::ref_change::{ChangeDirection, RefChange};
use axiom_model::base::text::ValueChange;
use axiom_model::checkpoint::branch_config::{ReturningBranchConfig, coming};
use axiom_model::checkpoint::document::CheckpointDocument;
use axiom_model::checkpoint::local_refs::{LocalRefChanges, StashEntry};
use axiom_model::journal::journaled::JournaledOperation;
use axiom_model::journal::journaled_changes::StashChange;

use super::preview::RollbackPreview;
use crate::rollback::preview_lines::ref_lines::{MovedRefLine, UnrestoredRefLine};

/// What happens to local refs, except the target, the tasks' branches and the branch that was checked out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LocalRefsPolicy {
    /// Deleted ones come back.
    ComeBack,
    /// Deleted ones come back, and those that moved move back.
    MoveToo,
    /// All stay as they are.
    Stay,
}

/// How the local refs changed since a checkpoint, without those that the operation moves already.
pub(super) fn since(
    ctx: &Context,
    capture: &Oid,
    operation: &JournaledOperation,
    wish: LocalRefsPolicy,
) -> Result<LocalRefChanges> {
    if wish == LocalRefsPolicy::Stay {
        return Ok(LocalRefChanges::default());
    }
    let then = ctx.repo.checkpoints().refs_of_checkpoint(capture)?;
    let mut since = then.since(&ctx.repo.ref_lists().local_refs()?);
    let moves: BTreeSet<&RefName> = operation.refs.iter().map(|change| &change.name).collect();
    without(&mut since, &moves);
    Ok(since)
}

/// Leaves out what every rollback of everything moves.
pub(super) fn without_own(since: &mut LocalRefChanges, document: &CheckpointDocument) {
    without(since, &document.refs.keys().chain(&document.branch).collect());
}

fn without(since: &mut LocalRefChanges, own: &BTreeSet<&RefName>) {
    since.gone.retain(|(name, _)| !own.contains(name));
    since.moved.retain(|(name, ..)| !own.contains(name));
    since.blocked.retain(|(name, _)| !own.contains(name));
}

/// Adds the moved refs to the preview, and those of them that are branches to the operation. Called before the commits that
/// leave their branches are listed.
pub(super) fn add_moved_branches(
    since: &LocalRefChanges,
    wish: LocalRefsPolicy,
    operation: &mut JournaledOperation,
    preview: &mut RollbackPreview,
) {
    let moves = wish == LocalRefsPolicy::MoveToo;
    for (name, then, now) in &since.moved {
        preview.refs_moved.push(MovedRefLine { name: name.clone(), old: now.clone(), new: then.clone(), moves });
        if moves && is_branch(name) {
            operation.refs.push(moved(name, then, now));
        }
    }
}

/// Adds all other local refs to the operation and the preview.
pub(super) fn add_local_refs(
    ctx: &Context,
    capture: &Oid,
    since: LocalRefChanges,
    wish: LocalRefsPolicy,
    operation: &mut JournaledOperation,
    preview: &mut RollbackPreview,
) -> Result<()> {
    let LocalRefChanges { gone, blocked, moved: others, links, stash } = since;
    if wish == LocalRefsPolicy::MoveToo {
        let others = others.iter().filter(|(name, ..)| !is_branch(name));
        operation.refs.extend(others.map(|(name, then, now)| moved(name, then, now)));
    }
    let in_place = |(name, other): (RefName, RefName)| UnrestoredRefLine { why: format!("{other} is in its place"), name };
    preview.refs_left.extend(blocked.into_iter().map(in_place));
    let by_hand =
        |(name, target): (RefName, RefName)| UnrestoredRefLine { why: format!("git symbolic-ref {name} {target}"), name };
    preview.refs_left.extend(links.into_iter().map(by_hand));
    let tips: Vec<Oid> = gone.iter().map(|(_, oid)| oid.clone()).collect();
    let tags = ctx.repo.checkpoints().tags_of_checkpoint(capture, &tips)?;
    for (name, oid) in gone {
        let why = if !ctx.repo.refs().is_place_of_ref(&name) {
            Some("its worktree is gone")
        } else if ctx.repo.registrations().is_blank_ref(&name)? {
            Some("its file is empty; 'git axiom recover' says how to repair it")
        } else if !tags.contains(&oid) && !ctx.repo.connectivity().holds(&oid) {
            Some("its object is gone")
        } else {
            None
        };
        match why {
            Some(why) => preview.refs_left.push(UnrestoredRefLine { name, why: why.to_owned() }),
            None => operation.refs.push(RefChange { name, value: ValueChange::new(None, Some(oid)) }),
        }
    }
    // Git is asked whether a ref can come back, in a preview too; for a tag, its object has to exist for that.
    let coming: Vec<Oid> = operation.refs.iter().filter_map(|change| change.value.new.clone()).collect();
    ctx.repo.checkpoints().write_tags_of_checkpoint(capture, &coming)?;
    let (here, lost): (Vec<StashEntry>, Vec<StashEntry>) =
        stash.into_iter().partition(|entry| ctx.repo.connectivity().holds(&entry.id));
    let name = || RefName::new(axiom_model::checkpoint::local_refs::STASH);
    preview
        .refs_left
        .extend(lost.into_iter().map(|entry| UnrestoredRefLine { name: name(), why: format!("{} is gone", entry.id) }));
    // Oldest first, so that the newest entry ends on top.
    let back = here.iter().rev().map(|entry| StashChange { entry: entry.clone(), way: ChangeDirection::BringBack });
    operation.stash.extend(back);
    preview.changes.stash = operation.stash.iter().rev().cloned().collect();
    Ok(())
}

/// Adds the configuration of all branches that come back to the operation and the preview.
pub(super) fn add_branch_configs(
    ctx: &Context,
    capture: &Oid,
    operation: &mut JournaledOperation,
    preview: &mut RollbackPreview,
) -> Result<()> {
    if !operation.refs.iter().any(|change| is_branch(&change.name) && change.value.old.is_none()) {
        return Ok(());
    }
    let Some(now) = ctx.repo.settings().branch_configs()? else { return Ok(()) };
    let ReturningBranchConfig { back, left } =
        coming(&operation.refs, &ctx.repo.checkpoints().branch_configs_of_checkpoint(capture)?, &now);
    preview.changes.branch_configs.extend(back.iter().cloned());
    preview.configs_left.extend(left);
    operation.branch_configs.extend(back);
    Ok(())
}

fn is_branch(name: &RefName) -> bool {
    name.as_str().starts_with("refs/heads/")
}

fn moved(name: &RefName, then: &Oid, now: &Oid) -> RefChange {
    RefChange { name: name.clone(), value: ValueChange::new(Some(now.clone()), Some(then.clone())) }
}
