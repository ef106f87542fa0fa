//! An iteration whose work could not be committed: what follows, and repairs of its workspace.

use super::keeping::{IterationCommit, MOST_FILES, is_folder_gone};
use crate::supervise::core::desk::SessionDesk;
use crate::supervise::core::failures::{StepFailures, reason_of};
use crate::supervise::core::task_memory::TaskMemory;
use crate::supervise::iterations::workplace::workplace;
use crate::supervise::merges::conflicts::{CompletionInConflict, claim_in_conflict};
use crate::supervise::shown::notice::SessionNotice;
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::ids::TaskId;
use axiom_model::base::names::Oid;
use axiom_model::work::endings::failures::{FailureResponse, SessionStep, StepFailureCounts, what_follows};
use axiom_model::work::endings::outcome::{AgentProgramEnd, IterationBranchChange, with_open_conflicts};
use axiom_model::work::iteration::IterationOutcome;
use axiom_model::work::tasks::task::Task;
use axiom_safety::context::handle::Context;
use axiom_safety::folders::workspaces;

impl TaskMemory {
    /// Repairs the git data of a workspace (branch, index), where its files are not the problem; returns whether anything
    /// was repaired.
    fn mend_contents(&mut self, desk: &mut SessionDesk<'_>, task: &Task) -> Result<bool> {
        let Some(workspace) = desk.ctx.state().restorable.workspaces.get(&task.id).cloned() else { return Ok(false) };
        if self.mended.contains(&task.id) {
            return Ok(false);
        }
        let mended = desk.ctx.with_change_lock(|ctx| workspaces::mend_contents(ctx, &workspace));
        if mended.is_ok() {
            self.mended.insert(task.id.clone());
        }
        match mended {
            Ok(Some(what)) => {
                desk.tell(SessionNotice::Recovered { what: format!("the workspace '{}' {what}", workspace.path) });
                Ok(true)
            }
            Ok(None) => Ok(false),
            Err(error)
                if what_follows(SessionStep::Finish, error.code(), StepFailureCounts::default())
                    == FailureResponse::EndSession =>
            {
                Err(error)
            }
            Err(error) => {
                desk.warn(format!("the workspace '{}' could not be repaired: {error}", workspace.path));
                Ok(false)
            }
        }
    }
}

/// What follows where the work could not be committed.
fn not_committed(
    desk: &mut SessionDesk<'_>,
    failures: &mut StepFailures,
    tasks: &mut TaskMemory,
    end: &AgentProgramEnd,
    outcome: IterationOutcome,
    error: Error,
    task: &Task,
) -> Result<CommitFailureOutcome> {
    let unproved = *end == AgentProgramEnd::Unproved;
    let ended = |outcome, broken| Ok(CommitFailureOutcome::Ended(outcome, broken));
    let unfinished = |why| IterationOutcome::Unfinished { why };
    if error.code() == Code::MergeConflict {
        let open = |outcome| with_open_conflicts(outcome, error.to_string());
        return Ok(match claim_in_conflict(desk.ctx, &task.id) {
            _ if outcome != IterationOutcome::Complete => CommitFailureOutcome::InConflict(open(outcome), None),
            CompletionInConflict::Stands => CommitFailureOutcome::InConflict(outcome, None),
            CompletionInConflict::IsNone { round } => CommitFailureOutcome::InConflict(open(outcome), round),
        });
    }
    if !unproved && is_folder_gone(desk.ctx, task) {
        return ended(unfinished("its workspace is gone, with what was not committed".to_owned()), None);
    }
    match failures.decide(desk, SessionStep::Finish, &task.id, &error) {
        FailureResponse::EndSession => Err(error),
        FailureResponse::Wait { after } => {
            failures.delay(desk, SessionStep::Finish, &task.id, &error, after).map(|()| CommitFailureOutcome::Yet)
        }
        FailureResponse::Again | FailureResponse::GoOn | FailureResponse::Answer => {
            ended(if unproved { outcome } else { unfinished(error.to_string()) }, None)
        }
        FailureResponse::Retry { after } => {
            if !unproved && tasks.mend_contents(desk, task)? {
                return ended(unfinished(cannot_be_committed(&error)), None);
            }
            failures.delay(desk, SessionStep::Finish, &task.id, &error, after).map(|()| CommitFailureOutcome::Yet)
        }
        // The agent's commits may be as incomplete as its files.
        FailureResponse::Gate(_) | FailureResponse::Block if unproved => ended(
            IterationOutcome::Blocked { reason: format!("what was left when the machine stopped is incomplete: {error}") },
            None,
        ),
        // The agent did something unforeseen, and a human has to look at it.
        FailureResponse::Gate(_) | FailureResponse::Block => {
            let why = cannot_be_committed(&error);
            // A filter is nothing that can be repaired here.
            let is_mended = error.code() != Code::FilterFailed && tasks.mend_contents(desk, task)?;
            let broken = (!is_mended).then(|| why.clone());
            ended(unfinished(why), broken)
        }
    }
}

