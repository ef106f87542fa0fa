//! The place of a repository, and what follows when it is not where it was recorded: it was moved, restored, or copied.
//! Pure.
//!
//! Absolute paths are recorded in many places: workspaces in the state, operations in the log, worktrees in checkpoints.
//! They are valid for the place where the repository was when they were recorded. A [`RepositoryRelocation`] is an event that says that
//! the repository is at a new place. Everything recorded before it is read as if it had been recorded at the new place.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::checkpoint::document::CheckpointDocument;
use crate::journal::journaled::JournaledOperation;
use crate::journal::journaled_changes::{SubmoduleChange, WorkspaceChange};
use crate::work::restorable::restorable_state::RestorableState;

/// Where a repository is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RepositoryLocation {
    /// Its common git directory, absolute.
    pub common_dir: String,
    /// The folder of its main worktree; `None` where git does not name one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
}

/// What is now at the recorded place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordedLocationState {
    /// This very folder: the device and inode of both are equal now.
    ThisFolder,
    /// Another folder, whose repository has the recorded id.
    OtherWithTheId,
    /// Nothing, or something without the recorded id.
    WithoutTheId,
    /// Unknown: the place cannot be read.
    Unknown,
}

/// Whether this folder has the recorded inode. Device numbers are not recorded, because they change with every mount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InodeMatch {
    /// It has.
    Same,
    /// It has another one.
    Other,
}

/// What this repository is, compared with the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepositoryProvenance {
    /// It is the recorded one, wherever it is now.
    Ours,
    /// It is the recorded one, and was put here by other means than a move within a file system. The worktrees that refer to
    /// it belong to it.
    Restored,
    /// It is a copy, and the original exists, or may exist: worktrees that refer to the original do not belong to the copy.
    Copy,
}

/// Decides what this repository is. Where the recorded place cannot be read, only the inode can prove that this is the
/// original.
pub fn find(recorded: RecordedLocationState, inode: InodeMatch) -> RepositoryProvenance {
    match (recorded, inode) {
        (RecordedLocationState::OtherWithTheId, InodeMatch::Same | InodeMatch::Other)
        | (RecordedLocationState::Unknown, InodeMatch::Other) => RepositoryProvenance::Copy,
        (
            RecordedLocationState::ThisFolder | RecordedLocationState::WithoutTheId | RecordedLocationState::Unknown,
            InodeMatch::Same,
        ) => RepositoryProvenance::Ours,
        (RecordedLocationState::ThisFolder | RecordedLocationState::WithoutTheId, InodeMatch::Other) => {
            RepositoryProvenance::Restored
        }
    }
}

/// How a repository came to its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RelocationCause {
    /// It was moved within a file system.
    Moved,
    /// It was put there from elsewhere, and the original does not exist any more.
    Restored,
    /// It was copied, and the original exists, or may exist.
    Copied,
}

/// A repository is at a new place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RepositoryRelocation {
    /// How it came there.
    pub how: RelocationCause,
    /// The place according to older records.
    pub from: RepositoryLocation,
    /// The new place.
    pub to: RepositoryLocation,
}

/// A placing and its number in the log, for the state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RelocationRecord {
    /// The number of the event.
    pub seq: u64,
    /// The placing.
    #[serde(flatten)]
    pub placing: RepositoryRelocation,
}

impl RepositoryRelocation {
    /// A path recorded at the old place, translated to the new one. Paths outside the repository stay as they are.
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

    /// A path in a trash recorded at the old place, translated to the new one. A trash outside the repository belongs to the
    /// original, not to a copy: for a copy the result is a path within its own trash that does not exist.
    pub(crate) fn trash_path(&self, path: &str) -> String {
        let there = self.path(path);
        let is_shared = self.how == RelocationCause::Copied && there == path;
        if is_shared { format!("{}/axiom/trash/not-here{path}", self.to.common_dir) } else { there }
    }

    pub(crate) fn change_trash(&self, path: &mut String) {
        *path = self.trash_path(path);
    }

    /// The placing in words.
    pub fn words(&self) -> String {
        let from = self.from.worktree.as_deref().unwrap_or(&self.from.common_dir);
        match self.how {
            RelocationCause::Moved => format!("the repository was moved here from {from}"),
            RelocationCause::Restored => format!("the repository was restored here; it was at {from}"),
            RelocationCause::Copied => format!("the repository is a copy of {from}, and independent of it from now on"),
        }
    }

    pub(crate) fn change(&self, path: &mut String) {
        *path = self.path(path);
    }

    /// Translates the paths of the workspaces of a state.
    pub fn restorable(&self, restorable: &mut RestorableState) {
        restorable.workspaces.values_mut().for_each(|workspace| self.change(&mut workspace.path));
    }

