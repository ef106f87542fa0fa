//! Where a repository is, and what follows when it is found elsewhere than it was: moved, restored, or a copy. Pure.
//!
//! Absolute paths are recorded in many places: workspaces in the state, operations in the log, worktrees in checkpoints.
//! They are true of the place where they were written down. A [`Placing`] says that the repository came to another one, and
//! everything recorded before it is read as if it had been written down there.

use serde::{Deserialize, Serialize};

use super::whole::Restorable;
use crate::domain::checkpoint::document::CheckpointDocument;
use crate::domain::operation::journaled::{Operation, WorkspaceChange};
use crate::domain::operation::transaction::Transaction;

/// Where a repository is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Place {
    /// Its common git directory, absolute.
    pub common_dir: String,
    /// The folder of its main worktree; none where git does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
}

/// What is at the place that was recorded, looked at just now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorded {
    /// This very folder: device and inode of both, looked at now, are equal.
    ThisFolder,
    /// Another folder, whose repository has the id that was recorded.
    OtherWithTheId,
    /// Nothing, or something that does not have the id.
    WithoutTheId,
    /// It cannot be looked at.
    Unknown,
}

/// Whether the inode that was recorded is this folder's. Device numbers change with every mount, and are not recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inode {
    /// It is.
    Same,
    /// It is another one.
    Other,
}

/// What a repository is, compared with what was recorded of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// It is the one that was recorded, wherever it is.
    Ours,
    /// It is the one that was recorded, put here by other means than a move within a file system: what names it back is its own.
    Restored,
    /// It is a copy, and the original stands, or may: nothing that names the original is ours.
    Copy,
}

/// What a repository is. Where the original cannot be looked at, only the inode can prove that this is it.
pub fn find(recorded: Recorded, inode: Inode) -> Finding {
    match (recorded, inode) {
        (Recorded::OtherWithTheId, Inode::Same | Inode::Other) | (Recorded::Unknown, Inode::Other) => Finding::Copy,
        (Recorded::ThisFolder | Recorded::WithoutTheId | Recorded::Unknown, Inode::Same) => Finding::Ours,
        (Recorded::ThisFolder | Recorded::WithoutTheId, Inode::Other) => Finding::Restored,
    }
}

/// Arrival a repository came to its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Arrival {
    /// It was moved within a file system.
    Moved,
    /// It was put there from elsewhere, and what was there before is gone.
    Restored,
    /// It was copied, and the original stands, or may.
    Copied,
}

/// A repository came to another place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Placing {
    /// Arrival.
    pub how: Arrival,
    /// Where what is recorded before this says that it is.
    pub from: Place,
    /// Where it is.
    pub to: Place,
}

/// A placing and its number in the log, as the state remembers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlacedAt {
    /// The number of the event.
    pub seq: u64,
    /// What it says.
    #[serde(flatten)]
    pub placing: Placing,
}

impl Placing {
    /// A path that was recorded in the old place, as it is in the new one. What lies elsewhere stays.
    pub fn path(&self, path: &str) -> String {
        let worktrees = self.from.worktree.as_deref().zip(self.to.worktree.as_deref());
        let git_dirs = Some((self.from.common_dir.as_str(), self.to.common_dir.as_str()));
        let below = |(from, to): (&str, &str)| {
            let rest = path.strip_prefix(from)?;
            (rest.is_empty() || rest.starts_with('/')).then(|| (from.len(), format!("{to}{rest}")))
        };
        let found = [worktrees, git_dirs].into_iter().flatten().filter_map(below).max_by_key(|(length, _)| *length);
        found.map_or_else(|| path.to_owned(), |(_, there)| there)
    }

    /// A place in a trash that was recorded in the old place, as it is in the new one. What lies outside the repository is the
    /// original's, and a copy has nothing there: it is read as a place of the copy's own, where nothing is.
    fn trash_path(&self, path: &str) -> String {
        let there = self.path(path);
        let is_shared = self.how == Arrival::Copied && there == path;
        if is_shared { format!("{}/axiom/trash/not-here{path}", self.to.common_dir) } else { there }
    }

    fn change_trash(&self, path: &mut String) {
        *path = self.trash_path(path);
    }

    /// What happened, in words.
    pub fn words(&self) -> String {
        let from = self.from.worktree.as_deref().unwrap_or(&self.from.common_dir);
        match self.how {
            Arrival::Moved => format!("the repository was moved here from {from}"),
            Arrival::Restored => format!("the repository was restored here; it was at {from}"),
            Arrival::Copied => format!("the repository is a copy of {from}, and its own from here on"),
        }
    }

    fn change(&self, path: &mut String) {
        *path = self.path(path);
    }

    /// The same for the workspaces of a state.
    pub fn restorable(&self, restorable: &mut Restorable) {
        restorable.workspaces.values_mut().for_each(|workspace| self.change(&mut workspace.path));
    }

