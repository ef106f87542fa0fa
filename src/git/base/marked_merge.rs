//! Merges as data: what git is to merge, and what came of it.

use axiom_model::base::names::Oid;

use super::conflict_stage::ConflictStage;

/// A merge for git to compute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergeToRun {
    /// The commit whose attributes files count.
    pub(crate) attributes: Oid,
    /// What differs between this commit and `theirs` is applied; without it git finds where the two begin to differ.
    pub(crate) base: Option<Oid>,
    pub(crate) ours: Oid,
    pub(crate) theirs: Oid,
}

/// A merge as git would leave it in a worktree, with the conflicts marked in the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkedMerge {
    /// The tree of the files.
    pub tree: Oid,
    /// Whether there is no conflict.
    pub(crate) is_clean: bool,
    /// The stages of the paths in conflict; none where it is clean.
    pub(crate) unmerged: Vec<ConflictStage>,
}