    /// Translates all paths of an operation.
    pub fn operation(&self, operation: &mut JournaledOperation) {
        operation.advances.iter_mut().for_each(|one| self.change(&mut one.path));
        operation.worktrees.iter_mut().for_each(|one| self.change(&mut one.path));
        operation.submodules.iter_mut().for_each(|one| self.submodule(one));
        operation.workspaces.iter_mut().for_each(|one| self.workspace(one));
        for one in &mut operation.asides {
            self.change(&mut one.worktree);
            self.change_trash(&mut one.trash);
        }
        if let Some(changes) = &mut operation.changes {
            changes.workspaces.values_mut().flatten().for_each(|one| self.change(&mut one.path));
        }
    }

    pub(crate) fn submodule(&self, change: &mut SubmoduleChange) {
        self.change(&mut change.worktree.path);
        self.change(&mut change.git_dir);
    }

    pub(crate) fn workspace(&self, change: &mut WorkspaceChange) {
        self.change(&mut change.workspace.path);
        self.change_trash(&mut change.trash);
        self.change(&mut change.git_dir);
        self.change(&mut change.git_dir_trash);
    }

    /// Translates all paths of a checkpoint's document.
    pub fn document(&self, document: &mut CheckpointDocument) {
        self.restorable(&mut document.state_snapshot);
        document.workspaces.iter_mut().for_each(|one| self.change(&mut one.path));
        for one in &mut document.submodules {
            self.change(&mut one.worktree);
            self.change(&mut one.git_dir);
        }
        document.attached.iter_mut().for_each(|stamp| self.change(&mut stamp.worktree));
        let coverage = std::mem::take(&mut document.coverage);
        document.coverage = coverage.into_iter().map(|(path, coverage)| (self.path(&path), coverage)).collect();
    }
}

/// Reduces an operation that was open when the repository was copied to the part that belongs to the copy: its refs and its
/// main worktree. Linked worktrees belong to the original, and are neither finished nor reversed here.
pub fn own_part(operation: &mut JournaledOperation, place: &RepositoryLocation) {
    let own = |path: &str| place.worktree.as_deref() == Some(path);
    operation.workspaces.clear();
    operation.worktrees.retain(|one| own(&one.path));
    // What is below the main worktree was copied with it.
    let copied = |path: &str| place.worktree.as_deref().is_some_and(|main| Path::new(path).starts_with(main));
    operation.submodules.retain(|one| copied(&one.worktree.path) && Path::new(&one.git_dir).starts_with(&place.common_dir));
    operation.advances.retain(|one| own(&one.path));
    operation.asides.retain(|one| own(&one.worktree));
    if let Some(changes) = &mut operation.changes {
        changes.workspaces.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_repository_is_follows_from_the_recorded_place_and_the_inode() {
        use RepositoryProvenance::{Copy, Ours, Restored};
        let table = [
            (RecordedLocationState::ThisFolder, Ours, Restored),
            // A snapshot of a file system has the inodes of the original.
            (RecordedLocationState::OtherWithTheId, Copy, Copy),
            (RecordedLocationState::WithoutTheId, Ours, Restored),
            (RecordedLocationState::Unknown, Ours, Copy),
        ];
        for (recorded, same, other) in table {
            assert_eq!(find(recorded, InodeMatch::Same), same, "{recorded:?}");
            assert_eq!(find(recorded, InodeMatch::Other), other, "{recorded:?}");
        }
    }

    fn place(worktree: &str) -> RepositoryLocation {
        RepositoryLocation { common_dir: format!("{worktree}/.git"), worktree: Some(worktree.into()) }
    }

    #[test]
    fn a_recorded_path_is_read_where_the_repository_is() {
        let placing = RepositoryRelocation { how: RelocationCause::Moved, from: place("/a/repo"), to: place("/b/x") };
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
        let copied = RepositoryRelocation { how: RelocationCause::Copied, ..placing.clone() };
        for (recorded, here) in [
            ("/a/repo/.worktrees/trash/x", "/b/x/.worktrees/trash/x"),
            ("/w/trash/x", "/b/x/.git/axiom/trash/not-here/w/trash/x"),
        ] {
            assert_eq!(copied.trash_path(recorded), here);
        }
        assert_eq!(placing.trash_path("/w/trash/x"), "/w/trash/x");
        let from = RepositoryLocation { common_dir: "/g".into(), worktree: Some("/w".into()) };
        let placing = RepositoryRelocation { from, ..placing };
        assert_eq!((placing.path("/g/worktrees/x"), placing.path("/w/f")), ("/b/x/.git/worktrees/x".into(), "/b/x/f".into()));
        // Into a folder below the old place: the longest name is the one that is meant.
        let down = RepositoryRelocation { how: RelocationCause::Moved, from: place("/a"), to: place("/a/b") };
        assert_eq!(down.path("/a/.git/x"), "/a/b/.git/x");
    }
}
