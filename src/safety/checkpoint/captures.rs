//! Capturing all worktrees at the same moment, in parallel.

pub(super) mod capturable;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::captured::{CapturedWorkspace, CapturedWorktree, CheckpointCaptures};
use super::excluded;
use super::submodules::{self, capture_with_submodules};
use super::suspend_agents::SuspendedAgents;
use crate::checkpoint::captured::CapturedSubmodule;
use crate::context::handle::Context;
use crate::context::target::chosen_target;
use crate::folders::{trash, workspace_folder};
use axiom_base::error::{Code, Error, Result};
use axiom_git::{CaptureOptions, DamagedWorktree, NamedPaths, PathPatterns, Repository, Worktree, WorktreeCapture};
use axiom_model::base::names::{Oid, RefName, RepoPath};
use axiom_model::base::own_names::BRANCHES;
use axiom_model::checkpoint::coverage::CaptureCoverage;
use axiom_model::checkpoint::document::WorkspaceState;
use axiom_model::state::current_state::State;
use capturable::{CapturableWorktrees, there, there_beside};

/// How many worktrees are captured at once.
const AT_ONCE: usize = 8;
/// Of how many worktrees a trial makes the commits too.
const TRIED: usize = 32;

/// The options for captures of this repository: what they leave out.
pub fn capture_options(ctx: &Context) -> CaptureOptions {
    let mut excluded: Vec<RepoPath> = workspace_folder::folder(ctx).into_iter().collect();
    excluded.push(RepoPath::new(trash::IN_WORKTREE.as_bytes()));
    CaptureOptions {
        max_file_size: ctx.config.checkpoints.max_file_size.saturating_mul(1024 * 1024),
        excluded,
        apart: BTreeSet::new(),
        never: Vec::new(),
        include: PathPatterns::new(&ctx.config.checkpoints.include),
        exclude: PathPatterns::new(&ctx.config.checkpoints.exclude),
        named: NamedPaths::default(),
        until: None,
    }
}

/// Captures every worktree while the agents' processes are suspended.
pub fn capture_all(ctx: &Context) -> Result<CheckpointCaptures> {
    capture_all_with(ctx, &capture_options(ctx))
}

/// Reads into objects what the newest checkpoint had no time for in these worktrees. The next capture finds it read, so that it does not
/// keep the change lock from others for long. A crash leaves objects that nothing names.
pub fn read_ahead(ctx: &Context, worktrees: &BTreeSet<String>) -> Result<()> {
    let CapturableWorktrees { worktrees: there, linked, .. } = there(ctx)?;
    let options = beside(&capture_options(ctx), &linked);
    let is_meant = |one: &&Worktree| one.path_text().is_ok_and(|path| worktrees.contains(&path));
    for worktree in there.iter().filter(is_meant) {
        let (_, submodules) = capture_with_submodules(&ctx.repo, worktree, &options)?;
        submodules.iter().try_for_each(|one| one.repo.durability().sync_objects())?;
    }
    ctx.repo.durability().sync_objects()?;
    ctx.repo.durability().put_stage_away();
    Ok(())
}

/// As [`capture_all`], with these `options`.
pub(super) fn capture_all_with(ctx: &Context, options: &CaptureOptions) -> Result<CheckpointCaptures> {
    let (captured, coverage) = each(ctx, options, there(ctx)?)?;
    together(ctx, captured.into_iter().map(|one| (one, None)).collect(), coverage)
}

/// A trial of what every checkpoint does, where these worktrees are known to be damaged: what [`capture_all`] would hold of each. Nothing
/// of it is ever named or kept. With a thousand workspaces most are captured without commits: new files would take the time.
pub fn would_be_held(ctx: &Context, damaged: &[DamagedWorktree]) -> Result<BTreeMap<String, CaptureCoverage>> {
    let (captured, mut coverage) = each(ctx, &capture_options(ctx), there_beside(ctx, damaged)?)?;
    refs(ctx)?;
    let objects = ctx.repo.objects();
    for (number, one) in captured.into_iter().enumerate() {
        let path = one.worktree.path_text()?;
        let tried = ctx.repo.index(&one.worktree).nothing_lost_is_held(&one.capture).and_then(|()| {
            // As whoever makes one does at its end: what it adds has to be there.
            let commit =
                if number < TRIED { Some(ctx.repo.captures().commit_capture(&one.capture, "trial", &[])?.commit) } else { None };
            commit.map_or(Ok(0), |commit| objects.added_by_capture(&commit, None))
        });
        match tried {
            Ok(_) => {
                let mut held = one.capture.coverage;
                one.submodules.iter().for_each(|inner| held.add_submodule(&inner.path, &inner.present.capture.coverage));
                coverage.insert(path, held);
            }
            Err(error) if !one.worktree.is_main() && !error.is_everybodys() => {
                coverage.insert(path, CaptureCoverage::of_nothing(error.to_string()));
            }
            Err(error) => return Err(error),
        }
    }
    ctx.repo.checkpoints().hold_local_refs()?;
    Ok(coverage)
}

