//! Captures that a program waits for: only the worktree of its session is looked at. Of the others the newest captures are taken, each with
//! the time of its moment; they are looked at right after, in the background.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::captured::{CapturedWorktree, CheckpointCaptures};
use super::captures::{beside, together};
use super::excluded;
use super::submodules::{capture_with_submodules, still_held};
use super::suspend_agents::SuspendedAgents;
use super::unchanged::newest;
use crate::context::handle::Context;
use axiom_base::error::Result;
use axiom_git::{CaptureOptions, EarlierCapture, Head, Worktree, WorktreeCapture};
use axiom_model::base::ids::TaskId;
use axiom_model::base::names::Oid;
use axiom_model::checkpoint::coverage::CaptureCoverage;
use axiom_model::checkpoint::document::{CheckpointDocument, WorkspaceState};

/// What is said of a worktree of which there is no capture yet.
const NOT_YET: &str = "it was not captured yet: the next checkpoint, made in the background, is to hold it";

/// Captures the worktree `own`, and takes the rest from the newest checkpoint. `None` where there is no other worktree, no checkpoint to take
/// the main worktree from, or no such worktree.
pub(super) fn capture(ctx: &Context, options: &CaptureOptions, own: &Path) -> Result<Option<CheckpointCaptures>> {
    let linked = ctx.repo.worktrees().list_linked()?;
    if linked.is_empty() {
        return Ok(None);
    }
    let main = ctx.repo.worktrees().main_worktree()?;
    let Some(worktree) = std::iter::once(&main).chain(&linked).find(|one| one.path() == own).cloned() else { return Ok(None) };
    let Some((capture, document)) = newest(ctx)? else { return Ok(None) };
    let then = if worktree.is_main() { None } else { main_then(ctx, &capture, &document) };
    if !worktree.is_main() && then.is_none() {
        return Ok(None);
    }
    let still = SuspendedAgents::hold(ctx);
    let folders: Vec<PathBuf> = linked.iter().map(|one| one.path().to_owned()).collect();
    let options = &beside(options, &folders);
    let captured = capture_with_submodules(&ctx.repo, &worktree, options);
    still.release();
    let (capture, submodules) = match captured {
        Ok(captured) => captured,
        // What becomes of the checkpoint then is decided where all are looked at.
        Err(error) if !error.is_everybodys() => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut captured = CapturedWorktree { worktree, capture, submodules };
    if captured.worktree.is_main() {
        excluded::name_users_own(ctx, (&captured.worktree, &folders), &mut captured.capture.coverage)?;
    }
    let mut coverage = coverage_of_others(ctx, own, &linked, &document)?;
    let is_main = captured.worktree.is_main();
    let mut all = vec![captured];
    if let Some(capture) = then {
        all.insert(0, CapturedWorktree { worktree: main, capture, submodules: Vec::new() });
    }
    for worktree in not_known(ctx, own, &linked, &document) {
        match capture_with_submodules(&ctx.repo, worktree, options) {
            Ok((capture, submodules)) => all.push(CapturedWorktree { worktree: worktree.clone(), capture, submodules }),
            Err(error) if !error.is_everybodys() => {
                coverage.insert(worktree.path_text()?, CaptureCoverage::of_nothing(error.to_string()));
            }
            Err(error) => return Err(error),
        }
    }
    let earlier = earlier(&all, &linked, &document);
    // The submodules of the other worktrees are of the same moment as these.
    let looked_at: Vec<String> = all.iter().skip(usize::from(!is_main)).filter_map(|one| one.worktree.path_text().ok()).collect();
    let mut captured = together(ctx, all.into_iter().map(|one| (one, None)).collect(), coverage)?;
    captured.main_captured_at = (!is_main).then(|| document.main_captured_at.unwrap_or(document.created_at));
    // The branch of a task is of the same moment as the files of its workspace.
    for state in earlier.iter().filter(|state| state.task_id.is_some()) {
        captured.refs.extend(state.branch.clone().zip(state.head.clone()));
    }
    captured.earlier = earlier;
    let others = still_held(ctx, &document).into_iter().filter(|state| !looked_at.contains(&state.worktree));
    captured.submodules.extend(others);
    Ok(Some(captured))
}

/// The workspaces of tasks that the newest checkpoint does not hold: a rollback would take them for made since.
fn not_known<'w>(ctx: &Context, own: &Path, linked: &'w [Worktree], document: &CheckpointDocument) -> Vec<&'w Worktree> {
    let is_known = |path: &Path| {
        let task = ctx.state().restorable.workspaces.iter().find(|(_, workspace)| Path::new(&workspace.path) == path);
        let is_held = |(task, _): (&TaskId, _)| {
            document.workspaces.iter().any(|then| Path::new(&then.path) == path && then.task_id.as_ref() == Some(task))
        };
        task.is_none_or(is_held)
    };
    linked.iter().filter(|one| one.path() != own && !is_known(one.path())).collect()
}

/// The newest captures of the other linked worktrees.
fn earlier(now: &[CapturedWorktree], linked: &[Worktree], document: &CheckpointDocument) -> Vec<WorkspaceState> {
    let is_there = |state: &&WorkspaceState| {
        let path = Path::new(&state.path);
        linked.iter().any(|one| one.path() == path) && !now.iter().any(|one| one.worktree.path() == path)
    };
    let with_time = |state: &WorkspaceState| WorkspaceState {
        captured_at: Some(state.captured_at.unwrap_or(document.created_at)),
        ..state.clone()
    };
    document.workspaces.iter().filter(is_there).map(with_time).collect()
}

/// What is not held of the other worktrees: as it was said when they were captured.
fn coverage_of_others(
    ctx: &Context,
    own: &Path,
    linked: &[Worktree],
    document: &CheckpointDocument,
) -> Result<BTreeMap<String, CaptureCoverage>> {
    let mut coverage = BTreeMap::new();
    let mut scratch = None;
    for path in linked.iter().map(Worktree::path).filter(|path| *path != own) {
        let Some(text) = path.to_str() else { continue };
        if let Some(known) = document.coverage.get(text) {
            coverage.insert(text.to_owned(), known.clone());
            continue;
        }
        // Where a merge is tried out nothing is content.
        if scratch.is_none() {
            scratch = Some(crate::folders::scratch_worktrees::places(ctx)?);
        }
        if !scratch.iter().flatten().any(|place| place == path) {
            coverage.insert(text.to_owned(), CaptureCoverage::of_nothing(NOT_YET.to_owned()));
        }
    }
    // Workspaces that were gone or no worktrees then.
    for workspace in ctx.state().restorable.workspaces.values() {
        let known = document.coverage.get(&workspace.path).filter(|coverage| !coverage.has_a_capture());
        if let Some(known) = known {
            coverage.entry(workspace.path.clone()).or_insert_with(|| known.clone());
        }
    }
    Ok(coverage)
}

/// The main worktree as the newest checkpoint has it.
pub(super) fn main_then(ctx: &Context, capture: &Oid, document: &CheckpointDocument) -> Option<WorktreeCapture> {
    let coverage = document.main_coverage()?;
    let head = match (document.branch.clone(), document.git_commit.clone()) {
        (Some(name), commit) => Head::Branch { name, commit },
        (None, Some(commit)) => Head::Detached { commit },
        (None, None) => return None,
    };
    let earlier = EarlierCapture { checkpoint: &document.name, main: capture, capture, coverage };
    let then = ctx.repo.quick_captures().capture_again(head, earlier).ok()?;
    Some(WorktreeCapture { coverage: coverage.clone(), included: coverage.included.paths.clone(), ..then })
}
