//! Finding every reason for which a verb refuses: see [`BlockingCondition`]. Changes nothing.

use axiom_model::work::tasks::branch_names;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use crate::plan;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_base::own_process::threads;
use axiom_git::{DamagedWorktree, FEW_WORKTREES, GitLockOwner, Head, Worktree, WorktreeOwner, named_by};
use axiom_model::base::names::RefName;
use axiom_model::base::own_names::BRANCHES;
use axiom_model::checkpoint::availability::CheckpointAvailability;
use axiom_model::checkpoint::coverage::CaptureCoverage;
use axiom_model::recovery::git_damage::GitDamage;
use axiom_model::state::blocking_condition::BlockingCondition;
use axiom_safety::beside_log::journals::purge::not_purging;
use axiom_safety::context::conflict_notes;
use axiom_safety::context::handle::Context;
use axiom_safety::context::placement::VerbPurpose;
use axiom_safety::folders::workspace_folder;
use axiom_safety::upkeep::log_recovery;
use axiom_safety::upkeep::mend::locks::LOCK_AGE;
use axiom_safety::{checkpoint, opening};

/// Finds all reasons for which a verb refuses.
pub fn find(ctx: &Context) -> Result<Vec<BlockingCondition>> {
    let mut found = Vec::new();
    found.extend(earlier_damage(ctx)?);
    if ctx.found.unsettled {
        // Copied workspaces are the original's until the next command that changes something has settled the repository's
        // place.
        return Ok(found);
    }
    found.extend(checkpoints_gone(ctx)?);
    for lock in ctx.repo.lock_files().git_locks()?.iter().filter(|lock| lock.stops_commands) {
        if ctx.repo.lock_files().lock_owner(lock, LOCK_AGE)? == GitLockOwner::Dead {
            found.push(BlockingCondition::DeadLock { path: lock.path.display().to_string() });
        }
    }
    let damaged = ctx.repo.registrations().damaged_worktrees()?;
    found.extend(worktrees(ctx, &damaged)?);
    found.extend(left_over(ctx)?);
    found.extend(plan_cut_off(ctx)?);
    // Whoever purges holds the supervisor's lock.
    let is_half_done = |error: Error| error.code() == Code::OperationOpen;
    if not_purging(ctx.repo.common_dir(), VerbPurpose::Write).err().is_some_and(is_half_done) && !ctx.supervisor_alive()? {
        found.push(BlockingCondition::PurgeCutOff);
    }
    // An interrupted operation is ended first; that changes what can be captured.
    if ctx.state().record.open.is_none() {
        let git = git_damage(ctx, &damaged)?;
        let main = ctx.repo.worktrees().main_worktree().ok().map(|main| main.path().display().to_string());
        let explained = git.iter().any(|one| one.not_captured().is_some() && one.not_captured() == main.as_deref());
        found.extend(git.into_iter().map(BlockingCondition::Git));
        let more = not_captured(ctx, &damaged);
        // What no checkpoint can be made for is named already, with its way out.
        let more: Vec<BlockingCondition> =
            more.into_iter().filter(|one| !explained || !matches!(one, BlockingCondition::NoCheckpoint { .. })).collect();
        let is_named =
            |one: &BlockingCondition| matches!(one, BlockingCondition::NotCaptured { path, .. } if names(&found, path));
        let more: Vec<BlockingCondition> = more.into_iter().filter(|one| !is_named(one)).collect();
        found.extend(more);
    }
    Ok(found)
}

/// Whether another finding is about this path already.
fn names(found: &[BlockingCondition], place: &str) -> bool {
    found.iter().any(|one| matches!(one, BlockingCondition::NotTheWorktree { path, .. } if path == place))
}

fn earlier_damage(ctx: &Context) -> Result<Option<BlockingCondition>> {
    let looked = log_recovery::look(ctx.layout())?;
    Ok(looked.first_bad.map(|damage| BlockingCondition::EarlierDamage { what: damage.message }))
}

fn plan_cut_off(ctx: &Context) -> Result<Option<BlockingCondition>> {
    let running = ctx.state().open_plan().filter(|plan| plan.running.is_some());
    let Some(plan) = running else { return Ok(None) };
    Ok((!plan::planner_runs(ctx)?).then(|| BlockingCondition::PlanCutOff { phase: plan.phase.as_str() }))
}

