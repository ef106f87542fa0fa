//! The journal: an event says what an operation is going to change, before its first change. So a crash at any instruction
//! leaves a state that can be finished or reversed.
//!
//! The order of the steps is fixed: a ref keeps what would be lost; workspaces go to the trash; worktrees, checked-out
//! branches and refs move; workspaces come back; the outcome event is appended. Each step finds out whether it was done
//! already. The caller holds the change lock.

mod asides;
pub mod branches;
mod bytes;
mod check;
pub(crate) mod differences;
pub mod in_progress;
mod keep_ref;
mod mounts;
pub mod planned_changes;
pub mod recorded_head;
pub(crate) mod staged;
pub mod standing_lines;
pub(crate) mod step_parts;
mod steps;
pub mod stop_agents;
pub(crate) mod submodules;
pub(crate) mod submodules_again;
mod trash_folders;
mod workspaces;

use crate::context::handle::Context;
use crate::operation::step_parts::worktree_step::OperationContents;
use crate::upkeep::tidy;
use axiom_base::error::{Code, Error, Result, some_of};
use axiom_base::own_process::end_signals::finish_first;
use axiom_base::{env, files};
use axiom_git::ChangeAttempt;
use axiom_model::base::ids::{OperationId, TaskId};
use axiom_model::base::names::{Oid, RefName};
use axiom_model::journal::journaled::{JournaledOperation, OperationEnd};
use axiom_model::journal::journaled_changes::TrashChange;
use axiom_model::state::current_state::{OpenOperation, State};
use axiom_model::state::event::Event;
use axiom_model::state::event_envelope::EventAuthor;
use axiom_model::state::settle::OperationSettlement;
use axiom_model::work::gates::gate::{Gate, GateKind, is_of_conflict};
use axiom_model::work::restorable::restorable_changes::RestorableChanges;
use axiom_model::work::tasks::task::{TaskChangeSet, TaskFieldChange, TaskStatus};
use axiom_store::beside::attach::AttachFiles;

/// How many paths an error names.
const NAMED: usize = 10;

pub(crate) use bytes::{files_named, files_of, with_bytes_known};
pub(crate) use keep_ref::{KeepRefContents, name_of as kept_ref};
pub use step_parts::steps_report::OperationStepsReport;
pub use step_parts::worktree_step::{capture_with, extras_of};
pub(crate) use steps::is_there;
pub(crate) use workspaces::is_made_again;

/// An operation that was open and has ended.
#[derive(Debug)]
pub struct EndedOperation {
    /// The operation as it was while open.
    pub open: OpenOperation,
    /// Where it was reversed: what another process changed meanwhile, which was left as it is.
    pub left: Vec<String>,
    /// Where it was reversed: what could not be put back, and why.
    pub not_put_back: Vec<String>,
    /// Why it was reversed, where it was to be finished.
    pub turned_back: Option<Error>,
}

/// Checks that everything is as the operation expects; changes nothing.
///
/// # Errors
/// `CHANGED_MEANWHILE`, `IN_THE_WAY`, `PERMISSIONS_LOST`, `GIT_LOCKED`, `GIT_FAILED`, `WORKSPACE_IN_THE_WAY`,
/// `WORKSPACE_BROKEN`, `HOLDS_MOUNT`.
pub fn check(ctx: &Context, operation: &JournaledOperation) -> Result<()> {
    check::expectations(ctx, operation)
}

/// As [`check`]; for a preview, also checks that the contents to be written can be made.
pub fn rehearse(ctx: &Context, operation: &JournaledOperation) -> Result<()> {
    check::expectations(ctx, operation)?;
    check::contents(ctx, operation)
}

/// Checks that everything is as the operation expects, then records the operation and carries it out, in this context's
/// transaction. When this returns, the changes survive a power loss. A crash leaves nothing changed or an open operation.
///
/// # Errors
/// Those of [`check`], `OPERATION_OPEN`, and those of the steps: nothing was changed, or everything was put back; the error
/// names what could not be. Only where the reversal has to wait (for disk space, or a lock of git's), the operation stays
/// open, for `rollback --abort`.
pub fn run(ctx: &mut Context, operation: JournaledOperation) -> Result<OperationStepsReport> {
    let done = begin_and_finish(ctx, &operation)?;
    // Signals that ask us to end need not wait for this.
    tidy::when_due(ctx);
    Ok(done)
}

