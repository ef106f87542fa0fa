//! Which commits leave their branches, which branches are reverted in place of that, and which must not move.

use std::collections::BTreeSet;
use std::path::Path;

use crate::domain::checkpoint::CheckpointDocument;
use crate::domain::ids::CheckpointName;
use crate::domain::names::{Oid, RefName};
use crate::domain::operation::{HeadState, Operation, RefChange};
use crate::error::{Code, Error, Result};
use crate::git::Head;
use crate::ops::context::Context;

use super::preview::{CommitLine, Preview};

/// How many commits are listed.
const COMMITS: usize = 1000;

/// Names the commits that leave the operation's branches; those that an upstream has are reverted in place of that.
pub(super) fn add_refs(
    ctx: &Context,
    name: &CheckpointName,
    document: &CheckpointDocument,
    operation: &mut Operation,
    preview: &mut Preview,
) -> Result<()> {
    lost_commits(ctx, &operation.refs, document, preview)?;
    for change in &mut operation.refs {
        if let Some(commit) = reverting(ctx, change, name)? {
            preview.reverted.push(change.name.clone());
            change.value.new = Some(commit);
        }
    }
    Ok(())
}

fn lost_commits(ctx: &Context, refs: &[RefChange], document: &CheckpointDocument, preview: &mut Preview) -> Result<()> {
    let then = refs.iter().filter_map(|change| change.value.new.as_ref());
    let without: Vec<Oid> = document.refs.values().chain(&document.git_commit).chain(then).cloned().collect();
    let mut seen = BTreeSet::new();
    let mut commits = Vec::new();
    // The target branch before the tasks' branches: where times are equal, merges then come before what they took in.
    let of_a_task = |change: &&RefChange| change.name.as_str().starts_with("refs/heads/axiom/");
    let (tasks, others): (Vec<&RefChange>, Vec<&RefChange>) = refs.iter().partition(of_a_task);
    for old in others.into_iter().chain(tasks).filter_map(|change| change.value.old.as_ref()) {
        let log = match ctx.repo.line(old, &without, COMMITS) {
            Some(line) => line,
            None => ctx.repo.log(old, &without, COMMITS)?,
        };
        commits.extend(log.into_iter().filter(|commit| seen.insert(commit.oid.clone())));
    }
    commits.sort_by_key(|commit| std::cmp::Reverse(commit.seconds));
    for commit in commits {
        let line = CommitLine { id: commit.oid, subject: commit.subject };
        if commit.parents.len() > 1 {
            preview.merges.push(line.clone());
        }
        preview.commits.push(line);
    }
    Ok(())
}

/// The commit that reverts a branch instead of resetting it, where an upstream has some of what would be taken out.
fn reverting(ctx: &Context, change: &RefChange, name: &CheckpointName) -> Result<Option<Oid>> {
    let (Some(old), Some(new)) = (&change.value.old, &change.value.new) else { return Ok(None) };
    if change.name.as_str().starts_with("refs/heads/axiom/") || ctx.repo.is_ancestor(old, new)? {
        return Ok(None);
    }
    if ctx.repo.refs_below("refs/remotes/")?.is_empty() {
        return Ok(None);
    }
    let count = |more: &[&str]| ctx.repo.git().args(["rev-list", "--count", old.as_str(), &format!("^{new}")]).args(more).text();
    if count(&[])? == count(&["--not", "--remotes"])? {
        return Ok(None);
    }
    let tree = ctx.repo.read_commit(new)?.tree;
    let message =
        format!("Roll back to checkpoint {name}\n\nThe commits since are on an upstream, so they are reverted, not removed.\n");
    ctx.repo.commit_tree(&tree, std::slice::from_ref(old), &message).map(Some)
}

/// Moving a branch under a worktree that is not part of the operation would leave it with staged reversals; or with a
/// rebase or a bisection that cannot end.
///
/// # Errors
/// `BRANCH_IN_USE` naming the worktree and what is in progress there.
pub(crate) fn branches_are_free(ctx: &Context, operation: &Operation) -> Result<()> {
    let part: BTreeSet<&Path> = operation
        .worktrees
        .iter()
        .map(|change| Path::new(&change.path))
        .chain(operation.advances.iter().map(|change| Path::new(&change.path)))
        .chain(operation.workspaces.iter().map(|change| Path::new(&change.workspace.path)))
        .collect();
    let moving: BTreeSet<&RefName> = operation.refs.iter().map(|change| &change.name).collect();
    let heads: BTreeSet<&RefName> = operation
        .worktrees
        .iter()
        .filter(|change| change.head.old != change.head.new)
        .filter_map(|change| match &change.head.new {
            HeadState::Branch(name) => Some(name),
            HeadState::Detached(_) => None,
        })
        .collect();
    for entry in ctx.repo.worktrees()?.into_iter().filter(|entry| !part.contains(entry.worktree.path())) {
        let place = entry.worktree.path().display();
        let is_meant = |branch: &RefName| moving.contains(branch) || heads.contains(branch);
        if let Some(branch) = entry.head.as_ref().and_then(Head::branch).filter(|branch| is_meant(branch)) {
            return Err(Error::new(Code::BranchInUse, format!("{} is checked out in '{place}'", branch.short()))
                .hint(format!("git -C '{place}' switch --detach")));
        }
        // HEAD is on no branch meanwhile, and the end of it would find another commit there than it left.
        let waiting = ctx.repo.branches_in_progress(&entry.worktree)?;
        if let Some((branch, kind)) = waiting.iter().find(|(branch, _)| is_meant(branch)) {
            return Err(Error::new(Code::BranchInUse, format!("{} is part of {} in '{place}'", branch.short(), kind.words()))
                .hint(format!("end it there first: {}", kind.ways_out())));
        }
    }
    Ok(())
}
