//! Planning a merge, before anything is written: the same for the merge itself and for its preview.

use std::collections::BTreeSet;
use std::path::Path;

use super::guarded::guarded_files;
use super::lost_merges::is_in_target;
use super::replay::{self, ComputedMerge};
use super::{MergeOutcome, checked_out, edit, nothing_in_progress, taken_stash};
use axiom_base::error::{Code, Error, Result, some_of};
use axiom_base::files;
use axiom_git::{left_markers, merges_since};
use axiom_model::base::ids::TaskId;
use axiom_model::base::names::{Oid, RefName, RepoPath};
use axiom_model::base::ref_change::RefChange;
use axiom_model::base::text::ValueChange;
use axiom_model::journal::journaled::{JournaledOperation, OperationKind};
use axiom_model::journal::journaled_changes::BranchAdvance;
use axiom_model::work::gates::gate::{Gate, could_not_be_merged, merge_wants_trust};
use axiom_model::work::guarded::{AllowedGuardedFiles, GuardedFiles};
use axiom_model::work::hooks::hook_event::HookEvent;
use axiom_model::work::tasks::task::{MergedTaskWork, Task, TaskKind, TaskStatus};
use axiom_model::work::verifying::verification::{MergeCandidate, MergeRequirements, MergeVerification, PreMergeHook};
use axiom_safety::context::approved_hooks::{EventHooks, not_approved};
use axiom_safety::context::handle::Context;
use axiom_safety::context::target::target_branch;
use axiom_safety::folders::workspaces;
use axiom_safety::folders::workspaces::branch_of;
use axiom_safety::operation;
use axiom_safety::operation::branches::branches_are_free;
use axiom_safety::project_hooks::selection::ProjectHook;

/// The plan for a merge.
pub(super) enum MergePlan {
    /// A clean merge.
    Merge {
        /// The commits to merge, and the result's tree.
        of: MergeCandidate,
        /// The task.
        task: Box<Task>,
        /// The target branch.
        target: RefName,
        /// The files in which a conflict was settled by applying the task's commits one by one.
        settled: Vec<RepoPath>,
    },
    /// The target has all of the work already.
    HasAll {
        /// The task as it is recorded: that may not say yet that it is merged.
        task: Box<Task>,
        /// The commit and branch that have the work.
        merged: MergedTaskWork,
    },
    /// The merge cannot be made; its outcome.
    Ends(MergeOutcome),
}