fn begin_and_finish(ctx: &mut Context, operation: &JournaledOperation) -> Result<OperationStepsReport> {
    ctx.no_open_operation()?;
    check::expectations(ctx, operation)?;
    trash_folders::make(ctx, operation, ctx.txn())?;
    let ready = OperationContents::stage(ctx, operation, &ctx.txn().clone())?;
    // Before the event that names the ref: a crash in between leaves a ref that is released with the others.
    keep_ref::keep(ctx, operation, &ctx.txn().clone())?;
    let _finish_first = finish_first();
    env::fault_point("journal.before-begin");
    ctx.append(Event::OperationBegan { operation: Box::new(operation.clone()) })?;
    env::fault_point("journal.begun");
    let txn = ctx.txn().clone();
    match steps::carry_out(ctx, operation, &txn, ChangeAttempt::First, &ready) {
        Ok(done) => {
            let moved = asides::moved_aside(ctx, operation, &txn);
            moved.and_then(|moved| end(ctx, OperationEnd::Done, moved)).map_err(not_written_down)?;
            Ok(done)
        }
        Err(error) => {
            // The reversal may need the disk space.
            drop(ready);
            match reverse_open(ctx, &error.to_string()) {
                Ok(ended) => Err(put_back(error, ended.as_ref())),
                Err(second) => Err(left_open(error, &second)),
            }
        }
    }
}

/// The error of the failed step, with hints on what became of everything that was changed before.
pub fn put_back(error: Error, ended: Option<&EndedOperation>) -> Error {
    let Some(EndedOperation { open, left, not_put_back, .. }) = ended else { return error };
    if left.is_empty() && not_put_back.is_empty() {
        return error.hint("everything was put back");
    }
    let mut error = error.hint("everything was put back, except:");
    if !left.is_empty() {
        error = error.hint(format!("changed by another process meanwhile, and left alone: {}", some_of(left, NAMED)));
    }
    if !not_put_back.is_empty() {
        error = error.hint(format!("could not be put back: {}", some_of(not_put_back, NAMED)));
    }
    match open.operation.safety.as_ref().filter(|_| !not_put_back.is_empty()) {
        Some(safety) => error.hint(format!("git axiom rollback checkpoint {safety}    restores it, once the cause is removed")),
        None => error,
    }
}

fn not_written_down(error: Error) -> Error {
    error
        .context("everything was changed, but the outcome could not be recorded")
        .hint("git axiom rollback --continue    records it")
        .hint("git axiom rollback --abort    puts everything back")
}

fn left_open(error: Error, second: &Error) -> Error {
    error
        .hint(format!("putting everything back failed too: {second}"))
        .hint("git axiom rollback --abort    puts everything back")
        .hint("git axiom rollback --continue    tries to finish it")
}

/// Finishes an interrupted operation (or its reversal) and returns it; `None` where none is open. Repeating it, also after a
/// crash, changes nothing more.
pub fn finish_open(ctx: &mut Context) -> Result<Option<EndedOperation>> {
    let Some(open) = ctx.state().record.open.clone() else { return Ok(None) };
    let _finish_first = finish_first();
    if open.reversing {
        return reverse_steps(ctx, open).map(Some);
    }
    in_transaction(ctx, &open.txn, |ctx| {
        steps::carry_out(ctx, &open.operation, &open.txn, ChangeAttempt::Again, &OperationContents::default())?;
        let moved = asides::moved_aside(ctx, &open.operation, &open.txn)?;
        end(ctx, OperationEnd::Done, moved)
    })?;
    Ok(Some(EndedOperation { open, left: Vec::new(), not_put_back: Vec::new(), turned_back: None }))
}

