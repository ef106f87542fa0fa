//! Rolling back some files of one worktree, and nothing else: HEAD, the index, refs, tasks and all other files stay.

use std::path::{Path, PathBuf};

use crate::checkpoint;
use crate::checkpoint::{CheckpointCaptures, capture_options};
use crate::context::handle::Context;
use axiom_base::error::{Code, Error, Result};
use axiom_git::Worktree;
use axiom_model::base::forms::plural::count;
use axiom_model::base::names::RepoPath;
use axiom_model::base::path_set::PathSet;
use axiom_model::checkpoint::document::CheckpointDocument;
use axiom_model::checkpoint::record::CheckpointRecord;
use axiom_model::journal::journaled::{JournaledOperation, OperationKind};

use super::beside_worktree::BesideWorktree;
use super::gone_worktrees::{refuse_outside, with_gone};
use super::not_restored::left_out;
use super::one_worktree::{OneWorktreeRollback, find};
use super::own_worktrees::OwnWorktreesFate;
use super::plan::{RollbackPlan, kept};
use super::preview::RollbackPreview;
use super::refs::{add_branch_configs, add_local_refs, add_moved_branches, since};
use super::removed_commits::{add_detached, add_refs};
use super::worktree::{WorktreeRollbackState, add_worktree, worktree_change};
use super::{own_worktrees, submodules};
use crate::operation::branches::branches_are_free;
use crate::operation::recorded_head::head_state;

/// Plans the rollback of `paths`, from the captures made just now. A path includes everything below it. With it goes back
/// what is beside the worktree.
pub(super) fn make(
    ctx: &Context,
    (record, document): (&CheckpointRecord, &CheckpointDocument),
    captured: &CheckpointCaptures,
    paths: &[PathBuf],
    beside: BesideWorktree<'_>,
) -> Result<RollbackPlan> {
    refuse_outside(ctx, (document, captured), paths)?;
    let worktrees: Vec<Worktree> = captured.worktrees().map(|one| one.worktree.clone()).collect();
    let (worktree, named) = in_one_worktree(&worktrees, paths)?;
    let mut both = find(ctx, record, document, captured, worktree.path())?;
    if let Some(capture) = with_gone(ctx, (document, captured), (&both, worktree), &named)? {
        both.capture = capture;
    }
    name_something(ctx, (record, document), &both, &named)?;
    let only = PathSet::new(named.iter().cloned());
    let text = worktree.path_text()?;
    let kind = OperationKind::RollbackCheckpoint { partly: true, checkpoint: record.name.clone() };
    let which = match named.as_slice() {
        [one] if one.as_bytes().is_empty() => "all files".to_owned(),
        [one] => format!("'{one}'"),
        _ => count(named.len(), "path"),
    };
    let mut operation = JournaledOperation::new(kind, format!("rollback of {which} in '{text}' to checkpoint {}", record.name));
    let mut preview = RollbackPreview::of(ctx.state(), record)?;
    preview.worktree = Some(text.clone());
    preview.paths = only.iter().cloned().collect();
    let head = head_state(&both.now.capture.head);
    let coverage = both.coverage(document, &text);
    let then_at = both.path_then(document, &text);
    let submodules = submodules::add(ctx, document, (captured, then_at), Some(&only), &mut operation, &mut preview)?;
    let exclude = capture_options(ctx).exclude;
    let then = WorktreeRollbackState {
        capture: &both.capture,
        head,
        coverage,
        only: Some(&only),
        exclude: &exclude,
        submodules: &submodules,
    };
    preview.not_restored.extend(left_out(&both.now.capture, &text, &only));
    let change = worktree_change(&ctx.repo, text.clone(), (both.now, both.now_capture.clone()), then, &mut preview)?;
    add_worktree(ctx, change, both.now, &mut operation, &mut preview)?;
    add_beside(ctx, (record, document), captured, beside, (&mut operation, &mut preview))?;
    operation.kept = kept(ctx, &operation)?;
    preview.name_moments(&operation, document);
    RollbackPlan::of(ctx, captured, operation, preview)
}

