//! What operations change by their journals.

use crate::base::ref_change::RefChange;
use crate::checkpoint::branch_config::BranchConfigChange;
use crate::journal::journaled::JournaledOperation;
use crate::journal::journaled_changes::{
    BranchAdvance, GateChange, StashChange, SubmoduleChange, TrashChange, WorkspaceChange, WorktreeChange,
};
use crate::state::repository_location::RepositoryRelocation;

/// What an operation changed by its journal.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JournaledChanges {
    /// Refs that it moved.
    pub refs: Vec<RefChange>,
    /// Configuration of branches that it removed or brought back.
    pub branch_configs: Vec<BranchConfigChange>,
    /// Stash entries that it removed or brought back.
    pub stash: Vec<StashChange>,
    /// Branches that it moved together with the worktree in which they are checked out.
    pub advances: Vec<BranchAdvance>,
    /// Worktrees that it changed.
    pub worktrees: Vec<WorktreeChange>,
    /// Submodules that it changed.
    pub submodules: Vec<SubmoduleChange>,
    /// Workspaces that it moved to the trash or brought back.
    pub workspaces: Vec<WorkspaceChange>,
    /// Files that were in its way and are in the trash.
    pub asides: Vec<TrashChange>,
    /// Gates on tasks that it opened or closed.
    pub gates: Vec<GateChange>,
}

impl JournaledChanges {
    /// Adds what an operation that has ended had journaled. Its files in the trash are told by its end.
    pub(super) fn add(&mut self, operation: &JournaledOperation) {
        self.refs.extend(operation.refs.iter().cloned());
        self.branch_configs.extend(operation.branch_configs.iter().cloned());
        self.stash.extend(operation.stash.iter().cloned());
        self.advances.extend(operation.advances.iter().cloned());
        self.worktrees.extend(operation.worktrees.iter().cloned());
        self.submodules.extend(operation.submodules.iter().cloned());
        self.workspaces.extend(operation.workspaces.iter().cloned());
        self.gates.extend(operation.gates.iter().cloned());
    }

    /// Whether refs, stash entries, files or workspaces moved.
    pub fn moves(&self) -> bool {
        !(self.refs.is_empty() && self.stash.is_empty() && self.advances.is_empty()) || self.moves_files()
    }

    /// Whether files or workspaces moved, other than with a branch.
    pub fn moves_files(&self) -> bool {
        !(self.worktrees.is_empty() && self.submodules.is_empty() && self.workspaces.is_empty())
    }
}

impl RepositoryRelocation {
    /// Translates all paths of changes.
    pub(super) fn journaled_changes(&self, changes: &mut JournaledChanges) {
        changes.advances.iter_mut().for_each(|one| self.change(&mut one.path));
        changes.worktrees.iter_mut().for_each(|one| self.change(&mut one.path));
        changes.submodules.iter_mut().for_each(|one| self.submodule(one));
        changes.workspaces.iter_mut().for_each(|one| self.workspace(one));
        for one in &mut changes.asides {
            self.change(&mut one.worktree);
            self.change_trash(&mut one.trash);
        }
    }
}
