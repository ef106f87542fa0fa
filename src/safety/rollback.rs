//! Rolling back to a checkpoint: safety checkpoint, journal, worktrees, refs, workspaces, state. Plans and previews are in
//! the files of the folder; carrying them out is in `operation`.

mod beside_worktree;
mod exact_name;
mod gone_worktrees;
mod left_alone;
mod newest_differing;
mod no_change;
mod not_restored;
mod one_worktree;
mod own_worktrees;
pub mod plan;
pub(crate) mod preview;
pub(crate) mod preview_lines;
mod refs;
mod removed_commits;
pub mod replaced_bytes;
mod some_paths;
pub(crate) mod submodules;
mod to_prompt;
pub mod workspace;
pub(crate) mod worktree;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::checkpoint;
use crate::checkpoint::{CheckpointCaptures, CheckpointRequest};
use crate::context::handle::Context;
use crate::operation;
use crate::operation::stop_agents;
use crate::operation::stop_agents::PausedForOperation;
use crate::upkeep::mend::locks;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_git::{ChangeAttempt, MovedObstacle, WorktreeRestore};
use axiom_model::base::ids::{CheckpointName, GateId, OperationId, TaskId};
use axiom_model::base::names::Oid;
use axiom_model::base::text::ValueChange;
use axiom_model::checkpoint::document::CheckpointDocument;
use axiom_model::checkpoint::record::CheckpointRecord;
use axiom_model::checkpoint::trigger::CheckpointTrigger;
use axiom_model::journal::journaled::JournaledOperation;
use axiom_model::journal::journaled_changes::{GateChange, SubmoduleChange, WorktreeChange};
use axiom_model::operation::rollback as rules;
use axiom_model::work::gates::gate::AfterHalt;
use axiom_model::work::restorable::standing_changes::TaskStandingChanges;
use axiom_model::work::sessions::session::SessionMode;
use axiom_model::work::tasks::task::{TaskChangeSet, TaskStatus};

use self::beside_worktree::BesideWorktree;
use self::own_worktrees::OwnWorktreesFate;
use crate::operation::planned_changes::FileLossLine;
pub use crate::operation::stop_agents::StoppedAgentLine;
pub use exact_name::named_exactly;
pub use newest_differing::{NewestDifferingCheckpoint, is_file as is_file_or_held, newest_differing};
pub use no_change::may_change_nothing;
pub use preview::{EarlierCaptureLine, MissingWorktreeLine, RemovedCommitLine, RollbackPreview, UnrestoredPathLine};
pub use preview_lines::ref_lines::{MovedRefLine, UnrestoredRefLine};
pub use refs::LocalRefsPolicy;
pub use to_prompt::PromptRollback;

/// A completed rollback.
#[derive(Debug)]
pub struct RollbackReport {
    /// What it did.
    pub preview: RollbackPreview,
    /// The checkpoint made before it.
    pub safety: CheckpointName,
    /// Its transaction id, for `undo`.
    pub txn: OperationId,
    /// Files that no capture held and that were in the way: they are in the trash.
    pub moved_aside: Vec<MovedObstacle>,
    /// The gates at which tasks wait because of the rollback.
    pub gates: Vec<GateId>,
    /// Whether the supervisor was paused for the rollback and has been resumed.
    pub resumed: bool,
}

/// A request for a rollback.
#[derive(Debug, Clone, Copy)]
pub struct RollbackRequest<'a> {
    /// The checkpoint: its name, or a unique prefix of it.
    pub name: &'a str,
    /// Which part of the checkpoint is restored.
    pub part: RollbackScope<'a>,
    /// What happens to local refs; where only a part is restored they stay.
    pub refs: LocalRefsPolicy,
    /// What happens to tasks whose work has to be done again.
    pub afterwards: AfterHalt,
    /// The mode afterwards; without one it is that of the checkpoint, unless that asks less than the present one.
    pub mode: Option<SessionMode>,
}

