//! What the newest checkpoint says of itself.

use std::collections::BTreeMap;

use crate::checkpoint::read_document;
use crate::context::handle::Context;
use axiom_model::checkpoint::coverage::CaptureCoverage;
use axiom_model::checkpoint::document::CheckpointDocument;

/// What the newest checkpoint does not hold, by worktree, each with its submodules.
pub(super) fn newest_coverage(ctx: &Context) -> Option<BTreeMap<String, CaptureCoverage>> {
    newest_document(ctx).map(|document| document.coverage_with_submodules())
}

/// The document of the newest checkpoint.
pub(super) fn newest_document(ctx: &Context) -> Option<CheckpointDocument> {
    let newest = ctx.state().record.checkpoints.newest(1).ok()?;
    read_document(ctx, newest.first()?).ok()
}
