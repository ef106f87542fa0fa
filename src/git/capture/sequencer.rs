//! Operations of git that wait for the user: which are in progress, how they are ended, and which branches they will move.

use std::path::Path;

use axiom_base::error::Result;
use axiom_base::files;
use axiom_model::base::names::{RefName, spelled};

use super::extras::CaptureExtras;
use crate::repo::handles::GitOperations;
use crate::repo::worktrees::Worktree;

/// The largest file with names of branches that is read, in bytes.
const LIMIT: u64 = 16 * 1024 * 1024;

/// An operation that git has begun and not finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GitOperation {
    /// `git rebase`, with everything that it picks or merges.
    Rebase,
    /// `git am`.
    Mailbox,
    /// `git merge`.
    Merge,
    /// `git cherry-pick`.
    CherryPick,
    /// `git revert`.
    Revert,
    /// A cherry-pick or revert of several commits, between two of them.
    Sequence,
    /// `git bisect`.
    Bisect,
}

impl GitOperation {
    /// The operations in progress, judged by which files and folders exist in a worktree's git directory.
    fn told_by(is_there: impl Fn(&str) -> bool) -> Vec<Self> {
        let mailbox = is_there("rebase-apply/applying");
        let rebase = is_there("rebase-merge") || (is_there("rebase-apply") && !mailbox);
        let one = [
            (Self::Rebase, rebase),
            (Self::Mailbox, mailbox),
            (Self::Merge, is_there("MERGE_HEAD")),
            (Self::CherryPick, is_there("CHERRY_PICK_HEAD")),
            (Self::Revert, is_there("REVERT_HEAD")),
            (Self::Sequence, is_there("sequencer")),
        ];
        let one = one.into_iter().find(|(_, there)| *there).map(|(kind, _)| kind);
        one.into_iter().chain(is_there("BISECT_LOG").then_some(Self::Bisect)).collect()
    }

    /// The operation's name, for messages.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Rebase => "a rebase",
            Self::Mailbox => "'git am'",
            Self::Merge => "a merge",
            Self::CherryPick => "a cherry-pick",
            Self::Revert => "a revert",
            Self::Sequence => "a cherry-pick or revert of several commits",
            Self::Bisect => "a bisect",
        }
    }

    /// The commands that end the operation, for messages.
    pub const fn ways_out(self) -> &'static str {
        match self {
            Self::Rebase => "git rebase --continue, or git rebase --abort",
            Self::Mailbox => "git am --continue, or git am --abort",
            Self::Merge => "git merge --continue, or git merge --abort",
            Self::CherryPick => "git cherry-pick --continue, or git cherry-pick --abort",
            Self::Revert => "git revert --continue, or git revert --abort",
            Self::Sequence => "--continue, or --abort, of 'git cherry-pick' or 'git revert'",
            Self::Bisect => "git bisect reset",
        }
    }
}

impl CaptureExtras {
    /// The operations that were in progress.
    pub fn in_progress(&self) -> Vec<GitOperation> {
        let is_there = |name: &str| {
            let rest = |path: &[u8]| path.strip_prefix(name.as_bytes()).map(<[u8]>::to_vec);
            let is_it = |rest: Vec<u8>| rest.is_empty() || rest.starts_with(b"/");
            self.operation.iter().filter_map(|file| rest(file.path.as_bytes())).any(is_it)
        };
        GitOperation::told_by(is_there)
    }
}

impl GitOperations<'_> {
    /// The operations that are in progress in a worktree now.
    pub fn in_progress(&self, worktree: &Worktree) -> Result<Vec<GitOperation>> {
        let refs = self.refs_in_progress(worktree)?;
        let is_ref = |name: &str| refs.iter().any(|(found, _)| found.as_str() == name);
        Ok(GitOperation::told_by(|name| worktree.git_dir().join(name).symlink_metadata().is_ok() || is_ref(name)))
    }

    /// The branches that an operation in progress in a worktree will move or switch back to, although HEAD is on none of
    /// them. They are found in the same way as git finds the branches that it refuses to move.
    pub fn branches_in_progress(&self, worktree: &Worktree) -> Result<Vec<(RefName, GitOperation)>> {
        let read = |name: &str| lines(&worktree.git_dir().join(name));
        let mut found = Vec::new();
        for name in ["rebase-merge/head-name", "rebase-apply/head-name"] {
            let full = read(name)?.into_iter().filter(|name| name.starts_with("refs/heads/"));
            found.extend(full.map(|name| (RefName::new(name), GitOperation::Rebase)));
        }
        // Three lines for each ref: its name, its old value, its new value.
        let updated = read("rebase-merge/update-refs")?.into_iter().step_by(3);
        found.extend(updated.map(|name| (RefName::new(name), GitOperation::Rebase)));
        let start = read("BISECT_START")?.into_iter().next();
        found.extend(start.map(|name| (RefName::branch_named(&name), GitOperation::Bisect)));
        Ok(found)
    }
}

/// The lines of a file; empty if there is no file.
fn lines(path: &Path) -> Result<Vec<String>> {
    let content = files::read_optional(path, LIMIT)?.unwrap_or_default();
    Ok(spelled(&content).lines().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::scratch::ScratchRepository;

    fn told(names: &[&str]) -> Vec<GitOperation> {
        GitOperation::told_by(|name| names.contains(&name))
    }

    #[test]
    fn what_a_rebase_does_on_its_way_is_part_of_it() {
        assert_eq!(told(&[]), []);
        assert_eq!(told(&["rebase-merge", "CHERRY_PICK_HEAD", "sequencer"]), [GitOperation::Rebase]);
        assert_eq!(told(&["rebase-apply"]), [GitOperation::Rebase]);
        assert_eq!(told(&["rebase-apply", "rebase-apply/applying"]), [GitOperation::Mailbox]);
        assert_eq!(told(&["MERGE_HEAD", "BISECT_LOG"]), [GitOperation::Merge, GitOperation::Bisect]);
    }

    #[test]
    fn branches_are_found_where_git_finds_them() {
        let scratch = ScratchRepository::new(&[]);
        let (repo, main) = (scratch.repo(), scratch.main());
        let names = || -> Vec<String> {
            repo.git_operations().branches_in_progress(&main).unwrap().iter().map(|(name, _)| name.as_str().to_owned()).collect()
        };
        assert_eq!(names(), Vec::<String>::new());
        for number in 0..4 {
            scratch.git(&["commit", "-q", "--allow-empty", "-m", &format!("{number}")]);
        }
        scratch.git(&["bisect", "start", "HEAD", "HEAD~3"]);
        assert_eq!(names(), ["refs/heads/main"]);
        assert_eq!(repo.git_operations().in_progress(&main).unwrap(), [GitOperation::Bisect]);
        scratch.git(&["bisect", "reset"]);
        scratch.git(&["branch", "below", "HEAD~1"]);
        scratch.git(&["-c", "sequence.editor=sed -i 1ibreak", "rebase", "-q", "-i", "--update-refs", "--root"]);
        assert_eq!(names(), ["refs/heads/main", "refs/heads/below"]);
        assert_eq!(repo.git_operations().in_progress(&main).unwrap(), [GitOperation::Rebase]);
        for branch in ["main", "below"] {
            let refused = crate::repo::scratch::try_git_at(&scratch.path(), &["branch", "-f", branch, "HEAD"]);
            assert!(!refused.status.success(), "git refuses it too");
        }
    }
}
