//! What taking a transaction back needs: kept for `keepDeletedDays`, and then perhaps gone.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use crate::domain::ids::TxnId;
use crate::domain::names::{Oid, RefName};
use crate::domain::operation::HeadState;
use crate::domain::transaction::Transaction;
use crate::env;
use crate::error::{Code, Error, Result};
use crate::ops::context::Context;

/// Where what undos need is kept.
const KEPT: &str = "refs/axiom/kept/";

/// Proves that everything that an undo and its redo need is there, with all that it reaches.
///
/// # Errors
/// `NOT_UNDOABLE` naming until when it was kept, and by which setting.
pub(super) fn are_there(ctx: &Context, transaction: &Transaction) -> Result<()> {
    let needs = Needs::of(transaction);
    if needs.is_empty() || needs.are_kept(ctx, transaction)? {
        return Ok(());
    }
    let all: Vec<Oid> = needs.commits.iter().chain(&needs.trees).map(|oid| (*oid).clone()).collect();
    let Some(words) = ctx.repo.missing_beyond_refs(&all)? else { return Ok(()) };
    Err(Error::new(Code::NotUndoable, format!("'{}' cannot be undone any more: what it needs is gone", transaction.id))
        .why(words)
        .hint(format!("{}; then git may forget it", kept_until(ctx, transaction)))
        .hint("git axiom checkpoint list    shows what can still be gone back to"))
}

/// The transactions of which something that an undo needs is gone, with what there is to say of it. A quick look: only
/// that each is there is asked, not what it reaches.
///
/// # Errors
/// `GIT_FAILED` where refs cannot be read.
pub(super) fn lost<'t>(ctx: &Context, all: impl Iterator<Item = &'t Transaction>) -> Result<Vec<(&'t TxnId, String)>> {
    let kept: BTreeSet<RefName> = ctx.repo.refs_below(KEPT)?.into_iter().map(|kept| kept.name).collect();
    let is_lost = |one: &&Transaction| {
        let needs = Needs::of(one);
        let trees = if kept.contains(&name_of(&one.id)) { None } else { Some(&needs.trees) };
        one.undoable() && needs.commits.iter().chain(trees.into_iter().flatten()).any(|oid| !ctx.repo.holds(oid))
    };
    let lost: Vec<&Transaction> = all.filter(is_lost).collect();
    // Of a partial clone only git knows what is owed.
    if lost.is_empty() || ctx.repo.is_partial() {
        return Ok(Vec::new());
    }
    Ok(lost.into_iter().map(|one| (&one.id, format!("what it needs is gone: {}", kept_until(ctx, one)))).collect())
}

fn kept_until(ctx: &Context, transaction: &Transaction) -> String {
    let days = ctx.config.checkpoints.keep_deleted_days;
    let until = transaction.at.checked_add(SignedDuration::from_hours(24 * i64::from(days))).unwrap_or(Timestamp::MAX);
    let until = env::time_zone().to_datetime(until).strftime("%Y-%m-%d %H:%M");
    format!("it was kept until {until} ({days} days: checkpoints.keepDeletedDays)")
}

fn name_of(txn: &TxnId) -> RefName {
    RefName::new(format!("{KEPT}{txn}"))
}

/// Objects by name.
struct Needs<'t> {
    commits: BTreeSet<&'t Oid>,
    trees: BTreeSet<&'t Oid>,
}

impl<'t> Needs<'t> {
    fn of(transaction: &'t Transaction) -> Self {
        let changes = &transaction.worktrees;
        let trees = changes.iter().flat_map(|change| [&change.files, &change.index]);
        let captures = changes.iter().flat_map(|change| [&change.captures.old, &change.captures.new]).flatten();
        let heads = changes.iter().filter_map(|change| match &change.head.old {
            HeadState::Detached(commit) => Some(commit),
            HeadState::Branch(_) => None,
        });
        let refs = transaction.refs.iter().filter_map(|change| change.value.old.as_ref());
        let advances = transaction.advances.iter().map(|change| &change.commit.old);
        let workspaces = transaction.workspaces.iter();
        let workspaces = workspaces.flat_map(|change| std::iter::once(&change.capture).chain(&change.commit));
        Self {
            commits: captures.chain(heads).chain(refs).chain(advances).chain(workspaces).collect(),
            trees: trees.flat_map(|trees| [&trees.old, &trees.new]).collect(),
        }
    }

    fn is_empty(&self) -> bool {
        self.commits.is_empty() && self.trees.is_empty()
    }

    /// Whether the commit that was made to keep them has all of them, but for what a branch that only went on has anyway:
    /// then git has forgotten nothing that they reach.
    fn are_kept(&self, ctx: &Context, transaction: &Transaction) -> Result<bool> {
        if !self.commits.iter().chain(&self.trees).all(|oid| ctx.repo.holds(oid)) {
            return Ok(false);
        }
        let (mut commits, mut trees) = (BTreeSet::new(), BTreeSet::new());
        if let Some(kept) = ctx.repo.read_ref(&name_of(&transaction.id))?.filter(|kept| ctx.repo.holds(kept)) {
            let Ok(commit) = ctx.repo.read_commit(&kept) else { return Ok(false) };
            let Ok(entries) = ctx.repo.read_tree(&commit.tree) else { return Ok(false) };
            trees.extend(entries.into_iter().map(|entry| entry.oid));
            commits.extend(commit.parents);
        }
        // Were the branch elsewhere by now, there would be no undo.
        let advances = transaction.advances.iter().map(|change| (&change.commit.old, &change.commit.new));
        let refs = transaction.refs.iter().filter_map(|change| change.value.old.as_ref().zip(change.value.new.as_ref()));
        for (old, new) in advances.chain(refs) {
            if !commits.contains(old) && ctx.repo.holds(new) && ctx.repo.is_ancestor(old, new)? {
                commits.insert(old.clone());
            }
        }
        Ok(self.commits.iter().all(|oid| commits.contains(*oid)) && self.trees.iter().all(|oid| trees.contains(*oid)))
    }
}
