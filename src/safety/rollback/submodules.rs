//! Planning the changes of submodules in a rollback: each goes back in its own repository, with the worktree that it is in.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::preview::{RemovedCommitLine, RollbackPreview, UnrestoredPathLine};
use super::worktree::{WorktreeRollbackState, tell, worktree_change};
use crate::checkpoint::submodules::{SubmoduleWhereabouts, options_within, repository_of, whereabouts};
use crate::checkpoint::{CapturedSubmodule, CapturedWorktree, CheckpointCaptures, capture_options};
use crate::context::handle::Context;
use crate::operation::extras_of;
use crate::operation::recorded_head::head_state;
use crate::operation::step_parts::submodule_folders::{has_files, is_checked_out};
use crate::operation::submodules_again::source;
use crate::rollback::preview_lines::unrestored_reasons::{MOVED, NOT_CAPTURED, NOT_HELD, REPLACED};
use axiom_base::error::Result;
use axiom_git::{PathPatterns, Repository};
use axiom_model::base::names::{Oid, RefName, RepoPath};
use axiom_model::base::path_set::PathSet;
use axiom_model::base::ref_change::RefChange;
use axiom_model::base::text::ValueChange;
use axiom_model::checkpoint::document::CheckpointDocument;
use axiom_model::checkpoint::submodules::{HeldSubmodule, SubmoduleState};
use axiom_model::journal::journaled::JournaledOperation;
use axiom_model::journal::journaled_changes::{HeadState, SubmoduleChange, WorktreeChange};

/// How many commits that leave a branch are listed at most.
const COMMITS: usize = 1000;

/// What a submodule has now, with the commit of its capture.
pub(crate) type PresentSubmodule = (CapturedWorktree, Option<Oid>);

/// A submodule that goes back.
struct SubmoduleRollback<'a> {
    then: &'a SubmoduleState,
    repo: Arc<Repository>,
    now: CapturedWorktree,
    /// The commit of the present capture.
    commit: Option<Oid>,
    only: Option<PathSet>,
}

/// Plans the changes of the submodules of a worktree, or of those that hold one of the paths. Returns the paths of all that go back.
pub(super) fn add(
    ctx: &Context,
    document: &CheckpointDocument,
    (captured, worktree): (&CheckpointCaptures, &str),
    only: Option<&PathSet>,
    operation: &mut JournaledOperation,
    preview: &mut RollbackPreview,
) -> Result<BTreeSet<RepoPath>> {
    let (mut going, mut left): (Vec<SubmoduleRollback<'_>>, Vec<(&RepoPath, &'static str)>) = (Vec::new(), Vec::new());
    for then in document.submodules_in(worktree) {
        let only = only.map(|only| within(only, &then.path));
        if only.as_ref().is_some_and(|only| only.iter().next().is_none()) {
            continue;
        }
        // What is in one that stays as it is, stays too.
        if let Some((_, why)) = left.iter().find(|(outer, _)| then.path.within(outer).is_some()) {
            preview.not_restored.push(not_restored(then, why));
            continue;
        }
        let why = match whereabouts(ctx, then) {
            Ok(SubmoduleWhereabouts::Here(repo)) => match present_at(ctx, captured, &then.folder(), &repo)? {
                Ok((now, commit)) => {
                    going.push(SubmoduleRollback { then, repo, now, commit, only });
                    continue;
                }
                Err(why) => why,
            },
            Ok(SubmoduleWhereabouts::Moved(_)) => MOVED,
            Ok(SubmoduleWhereabouts::Lost(why)) => {
                tracing::warn!(why, submodule = %then.path, "a submodule does not go back");
                NOT_HELD
            }
            Ok(SubmoduleWhereabouts::Torn) => NOT_CAPTURED,
            Err(error) if error.is_everybodys() => return Err(error),
            Err(error) => {
                tracing::warn!(%error, "a submodule does not go back");
                NOT_CAPTURED
            }
        };
        left.push((&then.path, why));
        preview.not_restored.push(not_restored(then, why));
    }
    let whole = going.iter().filter(|one| one.only.is_none());
    let paths: BTreeSet<RepoPath> = whole.map(|one| one.then.path.clone()).collect();
    for one in &going {
        let inside = paths.iter().filter(|path| **path != one.then.path);
        let inside: BTreeSet<RepoPath> = inside.filter_map(|path| path.within(&one.then.path)).collect();
        let exclude = options_within(&capture_options(ctx), &one.then.path).exclude;
        if let Some(change) = change_of(one, (&inside, &exclude), preview)? {
            operation.submodules.push(change);
        }
    }
    Ok(paths)
}

