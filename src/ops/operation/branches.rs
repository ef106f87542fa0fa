//! Branches in an operation: which commits leave them, which branches are reverted instead, and which must not move.

use std::collections::BTreeSet;
use std::path::Path;

use crate::domain::base::ids::CheckpointName;
use crate::domain::base::names::{Oid, RefName};
use crate::domain::base::own_names::BRANCHES;
use crate::domain::base::ref_change::RefChange;
use crate::domain::checkpoint::document::CheckpointDocument;
use crate::domain::journal::journaled::{HeadState, JournaledOperation};
use crate::error::{Code, Error, Result};
use crate::git::{Head, LoggedCommit};
use crate::ops::context::handle::Context;
use crate::ops::workspaces;

use crate::ops::rollback::preview::{RemovedCommitLine, RollbackPreview};

/// How many commits are listed at most.
const COMMITS: usize = 1000;

/// Adds to the preview the commits that leave the operation's branches, and the branches that are deleted. Where an upstream
/// has some of these commits, the branch is reverted by a new commit instead.
pub(in crate::ops) fn add_refs(
    ctx: &Context,
    name: &CheckpointName,
    document: &CheckpointDocument,
    operation: &mut JournaledOperation,
    preview: &mut RollbackPreview,
) -> Result<()> {
    for change in &mut operation.refs {
        if let Some(BranchRevert { commit, commits, on_upstream }) = reverting(ctx, change, name)? {
            let line = |commit: LoggedCommit| line(commit, Some(&change.name));
            preview.on_upstream.push((change.name.clone(), commits.len(), on_upstream));
            preview.reverted.push(change.name.clone());
            preview.reverted_commits.extend(commits.into_iter().map(line));
            change.value.new = Some(commit);
        }
    }
    let goes = operation.refs.iter().filter(|change| change.value.old.is_some() && change.value.new.is_none());
    preview.branches.extend(goes.map(|change| change.name.clone()));
    lost_commits(ctx, &operation.refs, document, preview)
}

fn line(commit: LoggedCommit, branch: Option<&RefName>) -> RemovedCommitLine {
    RemovedCommitLine { id: commit.oid, subject: commit.subject, branch: branch.cloned() }
}

fn lost_commits(ctx: &Context, refs: &[RefChange], document: &CheckpointDocument, preview: &mut RollbackPreview) -> Result<()> {
    let then = refs.iter().filter_map(|change| change.value.new.as_ref());
    let without: Vec<Oid> = document.refs.values().chain(&document.git_commit).chain(then).cloned().collect();
    let mut seen = BTreeSet::new();
    let mut commits = Vec::new();
    // The target branch before the tasks' branches: where times are equal, a merge then comes before the commits that it
    // merged.
    let of_a_task = |change: &&RefChange| change.name.as_str().starts_with(BRANCHES);
    let moved = refs.iter().filter(|change| !preview.reverted.contains(&change.name));
    let (tasks, others): (Vec<&RefChange>, Vec<&RefChange>) = moved.partition(of_a_task);
    for change in others.into_iter().chain(tasks) {
        let Some(old) = &change.value.old else { continue };
        let log = ctx.repo.history().newest(old, &without, COMMITS)?;
        let fresh = log.into_iter().filter(|commit| seen.insert(commit.oid.clone()));
        commits.extend(fresh.map(|commit| (commit, &change.name)));
    }
    commits.sort_by_key(|(commit, _)| std::cmp::Reverse(commit.seconds));
    for (commit, branch) in commits {
        let is_merge = commit.parents.len() > 1;
        let line = line(commit, Some(branch));
        if is_merge {
            preview.merges.push(line.clone());
        }
        preview.commits.push(line);
    }
    Ok(())
}

/// Adds to the preview the commits that only a detached HEAD reaches, where the operation moves that HEAD.
pub(in crate::ops) fn add_detached(ctx: &Context, operation: &JournaledOperation, preview: &mut RollbackPreview) -> Result<()> {
    for change in operation.worktrees.iter().filter(|change| change.head.old != change.head.new) {
        let HeadState::Detached(commit) = &change.head.old else { continue };
        let mut stay: BTreeSet<Oid> =
            operation.refs.iter().flat_map(|change| [&change.value.old, &change.value.new]).flatten().cloned().collect();
        for prefix in ["refs/heads/", "refs/remotes/"] {
            stay.extend(ctx.repo.refs().refs_below(prefix)?.into_iter().map(|one| one.oid));
        }
        if let HeadState::Detached(then) = &change.head.new {
            stay.insert(then.clone());
        }
        let log = ctx.repo.history().log(commit, &Vec::from_iter(stay), COMMITS)?;
        preview.commits.extend(log.into_iter().map(|commit| line(commit, None)));
    }
    Ok(())
}

