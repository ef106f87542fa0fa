//! The commits that leave their branches or a detached HEAD by a rollback, and the branches that are reverted instead.

use std::collections::BTreeSet;

use super::preview::{RemovedCommitLine, RollbackPreview};
use crate::context::handle::Context;
use axiom_base::error::Result;
use axiom_git::LoggedCommit;
use axiom_model::base::ids::CheckpointName;
use axiom_model::base::names::{Oid, RefName};
use axiom_model::base::own_names::BRANCHES;
use axiom_model::base::ref_change::RefChange;
use axiom_model::checkpoint::document::CheckpointDocument;
use axiom_model::journal::journaled::JournaledOperation;
use axiom_model::journal::journaled_changes::HeadState;

/// How many commits are listed at most.
const COMMITS: usize = 1000;

/// Adds to the preview the commits that leave the operation's branches, and the branches that are deleted. Where an upstream
/// has some of these commits, the branch is reverted by a new commit instead.
pub(super) fn add_refs(
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
pub(super) fn add_detached(ctx: &Context, operation: &JournaledOperation, preview: &mut RollbackPreview) -> Result<()> {
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
    let commit = ctx.repo.merges().commit_tree(&tree, std::slice::from_ref(old), &message)?;
    Ok(Some(BranchRevert { commit, commits, on_upstream }))
}
