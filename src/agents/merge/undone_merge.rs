//! The gate at which a merge waits that was undone: an undo does not look for guarded files, so it is made to show them afterwards.

use super::guarded::showing;
use super::plan::guarded_by;
use axiom_base::error::Result;
use axiom_model::work::gates::gate::{Gate, changes_guarded, taken_back};
use axiom_safety::context::handle::Context;

/// The gate at which a merge waits that was undone, as it shows the guarded files that the merge changes, so that one approval is enough;
/// `None` where it need not: there are none, or it shows some.
pub fn undone_showing(ctx: &Context, gate: &Gate) -> Result<Option<Gate>> {
    let waits = gate.is_of_undone_merge() && gate.decision.is_none() && gate.guarded.is_none();
    let Some(task) = gate.task_id.as_ref().filter(|_| waits) else { return Ok(None) };
    let Some(files) = guarded_by(ctx, task)? else { return Ok(None) };
    let reason = taken_back(&changes_guarded(task, &files.reasons()));
    Ok(Some(showing(Gate { reason, ..gate.clone() }, &files)))
}
