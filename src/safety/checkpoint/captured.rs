//! What a checkpoint captured: worktrees, their submodules, workspaces, and what could not be captured.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;

use axiom_base::error::Result;
use axiom_git::{Repository, Worktree, WorktreeCapture};
use axiom_model::base::names::{Oid, RefName, RepoPath};
use axiom_model::checkpoint::coverage::CaptureCoverage;
use axiom_model::checkpoint::document::WorkspaceState;
use axiom_model::checkpoint::submodules::{HeldSubmodule, SubmoduleState};

/// A captured worktree.
#[derive(Debug, Clone)]
pub struct CapturedWorktree {
    /// Which worktree it is.
    pub worktree: Worktree,
    /// Its captured contents.
    pub capture: WorktreeCapture,
    /// Its submodules, the outer ones first.
    pub submodules: Vec<CapturedSubmodule>,
}

/// A submodule as it is now.
#[derive(Debug, Clone)]
pub struct CapturedSubmodule {
    /// Its path in the worktree of the superproject that it is in; one within another has the whole path.
    pub path: RepoPath,
    /// Its repository.
    pub repo: Arc<Repository>,
    /// Its worktree and contents.
    pub present: CapturedWorktree,
    /// The commit of its capture, where one was made.
    pub commit: Option<Oid>,
}

impl CapturedSubmodule {
    /// Its absolute path.
    pub fn folder(&self) -> &Path {
        self.present.worktree.path()
    }

    /// Whether it has work that is in no commit.
    pub fn is_dirty(&self) -> Result<bool> {
        has_uncommitted(&self.repo, &self.present.capture)
    }
}

/// Whether a worktree has work that is in no commit.
pub fn has_uncommitted(repo: &Repository, capture: &WorktreeCapture) -> Result<bool> {
    let committed = match capture.head.commit() {
        Some(commit) => Some(repo.objects().read_commit(commit)?.tree),
        None => None,
    };
    Ok(committed.as_ref() != Some(&capture.tree) || capture.tree != capture.index_tree || capture.coverage.leaves_out_work())
}

/// A captured linked worktree: its capture has a commit already.
#[derive(Debug, Clone)]
pub struct CapturedWorkspace {
    /// The worktree and its contents.
    pub captured: CapturedWorktree,
    /// Its entry in the checkpoint's document.
    pub state: WorkspaceState,
}

/// Everything that a checkpoint captured.
#[derive(Debug, Clone)]
pub struct CheckpointCaptures {
    /// The main worktree.
    pub main: CapturedWorktree,
    /// The linked worktrees: the agents' workspaces and others.
    pub workspaces: Vec<CapturedWorkspace>,
    /// The submodules of all of them, as the document names them.
    pub submodules: Vec<SubmoduleState>,
    /// Linked worktrees of which an earlier capture is taken.
    pub earlier: Vec<WorkspaceState>,
    /// When the main worktree was captured, where that is an earlier capture.
    pub main_captured_at: Option<Timestamp>,
    /// The task branches, the target branch, and the branch that is checked out in the main worktree.
    pub refs: BTreeMap<RefName, Oid>,
    /// Those of them that are left out, since something of their history is lost.
    pub broken_refs: Vec<RefName>,
    /// What the checkpoint does not hold, by the worktree's path.
    pub coverage: BTreeMap<String, CaptureCoverage>,
    /// Why everything was examined, where only some paths were requested.
    pub looked_at_all: Option<String>,
    /// Requested paths that exist nowhere: not in the worktree, not in the index, not in the checkpoint that this one builds
    /// on.
    pub nowhere: Vec<PathBuf>,
}

impl CheckpointCaptures {
    /// The states of all linked worktrees.
    pub fn states(&self) -> impl Iterator<Item = &WorkspaceState> {
        self.workspaces.iter().map(|workspace| &workspace.state).chain(&self.earlier)
    }

    /// All worktrees that were captured now, the main one first.
    pub fn worktrees(&self) -> impl Iterator<Item = &CapturedWorktree> + Clone {
        std::iter::once(&self.main).chain(self.workspaces.iter().map(|workspace| &workspace.captured))
    }

    /// The worktree at a path.
    pub fn worktree_at(&self, path: &str) -> Option<&CapturedWorktree> {
        self.worktrees().find(|one| one.worktree.path() == Path::new(path))
    }

    /// The submodules of the worktree at a path, as they are held.
    pub fn submodules_of(&self, path: &str) -> Vec<HeldSubmodule> {
        self.submodules.iter().filter(|one| one.worktree == path).map(HeldSubmodule::from).collect()
    }

    /// The submodule at a path.
    pub fn submodule_at(&self, path: &str) -> Option<&CapturedSubmodule> {
        self.worktrees().flat_map(|one| &one.submodules).find(|one| one.folder() == Path::new(path))
    }

    /// Whether there was time for all files.
    pub(in crate::checkpoint) fn all_read(&self) -> bool {
        let submodules = self.submodules.iter().map(|one| &one.coverage);
        self.coverage.values().chain(submodules).all(CaptureCoverage::all_read)
    }

    /// The paths of worktrees that could not be captured: nothing is changed in them.
    pub fn not_captured(&self) -> BTreeSet<String> {
        let without = self.coverage.iter().filter(|(_, coverage)| coverage.not_captured.is_some());
        without.map(|(path, _)| path.clone()).collect()
    }
}
