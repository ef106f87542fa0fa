//! Everything that reads or changes git's own data, through the `git` program and gix.
//!
//! | folder | what lives there |
//! | --- | --- |
//! | `repo` | The repository itself: where it is, facts that never change in a run, its worktrees, and the `git` program. |
//! | `objects` | The object database: reading, comparing, and writing so that a power loss or a `git gc` loses nothing needed. |
//! | `refs` | Refs: read, listed, and changed by compare-and-swap. |
//! | `history` | Commits and history: walks, task marks, merges in memory, signatures. |
//! | `index` | The index: private copies, edits, installation, its lock; and attributes, conversions, sparse checkout. |
//! | `capture` | Captures: the files, index and HEAD of a worktree as commits, without changing any of them. |
//! | `restore` | Restores: a worktree's files, from one captured tree to another. Nothing is deleted; each step can be undone. |
//! | `checkpoint` | How a checkpoint is stored in git: its refs, tag and notes, long texts, and the local refs that it holds. |
//! | `workspace` | Workspaces: linked worktrees made, moved to the trash, brought back, mended; and what agents left in them. |
//!
//! `Repository` itself has only facts and `git()`. Everything else is a method of a handle (`repo.refs()`, `repo.objects()`,
//! `repo.index(worktree)` and so on): see `repo::handles`.
//!
//! Nothing here decides which operation to carry out, and nothing appends events. Begin reading with `repo`, then `objects`.

mod capture;
mod checkpoint;
mod history;
mod index;
mod objects;
mod refs;
mod repo;
mod restore;
mod workspace;

pub use checkpoint::limits;

pub use capture::coverage::{Coverage, PathSample};
pub use capture::differing::{HeldFiles, bytes_by, bytes_of, change_of};
pub use capture::extras::{CaptureExtras, OperationFile};
pub use capture::extras_merge::Moments;
pub use capture::fast::Earlier;
pub use capture::holding::ContentSearch;
pub use capture::kept::KeptFile;
pub use capture::named_ignored::NamedPaths;
pub use capture::parts::CaptureParts;
pub use capture::permissions::{Attribute, AttributeName, Permissions};
pub use capture::raw::RawFile;
pub use capture::sequencer::InProgress;
pub use capture::without::Rewritten;
pub use capture::worktree::{CaptureCommit, CaptureOptions, WorktreeCapture};
pub use checkpoint::held_refs::HeldRefs;
pub use checkpoint::notes::Notes;
pub use checkpoint::refs::{CheckpointObjects, CheckpointRef, Marking, TagData};
pub use checkpoint::texts::TEXT_LIMIT;
pub use history::merge::{MergeResult, MergeToRun};
pub use history::merge_memory::KnownMerge;
pub use history::patch::FileLines;
pub use history::questions::{FileId, LoggedCommit, TreeChange};
pub use history::signing::{SigningCall, ToSign};
pub use index::file::{ConflictStage, IndexExtras};
pub use index::lock::IndexLock;
pub use index::path_patterns::PathPatterns;
pub use index::status::{StatusEntry, StatusKind};
pub use objects::database::{CommitData, GITLINK as SUBMODULE, NewCommit, ObjectKind, Signature, TREE, TreeEntry};
pub use objects::graph::Graph;
pub use objects::lost_trees::MendedTrees;
pub use objects::proof::Proof;
pub use objects::read_back::ReadBack;
pub use refs::edits::{Expected, RefEdit, RefValue};
pub use refs::listing::RefListing;
pub use repo::handles::{
    Captures, Checkpoints, Conversions, Durability, History, Index, NoteStore, Objects, Refs, Restores, Stash, Tips, Workspaces,
    Worktrees,
};
pub use repo::head::Head;
pub use repo::identity::Identity;
pub use repo::own_scratch::ScratchFolder;
pub use repo::own_settings::users_editor;
pub use repo::ownership::{Other, Whose, named_by};
pub use repo::program::{Git, Output};
pub use repo::repository::{HashKind, HeldInChildren, RefFormat, Repository};
#[cfg(test)]
pub(crate) use repo::scratch::Scratch;
pub use repo::stale_locks::{GitLock, Owner};
pub use repo::submodules::SubmoduleFolder;
pub use repo::surrounding::outermost_worktree;
pub use repo::worktrees::{FEW_WORKTREES, Worktree, WorktreeEntry};
pub use restore::advance::Advance;
pub use restore::prepared::Prepared;
pub use restore::trash::{InTrash, in_trash, put_back, take_away_again};
pub use restore::types::{Attempt, MovedAside, NotPutBack, Placed, Restore, RestoreReport};
pub use workspace::begun_merge::{BegunMerge, Claim, OpenPath};
pub use workspace::leftovers::{CommittedLeftovers, Leftovers, Skipped, looks_secret};
pub use workspace::making::{Added, Adding, WorkspaceBranch};
pub use workspace::mend::MendedBranch;
pub use workspace::registration::DamagedWorktree;
pub use workspace::stored_aside::StoredAside;
pub use workspace::worktrees::{Aside, Repair};