/// Adds what goes back beside the files of one worktree.
fn add_beside(
    ctx: &Context,
    (record, document): (&CheckpointRecord, &CheckpointDocument),
    captured: &CheckpointCaptures,
    beside: BesideWorktree<'_>,
    (operation, preview): (&mut JournaledOperation, &mut RollbackPreview),
) -> Result<()> {
    let own = OwnWorktreesFate::These(beside.others);
    own_worktrees::add_branches(ctx, document, captured, own, operation)?;
    let since = since(ctx, &record.capture, operation, beside.refs)?;
    add_moved_branches(&since, beside.refs, operation, preview);
    add_refs(ctx, &record.name, document, operation, preview)?;
    add_local_refs(ctx, &record.capture, since, beside.refs, operation, preview)?;
    add_branch_configs(ctx, &record.capture, operation, preview)?;
    own_worktrees::add(ctx, document, (captured, own), operation, preview)?;
    add_detached(ctx, operation, preview)?;
    branches_are_free(ctx, operation)
}

/// Whether one of the paths is in a workspace: then its agent has to be stopped.
pub(super) fn are_in_workspaces(ctx: &Context, paths: &[PathBuf]) -> bool {
    let workspaces = &ctx.state().restorable.workspaces;
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folders: Vec<PathBuf> = workspaces.values().map(|workspace| real(Path::new(&workspace.path))).collect();
    paths.iter().map(|path| real(path)).any(|path| folders.iter().any(|folder| path.starts_with(folder)))
}

/// The one of these worktrees that all paths are in, and what they are in it.
pub(super) fn in_one_worktree<'w>(worktrees: &'w [Worktree], paths: &[PathBuf]) -> Result<(&'w Worktree, Vec<RepoPath>)> {
    let by_worktree = checkpoint::paths_by_worktree(worktrees, paths)?;
    let mut named = worktrees.iter().zip(by_worktree).filter(|(_, paths)| !paths.is_empty());
    match (named.next(), named.next()) {
        (Some(one), None) => Ok(one),
        (Some((one, _)), Some((other, _))) => {
            let (one, other) = (one.path().display(), other.path().display());
            Err(Error::new(Code::InvalidInput, format!("the paths are in two worktrees, '{one}' and '{other}'"))
                .hint("repeat the command for each"))
        }
        (None, _) => Err(Error::new(Code::InvalidInput, "no path was given")),
    }
}

/// Refuses a path that is in neither the checkpoint nor the present capture: it may be mistyped.
fn name_something(
    ctx: &Context,
    (record, document): (&CheckpointRecord, &CheckpointDocument),
    both: &OneWorktreeRollback<'_>,
    named: &[RepoPath],
) -> Result<()> {
    let text = both.now.worktree.path_text()?;
    let worktree = both.path_then(document, &text);
    let then = ctx.repo.captures().capture_parts(&both.capture)?.files;
    for path in named.iter().filter(|path| !path.as_bytes().is_empty()) {
        if submodules::names_something(ctx, document, (worktree, both.now), path)? {
            continue;
        }
        let is_there = both.now.worktree.path().join(path.to_path()).symlink_metadata().is_ok();
        if !ctx.repo.trees().is_in_tree(&then, path)? && !ctx.repo.trees().is_in_tree(&both.now.capture.tree, path)? {
            let error = if is_there {
                Error::new(Code::InvalidInput, format!("checkpoint '{}' does not hold '{path}'", record.name))
                    .why("it is ignored or excluded, could not be read then, or is in a nested repository or behind a link")
            } else {
                Error::new(Code::InvalidInput, format!("neither checkpoint '{}' nor the worktree has '{path}'", record.name))
            };
            return Err(error.hint(format!("git ls-tree -r --name-only {}    lists its files", both.capture.short())));
        }
    }
    Ok(())
}
