//! Merging a done task into the target branch: computed in memory, journaled, always with a merge commit (`--no-ff`).
//!
//! A target that is checked out moves together with its worktree, and only where none of the user's files is in the way.

pub mod cleanup;
pub mod conflict_sides;
mod guarded;
mod guarded_links;
pub mod lost_merges;
pub mod merge_in_workspace;
pub mod merge_verification;
mod plan;
pub mod preview;
mod replay;
pub mod taken_stash;
mod undone_merge;

pub use guarded::{naming, showing};
pub use plan::{LEFT_MARKERS, guarded_by};
pub use undone_merge::undone_showing;

use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_git::{Head, StatusKind, Worktree};
use axiom_model::base::ids::TaskId;
use axiom_model::base::names::{Oid, RefName, RepoPath};
use axiom_model::base::text::ValueChange;
use axiom_model::checkpoint::trigger::CheckpointTrigger;
use axiom_model::hook::due::of_task;
use axiom_model::state::event::Event;
use axiom_model::work::endings::conflict::ConflictLevel;
use axiom_model::work::guarded::{AllowedGuardedFiles, GuardedFiles};
use axiom_model::work::hooks::hook_event::HookEvent;
use axiom_model::work::tasks::commit_marks;
use axiom_model::work::tasks::task::{MergedTaskWork, Task, TaskChangeSet, TaskFieldChange};
use axiom_model::work::verifying::verification::{MergeCandidate, MergeVerification};
use axiom_safety::checkpoint;
use axiom_safety::checkpoint::CheckpointRequest;
use axiom_safety::context::handle::Context;
use axiom_safety::context::target::target_branch;
use axiom_safety::folders::disk_space;
use axiom_safety::folders::workspaces::branch_of;
use axiom_safety::operation;
use axiom_safety::operation::in_progress::holds_branch;
use axiom_safety::user_programs::signing::with_signatures;

use plan::MergePlan;
use replay::ComputedMerge;

/// How many times a merge is tried while the target moves meanwhile.
const TRIES: u32 = 5;

/// The outcome of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeOutcome {
    /// The work was merged into the target.
    Merged(MergedTaskWork),
    /// The target had all of the work before; only the task was changed, to say so.
    Noted(MergedTaskWork),
    /// The target had all of the work before, and the task said so: nothing was changed.
    NothingToMerge(MergedTaskWork),
    /// These files are in conflict; nothing was changed.
    Conflict {
        /// The files.
        files: Vec<RepoPath>,
        /// The target's commit with which the merge was computed.
        target: Oid,
    },
    /// A file or operation of the user's is in the way where the target is checked out; nothing was changed.
    InTheWay {
        /// What is in the way, in words.
        what: String,
    },
    /// The merge changes guarded files, and nobody has seen and approved exactly these; nothing was changed.
    Guarded {
        /// The files.
        files: GuardedFiles,
    },
    /// `merge.verify` has not passed for exactly this merge; nothing was changed.
    Unverified {
        /// The merge that has to be verified.
        of: MergeCandidate,
        /// The failed verification of this merge, where there was one.
        failed: Option<Box<MergeVerification>>,
    },
    /// The target branch does not exist; nothing was changed.
    TargetMissing {
        /// The branch.
        target: RefName,
    },
}

/// Merges a done task; takes the change lock. Guarded files are changed only as far as they are `allowed`. Where `merge.verify` names
/// commands, no ref moves unless they have passed for exactly this merge. When this returns, the outcome survives a power
/// loss. A crash leaves nothing changed, or an operation that recovery finishes.
///
/// # Errors
/// `UNKNOWN_TASK`, `INVALID_TRANSITION` for a task that is not done, `OPERATION_OPEN`, `BUSY`, `IDENTITY_MISSING`,
/// `DISK_EMERGENCY`; `CHANGED_MEANWHILE` where the target moves during every attempt; `BRANCH_IN_USE` where it is being rebased or bisected;
/// those of the before-merge checkpoint: then nothing is merged.
pub fn merge_task(ctx: &mut Context, task: &TaskId, allowed: &AllowedGuardedFiles) -> Result<MergeOutcome> {
    let _span = tracing::info_span!("merge", %task).entered();
    disk_space::has_room_to_save(ctx, "merge")?;
    let outcome = with_signatures(ctx, |ctx| merge_locked(ctx, task, allowed));
    match &outcome {
        Ok(outcome) => tracing::info!(outcome = outcome.word(), "merge ends"),
        Err(error) => tracing::info!(code = error.code().as_str(), "merge fails"),
    }
    outcome
}

