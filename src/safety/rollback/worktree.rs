//! Planning the changes of one worktree in a rollback: files, index, HEAD, and the other contents of its capture.

use std::collections::BTreeSet;
use std::path::Path;

use crate::checkpoint::CapturedWorktree;
use crate::context::handle::Context;
use crate::operation;
use crate::operation::differences::{beyond, differences, keep_permissions, out_of_reach, with_all_gaps};
use crate::operation::in_progress::operations;
use crate::operation::recorded_head::head_state;
use crate::operation::{capture_with, differences, extras_of};
use axiom_base::error::Result;
use axiom_git::{
    CaptureExtras, CaptureParts, PathPatterns, Repository, TreeChange, Worktree, WorktreeCapture, bytes_by, bytes_of,
};
use axiom_model::base::names::{Oid, RepoPath};
use axiom_model::base::path_set::PathSet;
use axiom_model::base::text::ValueChange;
use axiom_model::checkpoint::coverage::CaptureCoverage;
use axiom_model::journal::journaled::JournaledOperation;
use axiom_model::journal::journaled_changes::{HeadState, WorktreeChange};
use axiom_model::queries::known_paths::together;

use super::not_restored::{excluded_now, not_read, not_restored, other_kind_now};
use super::preview::{RollbackPreview, UnrestoredPathLine};
use crate::operation::planned_changes::{AffectedFileLine, FileLossLine, MovedHeadLine};
use crate::operation::step_parts::submodule_folders::is_checked_out;
use crate::operation::submodules::with_own_submodules;

/// The state to which a worktree is rolled back.
pub(super) struct WorktreeRollbackState<'a> {
    /// Its capture.
    pub capture: &'a Oid,
    /// Its HEAD.
    pub head: HeadState,
    /// What the capture does not hold.
    pub coverage: Option<&'a CaptureCoverage>,
    /// The only paths to restore, where there are any: then the index, HEAD and the other contents of the capture stay.
    pub only: Option<&'a PathSet>,
    /// What the configuration excludes now.
    pub exclude: &'a PathPatterns,
    /// The submodules in it that go back themselves.
    pub submodules: &'a BTreeSet<RepoPath>,
}

