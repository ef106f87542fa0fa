//! History: the log's events, the transactions they form, and the history of one task. Reads without a lock.

pub mod task_texts;
pub mod work_diff;
use crate::context::handle::Context;
use axiom_base::error::Result;
use axiom_model::base::ids::{OperationId, TaskId};
use axiom_model::operation::operation_record::{OperationFold, OperationRecord};
use axiom_model::state::audit::{AuditEntry, AuditTrail};
use axiom_model::state::current_state::State;
use axiom_model::state::event::Event;
use axiom_model::state::event_envelope::EventEnvelope;
use axiom_store::layout::StoreLayout;
use axiom_store::log_files::log;
use axiom_store::log_files::log::LogPosition;
use axiom_store::log_files::segments;
use axiom_store::states::anchors;
use axiom_store::states::snapshot::{self, LoadedSnapshot};

/// Calls `each` with every event that the log holds, oldest first.
pub fn each_event(layout: &StoreLayout, each: impl FnMut(EventEnvelope) -> Result<()>) -> Result<()> {
    // The log does not start with event 1 where recovery started a new one.
    let first = segments::list(layout)?.first().and_then(|segment| segment.first).unwrap_or(1);
    log::read_after(layout, first - 1, None, each).map(drop)
}

/// Calls `each` with every event after number `last`, oldest first. Returns the position in the log behind the last one: given
/// to the next call, it saves reading again.
pub fn events_after(
    layout: &StoreLayout,
    last: u64,
    position: Option<LogPosition>,
    each: impl FnMut(EventEnvelope) -> Result<()>,
) -> Result<LogPosition> {
    Ok(log::read_after(layout, last, position, each)?.position)
}

/// All transactions, oldest first.
pub fn transactions(ctx: &Context) -> Result<Vec<OperationRecord>> {
    let mut fold = OperationFold::default();
    each_event(ctx.layout(), |envelope| fold.push(&envelope))?;
    Ok(fold.finish())
}

/// The newest transactions, oldest first: as few as are `enough` and can be had without reading the log from its beginning, else
/// all of them. They are the end of what [`transactions`] returns.
pub fn newest_transactions(ctx: &Context, enough: impl Fn(&[OperationRecord]) -> bool) -> Result<Vec<OperationRecord>> {
    newest_after(ctx, anchors::all(ctx.layout())?, enough)
}

/// As [`newest_transactions`]; `id` is among them, if it exists.
pub fn transactions_since(
    ctx: &Context,
    id: &OperationId,
    enough: impl Fn(&[OperationRecord]) -> bool,
) -> Result<Vec<OperationRecord>> {
    let mut anchors = anchors::all(ctx.layout())?;
    anchors.retain(|seq| id.is_begun_within(*seq, u64::MAX));
    newest_after(ctx, anchors, |known| known.iter().any(|one| one.id == *id) && enough(known))
}

fn newest_after(ctx: &Context, anchors: Vec<u64>, enough: impl Fn(&[OperationRecord]) -> bool) -> Result<Vec<OperationRecord>> {
    let read = ctx.store.anchor();
    for seq in anchors {
        let anchor = match read.filter(|(state, _)| state.seq == seq) {
            Some((state, position)) => Some((state.clone(), *position)),
            None => anchor_at(ctx.layout(), seq)?,
        };
        if let Some(known) = anchor.map(|anchor| known_from(ctx.layout(), anchor)).transpose()?.flatten()
            && !known.is_empty()
            && enough(&known)
        {
            return Ok(known);
        }
    }
    transactions(ctx)
}

/// The transactions that certainly began after event `seq`; `None` where that is not to be had from the anchor there.
pub fn known_after(layout: &StoreLayout, seq: u64) -> Result<Option<Vec<OperationRecord>>> {
    match anchor_at(layout, seq)? {
        Some(anchor) => known_from(layout, anchor),
        None => Ok(None),
    }
}

/// The state after event `seq`, and the position in the log there; `None` where no anchor has it.
fn anchor_at(layout: &StoreLayout, seq: u64) -> Result<Option<(State, LogPosition)>> {
    Ok(snapshot::load_anchor(layout, seq)?.map(|LoadedSnapshot { state, position, .. }| (state, position)))
}

fn known_from(layout: &StoreLayout, (state, position): (State, LogPosition)) -> Result<Option<Vec<OperationRecord>>> {
    let seq = state.seq;
    let (mut fold, mut began_anew) = (OperationFold::of_events_after(state), false);
    let read = log::read_after(layout, seq, Some(position), |envelope| {
        began_anew |= matches!(envelope.event, Event::StateAdopted { .. });
        fold.push(&envelope)
    });
    match read {
        Ok(_) if !began_anew => Ok(Some(fold.finish_known())),
        Ok(_) => Ok(None),
        // Whatever is wrong, the log itself decides.
        Err(error) => {
            tracing::debug!(%error, seq, "the log is read from its beginning");
            Ok(None)
        }
    }
}

/// The history of one task, oldest first.
///
/// # Errors
/// `UNKNOWN_TASK`; as [`each_event`].
pub fn audit(ctx: &Context, id: &TaskId) -> Result<Vec<AuditEntry>> {
    ctx.state().task(id)?;
    let mut audit = AuditTrail::of(id.clone());
    each_event(ctx.layout(), |envelope| audit.push(&envelope))?;
    Ok(audit.finish())
}

/// The newest part of the history of one task, oldest first: as much as is `enough` or has all of its attempts, and can be had without
/// reading the log from its beginning, else all of it.
pub fn newest_of(ctx: &Context, id: &TaskId, enough: impl Fn(&[AuditEntry]) -> bool) -> Result<Vec<AuditEntry>> {
    for seq in anchors::all(ctx.layout())? {
        if let Some(part) = audit_after(ctx.layout(), id, seq)?
            && (part.has_all_attempts || enough(&part.entries))
        {
            return Ok(part.entries);
        }
    }
    audit(ctx, id)
}

/// The history of one task after an event.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskAuditPart {
    /// Its entries, oldest first.
    pub entries: Vec<AuditEntry>,
    /// Whether nobody had worked on it before.
    pub has_all_attempts: bool,
}

/// The history of one task after event `seq`; `None` where that is not to be had from the anchor there.
pub fn audit_after(layout: &StoreLayout, id: &TaskId, seq: u64) -> Result<Option<TaskAuditPart>> {
    let Some(LoadedSnapshot { state, position, .. }) = snapshot::load_anchor(layout, seq)? else { return Ok(None) };
    let record = state.record.tasks.get(id);
    let has_all_attempts =
        state.agent_on(id).is_none() && record.is_none_or(|record| record.iterations == 0 && record.retry_count == 0);
    let mut audit = AuditTrail::after(id.clone(), state);
    match log::read_after(layout, seq, Some(position), |envelope| audit.push(&envelope)) {
        Ok(_) => Ok(Some(TaskAuditPart { entries: audit.finish(), has_all_attempts })),
        // Whatever is wrong, the log itself decides.
        Err(error) => {
            tracing::debug!(%error, seq, "the log is read from its beginning");
            Ok(None)
        }
    }
}