/// As [`finish_open`], but reverses what cannot be finished, so that the operation ends either way.
///
/// # Errors
/// Only errors that pass by waiting (`GIT_LOCKED`, `DISK_FULL`, `BUSY`), and an outcome that cannot be recorded; the
/// operation stays open.
pub fn end_open(ctx: &mut Context) -> Result<Option<EndedOperation>> {
    match finish_open(ctx) {
        Err(error) if !error.passes() => {
            let ended = reverse_open(ctx, &error.to_string())?;
            Ok(ended.map(|ended| EndedOperation { turned_back: Some(error), ..ended }))
        }
        outcome => outcome,
    }
}

/// Reverses an interrupted operation: everything becomes as before it, except what another process changed since, which is
/// left as it is, and what cannot be put back; both are named. `None` where no operation is open.
///
/// # Errors
/// Only errors that pass by waiting (`GIT_LOCKED`, `DISK_FULL`, `BUSY`), and an outcome that cannot be recorded; the
/// operation stays open, reversing.
pub fn reverse_open(ctx: &mut Context, reason: &str) -> Result<Option<EndedOperation>> {
    let Some(mut open) = ctx.state().record.open.clone() else { return Ok(None) };
    let _finish_first = finish_first();
    if !open.reversing {
        in_transaction(ctx, &open.txn, |ctx| ctx.append(Event::OperationReversed { reason: reason.to_owned() }))?;
        env::fault_point("journal.reversed");
        open.reversing = true;
    }
    reverse_steps(ctx, open).map(Some)
}

fn reverse_steps(ctx: &mut Context, open: OpenOperation) -> Result<EndedOperation> {
    let (left, not_put_back) = in_transaction(ctx, &open.txn, |ctx| {
        let inverse = open.operation.clone().inverse(open.operation.kind.clone(), open.operation.title.clone());
        // The same trash: what the first direction moved there shows the reversal how far it got.
        let done = steps::carry_out(ctx, &inverse, &open.txn, ChangeAttempt::Back, &OperationContents::default())?;
        let aside = asides::moved_aside(ctx, &inverse, &open.txn)?;
        let stays = asides::put_back(ctx, &aside)?;
        end(ctx, OperationEnd::Aborted, Vec::new())?;
        let stays = stays.iter().map(|moved| moved.now_at.display());
        let stays = stays.map(|trashed| format!("the original path of '{trashed}', which stays in the trash"));
        Ok((done.left.into_iter().chain(stays).collect(), done.not_put_back))
    })?;
    Ok(EndedOperation { open, left, not_put_back, turned_back: None })
}

/// Appends the outcome event. Its effect on the state is decided under the state lock, from the newest state.
fn end(ctx: &mut Context, end: OperationEnd, moved: Vec<TrashChange>) -> Result<()> {
    env::fault_point("journal.before-end");
    ctx.append_with(|now| {
        let Some(open) = &now.record.open else {
            return Err(Error::new(Code::Internal, "an operation ended that is not open"));
        };
        let OperationSettlement { edits, changes, mode } = match end {
            OperationEnd::Done => open.operation.settle(now),
            OperationEnd::Aborted => OperationSettlement::default(),
        };
        let gates = gates_of_merges(now, &open.operation, (&edits, changes.as_deref()));
        let ended = Event::OperationEnded { end, edits, changes, mode, moved: moved.clone() };
        Ok(std::iter::once(ended).chain(gates).collect())
    })?;
    env::fault_point("journal.ended");
    tell_attached(ctx);
    Ok(())
}

/// Attached agents that work at this moment are told at their next call. What is not written down they are told with their next prompt.
fn tell_attached(ctx: &Context) {
    let mark = AttachFiles::of(ctx.layout()).changed_by_human();
    let is_attached = mark.parent().is_some_and(std::path::Path::is_dir);
    if !is_attached || *ctx.by() != EventAuthor::User {
        return;
    }
    if let Err(error) = files::write_scratch(&mark, b"") {
        tracing::debug!(%error, "attached agents are told later of what a human took back");
    }
}

