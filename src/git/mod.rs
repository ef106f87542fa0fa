//! The repository: everything that reads or changes git's own data, through the `git` program and gix.
//!
//! | file | what lives there |
//! | --- | --- |
//! | `program` | running git: environment, explicit git directory, captured output, the inherited lock |
//! | `repository`, `main_worktree` | finding the repository, its facts, the worktree in which we were called |
//! | `identity` | who commits |
//! | `refs`, `own_refs`, `packed_refs`, `head` | reading and changing refs by compare-and-swap; HEAD per worktree |
//! | `objects`, `history` | objects; questions about history and differences |
//! | `scan`, `history_walk` | whole histories with their marks |
//! | `capture`, `capture_parts`, `capture_extras`, `coverage` | saving a worktree as commits, reading them, what that leaves out |
//! | `graft` | trees with some paths replaced |
//! | `named_objects`, `raw_files` | kept beside: what an operation in progress names; bytes that git would convert |
//! | `differing` | what differs between the files of two moments: modes, blobs, held bytes |
//! | `conversions`, `given_back`, `given_memory` | what git converts; unchanged files that a checkout would write otherwise |
//! | `local_refs`, `held_refs`, `tips`, `packed_memory`, `stash` | local refs: which there are, as objects in a checkpoint, what keeps alive what they name, what is remembered of packed ones |
//! | `operation_refs` | refs that say what is in progress, where these are no files |
//! | `carried_over` | flags, conflicts and operations that were begun after what is taken back |
//! | `quick` | captures of plain worktrees without a call of git, and of known paths only |
//! | `in_progress` | operations that wait for their user, and the branches that they will move |
//! | `quick` | captures of plain worktrees without a call of git |
//! | `status`, `index_file`, `changed_paths` | what differs; private copies of the index; bringing an index up to date |
//! | `restore`, `restore_plan`, `restore_moves`, `staging`, `place` | bringing files from one captured tree to another |
//! | `foreign`, `aside` | repositories within that are not written into; what was in the way, and putting it back |
//! | `modes`, `file_system` | permissions narrower than usual; file systems without links or execute bits |
//! | `odd_names`, `attribute_files` | names that git may refuse; where attributes may be |
//! | `sparse`, `ignored_then` | what a sparse checkout leaves out; what the rules of a tree ignore |
//! | `index_lock`, `index_install`, `advance` | installing an index; moving a branch that is checked out |
//! | `workspaces` | making, putting aside, bringing back and repairing linked worktrees |
//! | `merge`, `commit` | merges in memory; committing what an agent left |
//! | `checkpoint_refs`, `notes`, `texts` | captures, tags and notes of checkpoints; long texts |
//! | `signing` | commits that are signed, outside of every lock |
//! | `stale_locks` | git's lock files that a killed git left |
//! | `stage` | objects on their way: synced before they get their names |
//! | `durability`, `size` | packing and syncing what git wrote; how much it is |
//! | `beside_gc` | packs that a `git gc` beside us leaves alone; refs that it made hollow |
//! | `freshen` | objects that are there already made as new as written ones, and whether they still are |
//! | `proof` | what loose objects are worth after the machine was started anew |
//! | `missing`, `read_back` | whether objects are there, and whether they are what their names say |
//! | `worktree_list` | which worktrees there are |
//!
//! Nothing here decides what should happen, and nothing appends events.

mod advance;
mod aside;
mod attribute_files;
mod bare;
mod beside_gc;
mod branch_config;
mod capture;
mod capture_extras;
mod capture_parts;
mod carried_over;
mod changed_paths;
mod checkpoint_notes;
mod checkpoint_record;
mod checkpoint_refs;
mod checkpoint_tag;
mod commit;
mod conversions;
mod coverage;
mod differing;
mod discovery;
mod durability;
mod file_system;
mod foreign;
mod freshen;
mod git_version;
mod given_back;
mod given_memory;
mod graft;
mod head;
mod held_packed;
mod held_refs;
mod held_refs_back;
mod history;
mod history_walk;
mod identity;
mod ignored_held;
mod ignored_then;
mod in_progress;
mod index_edit;
mod index_file;
mod index_install;
mod index_lock;
mod index_users;
pub mod limits;
mod local_refs;
mod loose;
mod main_worktree;
mod mend;
mod merge;
mod missing;
mod modes;
mod named_objects;
mod nested;
mod notes;
mod objects;
mod obstacles;
mod odd_names;
mod operation_refs;
mod own_refs;
mod ownership;
mod packed_lines;
mod packed_memory;
mod packed_refs;
mod path_patterns;
mod permissions_preflight;
mod place;
mod plain_files;
mod program;
mod proof;
mod quick;
mod raw_files;
mod read_back;
mod ref_listing;
mod refs;
mod registration;
mod registration_mend;
mod repository;
mod restore;
mod restore_back;
mod restore_moves;
mod restore_permissions;
mod restore_plan;
mod scan;
mod signing;
mod size;
mod sparse;
mod stage;
mod staged_blobs;
mod staging;
mod stale_locks;
mod stash;
mod status;
mod texts;
mod times;
mod tips;
mod tree_diff;
mod workspaces;
mod worktree_list;

pub use advance::Advance;
pub use aside::{InTrash, in_trash, put_back, take_away_again};
pub use capture::{CaptureCommit, CaptureOptions, WorktreeCapture};
pub use capture_extras::{CaptureExtras, OperationFile};
pub use capture_parts::CaptureParts;
pub use carried_over::Moments;
pub use checkpoint_refs::{CheckpointObjects, CheckpointRef, TagData};
pub use commit::{CommittedLeftovers, Leftovers, Skipped, looks_secret};
pub use coverage::{Coverage, PathSample};
pub use differing::{HeldFiles, bytes_by, bytes_of};
pub use head::{Head, HeadTarget};
pub use held_refs::HeldRefs;
pub use history::{FileId, LoggedCommit, TreeChange};
pub use identity::Identity;
pub use in_progress::InProgress;
pub use index_file::{ConflictStage, IndexExtras, ScratchFolder};
pub use index_lock::IndexLock;
pub use mend::MendedBranch;
pub use merge::MergeResult;
pub use modes::{Attribute, AttributeName, Permissions};
pub use notes::Notes;
pub use objects::{CommitData, GITLINK as SUBMODULE, NewCommit, ObjectKind, Signature, TREE, TreeEntry};
pub use ownership::{Other, Whose, named_by};
pub use path_patterns::PathPatterns;
pub use program::{Git, Output};
pub use proof::Proof;
pub use quick::Earlier;
pub use raw_files::RawFile;
pub use read_back::ReadBack;
pub use ref_listing::RefListing;
pub use refs::{Expected, RefEdit, RefValue};
pub use registration::DamagedWorktree;
pub use repository::{HashKind, HeldInChildren, RefFormat, Repository};
pub use restore::{Attempt, MovedAside, NotPutBack, Placed, Restore, RestoreReport};
pub use signing::{SigningCall, ToSign};
pub use staging::Staged;
pub use stale_locks::{GitLock, Owner};
pub use status::{StatusEntry, StatusKind};
pub use texts::TEXT_LIMIT;
pub use workspaces::{Aside, Repair, WorkspaceBranch};
pub use worktree_list::{Worktree, WorktreeEntry};

#[cfg(test)]
mod capture_tests;
#[cfg(test)]
mod restore_tests;
#[cfg(test)]
mod scratch;
