//! Capturing all worktrees at one moment, in parallel.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::excluded;
use super::still::Still;
use crate::domain::checkpoint::{Coverage, WorkspaceState};
use crate::domain::names::{Oid, RefName, RepoPath};
use crate::domain::state::State;
use crate::error::{Code, Error, Result};
use crate::git::{CaptureOptions, PathPatterns, Repository, Whose, Worktree, WorktreeCapture};
use crate::ops::checkpoint::target_branch;
use crate::ops::context::Context;
use crate::ops::{trash, workspaces};

/// How many worktrees are captured at once.
const AT_ONCE: usize = 8;

/// A worktree as it was captured.
#[derive(Debug, Clone)]
pub struct CapturedWorktree {
    /// Which.
    pub worktree: Worktree,
    /// What was in it.
    pub capture: WorktreeCapture,
}

/// A linked worktree as it was captured: its capture has a commit already.
#[derive(Debug, Clone)]
pub struct CapturedWorkspace {
    /// What was in it.
    pub captured: CapturedWorktree,
    /// What the checkpoint says of it.
    pub state: WorkspaceState,
}

/// Everything that a checkpoint captured.
#[derive(Debug, Clone)]
pub struct Captured {
    /// The main worktree.
    pub main: CapturedWorktree,
    /// The linked worktrees, agents' and others.
    pub workspaces: Vec<CapturedWorkspace>,
    /// Target and task branches.
    pub refs: BTreeMap<RefName, Oid>,
    /// What is not held, by the worktree's path.
    pub coverage: BTreeMap<String, Coverage>,
    /// Why everything was looked at, where only some paths should have been.
    pub looked_at_all: Option<String>,
    /// Paths that shall be looked at and are nowhere: neither there, nor staged, nor in the checkpoint that is built on.
    pub nowhere: Vec<PathBuf>,
}

/// Which worktrees there are.
#[derive(Debug)]
pub(super) struct There {
    /// Those that can be captured, the main one first.
    pub worktrees: Vec<Worktree>,
    /// What the coverage says of those whose folders are gone.
    pub coverage: BTreeMap<String, Coverage>,
    /// Where linked worktrees are, or were.
    pub linked: Vec<PathBuf>,
}

/// What captures of this repository leave out.
pub fn capture_options(ctx: &Context) -> CaptureOptions {
    let mut excluded: Vec<RepoPath> = workspaces::folder(ctx).into_iter().collect();
    excluded.push(RepoPath::new(trash::IN_WORKTREE.as_bytes()));
    CaptureOptions {
        max_file_size: ctx.config.checkpoints.max_file_size.saturating_mul(1024 * 1024),
        excluded,
        allow_unreadable: false,
        include: PathPatterns::new(&ctx.config.checkpoints.include),
        exclude: PathPatterns::new(&ctx.config.checkpoints.exclude),
    }
}

/// Captures every worktree while the agents are held still.
///
/// # Errors
/// `FILE_UNREADABLE`, `WORKSPACE_BROKEN`, `DISK_FULL`, `GIT_FAILED`, `REPOSITORY_UNSUPPORTED` where the path of a worktree is not
/// UTF-8: then nothing is claimed to be captured.
pub fn capture_all(ctx: &Context) -> Result<Captured> {
    capture_all_with(ctx, &capture_options(ctx))
}

/// As [`capture_all`], leaving out what `options` say.
pub(super) fn capture_all_with(ctx: &Context, options: &CaptureOptions) -> Result<Captured> {
    let There { worktrees, coverage, linked } = there(ctx)?;
    let mut captures = {
        let still = Still::hold(ctx);
        let captures = capture_in_parallel(&ctx.repo, &worktrees, options)?;
        still.release();
        captures
    };
    if let (Some(main), Some(capture)) = (worktrees.first(), captures.first_mut()) {
        excluded::name_users_own(ctx, (main, &linked), &mut capture.coverage)?;
    }
    let both = worktrees.into_iter().zip(captures);
    together(ctx, both.map(|(worktree, capture)| (CapturedWorktree { worktree, capture }, None)).collect(), coverage)
}

/// Writes all that a capture of now would hold, for what of it was damaged and put aside: what cannot be captured is left to
/// who needs it.
pub fn write_again(ctx: &mut Context) {
    let options = CaptureOptions { allow_unreadable: true, ..capture_options(ctx) };
    let worktrees = ctx.repo.worktrees().unwrap_or_default();
    for entry in worktrees.into_iter().filter(|entry| entry.present) {
        if let Err(error) = ctx.repo.capture_worktree(&entry.worktree, &options) {
            tracing::warn!(%error, worktree = %entry.worktree.path().display(), "objects could not be written again from it");
        }
    }
    match ctx.repo.sync_objects() {
        Ok(()) => ctx.proof.written_again = ctx.proof.put_aside.iter().filter(|oid| ctx.repo.holds(oid)).cloned().collect(),
        Err(error) => tracing::warn!(%error, "objects could not be written again"),
    }
}

