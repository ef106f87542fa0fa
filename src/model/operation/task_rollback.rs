//! Which commits of a branch belong to a task, which of them still have an effect, and in what order they are reverted.
//! Pure.
//!
//! Commits that a merge on the first-parent chain brought in belong to that merge. A merge that is marked as the task's, or
//! that brought in only the task's commits, is reverted as one commit, against its first parent. A merge that also brought
//! in other work is not reverted: then the task's commits are reverted one by one.

mod heights;
mod history;
mod tasks;

use std::collections::BTreeSet;

use crate::base::ids::TaskId;
use crate::base::names::Oid;
use crate::work::tasks::commit_marks::CommitMarks;

pub use heights::{HistoryHeights, heights, line_begins_at};
use history::BranchHistory;
pub use tasks::{dependents, edits};

/// A commit of the branch's history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryCommit {
    /// Its id.
    pub oid: Oid,
    /// Its parents.
    pub parents: Vec<Oid>,
    /// The first line of its message.
    pub subject: String,
    /// The marks in its message that name tasks.
    pub marks: CommitMarks,
}

/// A task that is to be rolled back.
#[derive(Debug, Clone)]
pub struct RolledBackTask {
    /// The task.
    pub task: TaskId,
    /// The commits of its iterations, from the records.
    pub recorded: BTreeSet<Oid>,
}

/// A commit that gets one revert commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevertUnit {
    /// The commit.
    pub oid: Oid,
    /// The parent whose content the revert restores: for a merge the mainline one; `None` for a root commit.
    pub parent: Option<Oid>,
    /// Its subject.
    pub subject: String,
    /// The task for which it is reverted.
    pub task: TaskId,
    /// The commits that a merge brought in, which are reverted with it, newest first.
    pub brings: Vec<(Oid, String)>,
    /// Whether it is a merge.
    pub is_merge: bool,
}

/// A commit of a task that needs no revert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedRevert {
    /// The commit.
    pub oid: Oid,
    /// Its subject.
    pub subject: String,
    /// Why it needs none.
    pub why: NoRevertReason,
}

/// Why a commit needs no revert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoRevertReason {
    /// This commit reverts it, and is not reverted itself.
    RevertedBy(Oid),
    /// It only merges lines of work, and other work is among them.
    Joins,
}

/// What is to be reverted, and what is not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaskRevertPlan {
    /// Newest first, the order of the reverts.
    pub units: Vec<RevertUnit>,
    /// Newest first.
    pub skipped: Vec<SkippedRevert>,
}

