//! Committing what an agent left in its workspace.

use axiom_base::env;
use axiom_base::error::{Code, Error, Result, some_of};
use axiom_model::base::names::{Oid, RefName, RepoPath};

use super::secret_names::{is_larger, looks_secret};
use crate::base::head::Head;
use crate::base::readable::can_be_read;
use crate::base::tree_change::TreeChange;
use crate::capture::captured::CaptureOptions;
use crate::index::changed_paths::ChangedPaths;
use crate::index::file::nul_list;
use crate::index::lock::IndexLock;
use crate::index::status::StatusKind;
use crate::objects::durability::sync_file_system;
use crate::refs::edits::{ExpectedRefValue, RefEdit};
use crate::repo::handles::UnfinishedWork;
use crate::repo::worktrees::Worktree;
use crate::workspace::begun_merge::{CompletionClaim, InProgressMerge};
use axiom_model::checkpoint::coverage::CaptureCoverage;
use axiom_model::journal::journaled_changes::HeadState;

/// How often a commit is made again if a `git gc` removes its objects.
const TRIES: usize = 3;

/// How many paths in conflict an error names.
const NAMED: usize = 10;

/// The tag of the lock of the index.
pub(super) const LOCK: &str = "leftovers";

/// What to commit, and how.
#[derive(Debug, Clone, Copy)]
pub struct LeftoversRequest<'a> {
    /// The workspace.
    pub workspace: &'a Worktree,
    /// The branch that the workspace is for.
    pub branch: &'a RefName,
    /// The message, trailers included.
    pub message: &'a str,
    /// Larger files are reported, not committed; in bytes.
    pub max_file_size: u64,
    /// What the agent says of its work, where a merge is in progress there.
    pub claim: CompletionClaim,
}

/// Why a file was not committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeftoverSkipReason {
    /// It is over the size limit.
    TooLarge,
    /// Its name looks like a secret.
    Secret,
    /// It is a nested repository.
    NestedRepository,
    /// It cannot be read.
    Unreadable,
}

/// The result of committing leftovers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommittedLeftovers {
    /// The new commit; `None` where there was nothing to commit.
    pub commit: Option<Oid>,
    /// The paths in it.
    pub files: Vec<RepoPath>,
    /// The files that were not committed, and why.
    pub skipped: Vec<(RepoPath, LeftoverSkipReason)>,
}

/// What is uncommitted, by what becomes of it.
#[derive(Debug, Default)]
struct SortedLeftovers {
    stage: Vec<RepoPath>,
    unstage: Vec<RepoPath>,
    skipped: Vec<(RepoPath, LeftoverSkipReason)>,
}

