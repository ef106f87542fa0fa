//! Planning the rollback of a task: the operation, and its preview.

use std::path::Path;

use serde::Serialize;

use crate::merge::{checked_out, nothing_in_progress};
use axiom_base::error::{Code, Error, Result};
use axiom_git::Worktree;
use axiom_model::base::ids::TaskId;
use axiom_model::base::names::{Oid, RefName, RepoPath};
use axiom_model::base::ref_change::{ChangeDirection, RefChange};
use axiom_model::base::text::ValueChange;
use axiom_model::journal::journaled::{JournaledOperation, OperationKind};
use axiom_model::journal::journaled_changes::{BranchAdvance, WorkspaceChange};
use axiom_model::operation::change_json::WorkspaceFate;
use axiom_model::operation::task_rollback::{self, NoRevertReason, RevertUnit, SkippedRevert, TaskRevertPlan};
use axiom_safety::checkpoint::CheckpointCaptures;
use axiom_safety::context::handle::Context;
use axiom_safety::folders::workspaces::branch_of;
use axiom_safety::operation;
use axiom_safety::operation::branches::branches_are_free;
use axiom_safety::operation::planned_changes::{AffectedFileLine, AffectedWorkspaceLine, PlannedChanges};
use axiom_safety::operation::recorded_head::head_state;
use axiom_safety::rollback::plan::kept;
use axiom_safety::rollback::workspace::{lost_workspace, not_locked, trash_places};

use super::reverts::{self, RevertOutcome};
use super::{TaskRollbackRequest, find, resolve};

/// How many commits are listed for one file in conflict.
const BEHIND: usize = 10;

/// A commit that gets a revert commit.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RevertedCommitLine {
    /// The commit.
    pub id: Oid,
    /// Its subject.
    pub subject: String,
    /// The task for which it is reverted.
    pub task_id: TaskId,
}

/// A merge that is reverted as a whole, with all commits that it merged.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RevertedMergeLine {
    /// The merge.
    pub id: Oid,
    /// Its subject.
    pub subject: String,
    /// The parent to whose content it goes back.
    pub mainline: Option<Oid>,
    /// The commits that it merged, newest first.
    pub brings: Vec<Oid>,
}

/// A commit of the task that needs no revert.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SkippedCommitLine {
    /// The commit.
    pub id: Oid,
    /// Its subject.
    pub subject: String,
    /// Why it needs no revert.
    #[serde(rename = "reason")]
    pub why: String,
}

/// A file in conflict.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RevertConflictLine {
    /// The file.
    pub path: RepoPath,
    /// The commit that could not be reverted.
    pub commit: Oid,
    /// The commits that changed the file since, newest first.
    pub behind: Vec<CommitSubjectLine>,
}

/// A commit with its subject.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CommitSubjectLine {
    /// Its id.
    pub id: Oid,
    /// Its subject.
    pub subject: String,
}

/// Exactly what the rollback of a task will do.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskRollbackPreview {
    /// The requested task.
    pub task_id: TaskId,
    /// The branch on which commits are reverted.
    pub target: RefName,
    /// What changes.
    #[serde(flatten)]
    pub changes: PlannedChanges,
    /// The commits to revert, in this order.
    pub commits: Vec<RevertedCommitLine>,
    /// Those of them that are merges.
    pub merges: Vec<RevertedMergeLine>,
    /// The commits of the task that need no revert.
    pub skipped: Vec<SkippedCommitLine>,
    /// The files in conflict: then nothing is done.
    pub conflicts: Vec<RevertConflictLine>,
    /// The command that makes a worktree to resolve a conflict in, and goes on once it is resolved.
    pub resolve: String,
}

/// The complete plan.
#[derive(Debug)]
pub(super) struct TaskRollbackPlan {
    /// The tasks, the requested one first.
    pub tasks: Vec<TaskId>,
    pub preview: TaskRollbackPreview,
    /// The operation. Its workspaces are added later, since they need captures.
    pub operation: JournaledOperation,
    pub plan: TaskRevertPlan,
    pub reverted: RevertOutcome,
    /// The worktree in which the user resolved a conflict.
    pub settled: Option<Worktree>,
}