/// What is damaged of git's own files and objects, but for workspaces of agents: those are mended by their own rules.
fn git_damage(ctx: &Context, damaged: &[DamagedWorktree]) -> Result<Vec<GitDamage>> {
    let workspaces: HashSet<&Path> = ctx.state().restorable.workspaces.values().map(|one| Path::new(&one.path)).collect();
    let is_sound = |worktree: &Worktree| {
        !workspaces.contains(worktree.path())
            && !damaged.iter().any(|one| one.is_at(worktree.git_dir()))
            && worktree.verify().is_ok()
    };
    let mut worktrees: Vec<Worktree> = ctx.repo.worktrees().main_worktree().into_iter().collect();
    worktrees.extend(ctx.repo.worktrees().list_linked()?);
    worktrees.retain(is_sound);
    ctx.repo.workspace_damage().git_damage(&worktrees)
}

fn checkpoints_gone(ctx: &Context) -> Result<Vec<BlockingCondition>> {
    let ended = checkpoint::ended(ctx)?;
    let of = |standing: CheckpointAvailability| -> Vec<String> {
        ended.iter().filter(|(_, one)| **one == standing).map(|(name, _)| name.to_string()).collect()
    };
    let mut found = Vec::new();
    let (refs, rewritten, names) =
        (of(CheckpointAvailability::RefGone), of(CheckpointAvailability::Rewritten), of(CheckpointAvailability::Gone));
    if !refs.is_empty() {
        found.push(BlockingCondition::CheckpointRefsGone { names: refs });
    }
    if !rewritten.is_empty() {
        found.push(BlockingCondition::CheckpointsRewritten { names: rewritten });
    }
    let all = names.len() == ctx.state().record.checkpoints.len();
    if !names.is_empty() {
        found.push(BlockingCondition::CheckpointsGone { names, all });
    }
    Ok(found)
}

/// Linked worktrees that are not where they are registered.
fn worktrees(ctx: &Context, damaged: &[DamagedWorktree]) -> Result<Vec<BlockingCondition>> {
    let mut found = Vec::new();
    let workspaces: HashSet<&Path> = ctx.state().restorable.workspaces.values().map(|one| Path::new(&one.path)).collect();
    for one in damaged {
        let (path, what) = (one.place().display().to_string(), one.why());
        let recovers = workspaces.contains(&one.place()) || ctx.repo.registrations().can_mend_worktree(one)?;
        let by_hand = (!recovers).then(|| one.by_hand());
        found.push(BlockingCondition::DamagedWorktree { path, what, by_hand });
    }
    let is_damaged = |git_dir: &Path| damaged.iter().any(|one| one.is_at(git_dir));
    let linked = ctx.repo.worktree_owners().linked()?;
    let is_damaged_at = |path: &Path| damaged.iter().any(|one| one.place() == path);
    let folders: HashSet<PathBuf> = linked.iter().map(|(_, folder)| folder.clone()).collect();
    let is_listed = |path: &Path| folders.contains(path) || is_damaged_at(path);
    for path in workspaces.iter().filter(|path| !is_listed(path) && path.symlink_metadata().is_ok()) {
        let (path, what) = (path.display().to_string(), "git does not list it".to_owned());
        found.push(BlockingCondition::NotTheWorktree { path, what, workspace: true, taken: false });
    }
    let linked: Vec<(PathBuf, PathBuf)> = linked.into_iter().filter(|(git_dir, _)| !is_damaged(git_dir)).collect();
    // One that cannot be read is among the damaged ones.
    let whose =
        threads::for_each(&linked, FEW_WORKTREES, |(_, folder)| Ok::<_, Error>(ctx.repo.worktree_owners().whose(folder).ok()))?;
    for ((git_dir, folder), whose) in linked.into_iter().zip(whose) {
        let path = folder.display().to_string();
        let workspace = workspaces.contains(&folder.as_path());
        let Some(whose) = whose else { continue };
        let (what, taken) = match whose {
            WorktreeOwner::Ours(_) => continue,
            // The workspace is made again when its task is claimed.
            WorktreeOwner::Nobody if workspace => continue,
            WorktreeOwner::Nobody => {
                found.push(BlockingCondition::WorktreeMoved { path, now_at: moved_to(&git_dir, &folder) });
                continue;
            }
            WorktreeOwner::Others(other) => (format!("its .git names '{}'", other.git_dir.display()), other.is_a_repository()),
            WorktreeOwner::Unclaimed if ctx.repo.worktree_owners().has_a_repository_in(&folder) => {
                ("another repository is there".to_owned(), true)
            }
            WorktreeOwner::Unclaimed => ("it has no .git that leads to this repository".to_owned(), false),
        };
        found.push(BlockingCondition::NotTheWorktree { path, what, workspace, taken });
    }
    Ok(found)
}