/// Plans the merge of a task.
pub(super) fn plan(ctx: &Context, task: &TaskId, allowed: &AllowedGuardedFiles) -> Result<MergePlan> {
    let case = Box::new(ctx.state().task(task)?.clone());
    if let Some(merged) = case.merged.clone() {
        if !is_in_target(ctx, task, &merged) {
            let (target, commit) = (merged.target.short(), merged.commit.short());
            return Err(Error::new(
                Code::InvalidTransition,
                format!("'{task}' was merged into {target}, which does not have it any more"),
            )
            .hint(format!("git merge {commit}    on {target}, brings it back with all that it was merged onto")));
        }
        return Ok(MergePlan::HasAll { task: case, merged });
    }
    if case.kind != TaskKind::Task || case.status != TaskStatus::Done {
        let what = format!("'{task}' is a {} that is {}, so it cannot be merged", case.kind, case.status);
        return Err(Error::new(Code::InvalidTransition, what).hint("only a task that is done is merged"));
    }
    let rejects = |gate: &Gate| gate.rejects_merge().filter(|(of, _)| *of == task).map(|(_, reason)| reason.to_owned());
    let mut gates = ctx.state().restorable.gates.values();
    if let Some((gate, reason)) = gates.find_map(|gate| Some((gate, rejects(gate)?))) {
        return Err(Error::new(Code::InvalidTransition, format!("the merge of '{task}' was rejected: {reason}"))
            .hint(format!("git axiom gate approve {}    lets it be merged", gate.id)));
    }
    if let Some(workspace) = ctx.state().restorable.workspaces.get(task) {
        // The workspace goes to the trash when the task is merged.
        files::holds_no_mount(Path::new(&workspace.path))?;
    }
    let target = target_branch(ctx)?;
    let Some(old) = ctx.repo.refs().read_ref(&target)? else {
        return Ok(MergePlan::Ends(MergeOutcome::TargetMissing { target }));
    };
    let branch = branch_of(ctx, task);
    workspaces::branch_is_not_others(ctx, task)?;
    let Some(work) = ctx.repo.refs().read_ref(&branch)? else {
        return Err(Error::new(Code::InvalidTransition, format!("the branch {} of '{task}' is gone", branch.short()))
            .hint(format!("git axiom rollback task {task}    starts it again")));
    };
    if ctx.repo.history().is_ancestor(&work, &old)? {
        return Ok(MergePlan::HasAll { task: case, merged: MergedTaskWork { commit: old, target } });
    }
    if let Some(what) = markers_left(ctx, task, (&work, &old))? {
        return Ok(MergePlan::Ends(MergeOutcome::InTheWay { what }));
    }
    let (tree, settled) = match replay::compute(ctx, &old, &work)? {
        ComputedMerge::Clean { tree, settled } => (tree, settled),
        ComputedMerge::Conflict(files) => return Ok(MergePlan::Ends(MergeOutcome::Conflict { files, target: old })),
    };
    let changes = ctx.repo.history().diff_trees(&old, &tree)?;
    if let Some(files) = guarded_files(ctx, &changes, &tree)?.filter(|files| !allowed.covers(files)) {
        return Ok(MergePlan::Ends(MergeOutcome::Guarded { files }));
    }
    // Said before hooks are asked and commands run for this merge.
    ctx.repo.identities().committer()?;
    Ok(MergePlan::Merge { of: MergeCandidate { branch: work, target: old, tree }, task: case, target, settled })
}

/// What is said of files that have markers of a conflict.
pub const LEFT_MARKERS: &str = "with the markers of a conflict";

/// How many merges on a task's branch are looked at for markers.
const MOST_MERGES: usize = 20;

/// Which files of a task's work have the markers of a conflict that a merge into its branch left, in words, unless a human has seen that and
/// approved it: whatever became of the merge, nobody has settled them.
fn markers_left(ctx: &Context, task: &TaskId, (work, target): (&Oid, &Oid)) -> Result<Option<String>> {
    let mut merges = merges_since(&ctx.repo, work, target, MOST_MERGES)?;
    let given = ctx.state().record.tasks.get(task).and_then(|record| record.conflict.as_deref());
    merges.extend(given.map(|conflict| (conflict.branch.clone(), conflict.target.clone())));
    merges.retain(|(ours, theirs)| [ours, theirs].iter().all(|side| ctx.repo.connectivity().holds(side)));
    let tree = ctx.repo.trees().tree_of(work)?;
    let mut left = BTreeSet::new();
    for (ours, theirs) in &merges {
        left.extend(left_markers(&ctx.repo, &tree, (ours, theirs))?);
    }
    if left.is_empty() {
        return Ok(None);
    }
    let left: Vec<RepoPath> = left.into_iter().collect();
    let what = format!(
        "{} still {LEFT_MARKERS}: settle it in the workspace of {task}, and commit; approved, it is merged as it is",
        some_of(&left, 5)
    );
    let reason = could_not_be_merged(&what);
    let is_it = |gate: &Gate| gate.task_id.as_ref() == Some(task) && gate.reason == reason && gate.is_approved();
    Ok((!ctx.state().restorable.gates.values().any(is_it)).then_some(what))
}