/// Makes the plan from the present state.
pub(super) fn work(ctx: &Context, wanted: &TaskRollbackRequest) -> Result<TaskRollbackPlan> {
    let tasks = find::tasks(ctx, wanted)?;
    let (target, old) = find::target(ctx, wanted, &tasks)?;
    let with_recorded = find::with_recorded(ctx, &tasks)?;
    let plan_of =
        |tip: &Oid| Ok(task_rollback::plan(&ctx.repo.task_commits().task_commits_for(tip, &with_recorded)?, &with_recorded));
    let plan = plan_of(&old)?;
    let settled = if wanted.resolve { resolve::worktree(ctx, &wanted.task)? } else { None };
    let reverted = match &settled {
        Some(worktree) => RevertOutcome::by_hand(&plan, resolve::settled(ctx, worktree, (&target, &old), plan_of)?),
        None => reverts::compute(ctx, &plan, &old)?,
    };
    let kind = OperationKind::RollbackTask { tasks: tasks.clone() };
    let mut operation = JournaledOperation::new(kind, title(&tasks));
    operation.edits = task_rollback::edits(ctx.state(), &tasks);
    let mut preview = preview(wanted, target.clone(), &plan, &reverted);
    preview.changes.tasks.clone_from(&operation.edits);
    let checked_out = checked_out(ctx, &target)?;
    let worktree = checked_out.as_ref().map(Worktree::path_text).transpose()?;
    if let Some((unit, files)) = &reverted.conflict {
        preview.conflicts = conflicts(ctx, unit, files, &old)?;
        return Ok(TaskRollbackPlan { tasks, preview, operation, plan, reverted, settled });
    }
    if reverted.tip != old {
        let changes = ctx.repo.history().diff_trees(&old, &reverted.tip)?;
        preview.changes.files = changes.into_iter().map(|change| AffectedFileLine::of(worktree.clone(), change, false)).collect();
        match (worktree, checked_out) {
            (Some(path), Some(place)) => {
                nothing_in_progress(ctx, &place)?;
                let commit = ValueChange::new(old, reverted.tip.clone());
                operation.advances = vec![BranchAdvance { path, branch: target.clone(), commit }];
            }
            (_, _) => operation
                .refs
                .push(RefChange { name: target.clone(), value: ValueChange::new(Some(old), Some(reverted.tip.clone())) }),
        }
    }
    for task in tasks.iter().filter(|task| ctx.state().restorable.tasks.contains_key(*task)) {
        let branch = branch_of(ctx, task);
        if branch != target
            && ctx.state().made_branch(&branch)
            && let Some(commit) = ctx.repo.refs().read_ref(&branch)?
        {
            let change = RefChange { name: branch, value: ValueChange::new(Some(commit), None) };
            preview.changes.refs.push(change.clone());
            operation.refs.push(change);
        }
    }
    let work = TaskRollbackPlan { tasks, preview, operation, plan, reverted, settled };
    refuse_nothing(ctx, wanted, &work)?;
    Ok(work)
}

fn title(tasks: &[TaskId]) -> String {
    match tasks {
        [one] => format!("rollback of task {one}"),
        many => format!("rollback of tasks {}", many.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", ")),
    }
}

fn preview(
    wanted: &TaskRollbackRequest,
    target: RefName,
    plan: &TaskRevertPlan,
    reverted: &RevertOutcome,
) -> TaskRollbackPreview {
    let skipped = |skipped: &SkippedRevert| SkippedCommitLine {
        id: skipped.oid.clone(),
        subject: skipped.subject.clone(),
        why: match &skipped.why {
            NoRevertReason::RevertedBy(by) => format!("{} reverts it already", by.short()),
            NoRevertReason::Joins => "it is a merge that also brings in other work, which stays".to_owned(),
        },
    };
    let empty = |unit: &RevertUnit| SkippedCommitLine {
        id: unit.oid.clone(),
        subject: unit.subject.clone(),
        why: "nothing of it is left to revert".to_owned(),
    };
    let mut lines: Vec<SkippedCommitLine> = plan.skipped.iter().map(skipped).collect();
    lines.extend(reverted.made.iter().filter(|(_, commit)| commit.is_none()).map(|(unit, _)| empty(unit)));
    let is_empty = |unit: &&RevertUnit| lines.iter().any(|line| line.id == unit.oid);
    let units: Vec<&RevertUnit> = plan.units.iter().filter(|unit| !is_empty(unit)).collect();
    let line = |unit: &&RevertUnit| RevertedCommitLine {
        id: unit.oid.clone(),
        subject: unit.subject.clone(),
        task_id: unit.task.clone(),
    };
    let merge = |unit: &&RevertUnit| RevertedMergeLine {
        id: unit.oid.clone(),
        subject: unit.subject.clone(),
        mainline: unit.parent.clone(),
        brings: unit.brings.iter().map(|(oid, _)| oid.clone()).collect(),
    };
    TaskRollbackPreview {
        task_id: wanted.task.clone(),
        target,
        commits: units.iter().map(line).collect(),
        merges: units.iter().filter(|unit| unit.is_merge).map(merge).collect(),
        skipped: lines,
        changes: PlannedChanges::default(),
        conflicts: Vec::new(),
        resolve: wanted.to_resolve(),
    }
}

fn conflicts(ctx: &Context, unit: &RevertUnit, files: &[RepoPath], tip: &Oid) -> Result<Vec<RevertConflictLine>> {
    let mut lines = Vec::new();
    for path in files {
        let behind = ctx.repo.task_commits().commits_on(path, &unit.oid, tip, BEHIND)?;
        let behind = behind.into_iter().map(|(id, subject)| CommitSubjectLine { id, subject }).collect();
        lines.push(RevertConflictLine { path: path.clone(), commit: unit.oid.clone(), behind });
    }
    Ok(lines)
}