/// Plans the rollback of tasks, given the whole history of the branch, newest first, every commit before its parents.
pub fn plan(log: &[HistoryCommit], wanted: &[RolledBackTask]) -> TaskRevertPlan {
    let history = BranchHistory::new(log);
    let owners: Vec<Option<usize>> = log.iter().map(|commit| owner_by_mark(commit, wanted)).collect();
    let candidates = candidates(&history, &owners);
    let mut plan = TaskRevertPlan::default();
    let mut planned: BTreeSet<usize> = BTreeSet::new();
    // Newest first: a planned revert may make an older commit effective again (revert of a revert), which is looked at
    // later.
    for candidate in &candidates {
        let commit = &log[candidate.index];
        match candidate.role {
            RevertRole::Joins => plan.skipped.push(skipped(commit, NoRevertReason::Joins)),
            RevertRole::Reverted => match history.reverted_by(candidate.index, &planned) {
                Some(by) => plan.skipped.push(skipped(commit, NoRevertReason::RevertedBy(log[by].oid.clone()))),
                None => {
                    planned.insert(candidate.index);
                    plan.units.push(unit(&history, candidate, &wanted[candidate.owner].task));
                }
            },
        }
    }
    plan
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RevertRole {
    /// It gets a revert commit, unless it was reverted already.
    Reverted,
    /// It is a merge that also brought in other work.
    Joins,
}

#[derive(Debug)]
struct RevertCandidate {
    index: usize,
    owner: usize,
    role: RevertRole,
}

fn skipped(commit: &HistoryCommit, why: NoRevertReason) -> SkippedRevert {
    SkippedRevert { oid: commit.oid.clone(), subject: commit.subject.clone(), why }
}

fn unit(history: &BranchHistory<'_>, candidate: &RevertCandidate, task: &TaskId) -> RevertUnit {
    let commit = &history.log[candidate.index];
    let is_merge = commit.parents.len() > 1;
    let brief = |index: &usize| (history.log[*index].oid.clone(), history.log[*index].subject.clone());
    RevertUnit {
        oid: commit.oid.clone(),
        parent: commit.parents.first().cloned(),
        subject: commit.subject.clone(),
        task: task.clone(),
        brings: if is_merge { history.brought(candidate.index).iter().map(brief).collect() } else { Vec::new() },
        is_merge,
    }
}

fn owner_by_mark(commit: &HistoryCommit, wanted: &[RolledBackTask]) -> Option<usize> {
    let named = |wanted: &RolledBackTask| commit.marks.tasks.iter().any(|task| task.eq_ignore_ascii_case(wanted.task.as_str()));
    wanted.iter().position(|one| named(one) || one.recorded.contains(&commit.oid))
}

/// The commits of the tasks, newest first.
fn candidates(history: &BranchHistory<'_>, owners: &[Option<usize>]) -> Vec<RevertCandidate> {
    let mut found: Vec<RevertCandidate> = Vec::new();
    for &link in history.chain() {
        if history.is_merge(link) && !history.brought(link).is_empty() {
            of_merge(history, owners, link, &mut found);
        } else if let Some(owner) = owners[link] {
            found.push(RevertCandidate { index: link, owner, role: RevertRole::Reverted });
        }
    }
    // A commit that reverts the task's own work is not a candidate. (A revert of something else, made as the task's work,
    // is.)
    found.retain(|candidate| history.reverts_of(candidate.index).is_none_or(|root| owners[root] != Some(candidate.owner)));
    found.sort_by_key(|candidate| candidate.index);
    found
}

/// Adds the candidates of a merge on the chain and of the commits that it brought in.
fn of_merge(history: &BranchHistory<'_>, owners: &[Option<usize>], link: usize, found: &mut Vec<RevertCandidate>) {
    let brought = history.brought(link);
    let commits = || brought.iter().copied().filter(|index| !history.is_merge(*index));
    let own: Vec<usize> = commits().filter(|index| owners[*index].is_some()).collect();
    let others = |index: usize| owners[index].is_none() && !history.log[index].marks.tasks.is_empty();
    let has_work_of_others = commits().any(others);
    let first_parent = history.first_parent(link);
    // A merge of the target into the task's branch, to which the target was then moved: the first parent is the task's.
    let is_inner = own.is_empty() && first_parent.is_some_and(|parent| owners[parent].is_some());
    let owner = owners[link].or_else(|| own.first().and_then(|index| owners[*index]));
    let Some(owner) = owner else { return };
    let says_so = owners[link].is_some() && !is_inner && !has_work_of_others;
    let holds_nothing_else = !own.is_empty() && commits().all(|index| owners[index].is_some());
    if says_so || holds_nothing_else {
        found.push(RevertCandidate { index: link, owner, role: RevertRole::Reverted });
        return;
    }
    if owners[link].is_some() {
        found.push(RevertCandidate { index: link, owner, role: RevertRole::Joins });
    }
    for &index in brought {
        // A merge that is marked as the task's makes the unmarked commits that it brought in the task's too.
        let unmarked = owners[link].filter(|_| !is_inner && history.log[index].marks.tasks.is_empty());
        if let Some(owner) = owners[index].or(unmarked) {
            let role = if history.is_merge(index) { RevertRole::Joins } else { RevertRole::Reverted };
            found.push(RevertCandidate { index, owner, role });
        }
    }
}

#[cfg(test)]
mod tests;
