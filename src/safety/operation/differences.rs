//! Finding the files in which a worktree differs from a capture of it.

use std::borrow::Cow;
use std::collections::BTreeSet;

use axiom_base::error::Result;
use axiom_git::{CaptureExtras, PathPatterns, RawFile, Repository, TreeChange, Worktree, WorktreeCapture, bytes_of, gap_above};
use axiom_model::base::names::{Oid, RepoPath};
use axiom_model::base::path_set::PathSet;
use axiom_model::checkpoint::coverage::CaptureCoverage;

/// The files of a capture.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ComparedCapture<'a> {
    /// Its tree.
    pub tree: &'a Oid,
    /// What it holds in addition to the tree.
    pub extras: &'a CaptureExtras,
    /// What it does not hold.
    pub coverage: Option<&'a CaptureCoverage>,
}

/// The capture of now, whose gaps are also those among the files that it lacks and that one of `trees` has. Nobody tried to read them for
/// it, where git ignores them by now; and whoever goes to or from such a tree looks at them, but not at what `exclude` says.
pub(crate) fn with_all_gaps<'c>(
    repo: &Repository,
    (worktree, now): (&Worktree, &'c WorktreeCapture),
    (trees, exclude): (&[&Oid], &PathPatterns),
) -> Result<Cow<'c, WorktreeCapture>> {
    let known = PathSet::new(now.extras.gaps.iter().cloned());
    let mut more = BTreeSet::new();
    for tree in trees {
        let lacks = repo.history().diff_trees(&now.tree, tree)?.into_iter().filter(|change| change.old.is_none());
        let untried = lacks.filter(|change| !known.covers(&change.path) && !exclude.covers(&change.path, false));
        more.extend(untried.filter_map(|change| gap_above(worktree.path(), &change.path)));
    }
    if more.is_empty() {
        return Ok(Cow::Borrowed(now));
    }
    let mut now = now.clone();
    more.extend(std::mem::take(&mut now.extras.gaps));
    now.extras.gaps = more.into_iter().collect();
    Ok(Cow::Owned(now))
}

/// What one of the two says nothing of, because it could not be read or is never content: whatever is there stays, also where the
/// other one knows it. Decided by all that the captures list, never by the samples of a coverage.
pub(crate) fn out_of_reach(now: &WorktreeCapture, then: &CaptureExtras) -> PathSet {
    PathSet::new(now.extras.gaps.iter().chain(&then.gaps).cloned())
}

/// Whether nothing of a change is out of reach; otherwise it has to be left out.
pub(crate) fn is_within(reach: &PathSet, change: &TreeChange) -> bool {
    !(reach.covers(&change.path) || change.new.is_some() && reach.has_below(&change.path))
}

/// What stays as it is keeps its permissions too: those that keep something from being read are as little what it had as its content.
pub(crate) fn keep_permissions(extras: &mut CaptureExtras, now: &CaptureExtras, stays: impl Fn(&RepoPath) -> bool) {
    extras.modes.retain(|one| !stays(&one.path));
    extras.modes.extend(now.modes.iter().filter(|one| stays(&one.path)).cloned());
    extras.modes.sort_by(|one, other| one.path.cmp(&other.path));
}

/// The files in which two trees differ and that are out of reach.
pub(crate) fn beyond(repo: &Repository, reach: &PathSet, (old, new): (&Oid, &Oid)) -> Result<Vec<TreeChange>> {
    if reach.is_empty() {
        return Ok(Vec::new());
    }
    let mut changes = repo.history().diff_trees(old, new)?;
    changes.retain(|change| !is_within(reach, change));
    Ok(changes)
}

/// The differences between a worktree now and a capture; nothing that is out of reach. A file that differs only in bytes that git's conversions hide is
/// listed only where both sides know its bytes and its bytes on the disk really differ: after a change of the configuration,
/// the same bytes may be stored differently.
pub(crate) fn differences(
    repo: &Repository,
    (worktree, now): (&Worktree, &WorktreeCapture),
    then: ComparedCapture<'_>,
    only: Option<&PathSet>,
) -> Result<Vec<TreeChange>> {
    let ComparedCapture { tree, extras, coverage: _ } = then;
    let here = ComparedCapture { tree: &now.tree, extras: &now.extras, coverage: Some(&now.coverage) };
    let mut changes = differences_of_two(repo, here, then)?;
    let reach = out_of_reach(now, extras);
    changes.retain(|change| only.is_none_or(|only| only.covers(&change.path)) && is_within(&reach, change));
    let of_bytes: Vec<TreeChange> = changes.iter().filter(|change| change.is_of_bytes_alone()).cloned().collect();
    if !of_bytes.is_empty() {
        let same: BTreeSet<RepoPath> = repo.reversals().as_they_were(worktree, (tree, extras), of_bytes)?;
        changes.retain(|change| !same.contains(&change.path));
    }
    Ok(changes)
}

/// The differences between two captures. A file that differs only in hidden bytes is listed only where both know its bytes.
pub(crate) fn differences_of_two(
    repo: &Repository,
    old: ComparedCapture<'_>,
    new: ComparedCapture<'_>,
) -> Result<Vec<TreeChange>> {
    let mut changes = repo.captures().differing(old.extras.beside(old.tree), new.extras.beside(new.tree))?;
    let knows = |one: ComparedCapture<'_>, path: &RepoPath| is_decided(&one.extras.raw, one.coverage, path);
    changes.retain(|change| !change.is_of_bytes_alone() || knows(old, &change.path) && knows(new, &change.path));
    Ok(changes)
}

/// Whether a capture knows the exact bytes of a file that it holds.
pub(crate) fn is_decided(raw: &[RawFile], coverage: Option<&CaptureCoverage>, path: &RepoPath) -> bool {
    bytes_of(raw, path).is_some() || coverage.is_some_and(|coverage| coverage.decides_bytes_of(path))
}
