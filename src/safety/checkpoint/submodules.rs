//! Capturing the submodules of a worktree, each in its own repository, and keeping these captures alive there.
//!
//! The objects and refs of submodules are on disk before the capture ref of the checkpoint, which is the commit point. A ref of ours in a
//! submodule without a checkpoint here is collected ([`collect`]).

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;

use super::captured::{CapturedSubmodule, CapturedWorktree};
use super::checkpoint_problem::{CheckpointProblem, CheckpointVerifyDepth};
use crate::context::handle::Context;
use crate::folders::trash;
use crate::operation::step_parts::submodule_folders::has_files;
use axiom_base::error::{Code, Error, Result};
use axiom_git::{CaptureOptions, ExpectedRefValue, RefEdit, Repository, SubmoduleFolder, Worktree, WorktreeCapture};
use axiom_model::base::ids::CheckpointName;
use axiom_model::base::names::{Oid, RefName, RepoPath};
use axiom_model::base::own_names::{
    BROUGHT_CAPTURES, KEPT, SUPERPROJECT_CAPTURES, SUPERPROJECT_KEPT, submodule_capture_ref, submodule_capture_ref_of_deleted,
};
use axiom_model::checkpoint::document::CheckpointDocument;
use axiom_model::checkpoint::submodules::SubmoduleState;

/// Captures a worktree and, in their own repositories, its submodules. One that cannot be captured is named in the coverage.
pub fn capture_with_submodules(
    repo: &Repository,
    worktree: &Worktree,
    options: &CaptureOptions,
) -> Result<(WorktreeCapture, Vec<CapturedSubmodule>)> {
    let mut capture = repo.captures().capture_worktree(worktree, options)?;
    let mut submodules = Vec::new();
    look_into(repo, (worktree, &mut capture), &RepoPath::default(), options, &mut submodules)?;
    Ok((capture, submodules))
}

fn look_into(
    repo: &Repository,
    (above, capture): (&Worktree, &mut WorktreeCapture),
    prefix: &RepoPath,
    options: &CaptureOptions,
    found: &mut Vec<CapturedSubmodule>,
) -> Result<()> {
    for path in std::mem::take(&mut capture.submodules) {
        if options.exclude.covers(&path, true) {
            capture.coverage.dirty_submodules.remove(&path);
            capture.coverage.excluded.add(path);
            continue;
        }
        let folder = above.path().join(path.to_path());
        let whole = prefix.join(&path);
        match capture_one(repo, (above, &folder), &options_within(options, &path)) {
            Ok(Some((inner, worktree, mut inside))) => {
                capture.coverage.dirty_submodules.remove(&path);
                capture.coverage.nested_repositories.remove(&path);
                let at = found.len();
                look_into(&inner, (&worktree, &mut inside), &whole, &options_within(options, &path), found)?;
                let present = CapturedWorktree { worktree, capture: inside, submodules: Vec::new() };
                // The outer ones first.
                found.insert(at, CapturedSubmodule { path: whole, repo: inner, present, commit: None });
            }
            Ok(None) => {}
            Err(error) if error.is_everybodys() => return Err(error),
            Err(error) => {
                tracing::warn!(%error, submodule = %folder.display(), "a submodule is not held");
                capture.coverage.dirty_submodules.remove(&path);
                capture.coverage.dirty_submodules.add(path);
            }
        }
    }
    Ok(())
}

type ExaminedSubmodule = (Arc<Repository>, Worktree, WorktreeCapture);

/// `None` where there is nothing to capture.
fn capture_one(
    repo: &Repository,
    (above, folder): (&Worktree, &Path),
    options: &CaptureOptions,
) -> Result<Option<ExaminedSubmodule>> {
    let git_dir = match repo.worktrees().submodule_folder(above, folder)? {
        SubmoduleFolder::Ours(git_dir) => git_dir,
        // Its `.git` alone was deleted: what is there is captured all the same.
        SubmoduleFolder::Deleted(git_dir) if has_files(folder) => git_dir,
        SubmoduleFolder::Deleted(_) | SubmoduleFolder::NotInitialised => return Ok(None),
        SubmoduleFolder::Elsewhere(why) => {
            return Err(Error::new(Code::WorkspaceNotOurs, format!("'{}' is not held", folder.display())).why(why));
        }
    };
    let inner = repo.submodule(folder, &git_dir)?;
    let worktree = inner.submodule_worktree();
    let capture = inner.captures().capture_worktree(&worktree, options)?;
    inner.index(&worktree).nothing_lost_is_held(&capture)?;
    Ok(Some((inner, worktree, capture)))
}

/// The options for a submodule at `path`.
pub(crate) fn options_within(options: &CaptureOptions, path: &RepoPath) -> CaptureOptions {
    CaptureOptions {
        excluded: vec![RepoPath::new(trash::IN_WORKTREE.as_bytes())],
        include: options.include.in_submodule(path),
        exclude: options.exclude.in_submodule(path),
        ..options.clone()
    }
}

