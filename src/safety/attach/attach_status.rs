//! What is attached and watched now, for `status`.

use serde::Serialize;

use super::newest_checkpoint::newest_coverage;
use super::sessions::{self, AttachedSessionJson};
use super::watching::watch_record::{self, WatchStatus};
use crate::context::handle::Context;

/// What is attached and watched now.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AttachStatus {
    /// The sessions whose program runs, the newest activity first.
    pub sessions: Vec<AttachedSessionJson>,
    /// The watches, by worktree.
    pub watches: Vec<WatchStatus>,
}

/// What the newest checkpoint does not hold of the worktree where this was called, because it was not read or captured, and what others
/// may read of it: a line each. None where it holds all that can be held, and where there is no checkpoint.
pub fn not_held_here(ctx: &Context) -> Vec<String> {
    let here = ctx.repo.worktrees().current_worktree().and_then(|here| here.path_text());
    let Some(coverage) = here.ok().and_then(|here| newest_coverage(ctx)?.remove(&here)) else { return Vec::new() };
    let nothing = coverage.why_nothing().map(|why| format!("UNPROTECTED: no checkpoint holds this worktree: {why}"));
    let lines = [nothing.or_else(|| coverage.not_held_in_words()), coverage.read_by_others_in_words()];
    lines.into_iter().flatten().collect()
}

/// What is attached and watched now.
pub fn attached(ctx: &Context) -> AttachStatus {
    let sessions = sessions::list(ctx).into_iter().map(AttachedSessionJson::from).filter(|one| one.alive).collect();
    AttachStatus { sessions, watches: watch_record::list(ctx) }
}
