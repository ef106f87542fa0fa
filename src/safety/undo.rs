//! Undoing a transaction: the recorded changes of each ref, path and task field are inverted, and each has to find its new
//! value unchanged. A later change in the same places is a conflict, and nothing is changed; all other later changes stay.

mod checkpoints;
mod git_operations;
mod needs;
mod preview;
mod removed_worktrees;
mod submodules;
mod undoability;
pub mod work_at_risk;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::checkpoint;
use crate::checkpoint::{CapturedWorktree, CheckpointCaptures, CheckpointRequest};
use crate::context::handle::Context;
use crate::folders::workspaces::branch_of;
use crate::operation::branches::branches_are_free;
use crate::operation::differences::{beyond, is_decided, is_within, keep_permissions, out_of_reach, with_all_gaps};
use crate::operation::recorded_head::head_state;
use crate::operation::stop_agents;
use crate::operation::stop_agents::PausedForOperation;
use crate::operation::submodules::with_own_submodules;
use crate::operation::{capture_with, extras_of};
use crate::rollback::plan::kept;
use crate::rollback::replaced_bytes;
use crate::{history, operation};
use axiom_base::env;
use axiom_base::error::{Code, Error, Result, some_of};
use axiom_git::{
    CaptureExtras, ExtrasMergeInput, HeldFiles, MovedObstacle, PathPatterns, Repository, TreeChange, Worktree, WorktreeCapture,
    bytes_by, bytes_of, change_of,
};
use axiom_model::base::ids::{CheckpointName, OperationId, TaskId};
use axiom_model::base::names::{Oid, RefName, RepoPath};
use axiom_model::base::path_set::PathSet;
use axiom_model::base::ref_change::{ChangeDirection, RefChange};
use axiom_model::base::text::ValueChange;
use axiom_model::checkpoint::coverage::CaptureCoverage;
use axiom_model::checkpoint::trigger::CheckpointTrigger;
use axiom_model::journal::journaled::{JournaledOperation, OperationKind, TrashChange, WorktreeChange};
use axiom_model::operation::operation_record::OperationRecord;
use axiom_model::operation::undo::{self, UndoSelector};
use axiom_model::work::tasks::branch_names::task_of;
use axiom_model::work::tasks::task::MergedTaskWork;

pub use preview::UndoPreview;
pub use undoability::UndoabilityCheck;

/// A transaction that is to be undone.
#[derive(Debug, Clone)]
pub struct UndoTarget {
    /// The transaction.
    pub transaction: OperationRecord,
    /// The original action: where the transaction is an undo, the action that it undid.
    pub what: String,
    /// Whether the transaction is an undo itself, so that this is a redo.
    pub redo: bool,
    /// The last event that was known when it was chosen. If there is no later one, the choice stands.
    pub as_of: u64,
}

/// The result of an undo.
#[derive(Debug)]
pub struct UndoReport {
    /// What changed; `old` is what was there before the undo.
    pub preview: UndoPreview,
    /// The transaction of the undo itself.
    pub txn: OperationId,
    /// Whether that can be undone in turn: not where all was as it should be already.
    pub is_undoable: bool,
    /// The checkpoint made before it, where files or refs changed.
    pub safety: Option<CheckpointName>,
    /// Files that no capture held and that were in the way: they are in the trash.
    pub moved_aside: Vec<MovedObstacle>,
    /// Files that had been in the way of the transaction and are back in their places.
    pub brought_back: Vec<PathBuf>,
    /// Such files that are still in the trash, because something else is in their places now.
    pub still_aside: Vec<MovedObstacle>,
}

