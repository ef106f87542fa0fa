//! The steps of an operation, each idempotent, in their fixed order (see [`super`]).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::context::handle::Context;
use crate::folders::trash;
use crate::folders::workspace_submodules::bring_home;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_git::{
    CaptureExtras, ChangeAttempt, CheckoutAdvance, IndexLock, MovedObstacle, PreparedFiles, RefEdit, Repository, RestoreReport,
    UnrestoredPath, Worktree, WorktreeCapture, WorktreeRestore,
};
use axiom_model::base::ids::OperationId;
use axiom_model::base::names::{Oid, RefName, RepoPath};
use axiom_model::base::ref_change::{ChangeDirection, RefChange};
use axiom_model::base::text::ValueChange;
use axiom_model::journal::journaled::JournaledOperation;
use axiom_model::journal::journaled_changes::{BranchAdvance, StashChange, TrashChange, WorkspaceChange, WorktreeChange};

use super::asides::{in_trash, put_back, take_away};
use super::recorded_head::is_at;
use super::workspaces::{aside, bring_back};
use super::{submodules, submodules_again};

/// What the steps did, for the report to the user.
#[derive(Debug, Default)]
pub struct OperationStepsReport {
    /// Files that no capture held and that were in the way: they are in the trash.
    pub moved_aside: Vec<MovedObstacle>,
    /// Files that came back from an earlier transaction's trash.
    pub brought_back: Vec<PathBuf>,
    /// Files that should come back and are, entirely or in part, still in the trash: their places are taken.
    pub still_aside: Vec<MovedObstacle>,
    /// Files that should come back and are missing: the user emptied the trash.
    pub lost: Vec<PathBuf>,
    /// The number of files written and removed.
    pub files: usize,
    /// In a reversal: what another process changed meanwhile, which was left as it is.
    pub left: Vec<String>,
    /// In a reversal: what could not be put back, and why.
    pub not_put_back: Vec<String>,
}

impl OperationStepsReport {
    pub(super) fn add(&mut self, worktree: &Worktree, report: RestoreReport) {
        let place = |path: &RepoPath| worktree.path().join(path.to_path()).display().to_string();
        self.files += report.written.len() + report.removed.len();
        self.moved_aside.extend(report.moved_aside);
        self.left.extend(report.left.iter().map(place));
        self.not_put_back.extend(report.failed.into_iter().map(|UnrestoredPath { path, why, now_at }| match now_at {
            Some(now_at) => format!("{} (it is '{}'): {why}", place(&path), now_at.display()),
            None => format!("{}: {why}", place(&path)),
        }));
    }

    /// Handles the outcome of one step. Forwards, an error stops the operation. In a reversal, the failure is recorded and
    /// the rest goes on, unless the error passes by waiting or freeing disk space.
    pub(super) fn or_named(&mut self, attempt: ChangeAttempt, what: &str, outcome: Result<()>) -> Result<()> {
        match outcome {
            Err(error) if attempt == ChangeAttempt::Back && !error.passes() => {
                self.not_put_back.push(format!("{what}: {error}"));
                Ok(())
            }
            outcome => outcome,
        }
    }
}

