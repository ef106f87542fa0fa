//! What an undo puts back, made fit for the worktrees as they are now.

use std::collections::BTreeSet;
use std::path::Path;

use super::{UndoExclusions, git_operations};
use crate::checkpoint::{CapturedWorktree, CheckpointCaptures};
use crate::operation;
use crate::operation::differences::{beyond, is_decided, is_within, keep_permissions, out_of_reach, with_all_gaps};
use crate::operation::submodules::with_own_submodules;
use crate::operation::{capture_with, extras_of};
use axiom_base::error::{Code, Error, Result, some_of};
use axiom_git::{
    CaptureExtras, ExtrasMergeInput, HeldFiles, PathPatterns, Repository, TreeChange, Worktree, WorktreeCapture, bytes_by,
    bytes_of, change_of,
};
use axiom_model::base::names::{Oid, RefName, RepoPath};
use axiom_model::base::path_set::PathSet;
use axiom_model::base::text::ValueChange;
use axiom_model::checkpoint::coverage::CaptureCoverage;
use axiom_model::journal::journaled_changes::WorktreeChange;

/// A worktree's change, based on its present contents: the paths that the transaction changed go back, all others stay.
pub(crate) fn rebased(
    repo: &Repository,
    moved: &[&RefName],
    change: &WorktreeChange,
    (worktree, now, commit): PresentWorktree<'_>,
    (submodules, left_as_is): (&BTreeSet<RepoPath>, &mut UndoExclusions),
) -> Result<WorktreeChange> {
    let mut left = extras_of(repo, change.captures.old.as_ref())?;
    let now = with_all_gaps(repo, (worktree, now), (&[&change.files.old, &change.files.new], &PathPatterns::default()))?;
    let now = now.as_ref();
    let reach = out_of_reach(now, &left);
    keep_permissions(&mut left, &now.extras, |path| reach.covers(path));
    let mut beside = beside(repo, change, (worktree, now), (&left, &reach))?;
    let tree = with_hidden(repo, worktree, change, (&now.tree, &reach))?;
    stays_untouched(repo, change, (&left, &tree), &beside)?;
    let files = UndoWorktreeFiles {
        change,
        left: &left,
        back: &beside,
        worktree,
        now: now.extras.beside(&tree),
        coverage: &now.coverage,
    };
    // What cannot be looked at is no conflict: it stays as it is, whatever was done to it since.
    let (wanted, unread): (Vec<_>, Vec<_>) = files.wanted(repo)?.into_iter().partition(|change| is_within(&reach, change));
    let there = |path: &RepoPath| worktree.path().join(path.to_path()).display().to_string();
    left_as_is.unread.extend(unread.iter().map(|change| there(&change.path)));
    let since = files.since(repo, &wanted)?;
    let untouched = files.untouched(repo, &wanted, &since)?;
    let files = onto(repo, (&change.files, &wanted), (&tree, since), &untouched)?;
    let stays = beyond(repo, &reach, (&tree, &files))?.into_iter().map(TreeChange::reversed);
    let files = repo.trees().edit_tree(&files, &stays.collect::<Vec<_>>())?;
    let index = &change.index;
    let (entries, since) =
        (repo.history().diff_trees(&index.old, &index.new)?, repo.history().diff_trees(&index.old, &now.index_tree)?);
    let index = onto(repo, (index, &entries), (&now.index_tree, since), &BTreeSet::new())?;
    let changes = repo.history().diff_trees(&tree, &files)?;
    let (files, _) = with_own_submodules(repo, Path::new(&change.path), (files, &index), (&changes, submodules))?;
    forget_permissions(repo, (&changes, &files), &mut beside)?;
    // Files that the transaction did not change keep their present bytes.
    beside.raw = bytes_by(&now.extras.raw, &beside.raw, |path| change_of(&wanted, path).is_some());
    if !left.has_operation_of(&now.extras) {
        let files = repo.captures().differing(now.extras.beside(&tree), beside.beside(&files))?;
        let wanted = git_operations::WorktreeUndo { worktree, now, files, index: ValueChange::new(&now.index_tree, &index) };
        wanted.leaves_alone(repo, moved, &now.extras.in_progress())?;
    }
    let commit = operation::with_bytes_known(repo, now, commit)?;
    let capture = match &change.captures.new {
        Some(before) if beside == extras_of(repo, Some(before))? => Some(before.clone()),
        None if beside.is_empty() => None,
        Some(_) | None => Some(capture_with(repo, now, (&files, &index), beside)?),
    };
    Ok(WorktreeChange {
        path: change.path.clone(),
        files: ValueChange::new(tree, files),
        index: ValueChange::new(now.index_tree.clone(), index),
        head: git_operations::head(moved, change, &now.head),
        captures: ValueChange::new(commit, capture),
    })
}

