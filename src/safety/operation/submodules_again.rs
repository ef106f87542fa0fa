//! Submodules of a workspace that is made again: each gets a repository of its own again, made from the main worktree's one, into which
//! all that it had was brought before the workspace went to the trash.

use std::path::Path;
use std::sync::Arc;

use super::recorded_head::head_state;
use super::submodules::{carry_out, keep_commits};
use crate::context::handle::Context;
use crate::folders::workspace_submodules::{label_of, of_worktree};
use crate::operation::step_parts::steps_report::OperationStepsReport;
use crate::operation::step_parts::worktree_step::OperationContents;
use axiom_base::error::{Error, Result};
use axiom_git::{ChangeAttempt, Repository, Worktree};
use axiom_model::base::ids::OperationId;
use axiom_model::base::names::{Oid, RepoPath};
use axiom_model::base::own_names::SUPERPROJECT_KEPT;
use axiom_model::base::ref_change::RefChange;
use axiom_model::base::text::ValueChange;
use axiom_model::checkpoint::submodules::HeldSubmodule;
use axiom_model::journal::journaled_changes::{HeadState, SubmoduleChange, WorkspaceChange, WorktreeChange};

/// Makes the submodules of a workspace again. One of which the main worktree's repository has no capture is left out. Safe to repeat.
pub(super) fn make_again(ctx: &Context, change: &WorkspaceChange, worktree: &Worktree, txn: &OperationId) -> Result<()> {
    for one in &change.submodules {
        let made = match source(ctx, &change.submodules, one)? {
            Some(from) => make_one(ctx, (change, one), worktree, &from, txn).map(|()| true),
            None => Ok(false),
        };
        match made {
            Ok(true) => {}
            Ok(false) => tracing::warn!(path = %one.path, "a submodule is not made again: nothing has its capture"),
            Err(error) if error.is_everybodys() || error.passes() => return Err(error),
            Err(error) => tracing::warn!(%error, path = %one.path, "a submodule is not made again"),
        }
    }
    Ok(())
}

/// The main worktree's repository of a submodule of a workspace, where it has the capture.
pub(crate) fn source(ctx: &Context, all: &[HeldSubmodule], one: &HeldSubmodule) -> Result<Option<Arc<Repository>>> {
    let main = ctx.repo.worktrees().main_worktree()?;
    Ok(found(ctx, &main, all, &one.path)?.filter(|repo| repo.connectivity().holds(&one.capture)))
}

/// Keeps the captures of a workspace that goes to the trash where they were brought to, for as long as this can be undone.
pub(super) fn keep(ctx: &Context, change: &WorkspaceChange, txn: &OperationId, title: &str) -> Result<()> {
    let name = format!("{SUPERPROJECT_KEPT}{txn}.{}", label_of(Path::new(&change.workspace.path)));
    for one in &change.submodules {
        if let Some(repo) = source(ctx, &change.submodules, one)? {
            keep_commits(&repo, &name, std::slice::from_ref(&one.capture), title)?;
        }
    }
    Ok(())
}

/// The submodule that another one is in.
fn outer_of<'s>(all: &'s [HeldSubmodule], path: &RepoPath) -> Option<(&'s HeldSubmodule, RepoPath)> {
    let inside = |one: &'s HeldSubmodule| Some((one, path.within(&one.path).filter(|rest| !rest.as_bytes().is_empty())?));
    all.iter().filter_map(inside).max_by_key(|(one, _)| one.path.as_bytes().len())
}

/// The repository of a submodule in a worktree.
fn found(ctx: &Context, worktree: &Worktree, all: &[HeldSubmodule], path: &RepoPath) -> Result<Option<Arc<Repository>>> {
    let Some((outer, rest)) = outer_of(all, path) else { return of_worktree(&ctx.repo, worktree, path) };
    match found(ctx, worktree, all, &outer.path)? {
        Some(repo) => of_worktree(&repo, &repo.submodule_worktree(), &rest),
        None => Ok(None),
    }
}

fn make_one(
    ctx: &Context,
    (change, one): (&WorkspaceChange, &HeldSubmodule),
    worktree: &Worktree,
    from: &Repository,
    txn: &OperationId,
) -> Result<()> {
    let there = match found(ctx, worktree, &change.submodules, &one.path)? {
        Some(there) => there,
        None => match outer_of(&change.submodules, &one.path) {
            None => repository(&ctx.repo, worktree, (&change.capture, &one.path), from)?,
            Some((outer, rest)) => match found(ctx, worktree, &change.submodules, &outer.path)? {
                Some(above) => repository(&above, &above.submodule_worktree(), (&outer.capture, &rest), from)?,
                // It was left out itself.
                None => return Ok(()),
            },
        },
    };
    let wanted: Vec<Oid> = std::iter::once(&one.capture).chain(&one.head).cloned().collect();
    there.refs().bring_back_from(from, &wanted, &label_of(worktree.path()))?;
    let change = from_nothing(&there, one)?;
    carry_out(
        ctx,
        &change,
        (txn, ChangeAttempt::Again, &OperationContents::default()),
        &|_| Ok(true),
        &mut OperationStepsReport::default(),
    )
}

/// Makes the repository of a submodule at `path` of a worktree whose capture this is.
fn repository(
    repo: &Repository,
    above: &Worktree,
    (capture, path): (&Oid, &RepoPath),
    like: &Repository,
) -> Result<Arc<Repository>> {
    let files = repo.captures().capture_parts(capture)?.files;
    let place = repo.worktrees().place_of_module(above, &files, path)?;
    let folder = above.path().join(path.to_path());
    if !place.is_dir() {
        repo.worktrees().make_module(&place, &folder, like)?;
    }
    let place = place.canonicalize().map_err(|e| Error::io("find", &place, e))?;
    repo.submodule(&folder, &place)
}

/// The change that gives an empty submodule its files, index, branch and HEAD.
fn from_nothing(repo: &Repository, one: &HeldSubmodule) -> Result<SubmoduleChange> {
    let there = repo.submodule_worktree();
    let (nothing, parts) = (repo.trees().empty_tree()?, repo.captures().capture_parts(&one.capture)?);
    let now = head_state(&repo.refs().head(&there)?);
    let head = match (&one.branch, &one.head) {
        (Some(branch), _) => HeadState::Branch(branch.clone()),
        (None, Some(commit)) => HeadState::Detached(commit.clone()),
        (None, None) => now.clone(),
    };
    let mut refs = Vec::new();
    if let (Some(name), Some(commit)) = (&one.branch, &one.head) {
        let value = ValueChange::new(repo.refs().read_ref(name)?, Some(commit.clone()));
        refs.push(RefChange { name: name.clone(), value });
    }
    let worktree = WorktreeChange {
        path: there.path_text()?,
        files: ValueChange::new(nothing.clone(), parts.files),
        index: ValueChange::new(nothing, parts.index),
        head: ValueChange::new(now, head),
        captures: ValueChange::new(None, Some(one.capture.clone())),
    };
    let git_dir = there.git_dir().display().to_string();
    Ok(SubmoduleChange { worktree, git_dir, refs, checked_out: ValueChange::new(false, true) })
}
