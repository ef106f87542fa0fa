//! Handles: the parts of a repository's interface. A handle is only a reference to the repository. The methods of a handle
//! are in the folder of their topic.

use super::repository::Repository;
use super::worktrees::Worktree;

/// Declares handles, and the methods of `Repository` that return them.
macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident by $by:ident;)*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy)]
            pub struct $name<'r> {
                /// The repository.
                pub(crate) repo: &'r Repository,
            }
        )*

        impl Repository {
            $(
                $(#[$doc])*
                pub fn $by(&self) -> $name<'_> {
                    $name { repo: self }
                }
            )*
        }
    };
}

handles! {
    /// Which fast ways may be taken: the one table of shortcuts.
    Shortcuts by shortcuts;
    /// Settings: reading them, and changing those of the repository's own file.
    GitSettings by settings;
    /// As whom commits are made.
    Identities by identities;
    /// Lock files of git, and whose they are.
    LockFiles by lock_files;
    /// Scratch folders, and those whose owner is gone.
    ScratchFolders by scratch_folders;
    /// Its worktrees: listing them, whom a folder belongs to, and the one in which we were called.
    Worktrees by worktrees;
    /// Which repository a folder belongs to.
    WorktreeOwners by worktree_owners;
    /// Bare repositories, one of whose worktrees is taken for the main one.
    BareRepositories by bare;
    /// Objects: reading, writing, comparing, and searching for missing ones.
    Objects by objects;
    /// Whether objects exist together with all that is reachable from them.
    Connectivity by connectivity;
    /// Trees: reading, writing and editing them.
    Trees by trees;
    /// Deleting single objects that nothing refers to any more.
    ForgottenObjects by forgotten;
    /// Makes objects survive a power loss and a concurrent `git gc`.
    Durability by durability;
    /// What a power loss took: finding it, and making it again.
    PowerLosses by power_losses;
    /// Changing refs while a `git gc` of somebody else may be running.
    ConcurrentGc by concurrent_gc;
    /// Refs and HEADs: reading, and changing by compare-and-swap.
    Refs by refs;
    /// Refs of ours, changed in this process where that is the same.
    OwnRefs by own_refs;
    /// Lists of refs: all of them, by their places, and by what else names commits.
    RefLists by ref_lists;
    /// The file of packed refs, and what is remembered of it.
    PackedRefsFile by packed_refs;
    /// Keeps the objects that refs point to reachable, for checkpoints.
    Tips by tips;
    /// The stash.
    Stash by stash;
    /// Commits and history: walks and differences.
    History by history;
    /// Merges in memory.
    Merges by merges;
    /// Signatures of commits: whether they are wanted, and who makes them.
    Signatures by signatures;
    /// The commits that bear task marks.
    TaskCommits by task_commits;
    /// The conversion between files and blobs: attributes, line endings, filters.
    Conversions by conversions;
    /// Captures: the files, index and HEAD of a worktree as commits.
    Captures by captures;
    /// Captures of an ordinary worktree, with few calls of git.
    QuickCaptures by quick_captures;
    /// The bytes of files that git would not give back unchanged.
    KeptBytes by kept_bytes;
    /// Captures made anew without some of their files, and finding what they hold.
    CaptureRewrites by capture_rewrites;
    /// Permissions and attributes that git does not keep.
    CapturedPermissions by captured_permissions;
    /// Operations of git that are in progress, and their refs.
    GitOperations by git_operations;
    /// Files of Git LFS that captures hold.
    HeldLfsFiles by lfs_files;
    /// Restores: the files of a worktree from one captured tree to another.
    Restores by restore;
    /// How an attempt at a restore is reversed.
    RestoreReversals by reversals;
    /// Branches that move together with the worktree in which they are checked out.
    CheckoutAdvances by advances;
    /// Workspaces: made, moved to the trash and brought back.
    Workspaces by workspaces;
    /// What an agent leaves in a workspace: files without a commit, and merges that have begun.
    UnfinishedWork by unfinished_work;
    /// Damage to git's own files and objects, and mending it.
    WorkspaceDamage by workspace_damage;
    /// Linked worktrees whose registration is damaged.
    WorktreeRegistrations by registrations;
    /// Checkpoints: their refs, their tags, and the local refs that they hold.
    Checkpoints by checkpoints;
    /// Git notes for checkpoints, and long texts.
    NoteStore by notes;
}

/// The index of a worktree, and what sparse checkout leaves out of it.
#[derive(Debug, Clone, Copy)]
pub struct Index<'r> {
    /// The repository.
    pub(crate) repo: &'r Repository,
    /// The worktree of the index.
    pub(crate) worktree: &'r Worktree,
}

/// Changing the index of a worktree: some entries, or all of it.
#[derive(Debug, Clone, Copy)]
pub struct IndexEdits<'r> {
    /// The repository.
    pub(crate) repo: &'r Repository,
    /// The worktree of the index.
    pub(crate) worktree: &'r Worktree,
}

impl Repository {
    /// The index of a worktree, and what sparse checkout leaves out of it.
    pub fn index<'r>(&'r self, worktree: &'r Worktree) -> Index<'r> {
        Index { repo: self, worktree }
    }

    /// Changing the index of a worktree: some entries, or all of it.
    pub fn index_edits<'r>(&'r self, worktree: &'r Worktree) -> IndexEdits<'r> {
        IndexEdits { repo: self, worktree }
    }
}