/// Fails with the reason, where there is nothing to roll back.
fn refuse_nothing(ctx: &Context, wanted: &TaskRollbackRequest, work: &TaskRollbackPlan) -> Result<()> {
    let TaskRollbackPlan { operation, preview, .. } = work;
    let has_workspace = work.tasks.iter().any(|task| ctx.state().restorable.workspaces.contains_key(task));
    if !operation.edits.is_empty() || !operation.is_state_only() || has_workspace {
        return Ok(());
    }
    let (task, target) = (&wanted.task, preview.target.short());
    if let Some(skipped) = preview.skipped.first() {
        return Err(Error::new(Code::NoTaskCommits, format!("'{task}' is taken back on {target} already")).why(format!(
            "{}: {}",
            skipped.id.short(),
            skipped.why
        )));
    }
    let elsewhere = ctx.repo.task_commits().branches_naming(task.as_str())?;
    if let Some(branch) = elsewhere.first() {
        return Err(Error::new(Code::NoTaskCommits, format!("{target} has no commit of '{task}'"))
            .why(format!("they are on {}", elsewhere.join(", ")))
            .hint(format!("git axiom rollback task {task} --target {branch}")));
    }
    if !ctx.state().restorable.tasks.contains_key(task) && ctx.repo.history().is_shallow() {
        return Err(Error::new(Code::HistoryMissing, format!("no commit of {target} in this clone mentions '{task}'"))
            .why("the clone is shallow, and there is no task of that id")
            .hint("git fetch --unshallow"));
    }
    ctx.state().task(task).map_err(|error| error.why(format!("and no commit of {target} names it")))?;
    Err(Error::new(Code::NoTaskCommits, format!("there is nothing to take back: {target} has no commit of '{task}'"))
        .hint("see 'git axiom task show'"))
}

/// Checks that everything is as the operation expects, and that no branch is in use elsewhere; changes nothing. Edits of
/// tasks that agents work on are not compared: the plan assumes that the agents have been stopped.
pub(super) fn check(ctx: &Context, work: &TaskRollbackPlan) -> Result<()> {
    let mut operation = work.operation.clone();
    operation.edits.retain(|edit| ctx.state().agent_on(&edit.id).is_none());
    operation::rehearse(ctx, &operation)?;
    branches_are_free(ctx, &work.operation)
}

/// Adds the tasks' workspaces, which go to the trash, and the commits to keep. Without captures, the result is for a preview
/// only.
pub(super) fn put_workspaces_aside(
    ctx: &Context,
    work: &mut TaskRollbackPlan,
    captured: Option<&CheckpointCaptures>,
) -> Result<()> {
    for task in &work.tasks {
        let Some(workspace) = ctx.state().restorable.workspaces.get(task).cloned() else { continue };
        let entry = ctx.repo.worktrees().worktree_at(Path::new(&workspace.path))?;
        let Some(entry) = entry.as_ref().filter(|entry| entry.present) else {
            let path = workspace.path.clone();
            work.operation.workspaces.push(lost_workspace(ctx, task, &workspace, entry.as_ref())?);
            work.preview.changes.workspaces.push(AffectedWorkspaceLine {
                path,
                action: WorkspaceFate::Forgotten,
                task_id: task.clone(),
            });
            continue;
        };
        not_locked(&workspace, entry.locked.as_deref())?;
        let head = ctx.repo.refs().head(&entry.worktree)?;
        let capture = match captured {
            Some(captured) => {
                captured.workspaces.iter().find(|one| one.state.path == workspace.path).map(|one| &one.state.capture)
            }
            None => Some(&workspace.base),
        };
        let Some(capture) = capture.cloned() else {
            return Err(Error::new(Code::Internal, format!("the workspace '{}' was not captured", workspace.path)));
        };
        let submodules = captured.map(|captured| captured.submodules_of(&workspace.path)).unwrap_or_default();
        let name = Path::new(&workspace.path).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let (trash, git_dir_trash) = trash_places(ctx, &name)?;
        let path = workspace.path.clone();
        work.preview.changes.workspaces.push(AffectedWorkspaceLine {
            path,
            action: WorkspaceFate::PutAside,
            task_id: task.clone(),
        });
        work.operation.workspaces.push(WorkspaceChange {
            task: task.clone(),
            workspace,
            trash,
            git_dir: entry.worktree.git_dir().display().to_string(),
            git_dir_trash,
            way: ChangeDirection::PutAside,
            head: head_state(&head),
            commit: head.commit().cloned(),
            capture,
            lost: false,
            submodules,
        });
    }
    work.operation.kept = kept(ctx, &work.operation)?;
    Ok(())
}
