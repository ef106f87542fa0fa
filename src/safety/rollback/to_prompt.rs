//! Rolling back what a prompt to an attached agent may have changed: the worktree of its session, and the local refs that were deleted since.

use std::path::PathBuf;

use crate::checkpoint::CheckpointCaptures;
use crate::context::handle::Context;
use axiom_base::error::Result;
use axiom_model::checkpoint::document::CheckpointDocument;
use axiom_model::checkpoint::record::CheckpointRecord;

use super::beside_worktree::BesideWorktree;
use super::plan::RollbackPlan;
use super::refs::LocalRefsPolicy;
use super::{one_worktree, some_paths};

/// What goes back to a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptRollback {
    /// The worktree of the session.
    pub worktree: PathBuf,
    /// Whether its index, HEAD and branch go back too; else only its files.
    pub takes_head: bool,
    /// Other worktrees that go back: the session's subagents worked there.
    pub others: Vec<String>,
}

/// Plans it, from the captures made just now.
pub(super) fn make(
    ctx: &Context,
    (record, document): (&CheckpointRecord, &CheckpointDocument),
    captured: &CheckpointCaptures,
    part: &PromptRollback,
    refs: LocalRefsPolicy,
) -> Result<RollbackPlan> {
    let beside = BesideWorktree { refs, others: &part.others };
    // Whoever has moved branches moved back wants that of the one that is checked out too.
    if part.takes_head || refs == LocalRefsPolicy::MoveToo {
        return one_worktree::make(ctx, (record, document), captured, &part.worktree, beside);
    }
    some_paths::make(ctx, (record, document), captured, std::slice::from_ref(&part.worktree), beside)
}
