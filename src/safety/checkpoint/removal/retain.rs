//! What goes after a checkpoint was made: those that are too old, and those that are more than may be held.

use super::remove::{DeletedCheckpointFate, delete_locked, rules};
use super::{release, total_size};
use crate::context::handle::Context;
use crate::upkeep::tidy;
use axiom_base::env;
use axiom_model::checkpoint::trigger::CheckpointTrigger;
use axiom_model::queries::expired_checkpoints;
use axiom_model::state::event_envelope::EventAuthor;

/// Retention: deletes expired checkpoints in a transaction of its own, and releases what was kept for undo long enough.
/// Called after each checkpoint; a failure here never fails the checkpoint that was made.
pub(in crate::checkpoint) fn retain(ctx: &mut Context, made: CheckpointTrigger) {
    // A checkpoint made for safety before another operation deletes nothing: the user may want back just what it would
    // delete.
    if axiom_model::checkpoint::trigger::is_safety(made) || ctx.found.nothing_expires {
        return;
    }
    let expired = expired_checkpoints::expired(ctx.state(), &rules(ctx), env::now());
    let outcome = expired.and_then(|gone| {
        if gone.is_empty() {
            return Ok(());
        }
        ctx.in_its_own_transaction(EventAuthor::Supervisor, |ctx| delete_locked(ctx, &gone, DeletedCheckpointFate::ForUndo)).map(
            |deleted| {
                tracing::info!(count = deleted.names.len(), "old checkpoints were deleted");
            },
        )
    });
    if let Err(error) = outcome.and_then(|()| total_size::thin(ctx)).and_then(|()| release::release(ctx)) {
        tracing::warn!(%error, "old checkpoints could not be deleted");
    }
    tidy::when_due(ctx);
}
