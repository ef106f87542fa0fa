//! What an operation and its undo need, kept by a ref of its own.

use std::collections::BTreeSet;

use crate::domain::base::ids::TxnId;
use crate::domain::base::names::{Oid, RefName};
use crate::domain::base::own_names::{KEPT, REFS};
use crate::domain::operation::journaled::{Operation, RefChange};
use crate::env;
use crate::error::Result;
use crate::git::{Expected, NewCommit, RefEdit, TREE, TreeEntry};
use crate::ops::context::handle::Context;

/// The folder with what no commit can keep: contents of tags, blobs and trees that refs name.
const TIPS: &str = "tips";

/// What a transaction keeps.
#[derive(Debug, Default)]
pub(in crate::ops) struct Kept {
    /// Commits, or where there were many, commits that keep them.
    pub parents: Vec<Oid>,
    /// Trees.
    pub trees: BTreeSet<Oid>,
    /// The folder with what no commit can keep.
    pub tips: Option<Oid>,
}

impl Kept {
    /// What is kept by a transaction's ref; `None` where there is none, or where it is damaged.
    ///
    /// # Errors
    /// `GIT_FAILED` where refs cannot be read.
    pub fn by(ctx: &Context, txn: &TxnId) -> Result<Option<Self>> {
        let Some(kept) = ctx.repo.refs().read_ref(&name_of(txn))?.filter(|kept| ctx.repo.objects().holds(kept)) else {
            return Ok(None);
        };
        let Ok(commit) = ctx.repo.objects().read_commit(&kept) else { return Ok(None) };
        let Ok(entries) = ctx.repo.objects().read_tree(&commit.tree) else { return Ok(None) };
        let (tips, trees): (Vec<TreeEntry>, Vec<TreeEntry>) =
            entries.into_iter().partition(|entry| entry.name == TIPS.as_bytes());
        let tips = tips.into_iter().next().map(|entry| entry.oid);
        Ok(Some(Self { parents: commit.parents, trees: trees.into_iter().map(|entry| entry.oid).collect(), tips }))
    }

    /// Writes tags again that are kept and not here any more.
    ///
    /// # Errors
    /// `CHECKPOINT_DAMAGED`, `DISK_FULL`, `GIT_FAILED`.
    pub fn write_tags_again(&self, ctx: &Context, tips: &[Oid]) -> Result<()> {
        self.tips.as_ref().map_or(Ok(()), |tree| ctx.repo.tips().write_tags_again(tree, tips))
    }
}

/// Whether what a ref names is a commit, always.
fn names_a_commit(change: &RefChange) -> bool {
    ["refs/heads/", REFS].iter().any(|folder| change.name.as_str().starts_with(folder))
}

/// The ref that keeps what a transaction needs.
pub(in crate::ops) fn name_of(txn: &TxnId) -> RefName {
    RefName::new(format!("{KEPT}{txn}"))
}

/// `refs/axiom/kept/<transaction>`: one commit whose parents are what would be lost and the captures of its worktrees, and
/// whose tree has the trees that it brings worktrees and indexes from and to. Some of these are in no capture: they were
/// composed of several. When it returns, all of it survives a power loss and any `git gc`. Doing it again changes nothing
/// more.
///
/// # Errors
/// `DISK_FULL`, `GIT_FAILED`, `IDENTITY_MISSING`.
pub(super) fn keep(ctx: &Context, operation: &Operation, txn: &TxnId) -> Result<()> {
    let captures = operation.worktrees.iter().flat_map(|change| [&change.captures.old, &change.captures.new]).flatten();
    // What comes too, where it may be a tag: that is brought back by its content alone.
    let others = operation.refs.iter().filter(|change| !names_a_commit(change));
    let tips: BTreeSet<&Oid> = others.flat_map(|change| [&change.value.old, &change.value.new]).flatten().collect();
    let commits: BTreeSet<&Oid> = operation.kept.iter().chain(captures).filter(|oid| !tips.contains(oid)).collect();
    let trees = operation.worktrees.iter().flat_map(|change| [&change.files, &change.index]);
    let trees: BTreeSet<&Oid> = trees.flat_map(|trees| [&trees.old, &trees.new]).collect();
    if commits.is_empty() && tips.is_empty() && trees.is_empty() {
        return Ok(());
    }
    let name = name_of(txn);
    if ctx.repo.refs().read_ref(&name)?.is_some() {
        return Ok(());
    }
    let entry = |oid: &Oid| TreeEntry { mode: TREE, oid: oid.clone(), name: oid.as_str().into() };
    let (commits, beside) = ctx.repo.tips().keep_tips(commits, tips)?;
    let mut entries: Vec<TreeEntry> = trees.into_iter().map(entry).collect();
    if !beside.is_empty() {
        entries.push(TreeEntry { mode: TREE, oid: ctx.repo.objects().write_tree(&beside)?, name: TIPS.into() });
    }
    let tree = ctx.repo.objects().write_tree(&entries)?;
    let (who, message) = (ctx.repo.objects().signature()?, format!("kept for undo: {}", operation.title));
    let commit = ctx.repo.objects().write_commit(&NewCommit { tree: &tree, parents: commits, who: &who, message: &message })?;
    let edit = RefEdit { name, expected: Expected::Absent, new: Some(commit) };
    ctx.repo.refs().update_refs(&[edit], &format!("git axiom: {}", operation.title))?;
    env::fault_point("journal.kept");
    Ok(())
}
