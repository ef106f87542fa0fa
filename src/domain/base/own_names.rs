//! The names of what is ours in a repository: its refs, and the folder for what is thrown away. Nowhere else are they
//! spelled out. The files of the store are named in `store::layout`.

use super::ids::CheckpointName;
use super::names::RefName;

/// All refs of ours but tags, notes and branches of tasks.
pub const REFS: &str = "refs/axiom/";

/// The annotated tags of checkpoints.
pub const TAGS: &str = "refs/tags/axiom/";

/// Where the captures of checkpoints are: a checkpoint is there as long as its ref is.
pub const CAPTURES: &str = "refs/axiom/captures/";

/// Where that is kept what an undo needs: a ref for each transaction.
pub const KEPT: &str = "refs/axiom/kept/";

/// Where running agents' work is captured: a ref for each task.
pub const LIVE: &str = "refs/axiom/live/";

/// What keeps texts that are too long for an event.
pub const TEXTS: &str = "refs/axiom/texts";

/// What is written beside checkpoints.
pub const NOTES: &str = "refs/notes/axiom";

/// Notes that are being made.
pub const SCRATCH_NOTES: &str = "refs/notes/axiom-tmp/";

/// The branches of tasks.
pub const BRANCHES: &str = "refs/heads/axiom/";

/// What may be thrown away, below the folder that all worktrees have in common.
pub const SCRATCH: &str = "axiom/tmp";

/// How git names the refs of one linked worktree from elsewhere: `worktrees/<name>/refs/…`.
pub const LINKED: &str = "worktrees/";

/// The ref that holds a checkpoint.
pub fn capture_ref(name: &CheckpointName) -> RefName {
    RefName::new(format!("{CAPTURES}{name}"))
}

/// The tag of a checkpoint.
pub fn checkpoint_tag(name: &CheckpointName) -> RefName {
    RefName::new(format!("{TAGS}{name}"))
}

/// Whether a ref is one of ours that nobody but us changes: no notes, no branch.
pub fn is_own_ref(name: &str) -> bool {
    name.starts_with(REFS) || name.starts_with(TAGS)
}
