//! What is mended before anything else, and before every recovery: worktrees whose files in the git directory a power loss damaged.
//! Nothing here needs a checkpoint or the journal of operations.
pub mod worktrees;