    /// The same for all that an operation names.
    pub fn operation(&self, operation: &mut Operation) {
        operation.advances.iter_mut().for_each(|one| self.change(&mut one.path));
        operation.worktrees.iter_mut().for_each(|one| self.change(&mut one.path));
        operation.workspaces.iter_mut().for_each(|one| self.workspace(one));
        for one in &mut operation.asides {
            self.change(&mut one.worktree);
            self.change_trash(&mut one.trash);
        }
        if let Some(restored) = &mut operation.restored {
            self.restorable(restored);
        }
    }

    fn workspace(&self, change: &mut WorkspaceChange) {
        self.change(&mut change.workspace.path);
        self.change_trash(&mut change.trash);
        self.change(&mut change.git_dir);
        self.change(&mut change.git_dir_trash);
    }

    /// The same for all that a transaction names.
    pub fn transaction(&self, transaction: &mut Transaction) {
        transaction.advances.iter_mut().for_each(|one| self.change(&mut one.path));
        transaction.worktrees.iter_mut().for_each(|one| self.change(&mut one.path));
        transaction.workspaces.iter_mut().for_each(|one| self.workspace(one));
        for one in &mut transaction.asides {
            self.change(&mut one.worktree);
            self.change_trash(&mut one.trash);
        }
    }

    /// The same for a checkpoint's document.
    pub fn document(&self, document: &mut CheckpointDocument) {
        self.restorable(&mut document.state_snapshot);
        document.workspaces.iter_mut().for_each(|one| self.change(&mut one.path));
        let coverage = std::mem::take(&mut document.coverage);
        document.coverage = coverage.into_iter().map(|(path, coverage)| (self.path(&path), coverage)).collect();
    }
}

/// Of an operation that was open when the repository was copied, what is the copy's own: its refs and its main worktree. Linked
/// worktrees are the original's, and nothing of theirs is finished or put back here.
pub fn own_part(operation: &mut Operation, place: &Place) {
    let own = |path: &str| place.worktree.as_deref() == Some(path);
    operation.workspaces.clear();
    operation.worktrees.retain(|one| own(&one.path));
    operation.advances.retain(|one| own(&one.path));
    operation.asides.retain(|one| own(&one.worktree));
    if let Some(restored) = &mut operation.restored {
        restored.workspaces.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_repository_is_follows_from_the_recorded_place_and_the_inode() {
        use Finding::{Copy, Ours, Restored};
        let table = [
            (Recorded::ThisFolder, Ours, Restored),
            // A snapshot of a file system has the inodes of the original.
            (Recorded::OtherWithTheId, Copy, Copy),
            (Recorded::WithoutTheId, Ours, Restored),
            (Recorded::Unknown, Ours, Copy),
        ];
        for (recorded, same, other) in table {
            assert_eq!(find(recorded, Inode::Same), same, "{recorded:?}");
            assert_eq!(find(recorded, Inode::Other), other, "{recorded:?}");
        }
    }

    fn place(worktree: &str) -> Place {
        Place { common_dir: format!("{worktree}/.git"), worktree: Some(worktree.into()) }
    }

    #[test]
    fn a_recorded_path_is_read_where_the_repository_is() {
        let placing = Placing { how: Arrival::Moved, from: place("/a/repo"), to: place("/b/x") };
        let table = [
            ("/a/repo", "/b/x"),
            ("/a/repo/.worktrees/ed-001-t", "/b/x/.worktrees/ed-001-t"),
            ("/a/repo/.git/axiom/trash/x", "/b/x/.git/axiom/trash/x"),
            ("/a/repository", "/a/repository"),
            ("/elsewhere/ed-001-t", "/elsewhere/ed-001-t"),
        ];
        for (recorded, here) in table {
            assert_eq!(placing.path(recorded), here);
        }
        // What was put aside outside is the original's, and a copy finds nothing of it.
        let copied = Placing { how: Arrival::Copied, ..placing.clone() };
        for (recorded, here) in [
            ("/a/repo/.worktrees/trash/x", "/b/x/.worktrees/trash/x"),
            ("/w/trash/x", "/b/x/.git/axiom/trash/not-here/w/trash/x"),
        ] {
            assert_eq!(copied.trash_path(recorded), here);
        }
        assert_eq!(placing.trash_path("/w/trash/x"), "/w/trash/x");
        let from = Place { common_dir: "/g".into(), worktree: Some("/w".into()) };
        let placing = Placing { from, ..placing };
        assert_eq!((placing.path("/g/worktrees/x"), placing.path("/w/f")), ("/b/x/.git/worktrees/x".into(), "/b/x/f".into()));
        // Into a folder below the old place: the longest name is the one that is meant.
        let down = Placing { how: Arrival::Moved, from: place("/a"), to: place("/a/b") };
        assert_eq!(down.path("/a/.git/x"), "/a/b/.git/x");
    }
}
