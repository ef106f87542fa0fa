//! A git operation (a merge, a rebase) that the user began since the transaction: an undo leaves it in progress, and changes
//! nothing that would become part of it or be lost with it.

use std::collections::BTreeSet;
use std::path::Path;

use crate::context::handle::Context;
use crate::operation::in_progress::holds_branch;
use crate::operation::recorded_head::head_state;
use axiom_base::error::{Error, Result};
use axiom_git::{GitOperation, Head, Repository, TreeChange, Worktree, WorktreeCapture};
use axiom_model::base::names::{Oid, RefName, RepoPath};
use axiom_model::base::text::ValueChange;
use axiom_model::journal::journaled_changes::{HeadState, WorktreeChange};
use axiom_model::operation::operation_record::JournaledChanges;

use super::changed;

/// One worktree: its present state and the changes of an undo.
pub(super) struct WorktreeUndo<'a> {
    pub worktree: &'a Worktree,
    pub now: &'a WorktreeCapture,
    /// The changes in its files.
    pub files: Vec<TreeChange>,
    /// The trees of the index before and after the undo.
    pub index: ValueChange<&'a Oid>,
}

impl WorktreeUndo<'_> {
    /// Checks that a git operation that began or continued since the transaction can stay in progress, however it ends: the
    /// undo moves no branch that it is on, stages nothing, and changes no path that it concerns or that its end may
    /// overwrite.
    pub fn leaves_alone(&self, repo: &Repository, moved: &[&RefName], kinds: &[GitOperation]) -> Result<()> {
        let Some(kind) = kinds.first().copied() else { return Ok(()) };
        let claimed = repo.git_operations().branches_in_progress(self.worktree)?.into_iter().map(|(name, _)| name);
        let mut on: BTreeSet<RefName> = claimed.collect();
        on.extend(self.now.head.branch().cloned());
        let moved = moved.iter().copied().find(|name| on.contains(*name));
        if let Some(name) = moved {
            return Err(self.stands_against(kind, &[format!("it is on {}, which the undo would move", name.short())]));
        }
        let staged = repo.history().diff_trees(self.index.old, self.index.new)?;
        if !staged.is_empty() {
            let what = staged.iter().map(|change| format!("the undo would stage '{}' in the middle of it", change.path));
            return Err(self.stands_against(kind, &what.collect::<Vec<_>>()));
        }
        let concerned = self.concerned(repo, kinds)?;
        let both = self.files.iter().filter(|change| concerned.contains(&change.path));
        let both: Vec<String> = both.map(|change| format!("it concerns '{}' too", change.path)).collect();
        if both.is_empty() { Ok(()) } else { Err(self.stands_against(kind, &both)) }
    }

    /// The paths that the operation concerns: unmerged and staged ones. During a rebase, whose end may be a hard reset, also
    /// all tracked paths, those of the index and those of its branches.
    fn concerned(&self, repo: &Repository, kinds: &[GitOperation]) -> Result<BTreeSet<RepoPath>> {
        let committed = match self.now.head.commit() {
            Some(commit) => repo.objects().read_commit(commit)?.tree,
            None => repo.trees().empty_tree()?,
        };
        let mut paths: BTreeSet<RepoPath> = self.now.extras.index.unmerged.iter().map(|stage| stage.path.clone()).collect();
        paths.extend(repo.history().diff_trees(&committed, self.index.old)?.into_iter().map(|change| change.path));
        if kinds.contains(&GitOperation::Rebase) {
            let mut trees = vec![self.index.old.clone()];
            for (name, _) in repo.git_operations().branches_in_progress(self.worktree)? {
                if let Some(commit) = repo.refs().read_ref(&name)? {
                    trees.push(repo.objects().read_commit(&commit)?.tree);
                }
            }
            let nothing = repo.trees().empty_tree()?;
            for tree in trees {
                paths.extend(repo.history().diff_trees(&nothing, &tree)?.into_iter().map(|change| change.path));
            }
        }
        Ok(paths)
    }

    fn stands_against(&self, kind: GitOperation, what: &[String]) -> Error {
        let mut lines = vec![format!("{} is in progress in '{}'", kind.words(), self.worktree.path().display())];
        lines.extend_from_slice(what);
        changed(&lines).hint(format!("end it first ({}), then try again", kind.ways_out()))
    }
}

/// The branches that moved.
pub(super) fn moved(changes: &JournaledChanges) -> impl Iterator<Item = &RefName> {
    let refs = changes.refs.iter().map(|change| &change.name);
    refs.chain(changes.advances.iter().map(|change| &change.branch))
}

/// The change of HEAD. If the transaction changed neither HEAD nor its branch, HEAD stays as it is now: on another branch
/// that the user switched to, or detached by a git operation in progress.
pub(super) fn head(moved: &[&RefName], change: &WorktreeChange, now: &Head) -> ValueChange<HeadState> {
    let now = head_state(now);
    let is_moved = |head: &HeadState| match head {
        HeadState::Branch(branch) => moved.contains(&branch),
        HeadState::Detached(_) => false,
    };
    if change.head.old != change.head.new || is_moved(&change.head.old) || is_moved(&now) {
        return change.head.clone();
    }
    ValueChange::new(now.clone(), now)
}

/// Checks that no branch that moves together with its worktree is in a git operation that was begun since.
pub(super) fn advances_are_clear(ctx: &Context, changes: &JournaledChanges) -> Result<()> {
    for advance in &changes.advances {
        let Some(entry) = ctx.repo.worktrees().worktree_at(Path::new(&advance.path))? else { continue };
        if let Some(kind) = holds_branch(ctx, &entry.worktree)? {
            let what = format!("{} is in progress in '{}', on {}", kind.words(), advance.path, advance.branch.short());
            return Err(changed(&[what]).hint(format!("end it first ({}), then try again", kind.ways_out())));
        }
    }
    Ok(())
}
