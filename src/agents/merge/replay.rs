//! The tree that comes of a merge. Where the two tips conflict, the task's commits are applied to the target one by one, as a rebase
//! would, but in memory: that settles conflicts with changes that the target has of the same commits already.

use axiom_base::error::Result;
use axiom_git::MergeResult;
use axiom_model::base::names::{Oid, RepoPath};
use axiom_safety::context::handle::Context;

/// The most commits that are applied one by one.
const MOST: usize = 100;

/// What comes of a merge.
pub(super) enum ComputedMerge {
    /// The tree of the result; `settled` are the files that were in conflict before the commits were applied one by one.
    Clean { tree: Oid, settled: Vec<RepoPath> },
    /// The files in conflict.
    Conflict(Vec<RepoPath>),
}

/// Computes the merge of a task's commit into that of the target. Writes objects that nothing refers to.
pub(super) fn compute(ctx: &Context, target: &Oid, branch: &Oid) -> Result<ComputedMerge> {
    Ok(match ctx.repo.merges().merge_in_memory(target, branch)? {
        MergeResult::Clean(tree) => ComputedMerge::Clean { tree, settled: Vec::new() },
        MergeResult::Conflict(files) => match replayed(ctx, target, branch)? {
            Some(tree) => ComputedMerge::Clean { tree, settled: files },
            None => ComputedMerge::Conflict(files),
        },
    })
}

/// The tree after the commits of the branch that the target does not have in another form; `None` where one of them conflicts, or
/// where they are no line.
fn replayed(ctx: &Context, target: &Oid, branch: &Oid) -> Result<Option<Oid>> {
    let history = ctx.repo.history();
    let Some(commits) = history.line_of_changes(target, branch, MOST)? else { return Ok(None) };
    let mut onto = target.clone();
    for commit in commits {
        let parents = ctx.repo.objects().read_commit(&commit)?.parents;
        let [parent] = parents.as_slice() else { return Ok(None) };
        match ctx.repo.merges().merge_with_base(parent, (&onto, target), &commit)? {
            MergeResult::Clean(tree) => onto = ctx.repo.merges().commit_in_memory(&tree, &onto)?,
            MergeResult::Conflict(_) => return Ok(None),
        }
    }
    Ok(Some(ctx.repo.objects().read_commit(&onto)?.tree))
}