impl MergeOutcome {
    /// The outcome, in one word.
    const fn word(&self) -> &'static str {
        match self {
            Self::Merged(_) => "merged",
            Self::Noted(_) => "noted",
            Self::NothingToMerge(_) => "nothingToMerge",
            Self::Conflict { .. } => "conflict",
            Self::InTheWay { .. } => "inTheWay",
            Self::Guarded { .. } => "guarded",
            Self::Unverified { .. } => "unverified",
            Self::TargetMissing { .. } => "targetMissing",
        }
    }
}

fn merge_locked(ctx: &mut Context, task: &TaskId, allowed: &AllowedGuardedFiles) -> Result<MergeOutcome> {
    ctx.with_change_lock(|ctx| {
        ctx.no_open_operation()?;
        let mut tries = 1;
        loop {
            match attempt(ctx, task, allowed) {
                Err(error) if error.code() == Code::ChangedMeanwhile && tries < TRIES => {
                    tries += 1;
                    // A new transaction, so that the next attempt does not find the trash of this one.
                    ctx.act_as(ctx.by().clone())?;
                }
                Err(error) if matches!(error.code(), Code::InTheWay | Code::HoldsMount) => {
                    return Ok(MergeOutcome::InTheWay { what: error.to_string() });
                }
                Err(error) => return Err(error),
                Ok(outcome) => {
                    if let MergeOutcome::Merged(_) | MergeOutcome::Noted(_) | MergeOutcome::NothingToMerge(_) = &outcome
                        && let Err(error) = cleanup::clean_up(ctx, task)
                    {
                        // The task is merged all the same: a session tries again, at the latest when it starts.
                        tracing::warn!(%error, %task, "workspace and branch are not cleaned up yet");
                    }
                    return Ok(outcome);
                }
            }
        }
    })
}

fn attempt(ctx: &mut Context, task: &TaskId, allowed: &AllowedGuardedFiles) -> Result<MergeOutcome> {
    ctx.store.refresh()?;
    let planned = plan::plan(ctx, task, allowed)?;
    let (of, case, target, settled) = match planned {
        MergePlan::Merge { of, task: case, target, settled } => (of, case, target, settled),
        MergePlan::Ends(outcome) => return Ok(outcome),
        MergePlan::HasAll { task: case, merged } => {
            if case.merged.is_some() {
                return Ok(MergeOutcome::NothingToMerge(merged));
            }
            // Other processes wrote the agent's objects: they have to be synced before an event refers to them.
            ctx.repo.durability().sync_objects()?;
            ctx.append(Event::TasksChanged { edits: vec![edit(&case, &merged)] })?;
            return Ok(MergeOutcome::Noted(merged));
        }
    };
    let workspace = ctx.state().restorable.workspaces.get(task).map(|workspace| std::path::PathBuf::from(&workspace.path));
    let changes = ctx.repo.history().diff_trees(&of.target, &of.tree)?;
    if let Some(what) = axiom_safety::folders::workspace_submodules::bring_merged(ctx, workspace.as_deref(), &changes, &of.tree)?
    {
        return Ok(MergeOutcome::InTheWay { what });
    }
    if let Some(unverified) = plan::unverified(ctx, &case, &of, &settled)? {
        return Ok(unverified);
    }
    if !settled.is_empty() {
        tell_of_conflict(ctx, task, &settled, ConflictLevel::Trivial);
    }
    let MergeCandidate { branch: work, target: old, tree } = of;
    let commit = ctx.repo.signatures().commit_for_branch(&tree, &[old.clone(), work], &message(ctx, &case))?;
    let mut operation = plan::operation_of(ctx, &case, (&target, old), commit.clone())?;
    let merged = MergedTaskWork { commit, target };
    if ctx.config.checkpoints.before_merge {
        let (record, _) = checkpoint::create_locked(ctx, &CheckpointRequest::by(CheckpointTrigger::BeforeMerge))?;
        operation.safety = Some(record.name);
    }
    env::fault_point("merge.before-journal");
    operation::run(ctx, operation)?;
    let wanted = CheckpointRequest { about: Some(task.clone()), ..CheckpointRequest::by(CheckpointTrigger::AfterMerge) };
    // The merge is done, whether or not this checkpoint can be made.
    if let Err(error) = checkpoint::create_locked(ctx, &wanted) {
        tracing::warn!(%error, "no checkpoint was made after the merge");
    }
    Ok(MergeOutcome::Merged(merged))
}

/// Notes for the hooks that a merge has a conflict, and who settles it.
pub fn tell_of_conflict(ctx: &mut Context, task: &TaskId, files: &[RepoPath], level: ConflictLevel) {
    let files = files.iter().map(ToString::to_string).collect();
    let about = of_task(ctx.state(), task, HookEvent::OnConflict, env::now());
    ctx.hooks.note(about.in_conflict(files, level));
}