impl UnfinishedWork<'_> {
    /// Commits everything in a workspace to its branch, see [`UnfinishedWork::commit_once`]. If a `git gc` removed objects of
    /// the new commit, the commit is undone and made again; the files do not change.
    pub fn commit_leftovers(&self, leftovers: &LeftoversRequest<'_>) -> Result<CommittedLeftovers> {
        let mut tries = 1;
        loop {
            let before = self.repo.refs().read_ref(leftovers.branch)?;
            let merge = self.begun_merge(leftovers.workspace)?;
            let outcome = self.commit_once(leftovers)?;
            let (Some(commit), Some(old)) = (&outcome.commit, &before) else { return Ok(outcome) };
            let (name, new) = (leftovers.branch.clone(), Some(commit.clone()));
            let edit = RefEdit { name, expected: ExpectedRefValue::from_old(before.clone()), new };
            let Err(error) = self.repo.concurrent_gc().stands_beside_gc(&edit) else { return Ok(outcome) };
            let git = self.repo.git_in(leftovers.workspace).writing();
            git.args(["reset", "--quiet", "--mixed", old.as_str()]).run_ok()?;
            // What is in the files is the merge all the same.
            if let Some(merge) = &merge {
                self.merge_again(leftovers.workspace, merge)?;
            }
            if tries >= TRIES {
                return Err(error);
            }
            tries += 1;
        }
    }

    /// Commits everything in a workspace to its branch, except files over the size limit, nested repositories, and new files
    /// that look like secrets. No hook runs and nothing is signed. If the agent detached HEAD and committed on top of the
    /// branch, the branch moves there first. A merge in progress is concluded if all of its conflicts are settled in the files. A
    /// crash leaves files staged, or the commit made; a second call finishes it.
    fn commit_once(&self, leftovers: &LeftoversRequest<'_>) -> Result<CommittedLeftovers> {
        let LeftoversRequest { workspace, branch, message, .. } = *leftovers;
        workspace.verify()?;
        self.repo.identities().committer()?;
        self.reattach(workspace, branch)?;
        // Of a commit that a crash stopped: git would find the index locked.
        IndexLock::remove_if_ours_stale(workspace, LOCK)?;
        if let Some(committed) = self.commit_all(leftovers)? {
            return Ok(committed);
        }
        let merge = self.merge_to_conclude(workspace)?;
        let SortedLeftovers { stage, unstage, skipped } = self.sort_leftovers(leftovers, merge.as_ref())?;
        self.reset_entries(workspace, &unstage)?;
        let outcome = CommittedLeftovers { skipped, ..CommittedLeftovers::default() };
        if stage.is_empty() && merge.is_none() {
            return Ok(outcome);
        }
        env::fault_point("git.before-stage");
        let mut files = stage.clone();
        let refused = ChangedPaths::sort(workspace, stage)?.stage(self.repo, workspace, None)?;
        files.retain(|path| !refused.contains(path));
        env::fault_point("git.before-commit");
        let quiet = |args: &[&str]| self.repo.git_in(workspace).writing().config("core.hooksPath=/dev/null").args(args);
        let git = quiet(&["commit", "--quiet", "--no-verify", "--no-gpg-sign", "--cleanup=verbatim", "--file=-"]);
        let output = git.stdin(message).run()?;
        if !output.ok() {
            // Only stat data differed: there is nothing to commit. (A merge is committed even so.)
            let staged = quiet(&["diff", "--cached", "--quiet", "--no-ext-diff"]).run()?;
            return if staged.ok() && merge.is_none() { Ok(outcome) } else { Err(output.error()) };
        }
        env::fault_point("git.after-commit");
        sync_file_system(self.repo.common_dir())?;
        let head = self.repo.refs().head(workspace)?;
        Ok(CommittedLeftovers { commit: head.commit().cloned(), files, ..outcome })
    }

    /// Sorts what is uncommitted.
    fn sort_leftovers(&self, leftovers: &LeftoversRequest<'_>, merge: Option<&InProgressMerge>) -> Result<SortedLeftovers> {
        let LeftoversRequest { workspace, max_file_size, claim, .. } = *leftovers;
        let mut sorted = SortedLeftovers::default();
        let mut open = merge.map_or_else(|| Ok(Vec::new()), |merge| self.staged_with_markers(workspace, merge))?;
        let (entries, unread) = self.repo.index(workspace).status_and_unread(None, None)?;
        sorted.skipped.extend(unread.into_iter().map(|folder| (folder, LeftoverSkipReason::Unreadable)));
        for entry in entries {
            let reads = can_be_read(&workspace.path().join(entry.path.to_path()));
            let large = is_larger(workspace.path(), &entry.path, max_file_size);
            let is_brought = merge.is_some_and(|merge| merge.brings(&entry.path));
            let (why, staged) = match entry.kind {
                StatusKind::Ignored => continue,
                StatusKind::Unmerged => {
                    let is_settled = match merge {
                        Some(merge) => self.is_settled(workspace, merge, &entry.path, claim)?,
                        None => false,
                    };
                    if is_settled {
                        sorted.stage.push(entry.path)
                    } else {
                        open.push(entry.path)
                    }
                    continue;
                }
                // What the other side has was not left by the agent.
                StatusKind::Tracked { .. } if is_brought => (None, true),
                StatusKind::NestedRepository => (Some(LeftoverSkipReason::NestedRepository), false),
                StatusKind::Untracked | StatusKind::Tracked { .. } if !reads => (Some(LeftoverSkipReason::Unreadable), false),
                StatusKind::Untracked if looks_secret(&entry.path) => (Some(LeftoverSkipReason::Secret), false),
                StatusKind::Tracked { index: b'A', .. } if looks_secret(&entry.path) => (Some(LeftoverSkipReason::Secret), true),
                StatusKind::Untracked => (large.then_some(LeftoverSkipReason::TooLarge), false),
                StatusKind::Tracked { index, .. } => (large.then_some(LeftoverSkipReason::TooLarge), index != b'.'),
            };
            match why {
                Some(why) => {
                    sorted.skipped.push((entry.path.clone(), why));
                    if staged {
                        sorted.unstage.push(entry.path);
                    }
                }
                None => sorted.stage.push(entry.path),
            }
        }
        if open.is_empty() { Ok(sorted) } else { Err(unsettled(workspace, &open)) }
    }

    /// Commits everything in an ordinary workspace, with one call of git; `None` where git has to do it, also where anything is
    /// not to be committed. A crash leaves the files staged, or the commit made.
    fn commit_all(&self, leftovers: &LeftoversRequest<'_>) -> Result<Option<CommittedLeftovers>> {
        let LeftoversRequest { workspace, branch, message, max_file_size, claim: _ } = *leftovers;
        let options = CaptureOptions { max_file_size, ..CaptureOptions::default() };
        let Some(capture) = self.repo.quick_captures().fast_capture(workspace, &options)? else { return Ok(None) };
        let Head::Branch { name, commit: Some(old) } = &capture.head else { return Ok(None) };
        // git goes on with an operation that is in progress.
        if name != branch || !capture.extras.operation.is_empty() || !holds_everything(&capture.coverage) {
            return Ok(None);
        }
        let changes = self.repo.history().diff_trees(&self.repo.objects().read_commit(old)?.tree, &capture.tree)?;
        let is_ordinary = |change: &TreeChange| {
            let is_secret = change.old.is_none() && looks_secret(&change.path);
            !is_secret && !is_larger(workspace.path(), &change.path, max_file_size)
        };
        if changes.is_empty() || !changes.iter().all(is_ordinary) {
            return Ok(None);
        }
        env::fault_point("git.before-stage");
        let commit = self.repo.merges().commit_tree(&capture.tree, std::slice::from_ref(old), message)?;
        // The index may name only what is on disk.
        self.repo.durability().sync_objects()?;
        let lock = IndexLock::take_patiently(workspace, LOCK)?;
        let staged = self.repo.index_edits(workspace).edit_whole_index(&capture.tree, &lock, &[]);
        lock.release()?;
        if !staged? {
            return Ok(None);
        }
        env::fault_point("git.before-commit");
        let what = format!("commit: {}", message.lines().next().unwrap_or_default());
        let git = self.repo.git_in(workspace).writing().config("core.hooksPath=/dev/null");
        git.args(["update-ref", "-m", &what, "HEAD", commit.as_str(), old.as_str()]).run_ok()?;
        env::fault_point("git.after-commit");
        sync_file_system(self.repo.common_dir())?;
        let files = changes.into_iter().map(|change| change.path).collect();
        Ok(Some(CommittedLeftovers { commit: Some(commit), files, skipped: Vec::new() }))
    }

    /// Unstages paths; the files do not change.
    fn reset_entries(&self, workspace: &Worktree, paths: &[RepoPath]) -> Result<()> {
        if paths.is_empty() {
            return Ok(());
        }
        let git = self.repo.git_in(workspace).writing().arg("--literal-pathspecs");
        let git = git.args(["reset", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul"]);
        git.stdin(nul_list(paths)).run_ok().map(drop)
    }

    /// Puts HEAD of a workspace back on its branch if it is detached at the branch's tip or at a descendant of it.
    fn reattach(&self, workspace: &Worktree, branch: &RefName) -> Result<()> {
        let elsewhere = |where_to: String| {
            let what = format!("'{}' is not on {} but on {where_to}", workspace.path().display(), branch.short());
            Err(Error::new(Code::ChangedMeanwhile, what).hint("its commits are not lost: inspect it with git"))
        };
        let head = self.repo.refs().head(workspace)?;
        match &head {
            Head::Branch { name, .. } if name == branch => Ok(()),
            Head::Branch { name, .. } => elsewhere(name.short().to_owned()),
            Head::Detached { commit } => {
                let Some(tip) = self.repo.refs().read_ref(branch)? else { return elsewhere(commit.short().to_owned()) };
                if !self.repo.history().is_ancestor(&tip, commit)? {
                    return elsewhere(commit.short().to_owned());
                }
                if tip != *commit {
                    let edit =
                        RefEdit { name: branch.clone(), expected: ExpectedRefValue::Value(tip), new: Some(commit.clone()) };
                    self.repo.refs().update_refs(&[edit], "git axiom: take up a detached HEAD")?;
                }
                env::fault_point("git.before-reattach");
                self.repo.refs().set_head(workspace, &head, &HeadState::Branch(branch.clone()), "git axiom: back on the branch")
            }
        }
    }
}

/// Whether a capture left out nothing that a commit might hold, ignored files apart.
fn holds_everything(coverage: &CaptureCoverage) -> bool {
    let CaptureCoverage {
        ignored: _,
        nested_repositories,
        dirty_submodules,
        too_large,
        special: _,
        unreadable,
        not_in_time,
        others_may_read: _,
        git_directories: _,
        refused_names,
        converted: _,
        staged_not_held: _,
        unfiltered,
        encrypted,
        excluded,
        purged,
        over_include_limit: _,
        included: _,
        missing,
        not_captured,
        only,
    } = coverage;
    let unread = [too_large, unreadable, not_in_time, refused_names, unfiltered, encrypted];
    let mut left_out = [nested_repositories, dirty_submodules, excluded, purged].into_iter().chain(unread);
    left_out.all(|paths| paths.count == 0) && !missing && not_captured.is_none() && only.is_none()
}

fn unsettled(workspace: &Worktree, open: &[RepoPath]) -> Error {
    Error::new(Code::MergeConflict, format!("'{}' has a conflict that is not resolved", workspace.path().display()))
        .why(some_of(open, NAMED))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use super::*;
    use crate::repo::scratch::{ScratchRepository, git_at};

    fn commit(scratch: &ScratchRepository) -> Result<CommittedLeftovers> {
        let workspace = scratch.main();
        let branch = RefName::branch("main");
        let leftovers = LeftoversRequest {
            workspace: &workspace,
            branch: &branch,
            message: "WIP #t1 @ed-001\n\nAxiom-Task: t1\n",
            max_file_size: 100,
            claim: CompletionClaim::None,
        };
        scratch.repo().unfinished_work().commit_leftovers(&leftovers)
    }

    #[test]
    fn leftovers_are_committed_but_for_secrets_and_large_files() {
        let scratch = ScratchRepository::new(&[]);
        scratch.write(".git/hooks/pre-commit", b"#!/bin/sh\nexit 1\n");
        std::process::Command::new("chmod").arg("+x").arg(scratch.path().join(".git/hooks/pre-commit")).status().unwrap();
        assert_eq!(commit(&scratch).unwrap(), CommittedLeftovers::default());
        scratch.write("dir/b.txt", b"1");
        commit(&scratch).unwrap();
        scratch.write("a.txt", b"changed\n");
        scratch.write("*", b"odd name");
        scratch.write("sub/.env", b"secret");
        scratch.write("key.pem", b"secret");
        scratch.git(&["add", "key.pem"]);
        scratch.write("big", &[b'x'; 200]);
        std::fs::remove_file(scratch.path().join("sub/b.txt")).unwrap();
        // A folder that was replaced by a symbolic link.
        std::fs::remove_dir_all(scratch.path().join("dir")).unwrap();
        std::os::unix::fs::symlink("sub", scratch.path().join("dir")).unwrap();
        let done = commit(&scratch).unwrap();
        let names =
            scratch.git(&["show", "--name-status", "--format=%s|%(trailers:key=Axiom-Task,valueonly,separator=)", "HEAD"]);
        assert_eq!(names, "WIP #t1 @ed-001|t1\n\nA\t*\nM\ta.txt\nA\tdir\nD\tdir/b.txt\nD\tsub/b.txt");
        let mut skipped: Vec<String> = done.skipped.iter().map(|(path, why)| format!("{path} {why:?}")).collect();
        skipped.sort();
        assert_eq!(skipped, ["big TooLarge", "key.pem Secret", "sub/.env Secret"]);
        assert_eq!(done.commit.unwrap().as_str(), scratch.git(&["rev-parse", "HEAD"]));
        assert_eq!(commit(&scratch).unwrap().commit, None);
    }

    #[test]
    fn a_detached_head_on_top_of_the_branch_is_taken_up_and_another_branch_is_not() {
        let scratch = ScratchRepository::new(&[]);
        scratch.git(&["switch", "-q", "--detach"]);
        scratch.git(&["commit", "-q", "--allow-empty", "-m", "detached"]);
        scratch.write("new", b"1");
        let done = commit(&scratch).unwrap();
        assert_eq!(scratch.git(&["rev-parse", "main"]), done.commit.unwrap().as_str());
        assert_eq!(git_at(&scratch.path(), &["symbolic-ref", "HEAD"]), "refs/heads/main");
        scratch.git(&["switch", "-q", "-c", "other"]);
        scratch.write("new", b"2");
        assert_eq!(commit(&scratch).unwrap_err().code(), Code::ChangedMeanwhile);
    }
}
