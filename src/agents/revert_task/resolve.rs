//! Resolving a conflict of a task's rollback by hand: in a separate worktree, the reverts are made up to the first conflict,
//! and git waits in the middle of that revert.
//!
//! The worktree is the only state of this: a note in its git directory records its purpose. Nothing else is changed until
//! the rollback is requested again; then the target branch moves to what was committed in the worktree. To abandon it, the
//! user removes it: `git worktree remove --force`.

use std::path::{Path, PathBuf};

use crate::merge::{nothing_in_progress, uncommitted};
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_base::shell_word::shell_word;
use axiom_git::{GitOperation, WorkspaceBranch, Worktree};
use axiom_model::base::ids::TaskId;
use axiom_model::base::names::{Oid, RefName};
use axiom_model::operation::task_rollback::{self, RevertUnit, TaskRevertPlan};
use axiom_safety::context::conflict_notes;
use axiom_safety::context::conflict_notes::RevertConflictWorktree;
use axiom_safety::context::handle::Context;
use axiom_safety::folders::{trash, workspace_folder, workspaces};

use super::reverts::RevertOutcome;
use super::{TaskRollbackRequest, find};

/// All conflicts that are being resolved, ordered by path. Starts no process and takes no lock.
pub fn settling(ctx: &Context) -> Result<Vec<RevertConflictWorktree>> {
    let mut found = Vec::new();
    for (_, mut note) in conflict_notes::noted(ctx.repo.common_dir())? {
        // The current path, not the one in the note: the repository may have moved.
        note.path = place(ctx, &note.task_id)?.to_string_lossy().into_owned();
        if note.resolve.is_empty() {
            note.resolve = format!("git axiom rollback task {} --resolve", note.task_id);
        }
        found.extend(Some(note).filter(|note| Path::new(&note.path).is_dir()));
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

/// The path of the worktree in which a task's conflict is resolved.
fn place(ctx: &Context, task: &TaskId) -> Result<PathBuf> {
    Ok(workspace_folder::root(ctx)?.join(format!("resolve-{task}")))
}

/// The worktree in which a task's conflict is being resolved.
pub(super) fn worktree(ctx: &Context, task: &TaskId) -> Result<Option<Worktree>> {
    let entry = ctx.repo.worktrees().worktree_at(&place(ctx, task)?)?.filter(|entry| entry.present && entry.locked.is_none());
    let Some(worktree) = entry.map(|entry| entry.worktree) else { return Ok(None) };
    let note = conflict_notes::read(worktree.git_dir())?.filter(|note| note.task_id == *task);
    Ok(note.map(|_| worktree))
}

/// Sets up the worktree. The caller holds the change lock. A crash leaves a worktree without a note; the next call moves
/// it to the trash.
pub(super) fn set_up(
    ctx: &Context,
    wanted: &TaskRollbackRequest,
    target: &RefName,
    plan: &TaskRevertPlan,
    reverted: &RevertOutcome,
) -> Result<PathBuf> {
    let task = &wanted.task;
    let path = place(ctx, task)?;
    workspace_folder::exclude(ctx)?;
    clear(ctx, &path)?;
    let trash = trash::fresh(ctx, "half-made")?;
    env::fault_point("resolve.before-worktree");
    let made = ctx.repo.workspaces().create_workspace(&path, &WorkspaceBranch::Detached(reverted.tip.clone()), &trash)?;
    env::fault_point("resolve.worktree-made");
    let done: Vec<&Oid> = reverted.made.iter().map(|(unit, _)| &unit.oid).collect();
    let open: Vec<&RevertUnit> = plan.units.iter().filter(|unit| !done.contains(&&unit.oid)).collect();
    // `git revert` stops at the first conflict; `git revert --continue` goes on with the others.
    let git = ctx.repo.git_in(&made).writing().config("commit.gpgSign=false").env("GIT_EDITOR", "true");
    let git = git.args(["revert", "--no-edit", "--mainline", "1"]).args(open.iter().map(|unit| unit.oid.as_str()));
    let output = git.run()?;
    if !output.ok() && !ctx.repo.git_operations().in_progress(&made)?.contains(&GitOperation::Revert) {
        return Err(output.error().hint(format!("git worktree remove --force {}", shell_word(&path.display().to_string()))));
    }
    env::fault_point("resolve.reverting");
    let note = RevertConflictWorktree {
        task_id: task.clone(),
        target: target.clone(),
        path: path.to_string_lossy().into_owned(),
        resolve: wanted.to_resolve(),
    };
    conflict_notes::write(made.git_dir(), &note)?;
    env::fault_point("resolve.noted");
    Ok(path)
}

/// Removes the worktree that an earlier attempt left: without our note, it holds no one's work.
fn clear(ctx: &Context, path: &Path) -> Result<()> {
    let trash = trash::fresh(ctx, "half-made")?;
    match ctx.repo.worktrees().worktree_at(path)? {
        Some(entry) if entry.present && entry.locked.is_none() => put_aside(ctx, &entry.worktree),
        Some(_) => workspaces::repair_workspace(ctx, path, &trash).map(drop),
        None => Ok(()),
    }
}

/// Moves a worktree to the trash; its commits are referenced elsewhere, or there are none.
pub(super) fn put_aside(ctx: &Context, worktree: &Worktree) -> Result<()> {
    let name = worktree.path().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    env::fault_point("resolve.before-aside");
    let aside = ctx.repo.workspaces().plan_aside(worktree, &trash::fresh(ctx, &name)?)?;
    ctx.repo.workspaces().put_aside(&aside)
}

/// Moves finished worktrees to the trash and returns their paths: a crash came between the rollback and their removal.
pub(crate) fn put_finished_aside(ctx: &Context) -> Result<Vec<String>> {
    let mut done = Vec::new();
    for (path, worktree) in finished_worktrees(ctx)? {
        put_aside(ctx, &worktree)?;
        done.push(path);
    }
    Ok(done)
}

/// The paths of finished worktrees that [`put_finished_aside`] would move.
pub(crate) fn finished(ctx: &Context) -> Result<Vec<String>> {
    Ok(finished_worktrees(ctx)?.into_iter().map(|(path, _)| path).collect())
}

fn finished_worktrees(ctx: &Context) -> Result<Vec<(String, Worktree)>> {
    let mut found = Vec::new();
    for note in settling(ctx)? {
        let Some(worktree) = worktree(ctx, &note.task_id)? else { continue };
        let (head, target) = (ctx.repo.refs().head(&worktree)?, ctx.repo.refs().read_ref(&note.target)?);
        let (Some(commit), Some(target)) = (head.commit(), target) else { continue };
        let in_target = ctx.repo.history().is_ancestor(commit, &target)?;
        if in_target && !in_progress(ctx, &worktree) && uncommitted(ctx, &worktree)?.is_empty() && is_all(ctx, &note, commit)? {
            found.push((note.path, worktree));
        }
    }
    Ok(found)
}

fn is_all(ctx: &Context, note: &RevertConflictWorktree, commit: &Oid) -> Result<bool> {
    let wanted = find::with_recorded(ctx, std::slice::from_ref(&note.task_id))?;
    Ok(task_rollback::plan(&ctx.repo.task_commits().all_task_commits(commit)?, &wanted).units.is_empty())
}

/// Whether a git operation is in progress there.
fn in_progress(ctx: &Context, worktree: &Worktree) -> bool {
    nothing_in_progress(ctx, worktree).is_err()
}

/// The result of the resolution: the commit to which the target moves, if everything is committed and every commit of the
/// plan was reverted.
pub(super) fn settled(
    ctx: &Context,
    worktree: &Worktree,
    (target, tip): (&RefName, &Oid),
    rest: impl FnOnce(&Oid) -> Result<TaskRevertPlan>,
) -> Result<Oid> {
    let place = worktree.path().display().to_string();
    let open = |why: String| Error::new(Code::NotSettled, format!("the conflict in '{place}' is not resolved yet")).why(why);
    if in_progress(ctx, worktree) {
        return Err(open("a git revert is in progress there".into())
            .hint(format!("in '{place}': edit the files in conflict, git add them, git revert --continue")));
    }
    let left = uncommitted(ctx, worktree)?;
    if !left.is_empty() {
        let shown = left.iter().take(10).map(String::as_str).collect::<Vec<_>>().join(", ");
        return Err(open(format!("not committed: {shown}")).hint(format!("commit it in '{place}', or remove it")));
    }
    let head = ctx.repo.refs().head(worktree)?;
    let Some(commit) = head.commit() else { return Err(open("there is no commit".into())) };
    if !ctx.repo.history().is_ancestor(tip, commit)? {
        return Err(Error::new(Code::ChangedMeanwhile, format!("{} has new commits since '{place}' was made", target.short()))
            .hint(format!("git -C {} rebase {}    then try again", shell_word(&place), target.short_in_shell())));
    }
    let rest = rest(commit)?;
    if let Some(unit) = rest.units.first() {
        let lines: Vec<String> =
            rest.units.iter().take(10).map(|unit| format!("{} {}", unit.oid.short(), unit.subject)).collect();
        return Err(open(format!("not reverted: {}", lines.join(", ")))
            .hint(format!("git -C {} revert -m 1 {}", shell_word(&place), unit.oid.short()))
            .hint(format!(
                "or, if its changes are gone already, commit with the line 'Axiom-Reverts: {}' at the end of the message",
                unit.oid
            )));
    }
    Ok(commit.clone())
}
