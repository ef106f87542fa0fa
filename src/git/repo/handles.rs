//! The parts of a repository by which others work with it. A handle is one reference; it holds nothing of its own. What a
//! part can do is written in its room.

use super::repository::Repository;
use super::worktrees::Worktree;

/// Declares handles, and how each is had from a repository.
macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident by $by:ident;)*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy)]
            pub struct $name<'r> {
                /// The repository.
                pub(in crate::git) repo: &'r Repository,
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
    /// Its main worktree and its linked ones, whose they are, and which one we are called in.
    Worktrees by worktrees;
    /// Objects: read, written, compared, searched for what is missing.
    Objects by objects;
    /// That objects outlive a power loss and a `git gc` beside us.
    Durability by durability;
    /// Refs and HEADs: read, listed, and changed by compare-and-swap.
    Refs by refs;
    /// The refs by which checkpoints keep their objects.
    Tips by tips;
    /// The stash.
    Stash by stash;
    /// Commits and what follows from them: walks, differences, marks of tasks, merges in memory, signatures.
    History by history;
    /// What decides between files and blobs: attributes, line ends, filters.
    Conversions by conversions;
    /// Captures: the files, index and HEAD of a worktree as commits.
    Captures by captures;
    /// Restores: the files of a worktree from one captured tree to another.
    Restores by restore;
    /// Workspaces: made, put aside, brought back and mended.
    Workspaces by workspaces;
    /// Checkpoints: their refs, their tags, and the local refs that they hold.
    Checkpoints by checkpoints;
    /// What is written in git notes beside checkpoints.
    NoteStore by notes;
}

/// The index of a worktree, and what is left out of it.
#[derive(Debug, Clone, Copy)]
pub struct Index<'r> {
    /// The repository.
    pub(in crate::git) repo: &'r Repository,
    /// Whose index it is.
    pub(in crate::git) worktree: &'r Worktree,
}

impl Repository {
    /// The index of a worktree, and what is left out of it.
    pub fn index<'r>(&'r self, worktree: &'r Worktree) -> Index<'r> {
        Index { repo: self, worktree }
    }
}