/// The new path of a worktree that was moved by hand. Only the folder of its old path is searched, not the whole disk.
fn moved_to(git_dir: &Path, folder: &Path) -> Option<String> {
    let beside = files::list(folder.parent()?).ok()?;
    let names_it = |place: &PathBuf| named_by(place).ok().flatten().is_some_and(|named| named == git_dir);
    beside.into_iter().map(|entry| entry.path()).find(names_it).map(|place| place.display().to_string())
}

/// Workspaces and branches of tasks that are not in this state.
fn left_over(ctx: &Context) -> Result<Vec<BlockingCondition>> {
    let (state, root) = (ctx.state(), workspace_folder::root(ctx)?);
    let settling: Vec<String> = conflict_notes::noted(ctx.repo.common_dir())?.into_iter().map(|(_, note)| note.path).collect();
    let known: HashSet<&str> = state.restorable.workspaces.values().map(|one| one.path.as_str()).collect();
    let mut found = Vec::new();
    let mut checked_out: Vec<RefName> = Vec::new();
    for entry in ctx.repo.worktrees().list()?.into_iter().filter(|entry| !entry.worktree.is_main()) {
        let path = entry.worktree.path().display().to_string();
        let Some(branch) = entry.head.as_ref().and_then(Head::branch).cloned() else { continue };
        let is_known = known.contains(path.as_str()) || settling.contains(&path);
        if !is_known && entry.worktree.path().starts_with(&root) && branch_names::task_of(&branch).is_some() {
            found.push(BlockingCondition::LeftWorkspace { path, branch: branch.short().to_owned() });
            checked_out.push(branch);
        }
    }
    for value in ctx.repo.refs().refs_below(BRANCHES)? {
        let is_tasks = branch_names::task_of(&value.name).is_some_and(|task| state.restorable.tasks.contains_key(&task));
        if is_tasks && !state.made_branch(&value.name) && !checked_out.contains(&value.name) {
            found.push(BlockingCondition::LeftBranch { branch: value.name.short().to_owned() });
        }
    }
    Ok(found)
}

/// What prevents a checkpoint, or excludes a workspace from it, found out by making the captures.
fn not_captured(ctx: &Context, damaged: &[DamagedWorktree]) -> Vec<BlockingCondition> {
    let tried = captured_apart(ctx, damaged);
    let told = |error: Error| BlockingCondition::NoCheckpoint {
        code: error.code().as_str(),
        why: error.to_string(),
        hints: match error.hints() {
            [] => vec!["git axiom checkpoint create    shows the error again; until then nothing new is saved".to_owned()],
            hints => hints.to_vec(),
        },
    };
    match tried {
        Err(error) => vec![told(error)],
        Ok(coverage) => {
            let without = coverage.into_iter().filter_map(|(path, one)| Some((path, one.not_captured?)));
            let workspaces: HashSet<&str> = ctx.state().restorable.workspaces.values().map(|one| one.path.as_str()).collect();
            let is_workspace = |path: &str| workspaces.contains(path);
            let without = without.filter(|(path, _)| is_workspace(path));
            without.map(|(path, why)| BlockingCondition::NotCaptured { path, why }).collect()
        }
    }
}

/// Makes the captures that a checkpoint would make, through a separate [`Context`]: nothing refers to their objects, so
/// these are discarded with that context and never mixed with the objects that repairs write.
fn captured_apart(ctx: &Context, damaged: &[DamagedWorktree]) -> Result<BTreeMap<String, CaptureCoverage>> {
    let mut apart = opening::open(ctx.repo.worktrees().main_worktree()?.path(), VerbPurpose::Look)?;
    apart.config = ctx.config.clone();
    checkpoint::would_be_held(&apart, damaged)
}