/// The guarded files that the merge of a task would change now, for a human who is asked about it. Writes nothing.
pub fn guarded_by(ctx: &Context, task: &TaskId) -> Result<Option<GuardedFiles>> {
    match plan(ctx, task, &AllowedGuardedFiles::Nothing)? {
        MergePlan::Ends(MergeOutcome::Guarded { files }) => Ok(Some(files)),
        MergePlan::Ends(_) | MergePlan::Merge { .. } | MergePlan::HasAll { .. } => Ok(None),
    }
}

/// The operation that moves the target from `old` to `commit`, together with the worktree in which it is checked out.
/// Everything that could make it fail is checked.
pub(super) fn operation_of(
    ctx: &Context,
    case: &Task,
    (target, old): (&RefName, Oid),
    commit: Oid,
) -> Result<JournaledOperation> {
    let task = &case.id;
    let kind = OperationKind::Merge { task: task.clone() };
    let mut operation = JournaledOperation::new(kind, format!("merge {task} into {}", target.short()));
    operation.edits = vec![edit(case, &MergedTaskWork { commit: commit.clone(), target: target.clone() })];
    match checked_out(ctx, target)? {
        Some(worktree) => {
            nothing_in_progress(ctx, &worktree)?;
            let (path, branch) = (worktree.path_text()?, target.clone());
            operation.advances = vec![BranchAdvance { path, branch, commit: ValueChange::new(old, commit) }];
        }
        None => operation.refs = vec![RefChange { name: target.clone(), value: ValueChange::new(Some(old), Some(commit)) }],
    }
    // The undo of the merge brings them back too.
    let taken = taken_stash::taken_by(ctx, task)?;
    operation.kept.extend(taken.iter().map(|entry| entry.id.clone()));
    operation.stash = taken_stash::put_aside(&taken);
    branches_are_free(ctx, &operation)?;
    operation::check(ctx, &operation)?;
    Ok(operation)
}

/// The outcome for a merge that still has to be verified; `None` where it was, or where no verification is configured.
pub(super) fn unverified(ctx: &Context, task: &Task, of: &MergeCandidate, settled: &[RepoPath]) -> Result<Option<MergeOutcome>> {
    if let Some(path) = &ctx.found.unapproved_verify {
        let what = format!("'{}' sets merge.verify, and these commands are not approved", path.display());
        return Err(not_approved(what).hint("git config axiom.merge.verify COMMAND    sets what verifies merges in this clone"));
    }
    let demands = demands(ctx, task, settled)?;
    let known = ctx.state().record.tasks.get(&task.id).and_then(|record| record.merge_verified.as_deref());
    let known = known.filter(|known| known.is_about(of, &demands));
    if demands.is_empty() || known.is_some_and(MergeVerification::passed) {
        return Ok(None);
    }
    let failed = known.filter(|known| known.failed().is_some()).cloned().map(Box::new);
    Ok(Some(MergeOutcome::Unverified { of: of.clone(), failed }))
}

/// What has to pass before a merge: the hooks, and the commands of `merge.verify`. Where a conflict was settled without anybody
/// looking, the task's own steps pass on the result first: they have only seen the work as it was.
pub(super) fn demands(ctx: &Context, task: &Task, settled: &[RepoPath]) -> Result<MergeRequirements> {
    let hooks = match ctx.hooks.at(HookEvent::PreMerge) {
        EventHooks::Nothing => Vec::new(),
        EventHooks::Run(hooks, tree) => {
            let digest = tree.files().digest().as_str().to_owned();
            let asked = |hook: &ProjectHook| PreMergeHook { hook: hook.place.to_string(), digest: digest.clone() };
            hooks.iter().map(asked).collect()
        }
        EventHooks::NotApproved(what) => {
            return Err(not_approved(merge_wants_trust(&what)));
        }
    };
    let own = if settled.is_empty() { &[][..] } else { &task.verify };
    let commands = own.iter().chain(&ctx.config.merge.verify).cloned().collect();
    Ok(MergeRequirements { hooks, commands })
}
