//! Planning a rollback: the operation, and its preview.

use std::collections::{BTreeMap, BTreeSet};

use crate::checkpoint::{CheckpointCaptures, capture_options};
use crate::context::handle::Context;
use crate::operation::extras_of;
use crate::operation::staged;
use axiom_base::error::{Code, Error, Result};
use axiom_git::CaptureExtras;
use axiom_model::base::names::{Oid, RefName};
use axiom_model::base::ref_change::ChangeDirection;
use axiom_model::base::text::ValueChange;
use axiom_model::checkpoint::document::CheckpointDocument;
use axiom_model::checkpoint::record::CheckpointRecord;
use axiom_model::journal::journaled::{JournaledOperation, OperationKind};
use axiom_model::journal::journaled_changes::{HeadState, WorkspaceChange};
use axiom_model::operation::change_json::WorkspaceFate;
use axiom_model::operation::rollback;
use axiom_model::state::settle::archived_since;
use axiom_model::work::restorable::restorable_changes::RestorableChanges;
use axiom_model::work::sessions::session::SessionMode;

use super::left_alone::{left_alone, main_left_alone};
use super::not_restored::not_captured;
use super::own_worktrees::{self, OwnWorktreesFate};
use super::preview::RollbackPreview;
use super::refs::{LocalRefsPolicy, add_branch_configs, add_local_refs, add_moved_branches, since, without_own};
use super::submodules;
use super::workspace::add_workspace;
use super::worktree::{WorktreeRollbackState, add_worktree, worktree_change};
use crate::operation::branches::branches_are_free;
use crate::operation::planned_changes::AffectedWorkspaceLine;
use crate::rollback::removed_commits::{add_detached, add_refs};

/// The plan of a rollback.
#[derive(Debug)]
pub(super) struct RollbackPlan {
    pub operation: JournaledOperation,
    pub preview: RollbackPreview,
}

impl RollbackPlan {
    /// Makes the plan from a complete operation: adds the lists of refs and staged paths to the preview.
    pub fn of(
        ctx: &Context,
        captured: &CheckpointCaptures,
        operation: JournaledOperation,
        mut preview: RollbackPreview,
    ) -> Result<Self> {
        preview.changes.refs.clone_from(&operation.refs);
        let nothing = CaptureExtras::default();
        let moved = staged::moved(&operation);
        for worktree in &operation.worktrees {
            let now = captured.worktree_at(&worktree.path).map_or(&nothing, |one| &one.capture.extras);
            let then = extras_of(&ctx.repo, worktree.captures.new.as_ref())?;
            let staged = staged::changes(&ctx.repo, &moved, worktree, (now, &then))?;
            preview.changes.add_staged(&worktree.path, staged);
        }
        for change in &operation.submodules {
            let Some(repo) = captured.submodule_at(&change.worktree.path).map(|one| &one.repo) else { continue };
            let now = extras_of(repo, change.worktree.captures.old.as_ref())?;
            let then = extras_of(repo, change.worktree.captures.new.as_ref())?;
            let staged = staged::changes(repo, &change.refs, &change.worktree, (&now, &then))?;
            preview.changes.add_staged(&change.worktree.path, staged);
        }
        let worktrees: Vec<String> = captured.worktrees().filter_map(|one| one.worktree.path_text().ok()).collect();
        preview.name_by_worktree(&operation, &worktrees);
        Ok(Self { operation, preview })
    }
}

