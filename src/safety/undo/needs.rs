//! The objects that an undo needs: they are kept for `keepDeletedDays`; after that they may be missing.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use crate::context::handle::Context;
use crate::operation::{KeepRefContents, kept_ref};
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::forms::plural::count;
use axiom_model::base::forms::times;
use axiom_model::base::ids::OperationId;
use axiom_model::base::names::{Oid, RefName};
use axiom_model::base::own_names::KEPT;
use axiom_model::base::ref_change::ChangeDirection;
use axiom_model::journal::journaled_changes::HeadState;
use axiom_model::operation::operation_record::{JournaledChanges, OperationRecord};

/// Checks that all objects that an undo and its redo need exist, with everything that they reach.
pub(super) fn are_there(ctx: &Context, transaction: &OperationRecord) -> Result<()> {
    super::submodules::are_there(ctx, transaction)?;
    let needs = UndoObjectNeeds::of(&transaction.changes);
    needs.write_tags_again(ctx, transaction)?;
    if needs.is_empty() || needs.are_kept(ctx, transaction)? {
        return Ok(());
    }
    let all: Vec<Oid> = needs.commits.iter().chain(&needs.trees).map(|oid| (*oid).clone()).collect();
    let Some(words) = ctx.repo.connectivity().missing_beyond_refs(&all)? else { return Ok(()) };
    Err(Error::new(Code::NotUndoable, format!("'{}' cannot be undone any more: objects that it needs are gone", transaction.id))
        .why(words)
        .hint(format!("{}; then git may delete them", kept_until(ctx, transaction)))
        .hint("git axiom checkpoint list    shows which checkpoints are left"))
}

/// The transactions for whose undo objects are missing, each with the reason. A quick check: only the objects themselves are
/// looked up, not what they reach.
pub(super) fn lost_needs<'t>(
    ctx: &Context,
    all: impl Iterator<Item = &'t OperationRecord>,
) -> Result<Vec<(&'t OperationId, String)>> {
    let kept: BTreeSet<RefName> = ctx.repo.refs().refs_below(KEPT)?.into_iter().map(|kept| kept.name).collect();
    let is_lost = |one: &&OperationRecord| {
        let needs = UndoObjectNeeds::of(&one.changes);
        let trees = if kept.contains(&kept_ref(&one.id)) { None } else { Some(&needs.trees) };
        let gone = |oid: &Oid| !ctx.repo.connectivity().holds(oid);
        one.undoable()
            && (needs.commits.iter().filter(|oid| gone(oid)).any(|oid| !is_kept_beside(ctx, one, oid))
                || trees.into_iter().flatten().any(|oid| gone(oid)))
    };
    let lost: Vec<&OperationRecord> = all.filter(is_lost).collect();
    // In a partial clone, only git knows which missing objects it can fetch.
    if lost.is_empty() || ctx.repo.connectivity().is_partial() {
        return Ok(Vec::new());
    }
    Ok(lost.into_iter().map(|one| (&one.id, format!("objects that it needs are gone: {}", kept_until(ctx, one)))).collect())
}

fn kept_until(ctx: &Context, transaction: &OperationRecord) -> String {
    let days = ctx.config.checkpoints.keep_deleted_days;
    let until = transaction.at.checked_add(SignedDuration::from_hours(24 * i64::from(days))).unwrap_or(Timestamp::MAX);
    let until = times::said(&env::time_zone(), env::now(), until);
    format!("they were kept until {until} ({}: checkpoints.keepDeletedDays)", count(days, "day"))
}

/// Whether the kept ref of a transaction has an object that cannot be a commit's parent: a tag, by its contents.
fn is_kept_beside(ctx: &Context, transaction: &OperationRecord, oid: &Oid) -> bool {
    let tips = KeepRefContents::by(ctx, &transaction.id).ok().flatten().and_then(|kept| kept.tips);
    tips.is_some_and(|tree| ctx.repo.tips().kept_below(&tree).is_ok_and(|all| all.contains(oid)))
}

/// The ids of the objects that an undo and its redo need.
struct UndoObjectNeeds<'t> {
    commits: BTreeSet<&'t Oid>,
    trees: BTreeSet<&'t Oid>,
}

impl<'t> UndoObjectNeeds<'t> {
    fn of(changes: &'t JournaledChanges) -> Self {
        let worktrees = &changes.worktrees;
        let trees = worktrees.iter().flat_map(|change| [&change.files, &change.index]);
        let captures = worktrees.iter().flat_map(|change| [&change.captures.old, &change.captures.new]).flatten();
        let heads = worktrees.iter().filter_map(|change| match &change.head.old {
            HeadState::Detached(commit) => Some(commit),
            HeadState::Branch(_) => None,
        });
        let refs = changes.refs.iter().filter_map(|change| change.value.old.as_ref());
        let stash = changes.stash.iter().filter(|change| change.way == ChangeDirection::PutAside).map(|change| &change.entry.id);
        let advances = changes.advances.iter().map(|change| &change.commit.old);
        let workspaces = changes.workspaces.iter();
        let workspaces = workspaces.flat_map(|change| std::iter::once(&change.capture).chain(&change.commit));
        Self {
            commits: stash.chain(captures).chain(heads).chain(refs).chain(advances).chain(workspaces).collect(),
            trees: trees.flat_map(|trees| [&trees.old, &trees.new]).collect(),
        }
    }

    fn is_empty(&self) -> bool {
        self.commits.is_empty() && self.trees.is_empty()
    }

    /// Writes tag objects again that are missing and whose contents are kept.
    fn write_tags_again(&self, ctx: &Context, transaction: &OperationRecord) -> Result<()> {
        let gone: Vec<Oid> =
            self.commits.iter().filter(|oid| !ctx.repo.connectivity().holds(oid)).map(|oid| (*oid).clone()).collect();
        if gone.is_empty() {
            return Ok(());
        }
        KeepRefContents::by(ctx, &transaction.id)?.map_or(Ok(()), |kept| kept.write_tags_again(ctx, &gone))
    }

    /// Whether the commit of the kept ref has all of them, except old values of branches that were only fast-forwarded,
    /// which the branch itself reaches. Then git has kept everything that they reach.
    fn are_kept(&self, ctx: &Context, transaction: &OperationRecord) -> Result<bool> {
        if !self.commits.iter().chain(&self.trees).all(|oid| ctx.repo.connectivity().holds(oid)) {
            return Ok(false);
        }
        let KeepRefContents { parents, trees, tips } = KeepRefContents::by(ctx, &transaction.id)?.unwrap_or_default();
        let mut commits: BTreeSet<Oid> = parents.iter().cloned().collect();
        if let Some(tips) = tips {
            commits.append(&mut ctx.repo.tips().kept_below(&tips)?);
        }
        if self.commits.iter().any(|oid| !commits.contains(*oid)) {
            commits.append(&mut ctx.repo.tips().without_buckets(&parents)?);
        }
        // If the branch had moved elsewhere since, there would be no undo.
        let advances = transaction.changes.advances.iter().map(|change| (&change.commit.old, &change.commit.new));
        let refs = transaction.changes.refs.iter().filter_map(|change| change.value.old.as_ref().zip(change.value.new.as_ref()));
        for (old, new) in advances.chain(refs) {
            if !commits.contains(old)
                && ctx.repo.connectivity().holds(new)
                && ctx.repo.history().is_ancestor(old, new).unwrap_or(false)
            {
                commits.insert(old.clone());
            }
        }
        Ok(self.commits.iter().all(|oid| commits.contains(*oid)) && self.trees.iter().all(|oid| trees.contains(*oid)))
    }
}