/// The options of a capture that leaves the other worktrees alone.
pub(super) fn beside(options: &CaptureOptions, linked: &[PathBuf]) -> CaptureOptions {
    let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
    CaptureOptions { apart: linked.iter().map(real).collect(), ..options.clone() }
}

/// The captures of the worktrees that can be captured, the main one's first, and the coverage of the others.
fn each(
    ctx: &Context,
    options: &CaptureOptions,
    there: CapturableWorktrees,
) -> Result<(Vec<CapturedWorktree>, BTreeMap<String, CaptureCoverage>)> {
    let CapturableWorktrees { worktrees, mut coverage, linked } = there;
    let options = &beside(options, &linked);
    let outcomes = {
        let still = SuspendedAgents::hold(ctx);
        let outcomes = capture_in_parallel(&ctx.repo, &worktrees, options)?;
        still.release();
        outcomes
    };
    let mut captured = Vec::with_capacity(worktrees.len());
    for (worktree, outcome) in worktrees.into_iter().zip(outcomes) {
        match outcome {
            Ok((capture, submodules)) => captured.push(CapturedWorktree { worktree, capture, submodules }),
            // A linked worktree that cannot be captured affects only those who work in it.
            Err(error) if !worktree.is_main() && !error.is_everybodys() => {
                coverage.insert(worktree.path_text()?, CaptureCoverage::of_nothing(error.to_string()));
            }
            Err(error) => return Err(error),
        }
    }
    if let Some(CapturedWorktree { worktree, capture, .. }) = captured.first_mut() {
        excluded::name_users_own(ctx, (worktree, &linked), &mut capture.coverage)?;
    }
    Ok((captured, coverage))
}

