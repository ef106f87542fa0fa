//! The gates at which a merge waits for a human.

use crate::merge::{naming, showing};
use crate::supervise::core::desk::SessionDesk;
use axiom_base::env;
use axiom_base::error::Result;
use axiom_model::base::ids::TaskId;
use axiom_model::base::names::{Oid, RepoPath};
use axiom_model::work::gates::gate::{Gate, GateKind, changes_guarded};
use axiom_model::work::guarded::{AllowedGuardedFiles, GuardedFiles, GuardedFilesDigest};
use axiom_model::work::iteration::ReviewCause;

/// Opens a gate that shows the guarded files that a merge changes; approving it allows exactly these.
pub(crate) fn wait_for_a_look(desk: &mut SessionDesk<'_>, task: &TaskId, files: &GuardedFiles) -> Result<()> {
    let reason = changes_guarded(task, &files.reasons());
    wait(desk, task, showing(Gate::of_task(GateKind::Merge, task, reason, env::now())?, files))
}

/// Opens a gate for a merge that cannot be made now; approving it tries again.
pub(crate) fn wait_at_gate(desk: &mut SessionDesk<'_>, task: &TaskId, reason: String, paths: &[RepoPath]) -> Result<()> {
    wait_in_conflict(desk, (task, None), reason, paths)
}

/// As [`wait_at_gate`], for a human who settles the conflict of this commit of the task's branch.
pub(crate) fn wait_in_conflict(
    desk: &mut SessionDesk<'_>,
    (task, work): (&TaskId, Option<Oid>),
    reason: String,
    paths: &[RepoPath],
) -> Result<()> {
    let guarded = seen_before(desk, task);
    let gate = Gate { guarded, conflict_of: work, ..Gate::of_task(GateKind::Merge, task, reason, env::now())? };
    wait(desk, task, naming(gate, paths))
}

/// Opens a gate for a merge that a hook keeps from being made; approving it asks the hook again.
pub(crate) fn wait_for_hook(desk: &mut SessionDesk<'_>, task: &TaskId, reason: String, details: Vec<String>) -> Result<()> {
    let (guarded, cause) = (seen_before(desk, task), Some(ReviewCause::HookVeto));
    desk.close_gate(GateKind::HumanReview, task, "a hook keeps it from being merged")?;
    desk.open(Gate { details, guarded, cause, ..Gate::of_task(GateKind::Merge, task, reason, env::now())? })
}

/// Guarded files that were approved at the last gate: they have been seen.
fn seen_before(desk: &SessionDesk<'_>, task: &TaskId) -> Option<GuardedFilesDigest> {
    match desk.gate(GateKind::Merge, task).map_or(AllowedGuardedFiles::Nothing, Gate::allows) {
        AllowedGuardedFiles::Exactly(seen) => Some(seen),
        AllowedGuardedFiles::Nothing | AllowedGuardedFiles::Everything => None,
    }
}

fn wait(desk: &mut SessionDesk<'_>, task: &TaskId, gate: Gate) -> Result<()> {
    // An approved review has been acted on: the task waits for something else now.
    desk.close_gate(GateKind::HumanReview, task, "the merge waits for something else")?;
    desk.open(gate)
}
