//! The parts of a repository by which others work with it. A handle is one reference; it holds nothing of its own. What a
//! part can do is written in its room.

use super::repository::Repository;

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
    /// Indexes of worktrees, and what decides about contents: attributes, conversions, sparse parts.
    Indexes by index;
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