pub(super) fn worktree_change(
    repo: &Repository,
    path: String,
    (now, now_commit): (&CapturedWorktree, Option<Oid>),
    then: WorktreeRollbackState<'_>,
    preview: &mut RollbackPreview,
) -> Result<WorktreeChange> {
    let now_commit = operation::with_bytes_known(repo, &now.capture, now_commit)?;
    let CapturedWorktree { worktree, capture: now, .. } = now;
    let now = with_all_gaps(repo, (worktree, now), (&[&repo.captures().capture_parts(then.capture)?.files], then.exclude))?;
    let now = now.as_ref();
    let WorktreeRollbackTarget { held, index, changes, extras } = wanted(repo, (worktree, now), &then)?;
    let WorktreeRollbackState { capture: then, head, coverage, only, exclude, submodules } = then;
    let files = with_spared(repo, (worktree, now), &changes, held.clone(), coverage)?;
    let excluded = excluded_now(repo, (now, exclude), &index, &changes)?;
    let files = repo.trees().edit_tree(&files, &excluded.iter().cloned().map(TreeChange::reversed).collect::<Vec<_>>())?;
    let excluded: Vec<RepoPath> = excluded.into_iter().map(|change| change.path).collect();
    let mut lost = not_restored(&path, coverage, &excluded);
    lost.extend(other_kind_now(&path, coverage, &changes));
    lost.extend(not_read(&path, (now, &extras), coverage, &lost));
    // A path that is asked for may be below one that stays.
    let concerns = |only: &PathSet, path: &RepoPath| only.covers(path) || only.has_below(path);
    preview.not_restored.extend(lost.into_iter().filter(|lost| only.is_none_or(|only| concerns(only, &lost.path))));
    let (files, kept) = with_own_submodules(repo, Path::new(&path), (files, &index), (&changes, submodules))?;
    preview.submodules.extend(kept.into_iter().map(|inside| FileLossLine { worktree: path.clone(), path: inside }));
    // A file that git ignores and that is on the disk exactly as the checkpoint has it stays, also when the rollback is
    // undone.
    let there = match is_checked_out(worktree.path()) {
        true => repo.reversals().there_already(worktree, (&now.tree, &held), &changes, &extras.raw)?,
        // What is in the folder of a submodule that is not checked out goes with the worktree around it.
        false => Vec::new(),
    };
    let was = repo.trees().edit_tree(&now.tree, &there)?;
    preview.changes.operations.extend(operations(&path, &now.extras, &extras));
    let mut fitting = repo.index(worktree).for_checkout_of_now(extras.clone())?;
    // Also when the rollback is undone.
    let reach = out_of_reach(now, &extras);
    keep_permissions(&mut fitting, &now.extras, |path| excluded.contains(path) || reach.covers(path));
    let mut differing = paths(repo.history().diff_trees(&was, &files)?);
    differing.extend(changes.iter().filter(|change| change.is_of_bytes_alone()).map(|change| change.path.clone()));
    // Files that stay also keep their bytes.
    fitting.raw = bytes_by(&now.extras.raw, &extras.raw, |path| differing.contains(path));
    let comes = fitting.raw.iter().filter(|one| differing.contains(&one.path));
    let pointers = repo.lfs_files().lfs_not_here(comes).into_iter();
    preview.not_restored.extend(pointers.map(|inside| UnrestoredPathLine {
        worktree: path.clone(),
        path: inside,
        why: "lfsNotHere",
    }));
    let permissions =
        repo.captured_permissions()
            .permissions_that_change(worktree, (&now.extras.modes, &fitting.modes), |path| differing.contains(path))?;
    preview
        .changes
        .permissions
        .extend(permissions.into_iter().map(|inside| FileLossLine { worktree: path.clone(), path: inside }));
    let whole = only.is_none() && fitting == extras;
    let then = if whole { then.clone() } else { capture_with(repo, now, (&files, &index), fitting)? };
    Ok(WorktreeChange {
        path,
        files: ValueChange::new(was, files),
        index: ValueChange::new(now.index_tree.clone(), index),
        head: ValueChange::new(head_state(&now.head), head),
        captures: ValueChange::new(now_commit, Some(then)),
    })
}

/// The target state of a worktree, before the files that stay are known.
struct WorktreeRollbackTarget {
    held: Oid,
    index: Oid,
    changes: Vec<TreeChange>,
    extras: CaptureExtras,
}

fn wanted(
    repo: &Repository,
    (worktree, now): (&Worktree, &WorktreeCapture),
    then: &WorktreeRollbackState<'_>,
) -> Result<WorktreeRollbackTarget> {
    let CaptureParts { files: held, index, .. } = repo.captures().capture_parts(then.capture)?;
    let extras = extras_of(repo, Some(then.capture))?;
    let files = differences::ComparedCapture { tree: &held, extras: &extras, coverage: then.coverage };
    let changes = differences(repo, (worktree, now), files, then.only)?;
    let Some(only) = then.only else {
        let unread = beyond(repo, &out_of_reach(now, &extras), (&now.tree, &held))?;
        let stays: Vec<TreeChange> = unread.into_iter().map(TreeChange::reversed).collect();
        let held = repo.trees().edit_tree(&held, &stays)?;
        return Ok(WorktreeRollbackTarget { held, index, changes, extras });
    };
    let held = repo.trees().edit_tree(&now.tree, &changes)?;
    let modes = extras.modes.into_iter().filter(|modes| only.covers(&modes.path)).collect();
    let extras = CaptureExtras {
        raw: extras.raw,
        modes: together(now.extras.modes.clone(), only, modes, |modes| &modes.path),
        // Restored files have the line ends of the checkpoint.
        line_ends: extras.line_ends,
        ..now.extras.clone()
    };
    Ok(WorktreeRollbackTarget { held, index: now.index_tree.clone(), changes, extras })
}

