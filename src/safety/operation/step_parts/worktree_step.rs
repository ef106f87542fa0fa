//! The step of an operation in one worktree, and the contents that its steps write, prepared before the first.

use std::collections::BTreeMap;
use std::path::Path;

use super::steps_report::OperationStepsReport;
use super::submodule_folders::opened;
use crate::context::handle::Context;
use crate::folders::trash;
use crate::operation::recorded_head::is_at;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_git::{
    CaptureExtras, ChangeAttempt, CheckoutAdvance, IndexLock, PreparedFiles, Repository, Worktree, WorktreeCapture,
    WorktreeRestore,
};
use axiom_model::base::ids::OperationId;
use axiom_model::base::names::Oid;
use axiom_model::base::text::ValueChange;
use axiom_model::journal::journaled::JournaledOperation;
use axiom_model::journal::journaled_changes::{BranchAdvance, WorktreeChange};

/// The contents that an operation writes, prepared before its first change. Empty where they are made during the steps.
#[derive(Debug, Default)]
pub(in crate::operation) struct OperationContents {
    pub worktrees: BTreeMap<String, PreparedFiles>,
    pub advances: BTreeMap<String, PreparedFiles>,
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
            let (repo, there) = opened(ctx, change)?;
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
pub(in crate::operation) fn restore<T>(
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
pub(in crate::operation) fn restore_worktree(
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

/// Calls `work` with the [`CheckoutAdvance`] for a change.
pub(in crate::operation) fn advance<T>(
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
pub(in crate::operation) fn worktree(ctx: &Context, path: &str) -> Result<Worktree> {
    match ctx.repo.worktrees().worktree_at(Path::new(path))? {
        Some(entry) => Ok(entry.worktree),
        None => Err(Error::new(Code::WorkspaceBroken, format!("'{path}' is no longer a worktree of this repository"))
            .hint("git axiom recover --yes    repairs it")),
    }
}