/// How the iteration ended with what was committed of its work; `None` where that is tried again later: its end is recorded by the
/// keeper and is handled again.
pub(crate) fn committed(
    desk: &mut SessionDesk<'_>,
    failures: &mut StepFailures,
    tasks: &mut TaskMemory,
    kept: Result<IterationCommit>,
    end: &AgentProgramEnd,
    outcome: IterationOutcome,
    (task, from): (&Task, &Oid),
) -> Result<Option<CommittedIteration>> {
    let error = match kept {
        Ok(kept) => {
            let left = if kept.to == *from { IterationBranchChange::Unchanged } else { IterationBranchChange::Changed };
            return Ok(Some(CommittedIteration { outcome, broken: None, kept, left }));
        }
        Err(error) => error,
    };
    Ok(match not_committed(desk, failures, tasks, end, outcome, error, task)? {
        CommitFailureOutcome::Yet => None,
        CommitFailureOutcome::Ended(outcome, broken) => {
            let (kept, left) = (IterationCommit::nothing(from), IterationBranchChange::Unchanged);
            Some(CommittedIteration { outcome, broken, kept, left })
        }
        CommitFailureOutcome::InConflict(outcome, conflict_round) => {
            let left_out = left_in_conflict(desk.ctx, &task.id);
            let kept = IterationCommit { conflict_round, left_out, ..IterationCommit::nothing(from) };
            Some(CommittedIteration { outcome, broken: None, kept, left: IterationBranchChange::InConflict })
        }
    })
}

/// What an iteration that left a conflict open has left uncommitted: its next one finds the same, and may go on from there.
fn left_in_conflict(ctx: &Context, task: &TaskId) -> Vec<String> {
    let workspace = ctx.state().restorable.workspaces.get(task);
    let place = workspace.and_then(|workspace| workplace(ctx, workspace).ok());
    let changes = place.and_then(|place| place.changes).unwrap_or_default();
    changes.iter().take(MOST_FILES).map(|path| format!("{path} (a conflict is open)")).collect()
}

fn cannot_be_committed(error: &Error) -> String {
    let reason = reason_of(error);
    let next = if error.hints().is_empty() { " (look at it: git status, in its workspace)" } else { "" };
    format!("what it left cannot be committed: {reason}{next}")
}

/// What follows where the work of an iteration could not be committed.
enum CommitFailureOutcome {
    /// It is tried again later.
    Yet,
    /// The iteration has ended with this outcome; with a problem that a human has to look at before the next one.
    Ended(IterationOutcome, Option<String>),
    /// The iteration has ended with this outcome and left a conflict open; with the round of the conflict that follows, where it is
    /// another one.
    InConflict(IterationOutcome, Option<u32>),
}

/// An iteration whose work was committed as far as possible.
pub(crate) struct CommittedIteration {
    pub(crate) outcome: IterationOutcome,
    /// A problem that a human has to look at before the next iteration.
    pub(crate) broken: Option<String>,
    pub(crate) kept: IterationCommit,
    pub(crate) left: IterationBranchChange,
}
