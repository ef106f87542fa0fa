//! Previewing a merge, without changing a ref, a file or the log.

use serde::Serialize;

use super::plan::{MergePlan, operation_of, plan, unverified};
use super::{MergeOutcome, checked_out, cleanup, result_of};
use axiom_base::error::{Code, Result};
use axiom_model::base::ids::TaskId;
use axiom_model::base::names::{Oid, RefName};
use axiom_model::work::guarded::AllowedGuardedFiles;
use axiom_safety::context::handle::Context;
use axiom_safety::operation::planned_changes::{AffectedFileLine, AffectedWorkspaceLine, PlannedChanges};

/// What a merge changes.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MergePreview {
    /// The task.
    pub task_id: TaskId,
    /// The branch that moves.
    pub target: RefName,
    /// Its current commit.
    pub commit: Oid,
    /// What changes. Branches that are deleted are among the refs: the target has their commits then.
    #[serde(flatten)]
    pub changes: PlannedChanges,
    /// Whether the target has all of the work already: then at most the task changes, to say that it is merged.
    pub was_merged_before: bool,
    /// Commands that still have to pass on the result before it is merged.
    pub verify: Vec<String>,
}

/// The outcome of a preview.
#[derive(Debug)]
pub enum MergePreviewOutcome {
    /// The task can be merged.
    Preview(Box<MergePreview>),
    /// The task cannot be merged; the outcome is the one that the merge would have.
    Refused(Box<MergeOutcome>),
}

/// Previews the merge of a task. `allowed` as for [`super::merge_task`].
pub fn preview(ctx: &Context, task: &TaskId, allowed: &AllowedGuardedFiles) -> Result<MergePreviewOutcome> {
    ctx.no_open_operation()?;
    match look(ctx, task, allowed) {
        Err(error) if matches!(error.code(), Code::InTheWay | Code::HoldsMount) => {
            Ok(MergePreviewOutcome::Refused(Box::new(MergeOutcome::InTheWay { what: error.to_string() })))
        }
        other => other,
    }
}

/// Whether a task could be merged now, as far as that can be seen before.
pub(crate) fn is_clear(ctx: &Context, task: &TaskId, allowed: &AllowedGuardedFiles) -> bool {
    preview(ctx, task, allowed).is_ok_and(|foreseen| matches!(foreseen, MergePreviewOutcome::Preview(_)))
}

fn look(ctx: &Context, task: &TaskId, allowed: &AllowedGuardedFiles) -> Result<MergePreviewOutcome> {
    let (of, case, target, settled) = match plan(ctx, task, allowed)? {
        MergePlan::Merge { of, task: case, target, settled } => (of, case, target, settled),
        MergePlan::HasAll { merged, task: _ } => {
            let mut preview = of_target(ctx, task, merged.target, merged.commit)?;
            preview.was_merged_before = true;
            return Ok(MergePreviewOutcome::Preview(Box::new(preview)));
        }
        MergePlan::Ends(outcome) => return Ok(MergePreviewOutcome::Refused(Box::new(outcome))),
    };
    let mut preview = of_target(ctx, task, target.clone(), of.target.clone())?;
    match unverified(ctx, &case, &of, &settled)? {
        None => {}
        Some(MergeOutcome::Unverified { of: _, failed: None }) => {
            preview.verify = super::plan::demands(ctx, &case, &settled)?.names().map(|(_, name)| name.clone()).collect();
        }
        Some(outcome) => return Ok(MergePreviewOutcome::Refused(Box::new(outcome))),
    }
    let worktree = checked_out(ctx, &target)?.map(|worktree| worktree.path_text()).transpose()?;
    for file in ctx.repo.history().diff_trees(&ctx.repo.objects().read_commit(&of.target)?.tree, &of.tree)? {
        preview.changes.files.push(AffectedFileLine::of(worktree.clone(), file, false));
    }
    // No ref ever points to this commit.
    let commit = result_of(ctx, task, &of)?;
    operation_of(ctx, &case, (&target, of.target), commit)?;
    Ok(MergePreviewOutcome::Preview(Box::new(preview)))
}

fn of_target(ctx: &Context, task: &TaskId, target: RefName, commit: Oid) -> Result<MergePreview> {
    let workspace = ctx.state().restorable.workspaces.get(task).filter(|_| !ctx.config.agents.keep_merged);
    Ok(MergePreview {
        task_id: task.clone(),
        changes: PlannedChanges {
            refs: cleanup::would_leave(ctx, task, &target)?.into_iter().collect(),
            workspaces: workspace.map(|workspace| AffectedWorkspaceLine::going(&workspace.path, task)).into_iter().collect(),
            ..PlannedChanges::default()
        },
        target,
        commit,
        was_merged_before: false,
        verify: Vec::new(),
    })
}
