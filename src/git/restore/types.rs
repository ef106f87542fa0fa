//! The input of a restore, and the report of what it did.

use std::path::{Path, PathBuf};

use axiom_model::base::names::{Oid, RepoPath};
use axiom_model::base::text::ValueChange;

use super::plan::RestoreStep;
use super::prepared::RecordedTree;
use crate::base::path_inspection::FileTouchStamp;
use crate::base::tree_change::FileId;
use crate::capture::extras::CaptureExtras;
use crate::index::placed_file::PlacedFile;
use crate::repo::worktrees::Worktree;

/// The longest target of a symbolic link that is compared, in bytes.
pub(crate) const LINK_LIMIT: u64 = 1024 * 1024;

/// Which attempt at a change this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeAttempt {
    /// The first attempt: anything unexpected stops it.
    First,
    /// Another attempt after a crash: some of it may already be done.
    Again,
    /// An earlier attempt is reversed. A file that is neither as that attempt found it nor as it left it was changed by the
    /// user or another process: it is left alone and reported, and does not stop the rest.
    Back,
}

/// What shall be restored.
#[derive(Debug, Clone, Copy)]
pub struct WorktreeRestore<'a> {
    /// The worktree.
    pub worktree: &'a Worktree,
    /// The tree of its present files: that of a capture just taken.
    pub from: &'a Oid,
    /// The tree that its files shall have.
    pub to: &'a Oid,
    /// This transaction's trash, on the file system of the worktree. What is replaced or removed is moved there.
    pub trash: &'a Path,
    /// Which attempt it is.
    pub attempt: ChangeAttempt,
    /// The extras of the two captures; `None` if the trees alone describe the files.
    pub beside: Option<ValueChange<&'a CaptureExtras>>,
}

impl<'a> WorktreeRestore<'a> {
    /// The present files: their tree and kept bytes.
    pub(crate) fn had(&self) -> RecordedTree<'a> {
        had(self.from, self.beside.map(|beside| beside.old))
    }

    /// The restored files: their tree and kept bytes.
    pub(crate) fn will_have(&self) -> RecordedTree<'a> {
        had(self.to, self.beside.map(|beside| beside.new))
    }
}

fn had<'a>(tree: &'a Oid, beside: Option<&'a CaptureExtras>) -> RecordedTree<'a> {
    RecordedTree { tree, raw: beside.map_or(&[], |beside| &beside.raw), line_ends: beside.map(|beside| beside.line_ends) }
}

/// Something that no capture holds, that was in the way and is in the trash now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedObstacle {
    /// Its path in the worktree.
    pub path: RepoPath,
    /// Where it is now.
    pub now_at: PathBuf,
}

/// A submodule that differs between the two trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DifferingSubmodule {
    /// Its path.
    pub path: RepoPath,
    /// Only the second tree has it.
    pub comes: bool,
    /// Only the first tree has it.
    pub goes: bool,
}

/// What a restore did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RestoreReport {
    /// Paths written.
    pub written: Vec<RepoPath>,
    /// Paths removed (they are in the trash).
    pub removed: Vec<RepoPath>,
    /// What was in the way and is in the trash now.
    pub moved_aside: Vec<MovedObstacle>,
    /// Submodules that differ between the trees. At most an empty folder of theirs is created or removed.
    pub submodules: Vec<DifferingSubmodule>,
    /// Paths that the user or another process changed meanwhile and that were left alone; only if an attempt is reversed.
    pub left: Vec<RepoPath>,
    /// Paths that could not be put back, and why; only if an attempt is reversed.
    pub failed: Vec<UnrestoredPath>,
    /// The files that were put into place.
    pub placed: Vec<PlacedFile>,
}

/// Something that could not be put back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnrestoredPath {
    /// Its path in the worktree.
    pub path: RepoPath,
    /// Why it could not be put back.
    pub why: String,
    /// Where it is in the trash, if it is there.
    pub now_at: Option<PathBuf>,
}

/// One path of the plan.
#[derive(Debug)]
pub(crate) struct PlannedPath<'a> {
    pub path: &'a RepoPath,
    pub step: RestoreStep,
    pub stamp: Option<FileTouchStamp>,
    /// The file that shall be there.
    pub new: Option<&'a FileId>,
}

impl PlannedPath<'_> {
    /// Whether a file is put there.
    pub fn is_placed(&self) -> bool {
        match self.step {
            RestoreStep::Swap | RestoreStep::Place => true,
            RestoreStep::Done | RestoreStep::Remove | RestoreStep::Conflict | RestoreStep::Leave => false,
        }
    }
}