/// What goes has no permissions afterwards: whoever takes this back gives it those that it has now.
fn forget_permissions(repo: &Repository, (changes, files): (&[TreeChange], &Oid), extras: &mut CaptureExtras) -> Result<()> {
    let removed = changes.iter().filter(|change| change.new.is_none());
    let gone: BTreeSet<RepoPath> = removed.flat_map(|change| change.path.folders_above().chain([change.path.clone()])).collect();
    for path in gone {
        if !repo.trees().is_in_tree(files, &path)? {
            extras.modes.retain(|one| one.path != path);
        }
    }
    Ok(())
}

/// The future extras of the worktree (conflict stages, flags, the git operation in progress): what the transaction changed
/// as before it, everything else as it is now.
fn beside(
    repo: &Repository,
    change: &WorktreeChange,
    (worktree, now): (&Worktree, &WorktreeCapture),
    (left, reach): (&CaptureExtras, &PathSet),
) -> Result<CaptureExtras> {
    let mut back = repo.index(worktree).for_checkout_of_now(extras_of(repo, change.captures.new.as_ref())?)?;
    keep_permissions(&mut back, &now.extras, |path| reach.covers(path));
    let entries = repo.history().diff_trees(&change.index.old, &change.index.new)?;
    let since = repo.history().diff_trees(&change.index.old, &now.index_tree)?;
    let moments = ExtrasMergeInput { left, back: &back, now: &now.extras, entries: &entries, since: &since };
    moments.settle().map_err(|what| {
        let error = changed(&what).context(format!("in '{}'", change.path));
        match now.extras.in_progress().first().filter(|_| !left.has_operation_of(&now.extras)) {
            Some(kind) => error.hint(format!("end it first ({}), then try again", kind.ways_out())),
            None => error,
        }
    })
}

/// Checks files that a sparse checkout left out before the transaction, but not after it: the undo leaves them out again, so
/// they must not have been edited since, even where the trees before and after the transaction agree on them.
fn stays_untouched(
    repo: &Repository,
    change: &WorktreeChange,
    (was, now): (&CaptureExtras, &Oid),
    will_be: &CaptureExtras,
) -> Result<()> {
    let gone = will_be.index.left_out();
    if gone.is_empty() {
        return Ok(());
    }
    let gone: BTreeSet<&RepoPath> = gone.difference(&was.index.left_out()).copied().collect();
    let since = repo.history().diff_trees(&change.files.old, now)?;
    let edited: Vec<String> =
        since.iter().filter(|since| gone.contains(&since.path)).map(|since| since.path.to_string()).collect();
    if edited.is_empty() { Ok(()) } else { Err(changed(&edited)) }
}

/// The present tree, plus files that the transaction wrote, that are unchanged on the disk, and that git ignores now: the
/// user has not changed them.
fn with_hidden(repo: &Repository, worktree: &Worktree, change: &WorktreeChange, (now, reach): (&Oid, &PathSet)) -> Result<Oid> {
    if change.files.old == *now {
        return Ok(now.clone());
    }
    let since = repo.history().diff_trees(&change.files.old, now)?;
    let gone: Vec<TreeChange> = since.into_iter().filter(|since| since.new.is_none() && !reach.covers(&since.path)).collect();
    repo.trees().edit_tree(now, &repo.reversals().still_there(worktree, (&change.files.old, now), &gone)?)
}

pub(crate) type PresentWorktree<'c> = (&'c Worktree, &'c WorktreeCapture, Option<Oid>);

