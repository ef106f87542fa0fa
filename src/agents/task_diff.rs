//! What a task changed, for a human who decides about it: its workspace as it is now, untracked files too; without one its merge, or the
//! commits of its branch.

use axiom_safety::context::target::left_target_at;
use axiom_safety::history::work_diff::TaskDiff;
use std::collections::BTreeMap;
use std::path::Path;

use crate::merge;
use axiom_base::error::{Code, Error, Result};
use axiom_git::PathSample;
pub use axiom_git::{FileDiffStat, LoggedCommit, PatchColor};
use axiom_model::base::ids::TaskId;
use axiom_model::base::names::{Oid, RepoPath};
use axiom_safety::checkpoint::capture_options;
use axiom_safety::context::handle::Context;
use axiom_safety::folders::workspaces;

/// How often a workspace is looked at again in which an agent changes files meanwhile.
const TRIES: usize = 4;
/// The most commits that are told.
const MOST_COMMITS: usize = 200;

/// What a task changed so far.
///
/// # Errors
/// `UNKNOWN_TASK`; `INVALID_TRANSITION` where nobody has worked on it; `WORKSPACE_BROKEN`, `FILE_UNREADABLE` where its workspace
/// cannot be read; `GIT_FAILED`.
pub fn of(ctx: &Context, task: &TaskId) -> Result<TaskDiff> {
    let case = ctx.state().task(task)?;
    // Its workspace may still be there: see `agents.keepMerged`.
    if let Some(merged) = &case.merged {
        if merge::had_nothing(ctx, task, merged) {
            // It had nothing to merge, and the commit is what the target was at then.
            return between(ctx, &merged.commit, &merged.commit, merged.commit.clone());
        }
        let commit = ctx.repo.objects().read_commit(&merged.commit)?;
        let base = commit.parents.first().cloned().unwrap_or(ctx.repo.trees().empty_tree()?);
        let own = commit.parents.get(1).unwrap_or(&merged.commit);
        return between(ctx, &base, own, merged.commit.clone());
    }
    if let Some(place) = ctx.state().restorable.workspaces.get(task)
        && let Some(entry) = ctx.repo.worktrees().worktree_at(Path::new(&place.path))?.filter(|entry| entry.present)
    {
        let mut tries = 1;
        let captured = loop {
            match ctx.repo.captures().capture_worktree(&entry.worktree, &capture_options(ctx)) {
                // A file vanished while it was read.
                Err(_) if tries < TRIES && ctx.state().agent_on(task).is_some() => tries += 1,
                captured => break captured?,
            }
        };
        let tip = captured.head.commit().cloned().unwrap_or_else(|| place.base.clone());
        let base = left_target_at(ctx, &tip, Some(&entry.worktree))?.unwrap_or_else(|| place.base.clone());
        let changed = ctx.repo.history().diff_trees(&tip, &captured.tree)?;
        let uncommitted = changed.into_iter().map(|change| change.path).collect();
        let held =
            TaskDiff { uncommitted, not_shown: not_shown(&captured.coverage), ..between(ctx, &base, &tip, captured.tree)? };
        return Ok(TaskDiff { workspace: Some(place.path.clone()), ..held });
    }
    let Some(tip) = ctx.repo.refs().read_ref(&workspaces::branch_of(ctx, task))? else {
        let has_run = ctx.state().record.tasks.get(task).is_some_and(|record| record.iterations > 0);
        let (what, hint) = match has_run {
            true => (
                format!("nothing is there of the work on '{task}' now"),
                format!("git axiom task audit {task}    says what became of it"),
            ),
            false => (
                format!("nobody has worked on '{task}', so it changed nothing"),
                "git axiom status    shows who works on what".to_owned(),
            ),
        };
        return Err(Error::new(Code::InvalidTransition, what).hint(hint));
    };
    let base = left_target_at(ctx, &tip, None)?
        .ok_or_else(|| Error::new(Code::GitFailed, format!("the branch of '{task}' is of no history of the target")))?;
    between(ctx, &base, &tip, tip.clone())
}

/// Whether something is there of the work on a task, or git cannot say: else [`of`] has nothing to tell.
pub fn has_work(ctx: &Context, task: &TaskId) -> bool {
    let Ok(case) = ctx.state().task(task) else { return false };
    let is_held = case.merged.is_some() || ctx.state().restorable.workspaces.contains_key(task);
    is_held || ctx.repo.refs().read_ref(&workspaces::branch_of(ctx, task)).map_or(true, |tip| tip.is_some())
}

fn between(ctx: &Context, base: &Oid, tip: &Oid, new: Oid) -> Result<TaskDiff> {
    let history = ctx.repo.history();
    let commits = history.log(tip, std::slice::from_ref(base), MOST_COMMITS)?;
    let files = history.file_lines(base, &new)?;
    let (uncommitted, not_shown) = (Vec::new(), Vec::new());
    Ok(TaskDiff { base: base.clone(), new, workspace: None, commits, files, uncommitted, not_shown })
}

fn not_shown(coverage: &axiom_git::CaptureCoverage) -> Vec<(RepoPath, &'static str)> {
    let kinds: BTreeMap<&'static str, &PathSample> = [
        ("over the size limit", &coverage.too_large),
        ("a nested repository", &coverage.nested_repositories),
        ("not a file", &coverage.special),
        ("cannot be read", &coverage.unreadable),
        ("its filter encrypts and did not run", &coverage.encrypted),
        ("a name that git does not accept", &coverage.refused_names),
        ("excluded by checkpoints.exclude", &coverage.excluded),
    ]
    .into();
    kinds.into_iter().flat_map(|(why, sample)| sample.paths.iter().map(move |path| (path.clone(), why))).collect()
}