/// The transaction that the user means.
pub fn choose(ctx: &Context, asked: &UndoSelector) -> Result<UndoTarget> {
    let enough = |known: &[OperationRecord]| undo::is_decided_by(known, asked);
    let all = match asked {
        UndoSelector::Undo | UndoSelector::Redo => history::newest_transactions(ctx, enough)?,
        // The beginning of an id may fit another one, however old.
        UndoSelector::Named(text) => match OperationId::new(text.clone()) {
            Ok(id) => history::transactions_since(ctx, &id, enough)?,
            Err(_) => history::transactions(ctx)?,
        },
    };
    let transaction = undo::choose(&all, asked)?.clone();
    let (what, redo) = undo::subject(&all, &transaction);
    Ok(UndoTarget { what: what.to_owned(), redo, transaction, as_of: ctx.state().seq })
}

/// The later transactions that changed the same places, newest first: why a transaction cannot be undone.
pub fn changed_since(ctx: &Context, id: &OperationId) -> Result<Vec<OperationRecord>> {
    let all = history::transactions_since(ctx, id, |_| true)?;
    Ok(undo::changed_since(&all, id).into_iter().cloned().collect())
}

/// The newest transactions that can be undone now, at most `most` of them.
pub fn possible(ctx: &Context, most: usize) -> Result<Vec<OperationRecord>> {
    let all = history::transactions(ctx)?;
    let standing = UndoabilityCheck::new(ctx, &all)?;
    let found = all.iter().rev().filter(|one| one.undo_of.is_none() && standing.obstacle(one).is_none());
    Ok(found.take(most).cloned().collect())
}

/// Checks whether a transaction can be undone now, and previews the undo; changes nothing.
///
/// # Errors
/// `CHANGED_MEANWHILE`, with the later changes, `IN_THE_WAY`, `BRANCH_IN_USE`, `OPERATION_OPEN`; `NOT_UNDOABLE` where
/// objects that it needs are no longer kept.
pub fn check(ctx: &Context, chosen: &UndoTarget) -> Result<UndoPreview> {
    ctx.no_open_operation()?;
    let captured = if chosen.transaction.moves() { Some(checkpoint::capture_all(ctx)?) } else { None };
    let (operation, left_as_is) = operation(ctx, chosen, captured.as_ref())?;
    operation::rehearse(ctx, &operation)?;
    preview::preview(ctx, &operation, captured.as_ref(), &lost_asides(&chosen.transaction), left_as_is)
}

/// Undoes a transaction. Agents are stopped where worktrees change. When this returns, all of it survives a power loss. A
/// crash leaves nothing changed, or an operation that recovery finishes.
pub fn undo(ctx: &mut Context, chosen: &UndoTarget) -> Result<UndoReport> {
    check(ctx, chosen)?;
    let transaction = &chosen.transaction;
    let in_workspaces =
        !transaction.worktrees.is_empty() || !transaction.submodules.is_empty() || !transaction.workspaces.is_empty();
    let paused = if in_workspaces { stop_agents::stop_agents(ctx)? } else { PausedForOperation::Nothing };
    let outcome = ctx.with_change_lock(|ctx| locked(ctx, chosen));
    if paused == PausedForOperation::BySupervisor {
        stop_agents::resume(ctx)?;
    }
    outcome
}