/// Carries out an operation; steps that are done already are recognized. To reverse an operation, carry out its inverse with
/// [`ChangeAttempt::Back`]: then what another process changed meanwhile is left as it is.
pub(super) fn carry_out(
    ctx: &Context,
    operation: &JournaledOperation,
    txn: &OperationId,
    attempt: ChangeAttempt,
    ready: &OperationContents,
) -> Result<OperationStepsReport> {
    let mut done = OperationStepsReport::default();
    super::keep_ref::keep(ctx, operation, txn)?;
    // Also files that an interrupted attempt has put back already: they would be in the way of the files to restore.
    let away = |change: &&TrashChange| change.way == ChangeDirection::PutAside || attempt == ChangeAttempt::Again;
    for change in operation.asides.iter().filter(away) {
        let outcome = take_away(ctx, change);
        done.or_named(attempt, &format!("'{}' in '{}'", change.path, change.worktree), outcome)?;
    }
    for change in operation.workspaces.iter().filter(|change| change.way == ChangeDirection::PutAside) {
        env::fault_point("journal.before-aside");
        bring_submodules_home(ctx, change, (txn, &operation.title));
        let outcome = aside(ctx, change).and_then(|aside| ctx.repo.workspaces().put_aside(&aside));
        done.or_named(attempt, &format!("the workspace '{}'", change.workspace.path), outcome)?;
    }
    for change in &operation.worktrees {
        env::fault_point("journal.before-worktree");
        let outcome = restore_own_worktree(ctx, change, (txn, attempt, ready), &mut done);
        done.or_named(attempt, &format!("the worktree '{}'", change.path), outcome)?;
    }
    for change in &operation.submodules {
        env::fault_point("journal.before-submodule");
        let stays = |folder: &Path| submodules::folder_stays(ctx, operation, folder);
        let outcome = submodules::carry_out(ctx, change, (txn, attempt, ready), &stays, &mut done);
        done.or_named(attempt, &format!("the submodule '{}'", change.worktree.path), outcome)?;
    }
    for change in &operation.advances {
        env::fault_point("journal.before-advance");
        let outcome = carry_advance(ctx, change, txn, (attempt, ready), &mut done);
        done.or_named(attempt, &format!("{} in '{}'", change.branch.short(), change.path), outcome)?;
    }
    let advanced = operation.advances.iter().map(|change| &change.path);
    let written = operation.worktrees.iter().map(|change| &change.path).chain(advanced);
    // The worktree is looked up only where it is needed.
    for there in written.filter(|_| ctx.repo.restore().annex_has_put_off()).filter_map(|path| worktree(ctx, path).ok()) {
        ctx.repo.restore().write_what_annex_put_off(&there);
    }
    env::fault_point("journal.before-refs");
    let outcome = move_refs(ctx, &operation.refs, &operation.title, txn, attempt, &mut done);
    done.or_named(attempt, "branches", outcome)?;
    if !operation.branch_configs.is_empty() {
        env::fault_point("journal.before-config");
        let outcome = ctx.repo.settings().change_branch_configs(&operation.branch_configs);
        done.or_named(attempt, "the configuration of branches", outcome)?;
    }
    for StashChange { entry, way } in &operation.stash {
        let outcome = match way {
            ChangeDirection::BringBack => ctx.repo.stash().put_on_top(entry),
            ChangeDirection::PutAside => ctx.repo.stash().take_out(&entry.id),
        };
        done.or_named(attempt, &format!("stash entry {}", entry.id.short()), outcome)?;
    }
    for change in operation.workspaces.iter().filter(|change| change.way == ChangeDirection::BringBack) {
        env::fault_point("journal.before-back");
        let outcome = bring_back(ctx, change, txn);
        done.or_named(attempt, &format!("the workspace '{}'", change.workspace.path), outcome)?;
    }
    let coming: Vec<TrashChange> =
        operation.asides.iter().filter(|change| change.way == ChangeDirection::BringBack).cloned().collect();
    done.still_aside = put_back(ctx, &coming)?;
    let stays: Vec<PathBuf> = done.still_aside.iter().map(|moved| moved.now_at.clone()).collect();
    for change in coming.iter().filter(|change| !stays.contains(&in_trash(change).now_at())) {
        let place = Path::new(&change.worktree).join(change.path.to_path());
        let back = place.symlink_metadata().is_ok();
        if back { done.brought_back.push(place) } else { done.lost.push(place) }
    }
    Ok(done)
}

/// What submodules of a workspace have is brought into the main worktree's repositories, before the workspace goes to the trash. Where
/// that fails it is in the trash, as long as the workspace is.
fn bring_submodules_home(ctx: &Context, change: &WorkspaceChange, (txn, title): (&OperationId, &str)) {
    let there = ctx.repo.worktrees().worktree_at(Path::new(&change.workspace.path));
    // Where only its folder is gone, their repositories are still there.
    let outcome = there.and_then(|entry| entry.map_or(Ok(()), |entry| bring_home(ctx, &entry.worktree)));
    if let Err(error) = outcome.and_then(|()| submodules_again::keep(ctx, change, txn, title)) {
        tracing::warn!(%error, workspace = %change.workspace.path, "what its submodules have is only in the trash");
    }
}

