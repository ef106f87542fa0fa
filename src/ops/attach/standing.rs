//! What is attached and watched now, for `status`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::sessions::{self, SessionView};
use super::watching::record::{self, Standing};
use crate::domain::checkpoint::document::Coverage;
use crate::ops::checkpoint::read_document;
use crate::ops::context::handle::Context;

/// What is attached and watched now.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Attached {
    /// The sessions whose program runs, the newest activity first.
    pub sessions: Vec<SessionView>,
    /// The watches, by worktree.
    pub watches: Vec<Standing>,
}

/// What the newest checkpoint does not hold of the worktree where this was called, because it could not be read or captured: one
/// line. `None` where it holds all that can be held, and where there is no checkpoint.
pub fn not_held_here(ctx: &Context) -> Option<String> {
    let here = ctx.repo.worktrees().current_worktree().ok()?.path_text().ok()?;
    let coverage = newest_coverage(ctx)?.remove(&here)?;
    let nothing = coverage.why_nothing().map(|why| format!("UNPROTECTED: no checkpoint holds this worktree: {why}"));
    nothing.or_else(|| coverage.unread_in_words().map(|words| format!("not held: {words}")))
}

/// What the newest checkpoint does not hold, by worktree.
pub(super) fn newest_coverage(ctx: &Context) -> Option<BTreeMap<String, Coverage>> {
    let newest = ctx.state().record.checkpoints.newest(1).ok()?;
    read_document(ctx, newest.first()?).ok().map(|document| document.coverage)
}

/// What is attached and watched now.
pub fn attached(ctx: &Context) -> Attached {
    let sessions = sessions::list(ctx).into_iter().map(SessionView::from).filter(|one| one.alive).collect();
    Attached { sessions, watches: record::list(ctx) }
}
