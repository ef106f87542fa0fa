//! The names that git axiom uses in a repository: its refs, and its scratch folder. No other file spells them out. The files
//! of the store are named in `store::layout`.

use super::ids::CheckpointName;
use super::names::{Oid, RefName};

/// All of git axiom's refs except tags, notes and the branches of tasks.
pub const REFS: &str = "refs/axiom/";

/// The annotated tags of checkpoints.
pub const TAGS: &str = "refs/tags/axiom/";

/// The captures of checkpoints: a checkpoint exists as long as its capture ref does.
pub const CAPTURES: &str = "refs/axiom/captures/";

/// In the repository of a submodule: the captures of it that checkpoints of its superproject name. `_` begins no name of a checkpoint,
/// so they are none of the submodule's own.
pub const SUPERPROJECT_CAPTURES: &str = "refs/axiom/captures/_superproject/";

/// In the repository of a submodule: captures of it that were made in the worktree of a removed workspace, below that one's name.
pub const BROUGHT_CAPTURES: &str = "refs/axiom/captures/_brought/";

/// In the repository of a submodule: commits that were made in other worktrees of the superproject, each under its id.
pub const BROUGHT: &str = "refs/axiom/brought/";

/// In the repository of a submodule: what the undo of an operation of its superproject needs.
pub const SUPERPROJECT_KEPT: &str = "refs/axiom/superproject/kept/";

/// What an undo needs: one ref for each transaction.
pub const KEPT: &str = "refs/axiom/kept/";

/// Captures of the work of running agents: one ref for each task.
pub const LIVE: &str = "refs/axiom/live/";

/// The newest captures from before files or folders of workspaces were lost: one ref for each task.
pub const LOST: &str = "refs/axiom/lost/";

/// The entries that were in the stash when the newest iteration of a task began: one ref for each task.
pub const STASHED: &str = "refs/axiom/stash/";

/// Keeps texts alive that are too long for an event.
pub const TEXTS: &str = "refs/axiom/texts";

/// The notes on checkpoints.
pub const NOTES: &str = "refs/notes/axiom";

/// The branches of tasks.
pub const BRANCHES: &str = "refs/heads/axiom/";

/// The scratch folder, within the common git directory. All of it may be deleted.
pub const SCRATCH: &str = "axiom/tmp";

/// What Git LFS files held that captures name: one file for each content, within the common git directory.
pub const LFS_OBJECTS: &str = "axiom/lfs";

/// The ref that holds a checkpoint.
pub fn capture_ref(name: &CheckpointName) -> RefName {
    RefName::new(format!("{CAPTURES}{name}"))
}

/// The ref that keeps a submodule's capture in the submodule's repository.
pub fn submodule_capture_ref(name: &CheckpointName) -> RefName {
    RefName::new(format!("{SUPERPROJECT_CAPTURES}{name}"))
}

/// The ref that keeps it there for a deleted checkpoint, of which `capture` is the repository's own, once another one has its name.
pub fn submodule_capture_ref_of_deleted(name: &CheckpointName, capture: &Oid) -> RefName {
    RefName::new(format!("{SUPERPROJECT_CAPTURES}{name}.{capture}"))
}

/// The tag of a checkpoint.
pub fn checkpoint_tag(name: &CheckpointName) -> RefName {
    RefName::new(format!("{TAGS}{name}"))
}

/// Whether only git axiom changes this ref: notes and branches are not among these.
pub fn is_own_ref(name: &str) -> bool {
    name.starts_with(REFS) || name.starts_with(TAGS)
}
