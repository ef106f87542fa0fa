//! What a crash left of a checkpoint that was intended: it is completed, or dropped.

use super::documents::{marking, outcome};
use super::{checkpoint_list, size_of};
use crate::context::handle::Context;
use axiom_base::env;
use axiom_base::error::Result;
use axiom_git::{ExpectedRefValue, RefEdit};
use axiom_model::base::ids::CheckpointName;
use axiom_model::base::own_names::{capture_ref, checkpoint_tag};
use axiom_model::checkpoint::record::CheckpointRecord;
use axiom_model::state::event::Event;

/// Completes or abandons the checkpoint that a crash interrupted. Where its capture ref exists, note, tag and event are
/// added; without the ref, there never was a checkpoint. Returns the completed one. Safe to repeat.
///
/// # Errors
/// `CHECKPOINT_DAMAGED`, `GIT_FAILED`, and those of an append.
pub fn complete_intent(ctx: &mut Context) -> Result<Option<CheckpointRecord>> {
    let Some(name) = ctx.state().record.checkpoint_intent.clone() else { return Ok(None) };
    let Some(capture) = ctx.repo.refs().read_ref(&capture_ref(&name))? else {
        clear_abandoned(ctx, &name)?;
        ctx.append(Event::CheckpointAbandoned { name, reason: "its process ended before anything was saved".into() })?;
        return Ok(None);
    };
    let (json, document) = checkpoint_list::document_of(ctx, &capture)?;
    env::fault_point("checkpoint.completing");
    ctx.repo.checkpoints().complete_checkpoint(&name, &capture, &json, &marking(&document))?;
    let size = size_of(ctx, &document, &capture, None).ok();
    outcome(ctx, &document, capture, size).map(Some)
}

/// Removes tag and note of a checkpoint without a capture ref: git may have written them before the ref.
pub(super) fn clear_abandoned(ctx: &Context, name: &CheckpointName) -> Result<()> {
    let tag_name = checkpoint_tag(name);
    let Some(tag) = ctx.repo.refs().read_ref(&tag_name)? else { return Ok(()) };
    // The name was free at the intent, so a tag that is not ours is the user's and stays. A tag whose object is missing
    // holds nothing, and must not block the next checkpoint: it is removed.
    if ctx.repo.objects().has_object(&tag) && !ctx.repo.checkpoints().is_tag_of_ours(name, &tag)? {
        return Ok(());
    }
    ctx.repo.notes().set_notes(&std::collections::BTreeMap::from([(tag.clone(), None)]))?;
    env::fault_point("checkpoint.abandoned-note-gone");
    let edit = RefEdit { name: tag_name, expected: ExpectedRefValue::Value(tag), new: None };
    ctx.repo.refs().update_refs(&[edit], "git axiom: checkpoint given up")
}
