//! What is mended before anything else, and before every recovery: worktrees whose files in the git directory a power loss damaged,
//! and git's lock files of dead processes. Nothing here needs a checkpoint or the journal of operations.

pub mod locks;
pub mod report;
pub mod worktrees;