/// Writes the commits of the captures of a worktree's submodules; returns what the document says of them.
pub(super) fn commit(worktree: &str, submodules: &mut [CapturedSubmodule]) -> Result<Vec<SubmoduleState>> {
    submodules.iter_mut().map(|one| state_of(worktree, one)).collect()
}

fn state_of(worktree: &str, one: &mut CapturedSubmodule) -> Result<SubmoduleState> {
    let capture = match &one.commit {
        Some(commit) => commit.clone(),
        None => {
            let message = format!("capture of {}", one.present.worktree.path_text()?);
            one.repo.captures().commit_capture(&one.present.capture, &message, &[])?.commit
        }
    };
    one.commit = Some(capture.clone());
    let head = &one.present.capture.head;
    Ok(SubmoduleState {
        worktree: worktree.to_owned(),
        path: one.path.clone(),
        git_dir: text(one.present.worktree.git_dir())?,
        branch: head.branch().cloned(),
        head: head.commit().cloned(),
        capture,
        coverage: one.present.capture.coverage.clone(),
    })
}

fn text(path: &Path) -> Result<String> {
    path.to_str()
        .map(str::to_owned)
        .ok_or_else(|| Error::new(Code::RepositoryUnsupported, format!("the path '{}' is not UTF-8", path.display())))
}

