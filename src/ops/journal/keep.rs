//! What an operation and its undo need, kept by a ref of its own.

use std::collections::BTreeSet;

use crate::domain::ids::TxnId;
use crate::domain::names::{Oid, RefName};
use crate::domain::operation::Operation;
use crate::env;
use crate::error::Result;
use crate::git::{Expected, NewCommit, RefEdit, TREE, TreeEntry};
use crate::ops::context::Context;

/// `refs/axiom/kept/<transaction>`: one commit whose parents are what would be lost and the captures of its worktrees, and
/// whose tree has the trees that it brings worktrees and indexes from and to. Some of these are in no capture: they were
/// composed of several. When it returns, all of it survives a power loss and any `git gc`. Doing it again changes nothing
/// more.
///
/// # Errors
/// `DISK_FULL`, `GIT_FAILED`, `IDENTITY_MISSING`.
pub(super) fn keep(ctx: &Context, operation: &Operation, txn: &TxnId) -> Result<()> {
    let captures = operation.worktrees.iter().flat_map(|change| [&change.captures.old, &change.captures.new]).flatten();
    let mut seen = BTreeSet::new();
    let commits: Vec<Oid> = operation.kept.iter().chain(captures).filter(|oid| seen.insert(*oid)).cloned().collect();
    let trees = operation.worktrees.iter().flat_map(|change| [&change.files, &change.index]);
    let trees: BTreeSet<&Oid> = trees.flat_map(|trees| [&trees.old, &trees.new]).collect();
    if commits.is_empty() && trees.is_empty() {
        return Ok(());
    }
    let name = RefName::new(format!("refs/axiom/kept/{txn}"));
    if ctx.repo.read_ref(&name)?.is_some() {
        return Ok(());
    }
    let entry = |oid: &Oid| TreeEntry { mode: TREE, oid: oid.clone(), name: oid.as_str().into() };
    let tree = ctx.repo.write_tree(&trees.into_iter().map(entry).collect::<Vec<_>>())?;
    let (who, message) = (ctx.repo.signature()?, format!("kept for undo: {}", operation.title));
    let commit = ctx.repo.write_commit(&NewCommit { tree: &tree, parents: commits, who: &who, message: &message })?;
    let edit = RefEdit { name, expected: Expected::Absent, new: Some(commit) };
    ctx.repo.update_refs(&[edit], &format!("git axiom: {}", operation.title))?;
    env::fault_point("journal.kept");
    Ok(())
}