fn locked(ctx: &mut Context, chosen: &UndoTarget) -> Result<UndoReport> {
    ctx.no_open_operation()?;
    // Another process may have undone it while this one waited for the lock.
    let chosen = match ctx.state().seq == chosen.as_of {
        true => chosen.clone(),
        false => choose(ctx, &UndoSelector::Named(chosen.transaction.id.to_string()))?,
    };
    let mut safety = None;
    let mut captured = None;
    if chosen.transaction.moves() {
        let (record, taken) = checkpoint::create_locked(ctx, &CheckpointRequest::by(CheckpointTrigger::BeforeUndo))?;
        (safety, captured) = (Some(record), Some(taken));
        env::fault_point("undo.safe");
    }
    let (mut operation, left_as_is) = operation(ctx, &chosen, captured.as_ref())?;
    operation.safety = safety.as_ref().map(|record| record.name.clone());
    let main = ctx.repo.worktrees().main_worktree()?;
    for worktree in operation.worktrees.iter_mut().filter(|worktree| Path::new(&worktree.path) == main.path()) {
        worktree.captures.old = safety.as_ref().map(|record| record.capture.clone());
    }
    if let Some(captured) = &captured {
        replaced_bytes::keep_bytes_replaced(ctx, &mut operation, captured)?;
    }
    let mut preview = preview::preview(ctx, &operation, captured.as_ref(), &lost_asides(&chosen.transaction), left_as_is)?;
    let is_undoable = operation.changes_anything();
    let done = operation::run(ctx, operation.clone())?;
    env::fault_point("undo.before-tags");
    checkpoints::follow(ctx, &operation)?;
    let operation::OperationStepsReport { moved_aside, brought_back, still_aside, lost, files: _, left: _, not_put_back: _ } =
        done;
    preview.lost.extend(lost.iter().map(|place| place.display().to_string()));
    let (txn, safety) = (ctx.txn().clone(), safety.map(|record| record.name));
    Ok(UndoReport { preview, txn, is_undoable, safety, moved_aside, brought_back, still_aside })
}

/// What an undo leaves as it is, as absolute paths.
#[derive(Debug, Default)]
pub(crate) struct UndoExclusions {
    /// Worktrees that were removed since.
    removed: Vec<String>,
    /// Files and submodules that cannot be read now: what they hold could not be saved first.
    unread: Vec<String>,
}

/// The operation that undoes a transaction, for the present contents of the worktrees; and what it leaves as it is.
fn operation(
    ctx: &Context,
    chosen: &UndoTarget,
    captured: Option<&CheckpointCaptures>,
) -> Result<(JournaledOperation, UndoExclusions)> {
    let UndoTarget { transaction, what, redo, as_of: _ } = chosen;
    needs::are_there(ctx, transaction)?;
    let kind = OperationKind::Undo { of: transaction.id.clone() };
    let mut forward = JournaledOperation::new(kind.clone(), transaction.what.clone());
    forward.refs.clone_from(&transaction.refs);
    forward.branch_configs.clone_from(&transaction.branch_configs);
    forward.stash.clone_from(&transaction.stash);
    forward.advances.clone_from(&transaction.advances);
    forward.worktrees.clone_from(&transaction.worktrees);
    forward.submodules.clone_from(&transaction.submodules);
    forward.workspaces.clone_from(&transaction.workspaces);
    forward.gates.clone_from(&transaction.gates);
    // Files that are no longer in the trash cannot come back: see `lost_asides`.
    forward.asides = transaction.asides.iter().filter(|change| is_in_trash(change)).cloned().collect();
    let mut operation = forward.inverse(kind, format!("{} of '{what}'", if *redo { "redo" } else { "undo" }));
    if !operation.branch_configs.is_empty() {
        let now = ctx.repo.branch_configs()?;
        operation.branch_configs.retain(|change| now.as_ref().is_some_and(|now| change.is_to_do(now)));
    }
    // A stash entry that the user has removed, or added again, needs no change.
    let there: BTreeSet<Oid> = if operation.stash.is_empty() {
        BTreeSet::new()
    } else {
        ctx.repo.stash().entries()?.into_iter().map(|entry| entry.id).collect()
    };
    operation.stash.retain(|change| there.contains(&change.entry.id) == (change.way == ChangeDirection::PutAside));
    operation.refs = still_to_move(ctx, operation.refs)?;
    let back = undo::state_back(transaction, ctx.state(), &|task, merged| holds(ctx, task, merged))?;
    (operation.edits, operation.mode) = (back.edits, back.mode);
    let mut left_as_is = UndoExclusions {
        removed: removed_worktrees::leave_out(ctx, &transaction.id, &mut operation, captured)?,
        unread: Vec::new(),
    };
    if let Some(captured) = captured {
        let moved: Vec<&RefName> = git_operations::moved(transaction).collect();
        submodules::rebase(ctx, &mut operation.submodules, captured, &mut left_as_is)?;
        for change in &mut operation.worktrees {
            let now = capture_of(captured, &change.path)
                .ok_or_else(|| changed(&[format!("'{}' is no longer a worktree of this repository", change.path)]))?;
            let inside = submodules::inside(&operation.submodules, &change.path);
            *change = rebased(&ctx.repo, &moved, change, now, (&inside, &mut left_as_is))?;
        }
        for change in operation.workspaces.iter_mut().filter(|change| change.way == ChangeDirection::PutAside) {
            // A missing workspace is marked as lost already.
            let Some(now) = captured.workspaces.iter().find(|now| now.state.path == change.workspace.path) else { continue };
            change.lost = false;
            let head = &now.captured.capture.head;
            change.head = head_state(head);
            change.commit = head.commit().cloned();
            change.capture = now.state.capture.clone();
            change.submodules = captured.submodules_of(&change.workspace.path);
        }
        operation.kept = kept(ctx, &operation)?;
    }
    git_operations::advances_are_clear(ctx, transaction)?;
    branches_are_free(ctx, &operation)?;
    checkpoints::names_are_free(ctx, &operation)?;
    Ok((operation, left_as_is))
}