/// Where the repository of a submodule is that a checkpoint holds.
#[derive(Debug)]
pub enum SubmoduleWhereabouts {
    /// It is that of the same folder, wherever git keeps it now.
    Here(Arc<Repository>),
    /// It is that of another folder of the same worktree now.
    Moved(Arc<Repository>),
    /// It was removed, is that of something else now, or has lost the capture: in words.
    Lost(&'static str),
    /// It is where it was, and its configuration cannot be read.
    Torn,
}

/// Where the repository of a submodule is: what has its capture, in the place that the checkpoint names or in any other.
pub fn whereabouts(ctx: &Context, state: &SubmoduleState) -> Result<SubmoduleWhereabouts> {
    let (folder, worktrees, recorded) = (state.folder(), ctx.repo.worktrees(), Path::new(&state.git_dir));
    let (mut moved, mut has_lost_it) = (None, false);
    for git_dir in worktrees.places_of_submodule(recorded) {
        if worktrees.is_submodule(&folder, &git_dir) {
            let repo = ctx.repo.submodule(&folder, &git_dir)?;
            if repo.connectivity().holds(&state.capture) {
                return Ok(SubmoduleWhereabouts::Here(repo));
            }
            has_lost_it |= git_dir == recorded;
        } else if let Some(elsewhere) = worktrees.folder_of_submodule(&git_dir)
            && moved.is_none()
            && elsewhere.starts_with(&state.worktree)
        {
            let repo = ctx.repo.submodule(&elsewhere, &git_dir)?;
            moved = Some(repo).filter(|repo| repo.connectivity().holds(&state.capture));
        }
    }
    Ok(match moved {
        Some(repo) => SubmoduleWhereabouts::Moved(repo),
        None if has_lost_it => SubmoduleWhereabouts::Lost("its repository has lost the capture"),
        None if recorded.is_dir() && !worktrees.has_configuration(recorded) => SubmoduleWhereabouts::Torn,
        None if recorded.is_dir() => SubmoduleWhereabouts::Lost("its repository is not that of this folder any more"),
        None => SubmoduleWhereabouts::Lost("its repository was removed"),
    })
}

/// The repository of a submodule that a checkpoint holds, where it still has the capture.
pub fn repository_of(ctx: &Context, state: &SubmoduleState) -> Result<Arc<Repository>> {
    let folder = state.folder();
    let gone = |why: String| {
        let what = format!("the submodule '{}' is not held any more", folder.display());
        Err(Error::new(Code::CheckpointDamaged, what).why(why))
    };
    match whereabouts(ctx, state)? {
        SubmoduleWhereabouts::Here(repo) => Ok(repo),
        SubmoduleWhereabouts::Moved(repo) => {
            gone(format!("its repository is that of '{}' now", repo.submodule_worktree().path().display()))
        }
        SubmoduleWhereabouts::Lost(why) => gone(why.to_owned()),
        SubmoduleWhereabouts::Torn => gone("the configuration of its repository cannot be read".to_owned()),
    }
}

/// The submodules that a checkpoint still holds, with the places in which their repositories are now.
pub(super) fn still_held(ctx: &Context, document: &CheckpointDocument) -> Vec<SubmoduleState> {
    let here = |state: &SubmoduleState| {
        let git_dir = text(repository_of(ctx, state).ok()?.git_dir()).ok()?;
        Some(SubmoduleState { git_dir, ..state.clone() })
    };
    document.submodules.iter().filter_map(here).collect()
}

/// Makes the refs that keep the captures of submodules alive, before the checkpoint's own.
pub(super) fn publish(ctx: &Context, name: &CheckpointName, submodules: &[SubmoduleState]) -> Result<()> {
    for state in submodules {
        let repo = ctx.repo.submodule(&state.folder(), Path::new(&state.git_dir))?;
        let mut edits = ref_edit(&repo, name, Some(state.capture.clone()))?;
        edits.extend(kept_for_deleted(ctx, name, &edits));
        repo.refs().update_refs(&edits, &format!("git axiom: checkpoint {name} of the superproject"))?;
        axiom_base::env::fault_point("checkpoint.submodule-published");
    }
    Ok(())
}

/// Takes the refs of a checkpoint that is no more out of its submodules. What fails is collected later.
pub(super) fn unpublish(ctx: &Context, name: &CheckpointName, submodules: &[SubmoduleState]) {
    for state in submodules {
        let outcome = ctx.repo.submodule(&state.folder(), Path::new(&state.git_dir)).and_then(|repo| {
            let edit = ref_edit(&repo, name, None)?;
            repo.refs().update_refs(&edit, "git axiom: the checkpoint is no more")
        });
        if let Err(error) = outcome {
            tracing::warn!(%error, submodule = %state.path, "a ref is left to be collected");
        }
    }
}

/// Whether a ref of a checkpoint of this name keeps a capture alive.
fn is_kept(repo: &Repository, name: &CheckpointName, capture: &Oid) -> Result<bool> {
    let own = submodule_capture_ref(name);
    let is_of_it =
        |one: &RefName| one.as_str().strip_prefix(own.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    Ok(repo.refs().refs_below(SUPERPROJECT_CAPTURES)?.iter().any(|value| value.oid == *capture && is_of_it(&value.name)))
}

/// A deleted checkpoint can be brought back: what it has of a submodule stays when another one gets its name.
fn kept_for_deleted(ctx: &Context, name: &CheckpointName, edits: &[RefEdit]) -> Option<RefEdit> {
    let deleted = ctx.state().record.deleted_checkpoints.values().filter(|gone| gone.record.name == *name);
    let newest = deleted.max_by_key(|gone| gone.record.seq)?;
    let replaced = edits.iter().find_map(|edit| match &edit.expected {
        ExpectedRefValue::Value(oid) => Some(oid.clone()),
        ExpectedRefValue::Absent | ExpectedRefValue::Any => None,
    });
    let name = submodule_capture_ref_of_deleted(name, &newest.record.capture);
    Some(RefEdit { name, expected: ExpectedRefValue::Any, new: Some(replaced?) })
}

fn ref_edit(repo: &Repository, name: &CheckpointName, new: Option<Oid>) -> Result<Vec<RefEdit>> {
    let name = submodule_capture_ref(name);
    let now = repo.refs().read_ref(&name)?;
    if now == new {
        return Ok(Vec::new());
    }
    let expected = now.map_or(ExpectedRefValue::Absent, ExpectedRefValue::Value);
    Ok(vec![RefEdit { name, expected, new }])
}

/// How many bytes the captures of submodules added; fails where an object of them is missing.
pub(super) fn size_of(ctx: &Context, submodules: &[SubmoduleState]) -> Result<u64> {
    submodules.iter().map(|state| repository_of(ctx, state)?.objects().added_by_capture(&state.capture, None)).sum()
}

/// The repositories of all submodules below the git directory and in the main worktree's captured ones, with their folders.
pub fn repositories(ctx: &Context) -> Result<Vec<Arc<Repository>>> {
    let mut found = Vec::new();
    for (folder, git_dir) in ctx.repo.worktrees().submodule_git_dirs() {
        match ctx.repo.submodule(&folder, &git_dir) {
            Ok(repo) => found.push(repo),
            Err(error) => tracing::warn!(%error, "a submodule's repository is left alone"),
        }
    }
    Ok(found)
}

/// Deletes the refs of ours in submodules that no checkpoint here, none that can be brought back, and no undo needs; and contents of LFS
/// files that nothing has named for so long.
pub(crate) fn collect(ctx: &Context, lfs_age: Duration) -> Result<()> {
    let repositories = repositories(ctx)?;
    if repositories.is_empty() {
        return Ok(());
    }
    let record = &ctx.state().record;
    let checkpoints = record.checkpoints.all()?;
    let mut names: BTreeSet<CheckpointName> = checkpoints.iter().map(|one| one.name.clone()).collect();
    names.extend(record.deleted_checkpoints.values().map(|gone| gone.record.name.clone()));
    names.extend(record.checkpoint_intent.clone());
    let mut captures_here: BTreeSet<&str> = record.deleted_checkpoints.keys().map(Oid::as_str).collect();
    captures_here.extend(checkpoints.iter().map(|one| one.capture.as_str()));
    let kept: BTreeSet<String> = ctx.repo.ref_lists().ref_names(KEPT)?.into_iter().collect();
    for repo in repositories {
        let mut edits = Vec::new();
        let captures = [SUPERPROJECT_CAPTURES, BROUGHT_CAPTURES].map(|below| repo.refs().refs_below(below));
        for value in captures.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten() {
            let name = value.name.as_str().rsplit('/').next().unwrap_or_default();
            let is_of_deleted = name.rsplit_once('.').is_some_and(|(_, capture)| captures_here.contains(capture));
            if !is_of_deleted && CheckpointName::new(name).ok().is_none_or(|name| !names.contains(&name)) {
                edits.push(RefEdit { name: value.name, expected: ExpectedRefValue::Value(value.oid), new: None });
            }
        }
        for value in repo.refs().refs_below(SUPERPROJECT_KEPT)? {
            // Behind the transaction is the workspace that it is of.
            let txn = value.name.as_str().strip_prefix(SUPERPROJECT_KEPT).and_then(|rest| rest.split('.').next());
            if txn.is_none_or(|txn| !kept.contains(txn)) {
                edits.push(RefEdit { name: value.name, expected: ExpectedRefValue::Value(value.oid), new: None });
            }
        }
        if !edits.is_empty() {
            repo.refs().update_refs(&edits, "git axiom: no longer kept")?;
        }
        if let Err(error) = repo.lfs_files().release_lfs(lfs_age) {
            tracing::warn!(%error, "contents of LFS files of a submodule that no checkpoint names stay for now");
        }
    }
    Ok(())
}

/// What is wrong with what a checkpoint holds of submodules, and whether it can be repaired; and which submodules it does not hold any
/// more, in words.
pub(super) fn problems(
    ctx: &Context,
    document: &CheckpointDocument,
    look: CheckpointVerifyDepth,
) -> Result<(Vec<CheckpointProblem>, Vec<String>)> {
    let (mut problems, mut not_held) = (Vec::new(), Vec::new());
    for state in &document.submodules {
        let folder = state.folder();
        let repo = match repository_of(ctx, state) {
            Ok(repo) => repo,
            Err(error) if is_gone(ctx, state) => {
                not_held.push(error.to_string());
                continue;
            }
            Err(_) if is_made_since(state, document.created_at) => {
                let why = "its repository was removed, and another one made";
                not_held.push(format!("the submodule '{}' is not held any more: {why}", folder.display()));
                continue;
            }
            Err(error) => {
                problems.push(CheckpointProblem { what: error.to_string(), repairable: false });
                continue;
            }
        };
        let capture = std::slice::from_ref(&state.capture);
        let mut add = |what: String, repairable| problems.push(CheckpointProblem { what, repairable });
        if let Some(words) = repo.connectivity().missing_below(capture)? {
            add(format!("objects of the submodule '{}' are missing or damaged: {words}", folder.display()), false);
            continue;
        }
        if look == CheckpointVerifyDepth::Whole
            && !repo.objects().read_back(&repo.objects().all_below(capture)?)?.damaged.is_empty()
        {
            add(format!("objects of the submodule '{}' are corrupt", folder.display()), false);
        }
        if !is_kept(&repo, &document.name, &state.capture)? {
            add(format!("the ref that keeps its capture of the submodule '{}' is gone", folder.display()), true);
        }
    }
    Ok((problems, not_held))
}

fn is_gone(ctx: &Context, state: &SubmoduleState) -> bool {
    let git_dir = Path::new(&state.git_dir);
    !git_dir.is_dir() || !ctx.repo.worktrees().is_submodule(&state.folder(), git_dir)
}

/// Whether the repository of a submodule is younger than the checkpoint: then it is another one, and has lost nothing. `false` where the
/// file system does not know.
fn is_made_since(state: &SubmoduleState, checkpoint: Timestamp) -> bool {
    let made = Path::new(&state.git_dir).metadata().and_then(|meta| meta.created());
    made.is_ok_and(|made| made > SystemTime::from(checkpoint))
}

/// Makes refs again that keep captures of submodules, where their objects are still there.
pub(super) fn repair(ctx: &Context, document: &CheckpointDocument) -> Result<()> {
    publish(ctx, &document.name, &still_held(ctx, document))
}

/// The paths of those of a document's submodules in a worktree that a set of paths may be in.
pub(super) fn holds_one_of(submodules: &[SubmoduleState], worktree: &str, paths: &[RepoPath]) -> bool {
    let inside: BTreeSet<&RepoPath> = submodules.iter().filter(|one| one.worktree == worktree).map(|one| &one.path).collect();
    paths.iter().any(|path| inside.iter().any(|one| path.within(one).is_some()))
}