fn restore_own_worktree(
    ctx: &Context,
    change: &WorktreeChange,
    (txn, attempt, ready): (&OperationId, ChangeAttempt, &OperationContents),
    done: &mut OperationStepsReport,
) -> Result<()> {
    if is_gone_on_the_way_back(ctx, &change.path, attempt, done)? {
        return Ok(());
    }
    let worktree = worktree(ctx, &change.path)?;
    restore_worktree(ctx, (&ctx.repo, &worktree), change, (txn, attempt, ready), done)
}

fn carry_advance(
    ctx: &Context,
    change: &BranchAdvance,
    txn: &OperationId,
    (attempt, ready): (ChangeAttempt, &OperationContents),
    done: &mut OperationStepsReport,
) -> Result<()> {
    if is_gone_on_the_way_back(ctx, &change.path, attempt, done)? {
        // The worktree is missing, so its branch is checked out nowhere: only the branch has to move back.
        return move_refs(ctx, &[change.ref_change()], "taken back", txn, attempt, done);
    }
    advance(ctx, change, txn, |ctx, advance| {
        done.add(advance.worktree, ctx.repo.advances().apply_prepared(advance, attempt, ready.advances.get(&change.path))?);
        if ctx.repo.refs().read_ref(advance.branch)?.as_ref() != Some(advance.new) {
            done.left.push(advance.branch.short().to_owned());
        }
        Ok(())
    })
}

/// Whether a worktree exists and is valid, so that something can be put back in it.
pub(crate) fn is_there(ctx: &Context, path: &str) -> Result<bool> {
    let entry = ctx.repo.worktrees().worktree_at(Path::new(path))?;
    Ok(entry.is_some_and(|entry| entry.present && entry.worktree.verify().is_ok()))
}

/// Whether the worktree of a reversal is missing; if so, that is recorded in `done`.
fn is_gone_on_the_way_back(ctx: &Context, path: &str, attempt: ChangeAttempt, done: &mut OperationStepsReport) -> Result<bool> {
    let gone = attempt == ChangeAttempt::Back && !is_there(ctx, path)?;
    if gone {
        done.not_put_back.push(format!("the worktree '{path}', which was removed meanwhile"));
    }
    Ok(gone)
}

/// The contents that an operation writes, prepared before its first change. Empty where they are made during the steps.
#[derive(Debug, Default)]
pub(super) struct OperationContents {
    worktrees: BTreeMap<String, PreparedFiles>,
    advances: BTreeMap<String, PreparedFiles>,
}

impl OperationContents {
    /// Makes all contents before anything is changed, since making them can fail.
    pub fn stage(ctx: &Context, operation: &JournaledOperation, txn: &OperationId) -> Result<Self> {
        let mut all = Self::default();
        for change in &operation.worktrees {
            let there = worktree(ctx, &change.path)?;
            let prepare = |repo: &Repository, restore: &WorktreeRestore<'_>| repo.restore().prepare_restore(restore);
            let staged = restore(ctx, (&ctx.repo, &there), change, (txn, ChangeAttempt::First), prepare)?;
            all.worktrees.insert(change.path.clone(), staged);
        }
        // Where the folder is gone, they are made when it is there again.
        for change in operation.submodules.iter().filter(|change| change.checked_out.old) {
            let (repo, there) = submodules::opened(ctx, change)?;
            let prepare = |repo: &Repository, restore: &WorktreeRestore<'_>| repo.restore().prepare_restore(restore);
            let staged = restore(ctx, (&repo, &there), &change.worktree, (txn, ChangeAttempt::First), prepare)?;
            all.worktrees.insert(change.worktree.path.clone(), staged);
        }
        for change in &operation.advances {
            let staged = advance(ctx, change, txn, |ctx, advance| ctx.repo.advances().prepare_advance_files(advance))?;
            all.advances.insert(change.path.clone(), staged);
        }
        Ok(all)
    }
}

