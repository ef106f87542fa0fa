//! Reverting commits in memory, newest first.

use axiom_base::error::{Code, Error, Result};
use axiom_git::MergeResult;
use axiom_model::base::names::{Oid, RepoPath};
use axiom_model::operation::task_rollback::{RevertUnit, TaskRevertPlan};
use axiom_safety::context::handle::Context;

/// The result of reverting.
#[derive(Debug)]
pub(super) struct RevertOutcome {
    /// The branch's commit afterwards.
    pub tip: Oid,
    /// The reverted units, each with its revert commit; `None` where nothing of the unit was left to revert.
    pub made: Vec<(RevertUnit, Option<Oid>)>,
    /// The unit that could not be reverted, with the files in conflict. The units after it were not tried.
    pub conflict: Option<(RevertUnit, Vec<RepoPath>)>,
}

impl RevertOutcome {
    /// The result of a resolution by hand: the whole plan was reverted by this commit and those before it.
    pub fn by_hand(plan: &TaskRevertPlan, tip: Oid) -> Self {
        let made = plan.units.iter().map(|unit| (unit.clone(), Some(tip.clone()))).collect();
        Self { tip, made, conflict: None }
    }
}

/// Reverts the units of a plan on top of `from`, up to the first conflict. Writes objects that nothing refers to yet.
pub(super) fn compute(ctx: &Context, plan: &TaskRevertPlan, from: &Oid) -> Result<RevertOutcome> {
    let mut reverted = RevertOutcome { tip: from.clone(), made: Vec::new(), conflict: None };
    let mut tree = ctx.repo.objects().read_commit(from)?.tree;
    // The commit whose tree this is: while the newest commits are reverted in order, no merge is needed.
    let mut content_of = Some(from.clone());
    for unit in &plan.units {
        let parent = parent(ctx, unit)?;
        let next = if content_of.as_ref() == Some(&unit.oid) {
            content_of.clone_from(&unit.parent);
            ctx.repo.objects().read_commit(&parent)?.tree
        } else {
            content_of = None;
            match ctx.repo.merges().merge_with_base(&unit.oid, (&reverted.tip, &reverted.tip), &parent)? {
                MergeResult::Clean(next) => next,
                MergeResult::Conflict(files) => {
                    reverted.conflict = Some((unit.clone(), files));
                    return Ok(reverted);
                }
            }
        };
        if next == tree {
            reverted.made.push((unit.clone(), None));
            continue;
        }
        let commit = ctx.repo.signatures().commit_for_branch(&next, std::slice::from_ref(&reverted.tip), &message(unit))?;
        reverted.made.push((unit.clone(), Some(commit.clone())));
        (reverted.tip, tree) = (commit, next);
    }
    Ok(reverted)
}

/// The commit whose tree the revert of a unit restores; an empty commit for the revert of a root commit.
fn parent(ctx: &Context, unit: &RevertUnit) -> Result<Oid> {
    match &unit.parent {
        Some(parent) => Ok(parent.clone()),
        // At the boundary of a shallow clone, the walked history has no parent, but the commit object names one.
        None if !ctx.repo.objects().read_commit(&unit.oid)?.parents.is_empty() => {
            Err(Error::new(Code::HistoryMissing, format!("the parent of {} is not in this clone", unit.oid.short()))
                .why("the clone is shallow")
                .hint("git fetch --unshallow"))
        }
        None => ctx.repo.objects().root_commit(),
    }
}

/// The message, in the form of `git revert`, with trailers.
fn message(unit: &RevertUnit) -> String {
    let RevertUnit { oid, subject, task, .. } = unit;
    let what = match (&unit.parent, unit.is_merge) {
        (Some(parent), true) => format!("This reverts commit {oid}, reversing\nchanges made to {parent}."),
        (Some(_) | None, _) => format!("This reverts commit {oid}."),
    };
    format!("Revert \"{subject}\"\n\n{what}\n\nAxiom-Reverts: {oid}\nAxiom-Task: {task}\n")
}
