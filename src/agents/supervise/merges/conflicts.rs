//! A merge that conflicts: given back to an agent, or left to a human (`model::work::endings::conflict` decides).

use super::merge_gates::wait_in_conflict;
use crate::supervise::core::SessionCore;
use crate::supervise::core::desk::SessionDesk;
use crate::supervise::setup::SessionSetup;
use crate::supervise::shown::notice::SessionNotice;
use crate::{merge, repair};
use axiom_base::error::{Code, Error, Result};
use axiom_model::agent::adapter::AdapterPromptKind;
use axiom_model::base::ids::TaskId;
use axiom_model::base::names::{Oid, RepoPath};
use axiom_model::base::text::ValueChange;
use axiom_model::state::event::Event;
use axiom_model::work::endings::conflict::{AssignedConflict, ConflictLevel, ConflictProgramAbility, MOST, level};
use axiom_model::work::endings::failures::SessionStep;
use axiom_model::work::gates::gate;
use axiom_model::work::gates::gate::GateKind;
use axiom_model::work::tasks::task::{TaskChangeSet, TaskFieldChange, TaskStatus};
use axiom_safety::context::handle::Context;
use axiom_safety::folders::workspaces;

/// How many commits of the target are named.
const MOST_COMMITS: usize = 10;

/// Whether a claim to be complete counts that leaves a conflict open.
pub(crate) enum CompletionInConflict {
    /// It does: a human settles the conflict at the gate of the merge.
    Stands,
    /// It does not, and the conflict goes into this round, where it is one of ours.
    IsNone { round: Option<u32> },
}

impl SessionCore<'_> {
    /// Begins the merge in the workspace of a task whose conflict an agent is to settle. Where that is not possible, the agent has to
    /// begin it, and is told so.
    pub(crate) fn begin_merge(&mut self, task: &TaskId) -> Result<()> {
        let target = self.setup.target()?.clone();
        if self.setup.options.programs.of(self.desk.ctx.state().task(task)?).prompt != AdapterPromptKind::Prompt {
            return Ok(());
        }
        let Some((_, commit)) = merge::merge_in_workspace::to_settle(self.desk.ctx, task, &target)? else { return Ok(()) };
        // A full disk or a lock may have left an operation of ours open.
        for what in repair::finish_unasked(self.desk.ctx)? {
            self.desk.tell(SessionNotice::Recovered { what });
        }
        let begun = merge::merge_in_workspace::begin(self.desk.ctx, task, (&target, &commit)).or_else(|error| {
            let waits = || Error::new(Code::Busy, "its merge driver is at work");
            self.drivers.waits_for(&mut self.desk, &self.bell, SessionStep::Start, task, error).and_then(|()| Err(waits()))
        });
        match begun {
            Err(error) if error.passes() || error.is_everybodys() => Err(error),
            Err(error) if self.desk.ctx.state().record.open.is_some() => Err(error),
            Err(error) => {
                self.desk.warn(format!("the merge of {} is not begun in the workspace of {task}: {error}", target.short()));
                Ok(())
            }
            Ok(is_begun) => {
                tracing::info!(%task, is_begun, "a conflict is to be settled");
                Ok(())
            }
        }
    }
}

/// Decides who settles a conflict, tells the hooks, and does it.
pub(crate) fn settle_conflict(
    desk: &mut SessionDesk<'_>,
    setup: &SessionSetup,
    task: &TaskId,
    files: &[RepoPath],
    target: Oid,
) -> Result<()> {
    let state = desk.ctx.state();
    let program = match setup.options.programs.of(state.task(task)?).prompt {
        AdapterPromptKind::Prompt => ConflictProgramAbility::ReadsPrompts,
        AdapterPromptKind::Script => ConflictProgramAbility::RunsScript,
    };
    let rounds = state.record.tasks.get(task).and_then(|record| record.conflict.as_ref()).map_or(0, |known| known.round);
    // Whoever approved it at a gate has settled it, or wants to be asked again.
    let was_asked = desk.gate(GateKind::Merge, task).is_some_and(|gate| gate::is_of_conflict(&gate.reason));
    let level = if was_asked { ConflictLevel::Human } else { level(program, rounds, desk.ctx.config.recovery.max_retries) };
    merge::tell_of_conflict(desk.ctx, task, files, level);
    match level {
        ConflictLevel::Agent => give_back(desk, setup, task, files, target, rounds + 1),
        ConflictLevel::Trivial | ConflictLevel::Human => {
            let work = desk.ctx.repo.refs().read_ref(&workspaces::branch_of(desk.ctx, task))?;
            wait_in_conflict(desk, (task, work), gate::conflicts(task, setup.target()?.short()), files)
        }
    }
}

/// What follows where an iteration claims to be complete and leaves a conflict open: another round of the conflict, counted with the
/// end of the iteration; after enough of them the merge is left to a human, at its gate.
pub(crate) fn claim_in_conflict(ctx: &Context, task: &TaskId) -> CompletionInConflict {
    let known = ctx.state().record.tasks.get(task).and_then(|record| record.conflict.as_ref());
    // A merge that the agent began by itself is its own affair.
    let Some(conflict) = known else { return CompletionInConflict::IsNone { round: None } };
    match level(ConflictProgramAbility::ReadsPrompts, conflict.round, ctx.config.recovery.max_retries) {
        ConflictLevel::Trivial | ConflictLevel::Human => CompletionInConflict::Stands,
        ConflictLevel::Agent => CompletionInConflict::IsNone { round: Some(conflict.round + 1) },
    }
}

/// Makes the task pending again, with the conflict for its next iteration.
fn give_back(
    desk: &mut SessionDesk<'_>,
    setup: &SessionSetup,
    task: &TaskId,
    files: &[RepoPath],
    target: Oid,
    round: u32,
) -> Result<()> {
    let Some(branch) = desk.ctx.repo.refs().read_ref(&workspaces::branch_of(desk.ctx, task))? else { return Ok(()) };
    let shown = &files[..files.len().min(MOST)];
    let theirs = desk.ctx.repo.history().log_of_paths(&branch, &target, shown, MOST_COMMITS)?.into_iter();
    let theirs = theirs.map(|commit| {
        let tasks = if commit.tasks.is_empty() { String::new() } else { format!(" (task {})", commit.tasks.join(", ")) };
        format!("{} {}{tasks}", commit.oid.short(), commit.subject)
    });
    let files = shown.iter().map(ToString::to_string).collect();
    let conflict = Box::new(AssignedConflict { target, branch, files, theirs: theirs.collect(), round });
    desk.act()?;
    desk.ctx.append_with(|state| {
        // A human may have changed the task meanwhile.
        let still = state.restorable.tasks.get(task).is_some_and(|case| case.status == TaskStatus::Done && case.merged.is_none());
        let changes = vec![TaskFieldChange::Status(ValueChange::new(TaskStatus::Done, TaskStatus::Pending))];
        let pending = Event::TasksChanged { edits: vec![TaskChangeSet { id: task.clone(), changes }] };
        Ok(if still { vec![Event::ConflictGivenBack { id: task.clone(), conflict }, pending] } else { Vec::new() })
    })?;
    desk.warn(format!("{task} conflicts with {}, and is given back to an agent", setup.target()?.short()));
    desk.close_gate(GateKind::Merge, task, "given back to an agent")
}