/// The capture of the worktree at a path, with its commit where one was made.
pub(super) fn capture_of<'c>(captured: &'c CheckpointCaptures, path: &str) -> Option<PresentWorktree<'c>> {
    let CapturedWorktree { worktree, capture, .. } = captured.worktree_at(path)?;
    let made = captured.workspaces.iter().find(|workspace| workspace.state.path == path);
    Some((worktree, capture, made.map(|workspace| workspace.state.capture.clone())))
}

/// The files of a worktree at the three moments that matter for an undo: after the transaction (`left`), before it (`back`),
/// and `now`.
struct UndoWorktreeFiles<'a> {
    change: &'a WorktreeChange,
    left: &'a CaptureExtras,
    back: &'a CaptureExtras,
    worktree: &'a Worktree,
    now: HeldFiles<'a>,
    /// What the present capture does not hold.
    coverage: &'a CaptureCoverage,
}

impl UndoWorktreeFiles<'_> {
    /// The changes that the undo makes to the files that the transaction left.
    fn wanted(&self, repo: &Repository) -> Result<Vec<TreeChange>> {
        let ValueChange { old, new } = &self.change.files;
        repo.captures().differing(self.left.beside(old), self.back.beside(new))
    }

    /// The changes since the transaction, also in how files are stored. A `wanted` change of hidden bytes counts as changed
    /// where the present bytes are not known.
    fn since(&self, repo: &Repository, wanted: &[TreeChange]) -> Result<Vec<TreeChange>> {
        let mut since = repo.captures().differing(self.left.beside(&self.change.files.old), self.now)?;
        let known: BTreeSet<RepoPath> = since.iter().map(|since| since.path.clone()).collect();
        let may_have = |change: &&TreeChange| {
            let is_decided = || is_decided(self.now.raw, Some(self.coverage), &change.path);
            change.is_of_bytes_alone() && !known.contains(&change.path) && !is_decided()
        };
        since.extend(wanted.iter().filter(may_have).cloned());
        Ok(since)
    }

    /// The paths of `since` whose files are on the disk exactly as the transaction left them, though they are stored
    /// differently now: because of another configuration, for example. A file is left out, and so counts as changed, where
    /// only hidden bytes are wanted back and the stored bytes of before and now are equal: these cannot be distinguished.
    fn untouched(&self, repo: &Repository, wanted: &[TreeChange], since: &[TreeChange]) -> Result<BTreeSet<RepoPath>> {
        let is_told = |since: &&TreeChange| {
            let Some(wanted) = change_of(wanted, &since.path) else { return false };
            let [then, now] = [&self.back.raw[..], self.now.raw].map(|raw| bytes_of(raw, &since.path));
            !(wanted.is_of_bytes_alone() && since.is_of_bytes_alone()) || then != now
        };
        let since: Vec<TreeChange> = since.iter().filter(is_told).cloned().collect();
        if since.is_empty() {
            return Ok(BTreeSet::new());
        }
        repo.reversals().as_they_were(self.worktree, (&self.change.files.old, self.left), since)
    }
}

/// The tree `now` with the `wanted` changes, if all of these paths are as the transaction left them, or `untouched`.
fn onto(
    repo: &Repository,
    (change, wanted): (&ValueChange<Oid>, &[TreeChange]),
    (now, since): (&Oid, Vec<TreeChange>),
    untouched: &BTreeSet<RepoPath>,
) -> Result<Oid> {
    let is_wanted = |path: &RepoPath| change_of(wanted, path).is_some();
    let conflicts = since.into_iter().map(|since| since.path).filter(|path| is_wanted(path) && !untouched.contains(path));
    let conflicts: Vec<String> = conflicts.map(|path| path.to_string()).collect();
    if !conflicts.is_empty() {
        return Err(changed(&conflicts));
    }
    if change.old == *now { Ok(change.new.clone()) } else { repo.trees().edit_tree(now, wanted) }
}

pub(super) fn changed(what: &[String]) -> Error {
    Error::new(Code::ChangedMeanwhile, "what the undo would restore was changed since; nothing was touched")
        .why(some_of(what, 20))
        .hint("git axiom rollback checkpoint NAME    goes back completely")
}
