//! Both sides of a merge that conflicts, for the human who settles it: who changed the files in conflict, and in which commits.

use std::collections::BTreeSet;

use super::MergeOutcome;
use super::plan::{MergePlan, plan};
use axiom_base::error::Result;
use axiom_model::base::ids::TaskId;
use axiom_model::base::names::{Oid, RefName, RepoPath};
use axiom_model::work::guarded::AllowedGuardedFiles;
use axiom_safety::context::handle::Context;
use axiom_safety::context::target::target_branch;
use axiom_safety::folders::workspaces::branch_of;

/// The most files whose commits are looked for.
const MOST_FILES: usize = 100;
/// The most commits of a side that are told.
const MOST_COMMITS: usize = 20;

/// A conflict, as it is now.
#[derive(Debug, Clone)]
pub struct MergeConflictSides {
    /// The files in conflict.
    pub files: Vec<RepoPath>,
    /// What the task did.
    pub ours: MergeConflictSide,
    /// What the target got since the task's branch began.
    pub theirs: MergeConflictSide,
}

/// One side of a conflict.
#[derive(Debug, Clone)]
pub struct MergeConflictSide {
    /// The branch.
    pub branch: RefName,
    /// Its commit.
    pub tip: Oid,
    /// The tasks of its commits that changed the files.
    pub tasks: BTreeSet<String>,
    /// These commits, newest first.
    pub commits: Vec<ConflictSideCommit>,
}

/// A commit that changed files in conflict.
#[derive(Debug, Clone)]
pub struct ConflictSideCommit {
    /// The commit.
    pub oid: Oid,
    /// The first line of its message.
    pub subject: String,
    /// The tasks that it names.
    pub tasks: Vec<String>,
    /// Those of the files in conflict that it changed.
    pub files: Vec<RepoPath>,
}

/// Whether the merge of a task would conflict now. Writes nothing.
pub(crate) fn conflicts_now(ctx: &Context, task: &TaskId) -> Result<bool> {
    conflict(ctx, task).map(|found| found.is_some())
}

/// The files in conflict, and the target's commit, where the merge of a task would conflict now.
fn conflict(ctx: &Context, task: &TaskId) -> Result<Option<(Vec<RepoPath>, Oid)>> {
    Ok(match plan(ctx, task, &AllowedGuardedFiles::Everything)? {
        MergePlan::Ends(MergeOutcome::Conflict { files, target }) => Some((files, target)),
        MergePlan::Ends(_) | MergePlan::Merge { .. } | MergePlan::HasAll { .. } => None,
    })
}

/// Both sides, where the merge of a task would conflict now. Writes nothing.
pub fn sides(ctx: &Context, task: &TaskId) -> Result<Option<MergeConflictSides>> {
    let Some((files, theirs)) = conflict(ctx, task)? else { return Ok(None) };
    let branch = branch_of(ctx, task);
    let Some(ours) = ctx.repo.refs().read_ref(&branch)? else { return Ok(None) };
    let mut own = side(ctx, branch, (&theirs, &ours), &files)?;
    // Its agent's own commits name no task.
    own.tasks.insert(task.to_string());
    Ok(Some(MergeConflictSides { ours: own, theirs: side(ctx, target_branch(ctx)?, (&ours, &theirs), &files)?, files }))
}

fn side(ctx: &Context, branch: RefName, (without, tip): (&Oid, &Oid), files: &[RepoPath]) -> Result<MergeConflictSide> {
    let history = ctx.repo.history();
    let asked = &files[..files.len().min(MOST_FILES)];
    let mut side = MergeConflictSide { branch, tip: tip.clone(), tasks: BTreeSet::new(), commits: Vec::new() };
    for commit in history.log_of_paths(without, tip, asked, MOST_COMMITS)? {
        let before = commit.parents.first().cloned().unwrap_or(ctx.repo.trees().empty_tree()?);
        let changed: BTreeSet<RepoPath> =
            history.diff_trees(&before, &commit.oid)?.into_iter().map(|change| change.path).collect();
        let of_it = asked.iter().filter(|file| changed.contains(*file)).cloned().collect();
        side.tasks.extend(commit.tasks.iter().cloned());
        side.commits.push(ConflictSideCommit { oid: commit.oid, subject: commit.subject, tasks: commit.tasks, files: of_it });
    }
    Ok(side)
}