/// Plans a whole rollback from the captures made just now.
pub(super) fn make(
    ctx: &Context,
    record: &CheckpointRecord,
    document: &CheckpointDocument,
    captured: &CheckpointCaptures,
    (wish, mode, own): (LocalRefsPolicy, Option<SessionMode>, OwnWorktreesFate<'_>),
) -> Result<RollbackPlan> {
    let now = &ctx.state().restorable;
    let standing: BTreeSet<String> = captured.workspaces.iter().map(|w| w.state.path.clone()).collect();
    let left = captured.not_captured();
    let fates = rollback::workspaces(document, now, &standing, &left);
    let mut restored = rollback::restored(document, now, &fates, &left);
    restored.mode = mode.unwrap_or(restored.mode);
    let kind = OperationKind::RollbackCheckpoint { partly: false, checkpoint: record.name.clone() };
    let mut operation = JournaledOperation::new(kind, format!("rollback to checkpoint {}", record.name));
    let mut preview = RollbackPreview::of(ctx.state(), record)?;
    preview.changes.tasks = rollback::tasks(now, &restored);
    let mut refs_now = captured.refs.clone();
    let more: Vec<RefName> = document.refs.keys().chain(&document.branch).cloned().collect();
    refs_now.extend(ctx.repo.refs().read_refs(&more)?);
    operation.refs = rollback::refs(document, &refs_now, ctx.state());
    // A workspace that cannot be captured stays as it is, and so does its branch.
    for (task, workspace) in now.workspaces.iter().filter(|(_, workspace)| left.contains(&workspace.path)) {
        operation.refs.retain(|change| change.name != workspace.branch);
        let line =
            AffectedWorkspaceLine { path: workspace.path.clone(), action: WorkspaceFate::NotCaptured, task_id: task.clone() };
        preview.changes.workspaces.push(line);
    }
    let agents: BTreeSet<&str> = now.workspaces.values().map(|workspace| workspace.path.as_str()).collect();
    preview.not_restored.extend(not_captured(captured, &agents));
    if !own.takes_main_back() {
        let of_main = [document.branch.as_ref(), captured.main.capture.head.branch()];
        operation.refs.retain(|change| !of_main.contains(&Some(&change.name)));
    }
    own_worktrees::add_branches(ctx, document, captured, own, &mut operation)?;
    let mut since = since(ctx, &record.capture, &operation, wish)?;
    without_own(&mut since, document);
    add_moved_branches(&since, wish, &mut operation, &mut preview);
    add_refs(ctx, &record.name, document, &mut operation, &mut preview)?;
    add_local_refs(ctx, &record.capture, since, wish, &mut operation, &mut preview)?;
    add_branch_configs(ctx, &record.capture, &mut operation, &mut preview)?;
    if own.takes_main_back() {
        add_main(ctx, (record, document), captured, &mut operation, &mut preview)?;
    }
    for fate in &fates {
        add_workspace(ctx, fate, document, captured, &mut operation, &mut preview)?;
    }
    own_worktrees::add(ctx, document, (captured, own), &mut operation, &mut preview)?;
    add_detached(ctx, &operation, &mut preview)?;
    operation.kept = kept(ctx, &operation)?;
    preview.changes.mode = (now.mode != restored.mode).then(|| ValueChange::new(now.mode, restored.mode));
    let then = archived_since(restored, now);
    operation.changes = Some(Box::new(RestorableChanges::between(now, &then)));
    left_alone(ctx, document, captured, &operation, &mut preview)?;
    if !own.takes_main_back() {
        main_left_alone(ctx, (record, document), captured, &mut preview)?;
    }
    branches_are_free(ctx, &operation)?;
    preview.name_moments(&operation, document);
    RollbackPlan::of(ctx, captured, operation, preview)
}

/// Adds the main worktree.
fn add_main(
    ctx: &Context,
    (record, document): (&CheckpointRecord, &CheckpointDocument),
    captured: &CheckpointCaptures,
    operation: &mut JournaledOperation,
    preview: &mut RollbackPreview,
) -> Result<()> {
    let main = &captured.main;
    let head = match (&document.branch, &document.git_commit) {
        (Some(branch), _) => HeadState::Branch(branch.clone()),
        (None, Some(commit)) => HeadState::Detached(commit.clone()),
        (None, None) => return Err(Error::new(Code::CheckpointDamaged, "the checkpoint names neither branch nor commit")),
    };
    let path = main.worktree.path_text()?;
    let coverage = document.main_coverage();
    let then_at = document.main_path().unwrap_or(&path);
    let submodules = submodules::add(ctx, document, (captured, then_at), None, operation, preview)?;
    let exclude = capture_options(ctx).exclude;
    let then = WorktreeRollbackState {
        capture: &record.capture,
        head,
        coverage,
        only: None,
        exclude: &exclude,
        submodules: &submodules,
    };
    let change = worktree_change(&ctx.repo, path.clone(), (main, None), then, preview)?;
    add_worktree(ctx, change, main, operation, preview)
}

/// The commits and other objects to keep, because after the operation no ref may reach them; also the captures that it uses.
pub fn kept(ctx: &Context, operation: &JournaledOperation) -> Result<Vec<Oid>> {
    let mut kept = BTreeMap::new();
    for change in &operation.refs {
        match (&change.value.old, &change.value.new) {
            // The old value of a ref other than a branch may be a tag object, so it is kept in any case.
            (Some(old), Some(new))
                if change.name.as_str().starts_with("refs/heads/") && ctx.repo.history().is_ancestor(old, new)? => {}
            (Some(old), _) => drop(kept.insert(old.clone(), ())),
            (None, _) => {}
        }
    }
    let going = operation.stash.iter().filter(|change| change.way == ChangeDirection::PutAside);
    kept.extend(going.map(|change| (change.entry.id.clone(), ())));
    for change in &operation.advances {
        if !ctx.repo.history().is_ancestor(&change.commit.old, &change.commit.new)? {
            kept.insert(change.commit.old.clone(), ());
        }
    }
    for oid in operation.worktrees.iter().flat_map(|w| [&w.captures.old, &w.captures.new]).flatten() {
        kept.insert(oid.clone(), ());
    }
    let is_there = |change: &&WorkspaceChange| !change.lost || ctx.repo.objects().has_object(&change.capture);
    kept.extend(operation.workspaces.iter().filter(is_there).map(|change| (change.capture.clone(), ())));
    Ok(kept.into_keys().collect())
}