/// The tree to restore, with the present files that the checkpoint does not cover (ignored or too large then, perhaps
/// captured now): they stay, since otherwise a changed `.gitignore` would delete a `.env`. Ignored files that only the
/// configuration includes stay too. Where it is not known what the checkpoint left out, every file stays that it does not
/// have.
fn with_spared(
    repo: &Repository,
    (worktree, now): (&Worktree, &WorktreeCapture),
    changes: &[TreeChange],
    then: Oid,
    coverage: Option<&CaptureCoverage>,
) -> Result<Oid> {
    let included: BTreeSet<&RepoPath> = now.included.iter().collect();
    if coverage.is_some_and(CaptureCoverage::is_complete) && included.is_empty() {
        return Ok(then);
    }
    let gone: Vec<&TreeChange> = changes.iter().filter(|change| change.new.is_none()).collect();
    let ignored = if coverage.is_some_and(CaptureCoverage::lists_not_all_ignored) {
        repo.captures().ignored_by(worktree, &then, &gone.iter().map(|change| &change.path).collect::<Vec<_>>())?
    } else {
        BTreeSet::new()
    };
    let says_nothing = |path: &RepoPath| {
        coverage.is_none_or(|coverage| coverage.says_nothing_of(path)) || ignored.contains(path) || included.contains(path)
    };
    let appears = |path: &RepoPath| {
        let above = |root: &RepoPath| path.as_bytes().strip_prefix(root.as_bytes()).is_some_and(|rest| rest.starts_with(b"/"));
        changes.iter().any(|change| change.new.is_some() && above(&change.path))
    };
    let spared: Vec<_> = gone
        .into_iter()
        .filter(|change| says_nothing(&change.path) && !appears(&change.path))
        .map(|change| change.clone().reversed())
        .collect();
    repo.trees().edit_tree(&then, &spared)
}

/// Adds a worktree to the operation, and its changes to the preview.
pub(super) fn add_worktree(
    ctx: &Context,
    change: WorktreeChange,
    now: &CapturedWorktree,
    operation: &mut JournaledOperation,
    preview: &mut RollbackPreview,
) -> Result<()> {
    tell(&ctx.repo, &change, now, preview)?;
    operation.worktrees.push(change);
    Ok(())
}

/// Adds the changes of a worktree to the preview.
pub(super) fn tell(
    repo: &Repository,
    change: &WorktreeChange,
    now: &CapturedWorktree,
    preview: &mut RollbackPreview,
) -> Result<()> {
    let CapturedWorktree { worktree, capture: now, .. } = now;
    let committed = match now.head.commit() {
        Some(commit) => repo.objects().read_commit(commit)?.tree,
        None => repo.trees().empty_tree()?,
    };
    let dirty = paths(repo.history().diff_trees(&committed, &now.tree)?);
    // Bytes that only git's conversions hide are in no commit.
    let is_dirty = |file: &TreeChange| {
        dirty.contains(&file.path) || file.is_of_bytes_alone() && bytes_of(&now.extras.raw, &file.path).is_some()
    };
    for file in operation::files_named(repo, worktree, change)? {
        if !file.changes_a_file() {
            let left = FileLossLine { worktree: change.path.clone(), path: file.path };
            if !preview.submodules.iter().any(|known| known.worktree == left.worktree && known.path == left.path) {
                preview.submodules.push(left);
            }
            continue;
        }
        let uncommitted = file.old.is_some() && is_dirty(&file);
        preview.changes.files.push(AffectedFileLine::of(Some(change.path.clone()), file, uncommitted));
    }
    if change.head.old != change.head.new {
        preview.changes.heads.push(MovedHeadLine { worktree: change.path.clone(), head: change.head.clone() });
    }
    Ok(())
}

fn paths(changes: Vec<TreeChange>) -> BTreeSet<RepoPath> {
    changes.into_iter().map(|change| change.path).collect()
}
