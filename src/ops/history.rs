//! History: the log's events, the transactions they form, and the history of one case. Reads without a lock.

use crate::domain::base::ids::CaseId;
use crate::domain::operation::transaction::{Fold, Transaction};
use crate::domain::state::audit::{Audit, AuditEntry};
use crate::domain::state::event::Envelope;
use crate::error::Result;
use crate::ops::context::handle::Context;
use crate::store::layout::Layout;
use crate::store::log::{self, Position};
use crate::store::segments;

/// Calls `each` with every event that the log holds, oldest first.
///
/// # Errors
/// The codes of a damaged log; what `each` returns.
pub fn each_event(layout: &Layout, each: impl FnMut(Envelope) -> Result<()>) -> Result<()> {
    // The log does not start with event 1 where recovery started a new one.
    let first = segments::list(layout)?.first().and_then(|segment| segment.first).unwrap_or(1);
    log::read_after(layout, first - 1, None, each).map(drop)
}

/// Calls `each` with every event after number `last`, oldest first. Returns the position in the log behind the last one: given
/// to the next call, it saves reading again.
///
/// # Errors
/// As [`each_event`].
pub fn events_after(
    layout: &Layout,
    last: u64,
    position: Option<Position>,
    each: impl FnMut(Envelope) -> Result<()>,
) -> Result<Position> {
    Ok(log::read_after(layout, last, position, each)?.position)
}

/// All transactions, oldest first.
///
/// # Errors
/// As [`each_event`].
pub fn transactions(ctx: &Context) -> Result<Vec<Transaction>> {
    let mut fold = Fold::default();
    each_event(ctx.layout(), |envelope| fold.push(&envelope))?;
    Ok(fold.finish())
}

/// The history of one case, oldest first.
///
/// # Errors
/// `UNKNOWN_TASK`; as [`each_event`].
pub fn audit(ctx: &Context, id: &CaseId) -> Result<Vec<AuditEntry>> {
    ctx.state().case(id)?;
    let mut audit = Audit::of(id.clone());
    each_event(ctx.layout(), |envelope| audit.push(&envelope))?;
    Ok(audit.finish())
}

/// The newest `most` entries of a case's history as lines for a prompt, oldest first.
///
/// # Errors
/// As [`audit`].
pub fn newest(ctx: &Context, id: &CaseId, most: usize) -> Result<Vec<String>> {
    let entries = audit(ctx, id)?;
    let skipped = entries.len().saturating_sub(most);
    Ok(entries.iter().skip(skipped).map(|entry| format!("{} {}", entry.at, entry.text)).collect())
}