/// The merge of a task with the current commits of its branch and the target, with the files in which a conflict was settled by
/// applying its commits one by one; `None` where they conflict or one is missing.
fn merge_of(ctx: &Context, task: &TaskId) -> Result<Option<(MergeCandidate, Vec<RepoPath>)>> {
    let (target, branch) = (ctx.repo.refs().read_ref(&target_branch(ctx)?)?, ctx.repo.refs().read_ref(&branch_of(ctx, task))?);
    let (Some(target), Some(branch)) = (target, branch) else { return Ok(None) };
    Ok(match replay::compute(ctx, &target, &branch)? {
        ComputedMerge::Clean { tree, settled } => Some((MergeCandidate { branch, target, tree }, settled)),
        ComputedMerge::Conflict(_) => None,
    })
}

/// A commit with the result of a merge. No ref ever points to it.
fn result_of(ctx: &Context, task: &TaskId, of: &MergeCandidate) -> Result<Oid> {
    let MergeCandidate { branch, target, tree } = of;
    ctx.repo.merges().commit_tree(tree, &[target.clone(), branch.clone()], &format!("Merge task {task}, to be verified"))
}

/// Which settings of git's do not count in merges into a branch, in words; `None` where all do.
pub fn unheeded_settings(ctx: &Context, target: &RefName) -> Result<Option<String>> {
    let all = ctx.repo.merges().unheeded_merge_settings(target)?;
    Ok((!all.is_empty())
        .then(|| format!("merges of tasks do not follow {}: they are as 'git merge --no-ff' makes them", all.join(", "))))
}

fn edit(task: &Task, merged: &MergedTaskWork) -> TaskChangeSet {
    let changes = vec![TaskFieldChange::Merged(ValueChange::new(task.merged.clone(), Some(merged.clone())))];
    TaskChangeSet { id: task.id.clone(), changes }
}

fn message(ctx: &Context, case: &Task) -> String {
    let state = ctx.state();
    let task = &case.id;
    // The workspace may have been made for another one.
    let agent = state.record.tasks.get(task).and_then(|record| record.last_agent.as_ref());
    let agent = agent.or_else(|| state.restorable.workspaces.get(task).map(|workspace| &workspace.agent));
    let title = case.title.replace(['\n', '\r'], " ");
    match agent {
        Some(agent) => {
            format!("Merge task {task}: {title} #{task} @{agent}\n\nAxiom-Task: {task}\nAxiom-Agent: {agent}\n")
        }
        None => format!("Merge task {task}: {title} #{task}\n\nAxiom-Task: {task}\n"),
    }
}

/// Whether a task counts as merged at a commit that is not its own: the target had all of its work by then. Its own is marked with it, or
/// is a merge of its branch by somebody else, in git's words.
pub fn had_nothing(ctx: &Context, task: &TaskId, merged: &MergedTaskWork) -> bool {
    let Ok(commit) = ctx.repo.objects().read_commit(&merged.commit) else { return false };
    let branch = format!("'{}'", branch_of(ctx, task).short());
    let is_marked = commit_marks::read(&commit.message).tasks.iter().any(|of| of == task.as_str());
    let is_of_its_branch = commit.parents.len() > 1 && commit.message.contains(&branch);
    !is_marked && !is_of_its_branch
}

/// The worktree in which a branch is checked out.
pub(crate) fn checked_out(ctx: &Context, branch: &RefName) -> Result<Option<Worktree>> {
    let entries = ctx.repo.worktrees().list()?.into_iter();
    let mut there = entries.filter(|entry| entry.present && entry.head.as_ref().and_then(Head::branch) == Some(branch));
    Ok(there.next().map(|entry| entry.worktree))
}

/// Refuses while a merge, rebase or similar is in progress there: its outcome would be based on another commit.
pub(crate) fn nothing_in_progress(ctx: &Context, worktree: &Worktree) -> Result<()> {
    match holds_branch(ctx, worktree)? {
        None => Ok(()),
        Some(kind) => {
            let what = format!("a git operation is in progress in '{}'", worktree.path().display());
            Err(Error::new(Code::InTheWay, what).why(kind.words()).hint(format!("end it ({}), and try again", kind.ways_out())))
        }
    }
}

/// The paths of a worktree that differ from its commit, those that are ignored apart.
pub(crate) fn uncommitted(ctx: &Context, worktree: &Worktree) -> Result<Vec<String>> {
    let entries = ctx.repo.index(worktree).status(None)?.into_iter();
    let matters = |kind: &StatusKind| match kind {
        StatusKind::Ignored => false,
        StatusKind::Tracked { .. } | StatusKind::Unmerged | StatusKind::Untracked | StatusKind::NestedRepository => true,
    };
    Ok(entries.filter(|entry| matters(&entry.kind)).map(|entry| entry.path.to_string()).collect())
}