/// Looks for the worktrees.
///
/// # Errors
/// `WORKSPACE_BROKEN`, `FILE_UNREADABLE`, `GIT_FAILED`.
pub(super) fn there(ctx: &Context) -> Result<There> {
    let main = ctx.repo.main_worktree()?;
    let mut worktrees = vec![main];
    let mut coverage = BTreeMap::new();
    let mut known = Vec::new();
    for entry in ctx.repo.worktrees()?.into_iter().filter(|entry| !entry.worktree.is_main()) {
        known.push(entry.worktree.path().to_owned());
        if gone(entry.worktree.path())? {
            coverage.insert(entry.worktree.path().display().to_string(), Coverage { missing: true, ..Coverage::default() });
        } else if is_others(ctx, entry.worktree.path())? {
            // Of a copied repository, for example: the folder is the original's worktree, and held there.
            coverage.insert(entry.worktree.path().display().to_string(), Coverage { missing: true, ..Coverage::default() });
        } else {
            // Before anything is captured.
            entry.worktree.path_text()?;
            worktrees.push(entry.worktree);
        }
    }
    for workspace in ctx.state().restorable.workspaces.values() {
        let path = Path::new(&workspace.path);
        if known.iter().any(|known| known == path || known.canonicalize().ok() == path.canonicalize().ok()) {
            continue;
        }
        if !gone(path)? {
            let what = format!("the workspace '{}' is no longer a worktree of this repository", workspace.path);
            return Err(Error::new(Code::WorkspaceBroken, what).hint("git axiom recover --yes    repairs it"));
        }
        coverage.insert(workspace.path.clone(), Coverage { missing: true, ..Coverage::default() });
    }
    Ok(There { worktrees, coverage, linked: known })
}

/// Makes one of captures, the main worktree's first; of linked worktrees with the commit where there is one already.
///
/// # Errors
/// `IDENTITY_MISSING`, `DISK_FULL`, `GIT_FAILED`.
pub(super) fn together(
    ctx: &Context,
    captured: Vec<(CapturedWorktree, Option<Oid>)>,
    mut coverage: BTreeMap<String, Coverage>,
) -> Result<Captured> {
    let mut captured = captured.into_iter();
    let Some((main, _)) = captured.next() else {
        return Err(Error::new(Code::Internal, "the main worktree was not captured"));
    };
    coverage.insert(main.worktree.path_text()?, main.capture.coverage.clone());
    let mut workspaces = Vec::new();
    for (one, commit) in captured {
        coverage.insert(one.worktree.path_text()?, one.capture.coverage.clone());
        workspaces.push(with_commit(ctx, one, commit)?);
    }
    Ok(Captured { main, workspaces, refs: refs(ctx)?, coverage, looked_at_all: None, nowhere: Vec::new() })
}

/// Whether a folder that an entry of ours names is another repository's worktree.
fn is_others(ctx: &Context, path: &Path) -> Result<bool> {
    Ok(matches!(ctx.repo.whose(path)?, Whose::Others(_)))
}

fn gone(path: &Path) -> Result<bool> {
    match std::fs::symlink_metadata(path) {
        Ok(_) => Ok(false),
        Err(e) if matches!(e.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => Ok(true),
        Err(e) => Err(Error::new(Code::FileUnreadable, format!("'{}' cannot be read", path.display())).because(e)),
    }
}

fn with_commit(ctx: &Context, captured: CapturedWorktree, commit: Option<Oid>) -> Result<CapturedWorkspace> {
    let path = captured.worktree.path_text()?;
    let owner = owner(ctx.state(), captured.worktree.path());
    let head = &captured.capture.head;
    let capture = match commit {
        Some(commit) => commit,
        None => ctx.repo.commit_capture(&captured.capture, &format!("capture of {path}"), &[])?.commit,
    };
    let state = WorkspaceState {
        agent_id: owner.as_ref().map(|(_, workspace)| workspace.agent.clone()),
        task_id: owner.as_ref().map(|(task, _)| (*task).clone()),
        path,
        branch: head.branch().cloned(),
        head: head.commit().cloned(),
        capture,
    };
    Ok(CapturedWorkspace { captured, state })
}

fn owner<'s>(state: &'s State, path: &Path) -> Option<(&'s crate::domain::ids::CaseId, &'s crate::domain::agent::Workspace)> {
    let same = |workspace: &str| Path::new(workspace) == path || Path::new(workspace).canonicalize().is_ok_and(|p| p == path);
    state.restorable.workspaces.iter().find(|(_, workspace)| same(&workspace.path))
}

/// The captures in the order of `worktrees`. One that fails fails them all.
fn capture_in_parallel(repo: &Repository, worktrees: &[Worktree], options: &CaptureOptions) -> Result<Vec<WorktreeCapture>> {
    let next = Mutex::new(0_usize);
    let take = || {
        let mut next = next.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *next += 1;
        *next - 1
    };
    let worker = || {
        let mut done = Vec::new();
        while let Some((number, worktree)) = Some(take()).and_then(|number| Some((number, worktrees.get(number)?))) {
            done.push((number, repo.capture_worktree(worktree, options)));
        }
        done
    };
    let mut all = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..worktrees.len().min(AT_ONCE)).map(|_| scope.spawn(worker)).collect();
        let joined: Vec<_> = threads.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        joined.into_iter().flat_map(Result::unwrap_or_default).collect::<Vec<_>>()
    });
    all.sort_by_key(|(number, _)| *number);
    if all.len() != worktrees.len() {
        return Err(Error::new(Code::Internal, "a capture ended without a result"));
    }
    all.into_iter().map(|(_, outcome)| outcome).collect()
}

/// Target and task branches, and the branch that is checked out in the main worktree.
fn refs(ctx: &Context) -> Result<BTreeMap<RefName, Oid>> {
    let mut refs: BTreeMap<RefName, Oid> =
        ctx.repo.refs_below("refs/heads/axiom/")?.into_iter().map(|value| (value.name, value.oid)).collect();
    let mut more: Vec<RefName> = target_branch(ctx).into_iter().collect();
    more.extend(ctx.repo.head(&ctx.repo.main_worktree()?)?.branch().cloned());
    refs.extend(ctx.repo.read_refs(&more)?);
    Ok(refs)
}