/// The submodules of a workspace that is made again. Those that cannot be are named in the preview.
pub(super) fn to_make_again(
    ctx: &Context,
    document: &CheckpointDocument,
    workspace: &str,
    preview: &mut RollbackPreview,
) -> Result<Vec<HeldSubmodule>> {
    let all: Vec<HeldSubmodule> = document.submodules_in(workspace).map(HeldSubmodule::from).collect();
    for (then, one) in document.submodules_in(workspace).zip(&all) {
        // Where only the workspace's folder was deleted, its own is brought home first.
        let is_held = source(ctx, &all, one)?.is_some() || matches!(whereabouts(ctx, then), Ok(SubmoduleWhereabouts::Here(_)));
        if !is_held {
            preview.not_restored.push(not_restored(then, NOT_HELD));
        }
    }
    Ok(all)
}

fn not_restored(then: &SubmoduleState, why: &'static str) -> UnrestoredPathLine {
    UnrestoredPathLine { worktree: then.worktree.clone(), path: then.path.clone(), why }
}

/// The named paths within a submodule; where one is above it, all of it.
fn within(only: &PathSet, submodule: &RepoPath) -> PathSet {
    if only.iter().any(|named| submodule.within(named).is_some()) {
        return PathSet::new([RepoPath::default()]);
    }
    PathSet::new(only.iter().filter_map(|named| named.within(submodule)))
}

/// The present contents of the submodule in a folder; where they cannot be known, the key of the reason.
pub(crate) fn present_at(
    ctx: &Context,
    captured: &CheckpointCaptures,
    folder: &Path,
    repo: &Arc<Repository>,
) -> Result<std::result::Result<PresentSubmodule, &'static str>> {
    let known = folder.to_str().and_then(|path| captured.submodule_at(path));
    match known {
        Some(known) if known.repo.git_dir() != repo.git_dir() => return Ok(Err(REPLACED)),
        Some(known) => return Ok(Ok((known.present.clone(), known.commit.clone()))),
        None => {}
    }
    if has_files(folder) && !is_content_around(ctx, captured, folder) {
        return Ok(Err(NOT_CAPTURED));
    }
    // Its folder was deleted, or is one like any other now: HEAD and index are in its repository.
    let worktree = repo.submodule_worktree();
    let capture = repo.captures().capture_without_files(&worktree, &capture_options(ctx))?;
    let commit = repo.captures().commit_capture(&capture, &format!("capture of {}, deleted", folder.display()), &[])?.commit;
    Ok(Ok((CapturedWorktree { worktree, capture, submodules: Vec::new() }, Some(commit))))
}

/// Whether what is in a folder is content of the worktree or the submodule around it, so that the capture of that has it.
fn is_content_around(ctx: &Context, captured: &CheckpointCaptures, folder: &Path) -> bool {
    if is_checked_out(folder) {
        return false;
    }
    let of_submodule = |one: &CapturedSubmodule| (Arc::clone(&one.repo), one.present.worktree.clone());
    let submodules = captured.worktrees().flat_map(|one| &one.submodules).map(of_submodule);
    let outer = submodules.filter(|(_, there)| folder != there.path() && folder.starts_with(there.path()));
    let outer = outer.max_by_key(|(_, there)| there.path().as_os_str().len());
    let worktrees = captured.worktrees().map(|one| &one.worktree).filter(|there| folder.starts_with(there.path()));
    let submodules = match &outer {
        Some((repo, there)) => Some((there.path(), repo.index(there).submodules())),
        None => {
            let around = worktrees.max_by_key(|there| there.path().as_os_str().len());
            around.map(|there| (there.path(), ctx.repo.index(there).submodules()))
        }
    };
    submodules.is_some_and(|(root, all)| !all.iter().any(|(path, _)| folder.starts_with(root.join(path.to_path()))))
}

