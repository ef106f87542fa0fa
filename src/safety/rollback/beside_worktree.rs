//! What a rollback of one worktree takes along.

use super::refs::LocalRefsPolicy;

/// What goes back beside one worktree.
#[derive(Debug, Clone, Copy)]
pub(super) struct BesideWorktree<'a> {
    /// What happens to local refs.
    pub refs: LocalRefsPolicy,
    /// Other worktrees.
    pub others: &'a [String],
}

impl BesideWorktree<'_> {
    /// Nothing.
    pub const NOTHING: BesideWorktree<'static> = BesideWorktree { refs: LocalRefsPolicy::Stay, others: &[] };
}
