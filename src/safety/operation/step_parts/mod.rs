//! What the steps of an operation share: the step in one worktree, the report, folders of submodules, and a ref that is made once.

pub(crate) mod published_ref;
pub(crate) mod steps_report;
pub(crate) mod submodule_folders;
pub(crate) mod worktree_step;