/// Removes from the captures the linked worktrees whose index refers to objects that cannot be read.
pub(super) fn without_unreadable_index(ctx: &Context, captured: &mut CheckpointCaptures) -> Result<()> {
    ctx.repo.index(&captured.main.worktree).nothing_lost_is_held(&captured.main.capture)?;
    for one in std::mem::take(&mut captured.workspaces) {
        match ctx.repo.index(&one.captured.worktree).nothing_lost_is_held(&one.captured.capture) {
            Ok(()) => captured.workspaces.push(one),
            Err(error) if !error.is_everybodys() => {
                captured.coverage.insert(one.state.path, CaptureCoverage::of_nothing(error.to_string()));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Writes all objects that a capture would write now, to replace damaged objects that were moved away. What cannot be
/// captured is only logged: whatever needs those objects reports it.
pub fn write_again(ctx: &mut Context) {
    let options = capture_options(ctx);
    let worktrees = ctx.repo.worktrees().list().unwrap_or_default();
    for entry in worktrees.into_iter().filter(|entry| entry.present) {
        if let Err(error) = ctx.repo.captures().capture_worktree(&entry.worktree, &options) {
            tracing::warn!(%error, worktree = %entry.worktree.path().display(), "objects could not be written again from it");
        }
    }
    match ctx.repo.durability().sync_objects() {
        Ok(()) => {
            ctx.found.proof.written_again =
                ctx.found.proof.put_aside.iter().filter(|oid| ctx.repo.connectivity().holds(oid)).cloned().collect()
        }
        Err(error) => tracing::warn!(%error, "objects could not be written again"),
    }
}

/// Combines the captures of worktrees, the main worktree's first, into one [`CheckpointCaptures`]. A linked worktree's commit is
/// passed where there is one already.
pub(super) fn together(
    ctx: &Context,
    captured: Vec<(CapturedWorktree, Option<Oid>)>,
    mut coverage: BTreeMap<String, CaptureCoverage>,
) -> Result<CheckpointCaptures> {
    let mut captured = captured.into_iter();
    let Some((mut main, _)) = captured.next() else {
        return Err(Error::new(Code::Internal, "the main worktree was not captured"));
    };
    coverage.insert(main.worktree.path_text()?, main.capture.coverage.clone());
    let mut submodules = submodules::commit(&main.worktree.path_text()?, &mut main.submodules)?;
    let mut workspaces = Vec::new();
    for (mut one, commit) in captured {
        submodules.extend(submodules::commit(&one.worktree.path_text()?, &mut one.submodules)?);
        coverage.insert(one.worktree.path_text()?, one.capture.coverage.clone());
        workspaces.push(with_commit(ctx, one, commit)?);
    }
    let (refs, broken_refs) = refs(ctx)?;
    let (earlier, main_captured_at, looked_at_all, nowhere) = (Vec::new(), None, None, Vec::new());
    Ok(CheckpointCaptures {
        main,
        workspaces,
        submodules,
        earlier,
        main_captured_at,
        refs,
        broken_refs,
        coverage,
        looked_at_all,
        nowhere,
    })
}

fn with_commit(ctx: &Context, captured: CapturedWorktree, commit: Option<Oid>) -> Result<CapturedWorkspace> {
    let path = captured.worktree.path_text()?;
    let owner = owner(ctx.state(), captured.worktree.path());
    let head = &captured.capture.head;
    let capture = match commit {
        Some(commit) => commit,
        None => ctx.repo.captures().commit_capture(&captured.capture, &format!("capture of {path}"), &[])?.commit,
    };
    let state = WorkspaceState {
        agent_id: owner.as_ref().map(|(_, workspace)| workspace.agent.clone()),
        task_id: owner.as_ref().map(|(task, _)| (*task).clone()),
        path,
        branch: head.branch().cloned(),
        head: head.commit().cloned(),
        capture,
        captured_at: None,
    };
    Ok(CapturedWorkspace { captured, state })
}

fn owner<'s>(
    state: &'s State,
    path: &Path,
) -> Option<(&'s axiom_model::base::ids::TaskId, &'s axiom_model::work::agent::Workspace)> {
    let workspaces = || state.restorable.workspaces.iter();
    let is_there = |workspace: &str| Path::new(workspace).canonicalize().is_ok_and(|place| place == path);
    // Most are recorded by the path itself: only for the others the disk is asked.
    workspaces()
        .find(|(_, workspace)| Path::new(&workspace.path) == path)
        .or_else(|| workspaces().find(|(_, workspace)| is_there(&workspace.path)))
}

/// What became of the capture of one worktree, with its submodules.
type WorktreeCaptureOutcome = Result<(WorktreeCapture, Vec<CapturedSubmodule>)>;

/// Captures in parallel; the results, failures too, are in the order of `worktrees`.
fn capture_in_parallel(
    repo: &Repository,
    worktrees: &[Worktree],
    options: &CaptureOptions,
) -> Result<Vec<WorktreeCaptureOutcome>> {
    let next = Mutex::new(0_usize);
    let take = || {
        let mut next = next.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *next += 1;
        *next - 1
    };
    let worker = || {
        let mut done = Vec::new();
        while let Some((number, worktree)) = Some(take()).and_then(|number| Some((number, worktrees.get(number)?))) {
            done.push((number, capture_with_submodules(repo, worktree, options)));
        }
        done
    };
    let mut all = std::thread::scope(|scope| {
        // Where no thread can be started, the current thread does all the work.
        let begin = |_| std::thread::Builder::new().spawn_scoped(scope, worker).ok();
        let threads: Vec<_> = (1..worktrees.len().min(AT_ONCE)).filter_map(begin).collect();
        let mut all = worker();
        for thread in threads {
            all.extend(thread.join().unwrap_or_default());
        }
        all
    });
    all.sort_by_key(|(number, _)| *number);
    if all.len() != worktrees.len() {
        return Err(Error::new(Code::Internal, "a capture ended without a result"));
    }
    Ok(all.into_iter().map(|(_, outcome)| outcome).collect())
}

/// The task branches, the target branch, and the branch that is checked out in the main worktree; and the names of those of which
/// something is known to be lost.
pub(super) fn refs(ctx: &Context) -> Result<(BTreeMap<RefName, Oid>, Vec<RefName>)> {
    let mut refs: BTreeMap<RefName, Oid> =
        ctx.repo.refs().refs_below(BRANCHES)?.into_iter().map(|value| (value.name, value.oid)).collect();
    let mut more: Vec<RefName> = chosen_target(ctx).into_iter().collect();
    more.extend(ctx.repo.refs().head(&ctx.repo.worktrees().main_worktree()?)?.branch().cloned());
    refs.extend(ctx.repo.refs().read_refs(&more)?);
    if ctx.repo.power_losses().lost_objects()?.is_empty() {
        return Ok((refs, Vec::new()));
    }
    let tips: BTreeSet<&Oid> = refs.values().collect();
    let broken = ctx.repo.connectivity().broken_tips(&tips.into_iter().cloned().collect::<Vec<_>>(), None)?;
    let (out, held): (BTreeMap<_, _>, BTreeMap<_, _>) = refs.into_iter().partition(|(_, oid)| broken.contains(oid));
    Ok((held, out.into_keys().collect()))
}
