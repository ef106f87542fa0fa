//! The ref that keeps what an operation and its undo need.

use std::collections::BTreeSet;

use super::submodules;
use crate::context::handle::Context;
use crate::operation::step_parts::published_ref::publish;
use axiom_base::env;
use axiom_base::error::Result;
use axiom_git::{NewCommit, TREE, TreeEntry};
use axiom_model::base::ids::OperationId;
use axiom_model::base::names::{Oid, RefName};
use axiom_model::base::own_names::{KEPT, REFS};
use axiom_model::base::ref_change::RefChange;
use axiom_model::journal::journaled::JournaledOperation;

/// The entry for what cannot be a commit's parent: contents of tags, and blobs and trees that refs point to.
const TIPS: &str = "tips";

/// What the ref of a transaction keeps.
#[derive(Debug, Default)]
pub(crate) struct KeepRefContents {
    /// Commits; where there were many, commits that reach them.
    pub parents: Vec<Oid>,
    /// Trees of worktrees and indexes.
    pub trees: BTreeSet<Oid>,
    /// The tree with contents of tags, and blobs and trees that refs point to.
    pub tips: Option<Oid>,
}

impl KeepRefContents {
    /// What a transaction's ref keeps; `None` where there is no such ref, or where it is damaged.
    pub fn by(ctx: &Context, txn: &OperationId) -> Result<Option<Self>> {
        let Some(kept) = ctx.repo.refs().read_ref(&name_of(txn))?.filter(|kept| ctx.repo.connectivity().holds(kept)) else {
            return Ok(None);
        };
        let Ok(commit) = ctx.repo.objects().read_commit(&kept) else { return Ok(None) };
        let Ok(entries) = ctx.repo.trees().read_tree(&commit.tree) else { return Ok(None) };
        let (tips, trees): (Vec<TreeEntry>, Vec<TreeEntry>) =
            entries.into_iter().partition(|entry| entry.name == TIPS.as_bytes());
        let tips = tips.into_iter().next().map(|entry| entry.oid);
        Ok(Some(Self { parents: commit.parents, trees: trees.into_iter().map(|entry| entry.oid).collect(), tips }))
    }

    /// Writes kept tags again that are missing from the repository.
    pub fn write_tags_again(&self, ctx: &Context, tips: &[Oid]) -> Result<()> {
        self.tips.as_ref().map_or(Ok(()), |tree| ctx.repo.tips().write_tags_again(tree, tips))
    }
}

/// Whether the ref always points to a commit.
fn names_a_commit(change: &RefChange) -> bool {
    ["refs/heads/", REFS].iter().any(|folder| change.name.as_str().starts_with(folder))
}

/// The name of the ref that keeps what a transaction needs.
pub(crate) fn name_of(txn: &OperationId) -> RefName {
    RefName::new(format!("{KEPT}{txn}"))
}

/// Makes `refs/axiom/kept/<transaction>`: one commit. Its parents are the commits that would be lost and the captures of the
/// operation's worktrees; its tree has the old and new trees of worktrees and indexes, since some of these are in no
/// capture: they were combined from several. When this returns, all of it survives a power loss and any `git gc`. Repeating
/// it changes nothing more.
pub(super) fn keep(ctx: &Context, operation: &JournaledOperation, txn: &OperationId) -> Result<()> {
    for change in &operation.submodules {
        submodules::keep(ctx, change, txn, &operation.title)?;
    }
    let captures = operation.worktrees.iter().flat_map(|change| [&change.captures.old, &change.captures.new]).flatten();
    // New values too, where a ref may point to a tag: tag objects are brought back only from their kept contents.
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
        entries.push(TreeEntry { mode: TREE, oid: ctx.repo.trees().write_tree(&beside)?, name: TIPS.into() });
    }
    let tree = ctx.repo.trees().write_tree(&entries)?;
    let (who, message) = (ctx.repo.objects().signature()?, format!("kept for undo: {}", operation.title));
    let commit = ctx.repo.objects().write_commit(&NewCommit { tree: &tree, parents: commits, who: &who, message: &message })?;
    publish(&ctx.repo, name, commit, &format!("git axiom: {}", operation.title))?;
    env::fault_point("journal.kept");
    Ok(())
}