/// The change of one submodule; `None` where it is as it was.
fn change_of(
    one: &SubmoduleRollback<'_>,
    (submodules, exclude): (&BTreeSet<RepoPath>, &PathPatterns),
    preview: &mut RollbackPreview,
) -> Result<Option<SubmoduleChange>> {
    let SubmoduleRollback { then, repo, now, commit, only } = one;
    let path = now.worktree.path_text()?;
    let present = head_state(&now.capture.head);
    let (head, refs) = match only {
        Some(_) => (present, Vec::new()),
        None => head_and_branch(repo, then, present)?,
    };
    let checked_out = ValueChange::new(is_checked_out(now.worktree.path()), true);
    let coverage = Some(&then.coverage);
    let wanted = WorktreeRollbackState { capture: &then.capture, head, coverage, only: only.as_ref(), exclude, submodules };
    let change = worktree_change(repo, path, (now, commit.clone()), wanted, preview)?;
    if is_as_then(repo, &change, now)? && refs.is_empty() && checked_out.old {
        return Ok(None);
    }
    tell(repo, &change, now, preview)?;
    for moved in &refs {
        tell_commits(repo, moved.value.old.as_ref(), moved.value.new.as_ref(), Some(&moved.name), preview)?;
    }
    if let (HeadState::Detached(old), true) = (&change.head.old, refs.is_empty() && change.head.old != change.head.new) {
        tell_commits(repo, Some(old), then.head.as_ref(), None, preview)?;
    }
    let git_dir = repo.git_dir().display().to_string();
    Ok(Some(SubmoduleChange { worktree: change, git_dir, refs, checked_out }))
}

fn is_as_then(repo: &Repository, change: &WorktreeChange, now: &CapturedWorktree) -> Result<bool> {
    let WorktreeChange { path: _, files, index, head, captures } = change;
    let same = files.old == files.new && index.old == index.new && head.old == head.new;
    Ok(same && extras_of(repo, captures.new.as_ref())? == now.capture.extras)
}

/// HEAD as the checkpoint has it, and the branch that has to move for it. A branch that an upstream has, or another worktree of the
/// submodule's repository may have checked out, stays where it is: then the commit itself is checked out.
fn head_and_branch(repo: &Repository, then: &SubmoduleState, present: HeadState) -> Result<(HeadState, Vec<RefChange>)> {
    let (branch, commit) = match (&then.branch, &then.head) {
        (None, None) => return Ok((present, Vec::new())),
        (None, Some(commit)) => return Ok((HeadState::Detached(commit.clone()), Vec::new())),
        (Some(branch), commit) => (branch, commit),
    };
    let now = repo.refs().read_ref(branch)?;
    if now == *commit {
        return Ok((HeadState::Branch(branch.clone()), Vec::new()));
    }
    if let (Some(now), Some(commit)) = (&now, commit)
        && (repo.git_dir().join("worktrees").is_dir() || is_on_upstream(repo, now, commit)?)
    {
        return Ok((HeadState::Detached(commit.clone()), Vec::new()));
    }
    let moved = RefChange { name: branch.clone(), value: ValueChange::new(now, commit.clone()) };
    Ok((HeadState::Branch(branch.clone()), vec![moved]))
}

/// Whether an upstream has one of the commits that would leave a branch.
fn is_on_upstream(repo: &Repository, old: &Oid, new: &Oid) -> Result<bool> {
    let count = |more: &[&str]| repo.git().args(["rev-list", "--count", old.as_str(), &format!("^{new}")]).args(more).text();
    Ok(count(&[])? != count(&["--not", "--remotes"])?)
}

fn tell_commits(
    repo: &Repository,
    old: Option<&Oid>,
    new: Option<&Oid>,
    branch: Option<&RefName>,
    preview: &mut RollbackPreview,
) -> Result<()> {
    let Some(old) = old else { return Ok(()) };
    let log = repo.history().log(old, &Vec::from_iter(new.cloned()), COMMITS)?;
    let line =
        |commit: axiom_git::LoggedCommit| RemovedCommitLine { id: commit.oid, subject: commit.subject, branch: branch.cloned() };
    preview.commits.extend(log.into_iter().map(line));
    Ok(())
}

/// Whether a path is that of a file in a submodule, in the checkpoint or now.
pub(super) fn names_something(
    ctx: &Context,
    document: &CheckpointDocument,
    (worktree, now): (&str, &CapturedWorktree),
    path: &RepoPath,
) -> Result<bool> {
    let inner = |submodule: &RepoPath| path.within(submodule).filter(|inside| !inside.as_bytes().is_empty());
    for one in &now.submodules {
        if let Some(inside) = inner(&one.path)
            && one.repo.trees().is_in_tree(&one.present.capture.tree, &inside)?
        {
            return Ok(true);
        }
    }
    for then in document.submodules_in(worktree) {
        if let Some(inside) = inner(&then.path)
            && let Ok(repo) = repository_of(ctx, then)
            && repo.trees().is_in_tree(&repo.captures().capture_parts(&then.capture)?.files, &inside)?
        {
            return Ok(true);
        }
    }
    Ok(false)
}
