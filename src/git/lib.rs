//! Everything that reads or changes git's own data, through the `git` program and gix.
//!
//! | folder | what lives there |
//! | --- | --- |
//! | `workspace` | Workspaces: linked worktrees made, moved to the trash, brought back, mended; and what agents left in them. |
//! | `restore` | Restores: a worktree's files and index, from one captured tree to another. Nothing is deleted; each step can be undone. |
//! | `checkpoint` | How a checkpoint is stored in git: its refs, tag and notes, long texts, and the local refs that it holds. |
//! | `capture` | Captures: the files, index and HEAD of a worktree as commits, without changing any of them. |
//! | `lost` | Objects that a power loss took: found, put apart, and written again. |
//! | `history` | Commits and history: walks, task marks, merges in memory, signatures. |
//! | `index` | The index: private copies, edits, its lock; and attributes, conversions, sparse checkout. |
//! | `refs` | Refs: read, listed, and changed by compare-and-swap. |
//! | `objects` | The object database: reading, comparing, and writing so that a power loss or a `git gc` loses nothing needed. |
//! | `repo` | The repository itself: where it is, facts that never change in a run, its worktrees, and the `git` program. |
//! | `base` | What knows no repository: plain types, and forms that git wants. What a `Repository` remembers. |
//!
//! They are floors: each imports only those below it (`tests/it/floors.rs`).
//!
//! `Repository` itself has only facts and `git()`. Everything else is a method of a handle (`repo.refs()`, `repo.objects()`,
//! `repo.index(worktree)` and so on): see `repo::handles`.
//!
//! Nothing here decides which operation to carry out, and nothing appends events. Begin reading with `repo`, then `objects`.

mod base;
mod capture;
mod checkpoint;
mod history;
mod index;
mod lost;
mod objects;
mod refs;
mod repo;
mod restore;
mod workspace;

pub use base::conflict_stage::ConflictStage;
pub use base::formats::{HashKind, RefFormat};
pub use base::head::Head;
pub use base::limits;
pub use base::marked_merge::MergeToRun;
pub use base::merge_cache::CachedMerge;
pub use base::modes::{GITLINK as SUBMODULE, TREE};
pub use base::object_kind::ObjectKind;
pub use base::readable::gap_above;
pub use base::signing_state::PendingSignature;
pub use base::tree_change::{FileId, TreeChange};
pub use capture::captured::NamedPaths;
pub use capture::captured::{CaptureOptions, WorktreeCapture};
pub use capture::content_search::ContentSearch;
pub use capture::coverage::{CaptureCoverage, PathSample};
pub use capture::extras::{CaptureExtras, GitOperationFile};
pub use capture::extras_merge::ExtrasMergeInput;
pub use capture::fast::EarlierCapture;
pub use capture::file_differences::{HeldFiles, bytes_by, bytes_of, change_of};
pub use capture::kept_files::KeptFile;
pub use capture::parts::CaptureParts;
pub use capture::permissions::{ExtendedAttribute, ExtendedAttributeName, RecordedPermissions};
pub use capture::raw_file::RawFile;
pub use capture::rewrite::RewrittenCapture;
pub use capture::sequencer::GitOperation;
pub use capture::worktree::captured_trees::CaptureCommits;
pub use checkpoint::held_ref_group::HeldRefs;
pub use checkpoint::notes::NotesSnapshot;
pub use checkpoint::refs::{CheckpointMark, CheckpointObjects, CheckpointRef};
pub use checkpoint::tag::CheckpointTag;
pub use checkpoint::texts::TEXT_LIMIT;
pub use history::merge::MergeResult;
pub use history::patch::{FileDiffStat, PatchColor};
pub use history::queries::LoggedCommit;
pub use history::signing::SigningCall;
pub use index::file::IndexExtras;
pub use index::lock::IndexLock;
pub use index::path_patterns::PathPatterns;
pub use index::placed_file::PlacedFile;
pub use index::status::{StatusEntry, StatusKind};
pub use lost::loose_check::LooseCheckReport;
pub use lost::lost_trees::MendedTrees;
pub use objects::database::{CommitContent, NewCommit, TreeEntry};
pub use objects::graph::ObjectGraph;
pub use objects::read_back::ReadBackReport;
pub use refs::edits::{ExpectedRefValue, RefEdit, RefValue};
pub use refs::listing::RefListing;
pub use repo::about::{ForbiddenShortcuts, RepositoryAbout};
pub use repo::handles::{
    BareRepositories, CaptureRewrites, CapturedPermissions, Captures, CheckoutAdvances, Checkpoints, ConcurrentGc, Connectivity,
    Conversions, Durability, ForgottenObjects, GitOperations, GitSettings, HeldLfsFiles, History, Identities, Index, IndexEdits,
    KeptBytes, LockFiles, Merges, NoteStore, Objects, OwnRefs, PackedRefsFile, PowerLosses, QuickCaptures, RefLists, Refs,
    RestoreReversals, Restores, ScratchFolders, Signatures, Stash, TaskCommits, Tips, Trees, UnfinishedWork, WorkspaceDamage,
    Workspaces, WorktreeOwners, WorktreeRegistrations, Worktrees,
};
pub use repo::inherited_lock::InheritedLockGuard;
pub use repo::own_scratch::ScratchFolder;
pub use repo::own_settings::users_editor;
pub use repo::ownership::{ForeignGitDir, WorktreeOwner, named_by};
pub use repo::person_ident::{CommitterIdentity, PersonIdent};
pub use repo::program::{Git, GitOutput};
pub use repo::repository::Repository;
pub use repo::stale_locks::{GitLockFile, GitLockOwner};
pub use repo::submodules::SubmoduleFolder;
pub use repo::surrounding::outermost_worktree;
pub use repo::worktree_list::{FEW_WORKTREES, WorktreeEntry};
pub use repo::worktrees::Worktree;
pub use restore::advance::CheckoutAdvance;
pub use restore::prepared::PreparedFiles;
pub use restore::trash::{TrashedObstacle, in_trash, put_back, take_away_again};
pub use restore::types::{ChangeAttempt, MovedObstacle, RestoreReport, UnrestoredPath, WorktreeRestore};
pub use workspace::begun_merge::{CompletionClaim, ConflictedPath, InProgressMerge};
pub use workspace::damaged_worktree::DamagedWorktree;
pub use workspace::filtered_index::FilteredIndex;
pub use workspace::left_markers::{left_markers, merges_since};
pub use workspace::leftovers::{CommittedLeftovers, LeftoverSkipReason, LeftoversRequest};
pub use workspace::making::{AddWorkspaceOptions, AddWorkspaceOutcome, WorkspaceBranch};
pub use workspace::mend::MendedBranch;
pub use workspace::secret_names::looks_secret;
pub use workspace::worktrees::{TrashedWorkspace, WorktreeRepair};

#[cfg(test)]
#[path = "../../tests/common/trials.rs"]
mod trials;

#[cfg(test)]
#[path = "../../tests/support/bound.rs"]
mod bound;

#[cfg(test)]
#[path = "../../tests/support/git_since.rs"]
mod git_since;
#[cfg(test)]
#[path = "../../tests/support/skipped.rs"]
mod skipped;

#[cfg(test)]
#[path = "../../tests/support/scratch.rs"]
mod scratch;
