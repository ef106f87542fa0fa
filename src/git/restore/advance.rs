//! Moves a branch that is checked out: files, index and ref together. The user's changes must not be in the way.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::Path;

use axiom_base::env;
use axiom_base::error::{Code, Error, Result, some_of};
use axiom_model::base::names::{Oid, RefName, RepoPath};

use super::obstacles::ClosedFolderRule;
use super::prepared::PreparedFiles;
use super::types::{ChangeAttempt, RestoreReport, WorktreeRestore};
use crate::base::readable::can_be_read;
use crate::base::tree_change::{FileId, TreeChange};
use crate::capture::worktree::is_below;
use crate::index::lock::IndexLock;
use crate::index::status::StatusKind;
use crate::refs::edits::{ExpectedRefValue, RefEdit};
use crate::repo::handles::CheckoutAdvances;
use crate::repo::worktrees::Worktree;

/// The move of a checked-out branch from one commit to another.
#[derive(Debug, Clone, Copy)]
pub struct CheckoutAdvance<'a> {
    /// The worktree in which it is checked out.
    pub worktree: &'a Worktree,
    /// The branch.
    pub branch: &'a RefName,
    /// Its present commit.
    pub old: &'a Oid,
    /// Its commit afterwards.
    pub new: &'a Oid,
    /// This transaction's id; it is part of the name of the index lock's own file.
    pub tag: &'a str,
    /// This transaction's trash.
    pub trash: &'a Path,
    /// The reflog message.
    pub reflog: &'a str,
}

impl CheckoutAdvance<'_> {
    /// The restore of the files.
    pub fn restore(&self, attempt: ChangeAttempt) -> WorktreeRestore<'_> {
        WorktreeRestore { worktree: self.worktree, from: self.old, to: self.new, trash: self.trash, attempt, beside: None }
    }
}