/// Calls `work` with the [`WorktreeRestore`] for a change.
pub(super) fn restore<T>(
    ctx: &Context,
    (repo, worktree): (&Repository, &Worktree),
    change: &WorktreeChange,
    (txn, attempt): (&OperationId, ChangeAttempt),
    work: impl FnOnce(&Repository, &WorktreeRestore<'_>) -> Result<T>,
) -> Result<T> {
    let trash = trash::of(ctx, worktree, txn)?;
    let (before, extras) = (extras_of(repo, change.captures.old.as_ref())?, extras_of(repo, change.captures.new.as_ref())?);
    let (from, to, beside) = (&change.files.old, &change.files.new, Some(ValueChange::new(&before, &extras)));
    work(repo, &WorktreeRestore { worktree, from, to, trash: &trash, attempt, beside })
}

/// Restores the files, then the index and the git operation in progress, while `index.lock` is held; then HEAD.
pub(super) fn restore_worktree(
    ctx: &Context,
    (repo, worktree): (&Repository, &Worktree),
    change: &WorktreeChange,
    (txn, attempt, ready): (&OperationId, ChangeAttempt, &OperationContents),
    done: &mut OperationStepsReport,
) -> Result<()> {
    let trash = trash::of(ctx, worktree, txn)?;
    let lock = match attempt {
        ChangeAttempt::First => IndexLock::take(worktree, txn.as_str())?,
        ChangeAttempt::Again | ChangeAttempt::Back => IndexLock::take_patiently(worktree, txn.as_str())?,
    };
    let (before, extras) = (extras_of(repo, change.captures.old.as_ref())?, extras_of(repo, change.captures.new.as_ref())?);
    let (from, to, beside) = (&change.files.old, &change.files.new, Some(ValueChange::new(&before, &extras)));
    let restore = WorktreeRestore { worktree, from, to, trash: &trash, attempt, beside };
    let of = |what: &str| format!("{what} of '{}'", change.path);
    let mut placed = Vec::new();
    let outcome = repo.restore().restore_prepared(&restore, ready.worktrees.get(&change.path)).map(|report| {
        placed.clone_from(&report.placed);
        done.add(worktree, report);
    });
    done.or_named(attempt, &of("the files"), outcome)?;
    env::fault_point("journal.files-restored");
    let index = &change.index;
    // An index that does not change is not written: git keeps more in an index than a capture does (how a conflict was
    // resolved, for example), and the user may be continuing the git operation right now.
    let known = change.captures.old.is_some();
    let index_stays = known && index.old == index.new && before.index == extras.index && !before.operation.is_empty();
    let outcome = match attempt {
        ChangeAttempt::First | ChangeAttempt::Again | ChangeAttempt::Back if index_stays => Ok(()),
        ChangeAttempt::First | ChangeAttempt::Again => {
            repo.index_edits(worktree).install_index_after(&index.new, &extras.index, &lock, &placed)
        }
        ChangeAttempt::Back => {
            repo.index_edits(worktree).take_index_back((&index.old, &index.new), &extras.index, &lock, &placed)
        }
    };
    done.or_named(attempt, &of("the index"), outcome)?;
    env::fault_point("journal.index-installed");
    if !known || before.operation != extras.operation {
        let outcome = repo.index_edits(worktree).restore_operation(&extras, &trash::of_git_dir(ctx, worktree, txn)?);
        done.or_named(attempt, &of("the operation in progress"), outcome)?;
    }
    done.or_named(attempt, &of("the lock of the index"), lock.release())?;
    env::fault_point("journal.before-head");
    let outcome = set_head(repo, worktree, change, attempt, done);
    done.or_named(attempt, &of("HEAD"), outcome)
}

/// What a capture holds in addition to its trees; empty where there is no capture.
pub fn extras_of(repo: &Repository, capture: Option<&Oid>) -> Result<CaptureExtras> {
    capture.map_or_else(|| Ok(CaptureExtras::default()), |capture| CaptureExtras::of_capture(repo, capture))
}

/// Makes a capture of a worktree's future state, where no existing capture has these extras. The operation keeps it alive; a
/// crash before that leaves objects that nothing refers to.
pub fn capture_with(
    repo: &Repository,
    now: &WorktreeCapture,
    (files, index): (&Oid, &Oid),
    extras: CaptureExtras,
) -> Result<Oid> {
    let capture = WorktreeCapture { tree: files.clone(), index_tree: index.clone(), extras, ..now.clone() };
    Ok(repo.captures().commit_capture(&capture, "what comes back, around what was done since", &[])?.commit)
}

fn set_head(
    repo: &Repository,
    worktree: &Worktree,
    change: &WorktreeChange,
    attempt: ChangeAttempt,
    done: &mut OperationStepsReport,
) -> Result<()> {
    let now = repo.refs().head(worktree)?;
    if attempt == ChangeAttempt::Back && !is_at(&now, &change.head.old) && !is_at(&now, &change.head.new) {
        done.left.push(format!("HEAD of '{}'", change.path));
        return Ok(());
    }
    if is_at(&now, &change.head.new) {
        return Ok(());
    }
    repo.refs().set_head(worktree, &now, &change.head.new, "git axiom: restored")
}

/// Moves the refs that have not moved yet, each only from its expected value.
fn move_refs(
    ctx: &Context,
    refs: &[RefChange],
    title: &str,
    txn: &OperationId,
    attempt: ChangeAttempt,
    done: &mut OperationStepsReport,
) -> Result<()> {
    let names: Vec<RefName> = refs.iter().map(|change| change.name.clone()).collect();
    let now = ctx.repo.refs().read_refs(&names)?;
    let open = refs.iter().filter(|change| now.get(&change.name) != change.value.new.as_ref());
    let (open, moved): (Vec<&RefChange>, Vec<&RefChange>) = match attempt {
        ChangeAttempt::First | ChangeAttempt::Again => (open.collect(), Vec::new()),
        ChangeAttempt::Back => open.partition(|change| now.get(&change.name) == change.value.old.as_ref()),
    };
    done.left.extend(moved.iter().map(|change| change.name.short().to_owned()));
    let edits: Vec<RefEdit> = open.into_iter().map(RefEdit::from).collect();
    let coming: Vec<Oid> =
        edits.iter().filter_map(|edit| edit.new.clone()).filter(|oid| !ctx.repo.connectivity().holds(oid)).collect();
    if !coming.is_empty()
        && let Some(kept) = super::keep_ref::KeepRefContents::by(ctx, txn)?
    {
        kept.write_tags_again(ctx, &coming)?;
    }
    ctx.repo.refs().update_refs(&edits, &format!("git axiom: {title}"))
}

/// Calls `work` with the [`CheckoutAdvance`] for a change.
pub(super) fn advance<T>(
    ctx: &Context,
    change: &BranchAdvance,
    txn: &OperationId,
    work: impl FnOnce(&Context, &CheckoutAdvance<'_>) -> Result<T>,
) -> Result<T> {
    let worktree = worktree(ctx, &change.path)?;
    let trash = trash::of(ctx, &worktree, txn)?;
    let advance = CheckoutAdvance {
        worktree: &worktree,
        branch: &change.branch,
        old: &change.commit.old,
        new: &change.commit.new,
        tag: txn.as_str(),
        trash: &trash,
        reflog: "git axiom: the branch moved with its worktree",
    };
    work(ctx, &advance)
}

/// The worktree at a path.
pub(super) fn worktree(ctx: &Context, path: &str) -> Result<Worktree> {
    match ctx.repo.worktrees().worktree_at(Path::new(path))? {
        Some(entry) => Ok(entry.worktree),
        None => Err(Error::new(Code::WorkspaceBroken, format!("'{path}' is no longer a worktree of this repository"))
            .hint("git axiom recover --yes    repairs it")),
    }
}