/// The gates of merges that the end of an operation opens and closes.
fn gates_of_its_merges(now: &State, operation: &JournaledOperation) -> Vec<Event> {
    let settled = operation.settle(now);
    gates_of_merges(now, operation, (&settled.edits, settled.changes.as_deref()))
}

/// Where an operation leaves a branch; `None` where it does not move it.
fn leaves_at(operation: &JournaledOperation, branch: &RefName) -> Option<Oid> {
    let advanced =
        operation.advances.iter().filter(|advance| advance.branch == *branch).map(|advance| advance.commit.new.clone());
    let moved = operation.refs.iter().filter(|change| change.name == *branch).filter_map(|change| change.value.new.clone());
    advanced.chain(moved).next()
}

/// The gates to open and close: a merge that was taken back waits for a human, because nobody wants it to be merged again
/// automatically. The gate of a task that is merged now is closed.
fn gates_of_merges(
    now: &State,
    operation: &JournaledOperation,
    (edits, changes): (&[TaskChangeSet], Option<&RestorableChanges>),
) -> Vec<Event> {
    let is_merged = |task: &TaskId| now.restorable.tasks.get(task).is_some_and(|case| case.merged.is_some());
    let takes_back = |change: &TaskFieldChange| matches!(change, TaskFieldChange::Merged(merged) if merged.new.is_none());
    let stays_done = |edit: &TaskChangeSet| {
        let changes_status = edit.changes.iter().any(|change| matches!(change, TaskFieldChange::Status(_)));
        now.restorable.tasks.get(&edit.id).is_some_and(|case| case.status == TaskStatus::Done && !changes_status)
    };
    let edited = edits.iter().filter(|edit| stays_done(edit) && edit.changes.iter().any(takes_back)).map(|edit| &edit.id);
    let cases = changes.into_iter().flat_map(|changes| changes.tasks.values().flatten());
    let taken_back = cases.filter(|case| case.status == TaskStatus::Done && case.merged.is_none() && is_merged(&case.id));
    // One that was in conflict then waits for that again. No other gate of then will do: a session closes it by itself.
    let is_in_conflict = |task: &TaskId| {
        let id = Gate::id_for(GateKind::Merge, task).ok();
        let then = id.and_then(|id| changes?.gates.get(&id)?.as_ref());
        then.is_some_and(|gate| is_of_conflict(&gate.reason))
    };
    let tasks = edited.chain(taken_back.map(|case| &case.id).filter(|task| !is_in_conflict(task)));
    let target = |task: &TaskId| {
        let changes = edits.iter().filter(|edit| edit.id == *task).flat_map(|edit| &edit.changes);
        let mut merges =
            changes.filter_map(|change| if let TaskFieldChange::Merged(merge) = change { Some(merge) } else { None });
        let undone = merges.find_map(|merge| merge.old.as_ref());
        let merged = undone.or_else(|| now.restorable.tasks.get(task)?.merged.as_ref());
        merged.map(|merged| merged.target.clone())
    };
    let opened = tasks.filter_map(|task| {
        let target = target(task);
        let at = target.as_ref().and_then(|target| leaves_at(operation, target));
        Gate::for_undone_merge(task, target, at, env::now())
    });
    let opened = opened.map(|gate| Event::GateOpened { gate: Box::new(gate) });
    let merges = |change: &TaskFieldChange| matches!(change, TaskFieldChange::Merged(merged) if merged.new.is_some());
    let merged = edits.iter().filter(|edit| edit.changes.iter().any(merges));
    let gates = merged.filter_map(|edit| Gate::id_for(GateKind::Merge, &edit.id).ok());
    let gates = gates.filter(|id| now.restorable.gates.contains_key(id));
    opened.chain(gates.map(|id| Event::GateClosed { id, reason: "merged".into() })).collect()
}

fn in_transaction<T>(ctx: &mut Context, txn: &OperationId, work: impl FnOnce(&mut Context) -> Result<T>) -> Result<T> {
    let own = ctx.txn().clone();
    ctx.join(txn.clone());
    let outcome = work(ctx);
    ctx.join(own);
    outcome
}
