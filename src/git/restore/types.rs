//! What shall be restored, and what became of it.

use std::path::{Path, PathBuf};

use crate::domain::base::names::{Oid, RepoPath};
use crate::domain::base::text::Change;

use super::place::Stamp;
use super::plan::Step;
use super::prepared::Had;
use crate::git::capture::extras::CaptureExtras;
use crate::git::history::questions::FileId;
use crate::git::repo::worktrees::Worktree;

/// The largest symbolic link's text that is compared.
pub(in crate::git) const LINK_LIMIT: u64 = 1024 * 1024;

/// Which attempt at a change this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempt {
    /// The first: whatever is not as expected stops it.
    First,
    /// One more after a crash: some of it may be done.
    Again,
    /// An earlier attempt is taken back. What is neither as that attempt found it nor as it left it is somebody else's:
    /// it is left alone and reported, and stops nothing.
    Back,
}

/// What shall be brought from where to where.
#[derive(Debug, Clone, Copy)]
pub struct Restore<'a> {
    /// The worktree.
    pub worktree: &'a Worktree,
    /// What its files are now: the tree of a capture just taken.
    pub from: &'a Oid,
    /// What they shall be.
    pub to: &'a Oid,
    /// This transaction's trash, on the file system of the worktree. What is replaced or removed is in it afterwards.
    pub trash: &'a Path,
    /// Which attempt it is.
    pub attempt: Attempt,
    /// What the captures say beside the two trees; `None` where the trees say it all.
    pub beside: Option<Change<&'a CaptureExtras>>,
}

impl<'a> Restore<'a> {
    /// What the files have now.
    pub(in crate::git) fn had(&self) -> Had<'a> {
        had(self.from, self.beside.map(|beside| beside.old))
    }

    /// What they shall have.
    pub(in crate::git) fn will_have(&self) -> Had<'a> {
        had(self.to, self.beside.map(|beside| beside.new))
    }
}

fn had<'a>(tree: &'a Oid, beside: Option<&'a CaptureExtras>) -> Had<'a> {
    Had { tree, raw: beside.map_or(&[], |beside| &beside.raw), line_ends: beside.map(|beside| beside.line_ends) }
}

/// Something outside the captures that was in the way and is in the trash now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedAside {
    /// Where it was.
    pub path: RepoPath,
    /// Where it is.
    pub now_at: PathBuf,
}

/// A submodule that the two trees say different things of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submodule {
    /// Where.
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
    /// What was in the way.
    pub moved_aside: Vec<MovedAside>,
    /// Submodules whose commit differs: their folders are left alone.
    pub submodules: Vec<Submodule>,
    /// Paths that somebody changed meanwhile and that were left alone; only where an attempt is taken back.
    pub left: Vec<RepoPath>,
    /// Paths that could not be put back, and why; only where an attempt is taken back.
    pub failed: Vec<NotPutBack>,
    /// The files that were put into place.
    pub placed: Vec<Placed>,
}

/// Something that could not be put back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotPutBack {
    /// Where it belongs.
    pub path: RepoPath,
    /// Why.
    pub why: String,
    /// Where it is, if it is in the trash.
    pub now_at: Option<PathBuf>,
}

/// A file that was put into place, and what tells that it is still that one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// Where.
    pub path: RepoPath,
    /// What it is in the tree.
    pub file: FileId,
    pub(in crate::git) stamp: Stamp,
}

/// One path of the plan.
#[derive(Debug)]
pub(in crate::git) struct Planned<'a> {
    pub path: &'a RepoPath,
    pub step: Step,
    pub stamp: Option<Stamp>,
    /// What shall be there.
    pub new: Option<&'a FileId>,
}