/// Without branches of tasks that are as the undo wants them already: a branch goes in more than one way once its task is merged.
fn still_to_move(ctx: &Context, refs: Vec<RefChange>) -> Result<Vec<RefChange>> {
    let names: Vec<RefName> = refs.iter().map(|change| &change.name).filter(|name| task_of(name).is_some()).cloned().collect();
    let now = if names.is_empty() { BTreeMap::new() } else { ctx.repo.refs().read_refs(&names)? };
    let is_done = |change: &RefChange| names.contains(&change.name) && now.get(&change.name) == change.value.new.as_ref();
    Ok(refs.into_iter().filter(|change| !is_done(change)).collect())
}

/// Whether a merge has all commits that the task's branch has now.
fn holds(ctx: &Context, task: &TaskId, merged: &MergedTaskWork) -> bool {
    let tip = ctx.repo.refs().read_ref(&branch_of(ctx, task)).ok().flatten();
    tip.is_some_and(|tip| ctx.repo.history().is_ancestor(&tip, &merged.commit).is_ok_and(|held| held))
}

fn is_in_trash(change: &TrashChange) -> bool {
    Path::new(&change.trash).join(change.path.to_path()).symlink_metadata().is_ok()
}

/// The files that the transaction moved out of its way and that are no longer in the trash.
fn lost_asides(transaction: &OperationRecord) -> Vec<TrashChange> {
    transaction.asides.iter().filter(|change| !is_in_trash(change)).cloned().collect()
}

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
    let files = repo.objects().edit_tree(&files, &stays.collect::<Vec<_>>())?;
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
        if !repo.objects().is_in_tree(files, &path)? {
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
    repo.objects().edit_tree(now, &repo.restore().still_there(worktree, (&change.files.old, now), &gone)?)
}

pub(crate) type PresentWorktree<'c> = (&'c Worktree, &'c WorktreeCapture, Option<Oid>);

/// The capture of the worktree at a path, with its commit where one was made.
fn capture_of<'c>(captured: &'c CheckpointCaptures, path: &str) -> Option<PresentWorktree<'c>> {
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
        repo.restore().as_they_were(self.worktree, (&self.change.files.old, self.left), since)
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
    if change.old == *now { Ok(change.new.clone()) } else { repo.objects().edit_tree(now, wanted) }
}

fn changed(what: &[String]) -> Error {
    Error::new(Code::ChangedMeanwhile, "what the undo would restore was changed since; nothing was touched")
        .why(some_of(what, 20))
        .hint("git axiom rollback checkpoint NAME    goes back completely")
}