impl CheckoutAdvances<'_> {
    /// Checks that no changes of the user are in the way; changes nothing. The caller records the operation, then calls
    /// [`CheckoutAdvances::apply_advance`].
    pub fn prepare_advance(&self, advance: &CheckoutAdvance<'_>) -> Result<()> {
        self.check_branch(advance, &[advance.old])?;
        let changes = self.repo.history().diff_trees(advance.old, advance.new)?;
        self.check_the_way(advance, &changes)?;
        self.repo.restore().check_obstacles_of(
            advance.worktree.path(),
            &self.of_files(advance.worktree, &changes)?,
            ClosedFolderRule::IsInTheWay,
        )
    }

    /// Prepares the contents of the files, as [`Restores::prepare_restore`](crate::Restores::prepare_restore) does.
    pub fn prepare_advance_files(&self, advance: &CheckoutAdvance<'_>) -> Result<PreparedFiles> {
        let changes = self.repo.history().diff_trees(advance.old, advance.new)?;
        self.repo.restore().prepare_changes(&advance.restore(ChangeAttempt::First), &self.of_files(advance.worktree, &changes)?)
    }

    /// Moves the files, then the branch, then the index, while `index.lock` is held. After a crash, call it again: what is
    /// done stays done. With the commits swapped it reverses the move.
    pub fn apply_advance(&self, advance: &CheckoutAdvance<'_>, attempt: ChangeAttempt) -> Result<RestoreReport> {
        self.apply_prepared(advance, attempt, None)
    }

    /// As [`CheckoutAdvances::apply_advance`], with the contents that [`CheckoutAdvances::prepare_advance_files`] prepared.
    pub fn apply_prepared(
        &self,
        advance: &CheckoutAdvance<'_>,
        attempt: ChangeAttempt,
        prepared: Option<&PreparedFiles>,
    ) -> Result<RestoreReport> {
        let lock = match attempt {
            ChangeAttempt::First => IndexLock::take(advance.worktree, advance.tag)?,
            ChangeAttempt::Again | ChangeAttempt::Back => IndexLock::take_patiently(advance.worktree, advance.tag)?,
        };
        let mut changes = self.repo.history().diff_trees(advance.old, advance.new)?;
        let mut passed_by = Vec::new();
        match attempt {
            ChangeAttempt::First => {
                self.check_branch(advance, &[advance.old, advance.new])?;
                // Checked again, because the lock now keeps other processes from staging.
                self.check_the_way(advance, &changes)?;
            }
            ChangeAttempt::Again => self.check_branch(advance, &[advance.old, advance.new])?,
            ChangeAttempt::Back => (changes, passed_by) = self.still_to_take_back(advance, changes)?,
        }
        let CheckoutAdvance { worktree, old, new, .. } = *advance;
        env::fault_point("git.advance-before-files");
        let restore = advance.restore(attempt);
        let mut report = self.repo.restore().restore_changes(&restore, &self.of_files(worktree, &changes)?, prepared)?;
        report.left.extend(passed_by);
        env::fault_point("git.advance-before-ref");
        let now = self.repo.refs().read_ref(advance.branch)?;
        let moves = match attempt {
            ChangeAttempt::First | ChangeAttempt::Again => now.as_ref() != Some(new),
            ChangeAttempt::Back => now.as_ref() == Some(old),
        };
        if moves {
            let expected = ExpectedRefValue::Value(old.clone());
            let edit = RefEdit { name: advance.branch.clone(), expected, new: Some(new.clone()) };
            self.repo.refs().update_refs(&[edit], advance.reflog)?;
        }
        env::fault_point("git.advance-before-index");
        if attempt == ChangeAttempt::Back {
            let users = self.repo.index(worktree).users_entries(&worktree.index_file(), old, new)?;
            changes.retain(|change| !users.contains_key(&change.path));
        }
        self.repo.index_edits(worktree).replace_entries(&changes, (old, new), &lock, &report.placed)?;
        lock.release()?;
        Ok(report)
    }

    /// The changes of paths that are files on disk: paths that a sparse checkout leaves out change in the index only.
    fn of_files(&self, worktree: &Worktree, changes: &[TreeChange]) -> Result<Vec<TreeChange>> {
        let gone = |path: &RepoPath| std::fs::symlink_metadata(worktree.path().join(path.to_path())).is_err();
        if !changes.iter().any(|change| change.old.is_some() && gone(&change.path)) {
            return Ok(changes.to_vec());
        }
        let extras = self.repo.index(worktree).left_out_now()?;
        let left_out = extras.left_out();
        Ok(changes.iter().filter(|change| !left_out.contains(&change.path)).cloned().collect())
    }

    /// The changes that have to be reversed, and the paths that are left alone. If the user went on to another commit
    /// meanwhile, only those paths are reversed that this commit has as in `new`.
    fn still_to_take_back(
        &self,
        advance: &CheckoutAdvance<'_>,
        changes: Vec<TreeChange>,
    ) -> Result<(Vec<TreeChange>, Vec<RepoPath>)> {
        let head = self.repo.refs().head(advance.worktree)?;
        let differing: BTreeSet<RepoPath> = match head.commit() {
            Some(commit) if commit == advance.old || commit == advance.new => return Ok((changes, Vec::new())),
            Some(commit) => self.repo.history().diff_trees(commit, advance.new)?.into_iter().map(|change| change.path).collect(),
            None => changes.iter().map(|change| change.path.clone()).collect(),
        };
        let (passed_by, kept): (Vec<_>, Vec<_>) = changes.into_iter().partition(|change| differing.contains(&change.path));
        Ok((kept, passed_by.into_iter().map(|change| change.path).collect()))
    }

    fn check_branch(&self, advance: &CheckoutAdvance<'_>, allowed: &[&Oid]) -> Result<()> {
        let head = self.repo.refs().head(advance.worktree)?;
        let there = head.commit().is_some_and(|commit| allowed.contains(&commit));
        if head.branch() == Some(advance.branch) && there {
            return Ok(());
        }
        let (place, branch) = (advance.worktree.path().display(), advance.branch.short());
        Err(Error::new(Code::ChangedMeanwhile, format!("'{place}' is no longer on the same commit of {branch}")))
    }

    /// Files that `git status` does not look at (`assume-unchanged`, `skip-worktree`), that the new commit changes, and that
    /// match neither the old nor the new commit.
    fn hidden_edits(&self, advance: &CheckoutAdvance<'_>, changes: &[TreeChange]) -> Result<Vec<String>> {
        let worktree = advance.worktree;
        let facts = self.repo.index(worktree).own_index_facts()?;
        let hidden: BTreeSet<RepoPath> = facts.skip_worktree.iter().chain(&facts.assume_unchanged).cloned().collect();
        if hidden.is_empty() {
            return Ok(Vec::new());
        }
        let extras = self.repo.index(worktree).left_out_of(facts)?;
        let left_out = extras.left_out();
        let looked_at = |change: &&TreeChange| hidden.contains(&change.path) && !left_out.contains(&change.path);
        let changes: Vec<TreeChange> = changes.iter().filter(looked_at).cloned().collect();
        let (from, to, trash) = (advance.old, advance.new, advance.trash);
        let restore = WorktreeRestore { worktree, from, to, trash, attempt: ChangeAttempt::First, beside: None };
        self.repo.reversals().not_as_either(&restore, &changes)
    }

    fn check_the_way(&self, advance: &CheckoutAdvance<'_>, changes: &[TreeChange]) -> Result<()> {
        // As a rule nothing is there; only otherwise git has to look at the whole worktree.
        if self.repo.quick_captures().are_as_committed(advance.worktree, advance.old, changes)? {
            return Ok(());
        }
        let mut blocking: Vec<String> = Vec::new();
        let mut sorted: Vec<&RepoPath> = changes.iter().map(|change| &change.path).collect();
        sorted.sort();
        let is_link = |file: &Option<FileId>| file.as_ref().is_some_and(FileId::is_submodule);
        let of_submodule =
            |path: &RepoPath| changes.iter().any(|change| change.path == *path && (is_link(&change.old) || is_link(&change.new)));
        let (entries, unread) = self.repo.index(advance.worktree).status_and_unread(None, None)?;
        // What cannot be read cannot be saved before it is replaced.
        let shut = sorted.iter().filter(|path| !can_be_read(&advance.worktree.path().join(path.to_path())));
        blocking.extend(unread.iter().filter(|path| touches(&sorted, path)).chain(shut.copied()).map(ToString::to_string));
        for entry in entries {
            let matters = match entry.kind {
                StatusKind::Tracked { index: b'.', worktree: b'.', .. } => false,
                // What is in a submodule stays as it is, whatever it has checked out: only its entry moves, as with git.
                StatusKind::Tracked { dirty_submodule: true, index: b'.', .. } => false,
                StatusKind::NestedRepository | StatusKind::Tracked { index: b'.', worktree: b'D', .. } => {
                    !of_submodule(&entry.path)
                }
                StatusKind::Tracked { .. } | StatusKind::Unmerged | StatusKind::Untracked | StatusKind::Ignored => true,
            };
            if matters && touches(&sorted, &entry.path) {
                blocking.push(entry.path.to_string());
            }
        }
        blocking.extend(self.hidden_edits(advance, changes)?);
        if blocking.is_empty() {
            return Ok(());
        }
        Err(Error::new(Code::InTheWay, format!("changes of yours in '{}' are in the way", advance.worktree.path().display()))
            .why(some_of(&blocking, 10))
            .hint("commit, stash or move them, and try again"))
    }
}

/// Whether one of the sorted paths is `path`, below it, or above it.
fn touches(sorted: &[&RepoPath], path: &RepoPath) -> bool {
    let above = path.folders_above().any(|folder| sorted.binary_search(&&folder).is_ok());
    // Paths below `path` need not follow it directly: `a.b` sorts between `a` and `a/b`.
    above
        || sorted
            .iter()
            .skip_while(|other| **other < path)
            .take_while(|other| other.as_bytes().starts_with(path.as_bytes()))
            .any(|other| is_below(other, path))
}