/// The revert of a branch, instead of a reset.
struct BranchRevert {
    commit: Oid,
    commits: Vec<LoggedCommit>,
    on_upstream: usize,
}

/// The commit that reverts a branch instead of resetting it, where an upstream has some of the commits that would be
/// removed.
fn reverting(ctx: &Context, change: &RefChange, name: &CheckpointName) -> Result<Option<BranchRevert>> {
    let (Some(old), Some(new)) = (&change.value.old, &change.value.new) else { return Ok(None) };
    if change.name.as_str().starts_with(BRANCHES) || ctx.repo.history().is_ancestor(old, new)? {
        return Ok(None);
    }
    let upstream = ctx.repo.refs().refs_below("refs/remotes/")?;
    if upstream.is_empty() {
        return Ok(None);
    }
    let count = |more: &[&str]| ctx.repo.git().args(["rev-list", "--count", old.as_str(), &format!("^{new}")]).args(more).text();
    let (all, own) = (count(&[])?, count(&["--not", "--remotes"])?);
    if all == own {
        return Ok(None);
    }
    let number = |text: &str| text.trim().parse::<usize>().unwrap_or_default();
    let on_upstream = number(&all).saturating_sub(number(&own));
    let commits = ctx.repo.history().log(old, std::slice::from_ref(new), COMMITS)?;
    let tree = ctx.repo.objects().read_commit(new)?.tree;
    let message =
        format!("Roll back to checkpoint {name}\n\nThe commits since are on an upstream, so they are reverted, not removed.\n");
    let commit = ctx.repo.history().commit_tree(&tree, std::slice::from_ref(old), &message)?;
    Ok(Some(BranchRevert { commit, commits, on_upstream }))
}

/// Checks that no worktree outside of the operation uses a branch that moves: the worktree would seem to have staged changes
/// that revert the new commits; or a rebase or bisect there could not end properly.
///
/// # Errors
/// `BRANCH_IN_USE`, naming the worktree and what is in progress there.
pub(crate) fn branches_are_free(ctx: &Context, operation: &JournaledOperation) -> Result<()> {
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
    for entry in ctx.repo.worktrees().list()?.into_iter().filter(|entry| !part.contains(entry.worktree.path())) {
        let path = entry.worktree.path();
        let place = path.display();
        let is_meant = |branch: &RefName| moving.contains(branch) || heads.contains(branch);
        if let Some(branch) = entry.head.as_ref().and_then(Head::branch).filter(|branch| is_meant(branch)) {
            let error = Error::new(Code::BranchInUse, format!("{} is checked out in '{place}'", branch.short()));
            match &entry.locked {
                _ if entry.present => return Err(error.hint(format!("git -C '{place}' switch --detach"))),
                Some(reason) => return Err(gone_and_locked(error, path, reason)),
                // The folder is missing: there is nothing to damage.
                None if is_ours(ctx, path) => continue,
                None => {
                    return Err(error
                        .why("that folder is gone, but git still lists it")
                        .hint("git worktree prune    removes the entries of worktrees whose folders are gone"));
                }
            }
        }
        // During a rebase or bisect, HEAD is on no branch; at its end git would find another commit on the branch.
        let waiting = ctx.repo.captures().branches_in_progress(&entry.worktree)?;
        if let Some((branch, kind)) = waiting.iter().find(|(branch, _)| is_meant(branch)) {
            return Err(Error::new(Code::BranchInUse, format!("{} is part of {} in '{place}'", branch.short(), kind.words()))
                .hint(format!("end it there first: {}", kind.ways_out())));
        }
    }
    Ok(())
}

fn gone_and_locked(error: Error, path: &Path, reason: &str) -> Error {
    let reason = if reason.is_empty() { String::new() } else { format!(": {reason}") };
    error
        .why(format!("that folder is gone, and it is locked{reason}"))
        .hint(format!("git worktree unlock '{}'; git worktree prune    if it is gone for good", path.display()))
}

/// Whether a worktree is, or was, the workspace of a task.
fn is_ours(ctx: &Context, path: &Path) -> bool {
    let known = ctx.state().restorable.workspaces.values().any(|workspace| Path::new(&workspace.path) == path);
    known || workspaces::root(ctx).is_ok_and(|root| path.starts_with(root))
}