/// The part of a checkpoint that is restored.
#[derive(Debug, Clone, Copy)]
pub enum RollbackScope<'a> {
    /// Everything that a checkpoint restores; the user's own linked worktrees stay.
    Whole,
    /// These too.
    Everywhere,
    /// One worktree: its files, index, HEAD and branch. Everything else stays as it is.
    Worktree(&'a Path),
    /// Files and folders of one worktree, and nothing else.
    Paths(&'a [PathBuf]),
    /// What a prompt to an attached agent may have changed.
    Prompt(&'a PromptRollback),
}

impl RollbackRequest<'_> {
    fn plan(
        &self,
        ctx: &Context,
        (record, document): (&CheckpointRecord, &CheckpointDocument),
        now: &CheckpointCaptures,
    ) -> Result<plan::RollbackPlan> {
        match self.part {
            RollbackScope::Paths(paths) => some_paths::make(ctx, (record, document), now, paths, BesideWorktree::NOTHING),
            RollbackScope::Worktree(path) => one_worktree::make(ctx, (record, document), now, path, BesideWorktree::NOTHING),
            RollbackScope::Prompt(part) => to_prompt::make(ctx, (record, document), now, part, self.refs),
            RollbackScope::Whole => {
                let own = OwnWorktreesFate::of_session(ctx.state().record.session.as_ref(), record, document);
                let plan = plan::make(ctx, record, document, now, (self.refs, self.mode, own))?;
                left_alone::refuse_from_there(ctx, document, now, &plan.operation)?;
                Ok(plan)
            }
            RollbackScope::Everywhere => {
                plan::make(ctx, record, document, now, (self.refs, self.mode, OwnWorktreesFate::GoBackToo))
            }
        }
    }

    /// Whether the rollback may change worktrees that agents work in.
    fn stops_agents(&self, ctx: &Context) -> bool {
        match self.part {
            RollbackScope::Whole | RollbackScope::Everywhere | RollbackScope::Worktree(_) => true,
            RollbackScope::Paths(paths) => some_paths::are_in_workspaces(ctx, paths),
            RollbackScope::Prompt(part) => {
                part.takes_head || some_paths::are_in_workspaces(ctx, std::slice::from_ref(&part.worktree))
            }
        }
    }
}

/// Previews a rollback to a checkpoint. Changes nothing.
///
/// # Errors
/// `UNKNOWN_CHECKPOINT`, `AMBIGUOUS_NAME`, `CHECKPOINT_DAMAGED`, `BRANCH_IN_USE`, `OPERATION_OPEN`; those of a capture and
/// of [`operation::rehearse`]; `INVALID_INPUT` where the current worktree is one that the checkpoint holds and that would
/// stay as it is.
pub fn preview(ctx: &Context, wish: RollbackRequest<'_>) -> Result<RollbackPreview> {
    ctx.no_open_operation()?;
    let (record, document) = target(ctx, wish.name)?;
    let captured = checkpoint::capture_all(ctx)?;
    let plan = wish.plan(ctx, (&record, &document), &captured)?;
    operation::rehearse(ctx, &plan.operation)?;
    let mut preview = plan.preview;
    if wish.stops_agents(ctx) {
        preview.changes.agents = stop_agents::at_work(ctx)?;
    }
    let stopped = preview.changes.agents.iter().map(|agent| agent.task_id.clone()).collect();
    let (standing, held) = of_tasks(ctx, &plan.operation, wish, &stopped);
    preview.changes.add_standing(ctx.state(), &plan.operation, (&standing, &held));
    preview.changes_nothing = preview.changes.agents.is_empty() && no_change::changes_nothing(ctx, &plan.operation, &captured)?;
    for change in &plan.operation.worktrees {
        preview.moves_aside.extend(in_the_way(ctx, change, &captured)?);
    }
    for change in &plan.operation.submodules {
        preview.moves_aside.extend(in_the_way_in_submodule(ctx, change, &captured)?);
    }
    Ok(preview)
}

/// The agents that a rollback would stop now.
pub fn agents_at_work(ctx: &Context) -> Result<Vec<StoppedAgentLine>> {
    stop_agents::at_work(ctx)
}

/// Checks that no agent has to be stopped.
///
/// # Errors
/// `BUSY` where one is at work, or where a session runs, which may start one at any moment.
pub fn nobody_works(ctx: &mut Context) -> Result<()> {
    stop_agents::nobody_works(ctx).map(drop)
}

/// The files that no capture holds and that will be moved to the trash.
fn in_the_way(ctx: &Context, change: &WorktreeChange, captured: &CheckpointCaptures) -> Result<Vec<FileLossLine>> {
    let Some(now) = captured.worktree_at(&change.path) else { return Ok(Vec::new()) };
    let then = operation::extras_of(&ctx.repo, change.captures.new.as_ref())?;
    let (from, to, beside) = (&change.files.old, &change.files.new, Some(ValueChange::new(&now.capture.extras, &then)));
    let trash = crate::folders::trash::root(ctx)?;
    let restore = WorktreeRestore { worktree: &now.worktree, from, to, trash: &trash, attempt: ChangeAttempt::First, beside };
    let paths = ctx.repo.restore().in_the_way(&restore)?.into_iter();
    Ok(paths.map(|path| FileLossLine { worktree: change.path.clone(), path }).collect())
}

fn in_the_way_in_submodule(ctx: &Context, change: &SubmoduleChange, captured: &CheckpointCaptures) -> Result<Vec<FileLossLine>> {
    let Some(now) = captured.submodule_at(&change.worktree.path) else { return Ok(Vec::new()) };
    let SubmoduleChange { worktree: WorktreeChange { path, files, captures, .. }, .. } = change;
    let then = operation::extras_of(&now.repo, captures.new.as_ref())?;
    let (from, to, beside) = (&files.old, &files.new, Some(ValueChange::new(&now.present.capture.extras, &then)));
    let trash = crate::folders::trash::root(ctx)?;
    let restore =
        WorktreeRestore { worktree: &now.present.worktree, from, to, trash: &trash, attempt: ChangeAttempt::First, beside };
    let paths = now.repo.restore().in_the_way(&restore)?.into_iter();
    Ok(paths.map(|inside| FileLossLine { worktree: path.clone(), path: inside }).collect())
}

/// Rolls back to a checkpoint. If [`may_change_nothing`], the caller runs [`preview()`] first, so that no safety checkpoint
/// is made for nothing, or for a mistyped path. Running agents are stopped first; without `stop`, they are an error. A
/// supervisor that was paused for the rollback is resumed afterwards. When this returns, all of it survives a power loss. A
/// crash leaves nothing changed, or an operation that `rollback --continue` or `--abort` ends.
///
/// # Errors
/// As [`preview`]; `BUSY` where agents do not stop, or are running without `stop`; `CHANGED_MEANWHILE` where another process
/// edits files at this very moment.
pub fn to_checkpoint(ctx: &mut Context, wish: RollbackRequest<'_>, stop: bool) -> Result<RollbackReport> {
    ctx.no_open_operation()?;
    target(ctx, wish.name)?;
    let (mut agents, mut paused) = (Vec::new(), PausedForOperation::Nothing);
    if wish.stops_agents(ctx) {
        agents = stop_agents::at_work(ctx)?;
        paused = if stop { stop_agents::stop_agents(ctx)? } else { stop_agents::nobody_works(ctx)? };
    }
    let stopped = agents.iter().map(|agent| agent.task_id.clone()).collect();
    let outcome = ctx.with_change_lock(|ctx| locked(ctx, wish, &stopped));
    let resumed = match paused {
        PausedForOperation::BySupervisor => stop_agents::resume(ctx).map(|()| true),
        PausedForOperation::Nothing => Ok(false),
    };
    let mut done = outcome?;
    done.resumed = resumed?;
    // The preview shows these tasks as they were before their agents were stopped.
    for task in agents
        .iter()
        .map(|agent| &agent.task_id)
        .filter(|_| matches!(wish.part, RollbackScope::Whole | RollbackScope::Everywhere))
    {
        let to = ctx.state().restorable.tasks.get(task).map(|case| case.status);
        let Some(to) = to else { continue };
        let tasks = &mut done.preview.changes.tasks;
        let place = tasks.iter().position(|edit| edit.id == *task).unwrap_or_else(|| {
            tasks.push(TaskChangeSet { id: task.clone(), changes: Vec::new() });
            tasks.len() - 1
        });
        tasks[place].begins_with(TaskStatus::Active, to);
    }
    done.preview.changes.agents = agents;
    Ok(done)
}

fn locked(ctx: &mut Context, wish: RollbackRequest<'_>, stopped: &BTreeSet<TaskId>) -> Result<RollbackReport> {
    ctx.no_open_operation()?;
    let (record, document) = find(ctx, wish.name)?;
    let (safety, captured) = checkpoint::create_locked(ctx, &CheckpointRequest::by(CheckpointTrigger::BeforeRollback))?;
    env::fault_point("rollback.safe");
    let mut plan = wish.plan(ctx, (&record, &document), &captured)?;
    plan.operation.safety = Some(safety.name.clone());
    let (standing, held) = of_tasks(ctx, &plan.operation, wish, stopped);
    plan.preview.changes.add_standing(ctx.state(), &plan.operation, (&standing, &held));
    plan.operation.gates = held;
    for worktree in &mut plan.operation.worktrees {
        let main = ctx.repo.worktrees().main_worktree()?;
        if std::path::Path::new(&worktree.path) == main.path() {
            worktree.captures.old = Some(safety.capture.clone());
        }
    }
    replaced_bytes::keep_bytes_replaced(ctx, &mut plan.operation, &captured)?;
    let gates = plan.operation.opened_gates();
    let done = operation::run(ctx, plan.operation)?;
    let txn = ctx.txn().clone();
    Ok(RollbackReport { preview: plan.preview, safety: safety.name, txn, moved_aside: done.moved_aside, gates, resumed: false })
}

/// What a rollback changes of what was reported of tasks and where they wait; and the gates that it opens and closes itself.
fn of_tasks(
    ctx: &Context,
    operation: &JournaledOperation,
    wish: RollbackRequest<'_>,
    stopped: &BTreeSet<TaskId>,
) -> (TaskStandingChanges, Vec<GateChange>) {
    let now = &ctx.state().restorable;
    let Some(then) = operation.restores(now) else { return (TaskStandingChanges::default(), Vec::new()) };
    let held = rules::gates(now, &then, stopped, wish.afterwards, env::now());
    (TaskStandingChanges::between(now, &then), held)
}

fn find(ctx: &Context, name: &str) -> Result<(CheckpointRecord, CheckpointDocument)> {
    let record = checkpoint::find(ctx, name)?;
    let document = checkpoint::read_document(ctx, &record)?;
    Ok((record, document))
}

/// The checkpoint, after a check that all of its objects exist: it must be readable before anything is changed.
fn target(ctx: &Context, name: &str) -> Result<(CheckpointRecord, CheckpointDocument)> {
    let (record, document) = find(ctx, name)?;
    if is_whole(ctx, &record, &document) {
        return Ok((record, document));
    }
    let git = ctx.repo.git().args(["rev-list", "--objects", "--quiet", record.capture.as_str()]);
    let git = match &document.git_commit {
        Some(commit) => git.args(["--not", commit.as_str()]),
        None => git,
    };
    let output = git.run()?;
    if !output.ok() {
        return Err(Error::new(Code::CheckpointDamaged, format!("objects of checkpoint '{}' are missing", record.name))
            .because(output.error())
            .hint("git fsck    shows which; nothing was changed"));
    }
    Ok((record, document))
}

/// Whether all objects exist that a rollback reads: those in which the files and index of each capture differ from the
/// commit that was checked out, and the trees of other commits. Takes time only for what differs. Returns no reason: git
/// reports what is missing.
fn is_whole(ctx: &Context, record: &CheckpointRecord, document: &CheckpointDocument) -> bool {
    let Some(base) = &document.git_commit else { return false };
    let captures = std::iter::once(&record.capture).chain(document.workspaces.iter().map(|workspace| &workspace.capture));
    let whole = |capture: &Oid| {
        let Ok(commit) = ctx.repo.objects().read_commit(capture) else { return false };
        ctx.repo.history().has_difference(base, capture)
            && commit.parents.iter().all(|parent| ctx.repo.history().has_difference(base, parent))
    };
    captures.into_iter().all(whole) && document.refs.values().all(|commit| ctx.repo.history().has_difference(base, commit))
}

/// Finishes the interrupted operation, or reverses it where that fails; `None` where there is none.
///
/// # Errors
/// Only errors that pass by waiting (`GIT_LOCKED`, `DISK_FULL`, `BUSY`), and an outcome that cannot be recorded; the
/// operation stays open.
pub fn go_on(ctx: &mut Context) -> Result<Option<operation::EndedOperation>> {
    ctx.with_change_lock(operation::end_open)
}

/// Reverses the interrupted operation; `None` where there is none. Lock files of dead git processes are removed first where
/// they block it.
///
/// # Errors
/// Only errors that pass by waiting (`GIT_LOCKED`, `DISK_FULL`, `BUSY`), and an outcome that cannot be recorded; the
/// operation stays open.
pub fn abort(ctx: &mut Context) -> Result<Option<operation::EndedOperation>> {
    let reverse = |ctx: &mut Context| operation::reverse_open(ctx, "asked for");
    match ctx.with_change_lock(reverse) {
        Err(error) if error.code() == Code::GitLocked => {
            locks::clear_dead_locks(ctx)?;
            ctx.with_change_lock(reverse)
        }
        outcome => outcome,
    }
}
