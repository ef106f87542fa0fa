//! Where HEAD of a worktree went by a session's own commands, and whether that alone explains where it is now. Pure.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::shell::head_moves::HeadLogEntry;
use crate::base::names::{Oid, RefName};

/// What HEAD of a worktree says.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HeadPosition {
    /// The branch; `None` where HEAD is detached.
    pub branch: Option<RefName>,
    /// The commit; `None` where the branch is unborn.
    pub commit: Option<Oid>,
}

/// A branch that was moved while it was checked out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BranchStep {
    /// The branch.
    pub branch: RefName,
    /// Its commit before; `None` where it was unborn.
    pub old: Option<Oid>,
    /// Its commit afterwards.
    pub new: Oid,
}

/// A command of a session that moved HEAD, by its own words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OwnHeadMove {
    /// The worktree.
    pub worktree: String,
    /// When it had ended.
    pub at: Timestamp,
    /// HEAD before.
    pub from: HeadPosition,
    /// HEAD afterwards.
    pub to: HeadPosition,
    /// The branches that it moved.
    pub branches: Vec<BranchStep>,
}

/// What is known of refs when a log of HEAD is read.
pub struct HeadLogSurroundings<'a> {
    /// Whether a short name is a branch's.
    pub is_branch: &'a dyn Fn(&str) -> bool,
    /// From where a branch made its last step, which led to this commit.
    pub last_step: &'a dyn Fn(&RefName, &str) -> Option<Oid>,
}

/// Follows the log of HEAD from a position: where it leads, and the branches that moved on the way. `None` where that cannot be told.
pub fn follow(
    from: &HeadPosition,
    entries: &[HeadLogEntry],
    at: &HeadLogSurroundings<'_>,
) -> Option<(HeadPosition, Vec<BranchStep>)> {
    let (mut position, mut steps) = (from.clone(), Vec::<BranchStep>::new());
    for entry in entries {
        // The second line of a renaming follows.
        if let Some(renamed) = entry.message.strip_prefix("Branch: renamed ") {
            let (old, new) = renamed.split_once(" to ")?;
            position.branch = position.branch.map(|branch| if branch.as_str() == old { RefName::new(new) } else { branch });
            continue;
        }
        let new = Oid::new(entry.new.clone()).ok()?;
        let old = Oid::new(entry.old.clone()).ok().filter(|old| !is_nothing(old.as_str()));
        if let Some((_, back_to)) = entry.message.split_once(": returning to refs/heads/") {
            let branch = RefName::branch(back_to);
            let known = steps.iter().rev().find(|step| step.branch == branch).map(|step| step.new.clone());
            let before = known.or_else(|| from.commit.clone().filter(|_| from.branch.as_ref() == Some(&branch)));
            let before = before.or_else(|| (at.last_step)(&branch, new.as_str()));
            if !entry.message.contains("(abort)") {
                steps.push(BranchStep { branch: branch.clone(), old: Some(before?), new: new.clone() });
            }
            position.branch = Some(branch);
        } else if entry.message.contains("(start): checkout ") {
            position.branch = None;
        } else if let Some((from, to)) = entry.message.strip_prefix("checkout: moving from ").and_then(|at| at.split_once(" to "))
        {
            // `checkout -B` moves the branch that it checks out.
            let again = position.branch.as_ref().is_some_and(|branch| branch.short() == to) && from == to;
            if let Some(branch) = position.branch.clone().filter(|_| again && old.as_ref() != Some(&new)) {
                steps.push(BranchStep { branch, old, new: new.clone() });
            }
            position.branch = (at.is_branch)(to).then(|| RefName::branch(to));
        } else if let Some(branch) = position.branch.clone().filter(|_| old.as_ref() != Some(&new)) {
            steps.push(BranchStep { branch, old, new: new.clone() });
        }
        position.commit = Some(new);
    }
    Some((position, joined(steps)))
}

/// Whether an id of a log stands for nothing.
pub fn is_nothing(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte == b'0')
}

/// The steps of each branch as one.
fn joined(steps: Vec<BranchStep>) -> Vec<BranchStep> {
    let mut all: Vec<BranchStep> = Vec::new();
    for step in steps {
        match all.iter_mut().find(|known| known.branch == step.branch) {
            Some(known) => known.new = step.new,
            None => all.push(step),
        }
    }
    all
}

/// Whether commands of the session alone lead from where HEAD was to where it is now, and the branch of then to its tip of now. A branch
/// that is gone holds nothing of anybody.
pub fn is_explained(moves: &[OwnHeadMove], then: &HeadPosition, now: &HeadPosition, tip: Option<&Oid>) -> bool {
    let ways: Vec<(&HeadPosition, &HeadPosition)> = moves.iter().map(|one| (&one.from, &one.to)).collect();
    if !leads(&ways, then, now) {
        return false;
    }
    let (Some(branch), Some(tip)) = (&then.branch, tip) else { return true };
    let steps = moves.iter().flat_map(|one| &one.branches).filter(|step| step.branch == *branch);
    let steps: Vec<(Option<&Oid>, Option<&Oid>)> = steps.map(|step| (step.old.as_ref(), Some(&step.new))).collect();
    leads(&steps, then.commit.as_ref(), Some(tip))
}

/// Whether steps lead from one place to another.
fn leads<T: Ord + Copy>(steps: &[(T, T)], from: T, to: T) -> bool {
    let (mut seen, mut open) = (BTreeSet::from([from]), vec![from]);
    while let Some(place) = open.pop() {
        if place == to {
            return true;
        }
        open.extend(steps.iter().filter(|(from, _)| *from == place).map(|(_, to)| *to).filter(|to| seen.insert(*to)));
    }
    false
}

#[cfg(test)]
#[path = "head_history_tests.rs"]
mod tests;
