//! How an operation changes what is staged in a worktree. Staged are the paths in which the index differs from the commit
//! that is checked out (where a commit leaves its branch and the index stays, its contents become staged), and what no tree
//! holds: intent-to-add paths (`git add -N`) and the stages of conflicts.

use std::collections::{BTreeMap, BTreeSet};

use axiom_base::error::Result;
use axiom_git::{CaptureExtras, Repository, TreeChange};
use axiom_model::base::names::{Oid, RepoPath};
use axiom_model::base::ref_change::RefChange;
use axiom_model::journal::journaled::JournaledOperation;
use axiom_model::journal::journaled_changes::{HeadState, WorktreeChange};

/// The paths of one worktree, ordered.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct StagedChanges {
    /// Staged now, and afterwards not, or differently.
    pub lost: Vec<RepoPath>,
    /// Staged afterwards, and now not, or differently.
    pub back: Vec<RepoPath>,
}

impl StagedChanges {
    fn and(mut self, more: Self) -> Self {
        for (all, more) in [(&mut self.lost, more.lost), (&mut self.back, more.back)] {
            all.extend(more);
            all.sort();
            all.dedup();
        }
        self
    }
}

/// One side of a change: before or after the operation.
#[derive(Debug, Clone, Copy)]
enum StagedSide {
    Old,
    New,
}

/// All branches that an operation moves, in order.
pub(crate) fn moved(operation: &JournaledOperation) -> Vec<RefChange> {
    let advanced = operation.advances.iter().map(|advance| advance.ref_change());
    operation.refs.iter().cloned().chain(advanced).collect()
}

/// How an operation that moves the branches `moved` changes what is staged in one of its worktrees. `now` and `then` are the extras of the captures before
/// and after; they count where the operation restores a capture.
pub(crate) fn changes(
    repo: &Repository,
    moved: &[RefChange],
    worktree: &WorktreeChange,
    (now, then): (&CaptureExtras, &CaptureExtras),
) -> Result<StagedChanges> {
    let of = |side, head: &HeadState, index: &Oid| staged(repo, commit_of(repo, moved, side, head)?, index);
    let old = of(StagedSide::Old, &worktree.head.old, &worktree.index.old)?;
    let new = of(StagedSide::New, &worktree.head.new, &worktree.index.new)?;
    let only_in = |one: &BTreeMap<RepoPath, TreeChange>, other: &BTreeMap<RepoPath, TreeChange>| {
        let differs = |(path, change): &(&RepoPath, &TreeChange)| other.get(*path).map(|other| &other.new) != Some(&change.new);
        one.iter().filter(differs).map(|(path, _)| path.clone()).collect()
    };
    let in_trees = StagedChanges { lost: only_in(&old, &new), back: only_in(&new, &old) };
    Ok(if worktree.captures.new.is_some() { in_trees.and(in_no_tree(now, then)) } else { in_trees })
}

/// The changes of what no tree holds: of intent-to-add paths, and of the stages of conflicts.
fn in_no_tree(now: &CaptureExtras, then: &CaptureExtras) -> StagedChanges {
    let [now, then] = [now, then].map(|extras| {
        let stages = extras.index.unmerged.iter().map(|stage| (&stage.path, Some((stage.stage, stage.mode, &stage.oid))));
        extras.index.intent_to_add.iter().map(|path| (path, None)).chain(stages).collect::<BTreeSet<_>>()
    });
    let only_in = |one: &BTreeSet<_>, other| -> Vec<RepoPath> {
        let mut paths: Vec<RepoPath> = one.difference(other).map(|(path, _): &(&RepoPath, _)| (*path).clone()).collect();
        paths.dedup();
        paths
    };
    StagedChanges { lost: only_in(&now, &then), back: only_in(&then, &now) }
}

fn staged(repo: &Repository, commit: Option<Oid>, index: &Oid) -> Result<BTreeMap<RepoPath, TreeChange>> {
    let committed = match commit {
        Some(commit) => repo.objects().read_commit(&commit)?.tree,
        None => repo.trees().empty_tree()?,
    };
    let changes = repo.history().diff_trees(&committed, index)?;
    Ok(changes.into_iter().map(|change| (change.path.clone(), change)).collect())
}

/// The commit that is checked out before or after the operation (`side`).
fn commit_of(repo: &Repository, moved: &[RefChange], side: StagedSide, head: &HeadState) -> Result<Option<Oid>> {
    let branch = match head {
        HeadState::Detached(commit) => return Ok(Some(commit.clone())),
        HeadState::Branch(branch) => branch,
    };
    let moved = moved.iter().rfind(|change| change.name == *branch);
    match (moved, side) {
        (Some(change), StagedSide::Old) => Ok(change.value.old.clone()),
        (Some(change), StagedSide::New) => Ok(change.value.new.clone()),
        (None, StagedSide::Old | StagedSide::New) => repo.refs().read_ref(branch),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axiom_git::ConflictStage;

    #[test]
    fn what_is_only_announced_is_named_once_on_its_side() {
        let path = |name: &str| RepoPath::new(name.as_bytes());
        let extras = |names: &[&str]| {
            let mut extras = CaptureExtras::default();
            extras.index.intent_to_add = names.iter().map(|name| path(name)).collect();
            extras
        };
        let found = in_no_tree(&extras(&["both", "gone"]), &extras(&["back", "both"]));
        assert_eq!(found, StagedChanges { lost: vec![path("gone")], back: vec![path("back")] });
        let trees = StagedChanges { lost: vec![path("a"), path("gone"), path("z")], back: Vec::new() };
        assert_eq!(trees.and(found), StagedChanges { lost: vec![path("a"), path("gone"), path("z")], back: vec![path("back")] });
    }

    #[test]
    fn a_conflict_is_named_once_where_its_stages_change() {
        let path = |name: &str| RepoPath::new(name.as_bytes());
        let extras = |all: &[(&str, u8)]| {
            let mut extras = CaptureExtras::default();
            let oid = |stage: u8| Oid::new(format!("{stage:040x}")).unwrap();
            let stage =
                |(name, stage): &(&str, u8)| ConflictStage { path: path(name), stage: *stage, mode: 0o100_644, oid: oid(*stage) };
            extras.index.unmerged = all.iter().map(stage).collect();
            extras
        };
        let conflict = [("same", 1), ("same", 2), ("was", 2), ("was", 3), ("other", 1), ("other", 2)];
        let found = in_no_tree(&extras(&conflict), &extras(&[("same", 1), ("same", 2), ("other", 2), ("new", 3)]));
        assert_eq!(found, StagedChanges { lost: vec![path("other"), path("was")], back: vec![path("new")] });
    }
}
