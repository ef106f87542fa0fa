//! Queries about history, and differences between trees.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::sync::PoisonError;

use axiom_base::error::{Code, Error, Result};
use axiom_model::base::names::{Oid, RefName, RepoPath};
use axiom_model::work::signals::report_parts::ChangedLineCounts;

use crate::base::tree_change::{FileId, TreeChange, parse_raw};
use crate::history::patch::numstat;
use crate::objects::database::gix_id;
use crate::objects::tree_diff;
use crate::repo::handles::{History, TaskCommits};
use crate::repo::shortcuts::FastWay;

/// How many tree differences are cached, and the largest number of paths in one of them: planning, execution and the index
/// update use the same difference, and trees never change.
const DIFFS: usize = 4;
const DIFF: usize = 20_000;
/// The most files whose changed lines are counted.
const MOST_COUNTED: usize = 2_000;

/// A commit of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedCommit {
    /// The commit.
    pub oid: Oid,
    /// Its parents.
    pub parents: Vec<Oid>,
    /// The committer time, in seconds since 1970.
    pub seconds: i64,
    /// The first line of its message.
    pub subject: String,
    /// The values of its `Axiom-Task` trailers.
    pub tasks: Vec<String>,
}

/// The sum of the output of `--numstat -z`. A binary file has no lines.
fn sum_of_lines(bytes: &[u8]) -> ChangedLineCounts {
    let mut sum = ChangedLineCounts::default();
    let all = numstat(bytes);
    sum.files = all.len() as u64;
    for (insertions, deletions) in all.into_iter().filter_map(|(_, lines)| lines) {
        sum.insertions = sum.insertions.saturating_add(insertions);
        sum.deletions = sum.deletions.saturating_add(deletions);
    }
    sum
}

impl History<'_> {
    /// The paths in which two trees (or commits) differ, ordered; renames are a deletion and an addition.
    pub fn diff_trees(&self, old: &Oid, new: &Oid) -> Result<Vec<TreeChange>> {
        let known = || self.repo.trees.diffs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, changes)) = known().iter().find(|((one, other), _)| one == old && other == new) {
            return Ok(changes.clone());
        }
        if let Ok(changes) = tree_diff::diff(self.repo, old, new) {
            if changes.len() <= DIFF {
                let mut known = known();
                known.truncate(DIFFS - 1);
                known.insert(0, ((old.clone(), new.clone()), changes.clone()));
            }
            return Ok(changes);
        }
        // In a partial clone git fetches missing objects; and git's error messages are better than ours.
        let git = self.repo.git().args(["diff-tree", "-r", "-z", "--raw", "--no-renames", "--ignore-submodules=none"]);
        let output = git.args([old.as_str(), new.as_str()]).run_ok()?;
        parse_raw(&output.stdout)
    }

    /// How many lines differ between two trees (or commits), as `git diff --shortstat` counts them. `None` where more than
    /// [`MOST_COUNTED`] files differ.
    pub fn changed_lines(&self, old: &Oid, new: &Oid) -> Result<Option<ChangedLineCounts>> {
        if self.diff_trees(old, new)?.len() > MOST_COUNTED {
            return Ok(None);
        }
        let git = self.repo.git().args(["diff-tree", "-r", "-z", "--numstat", "--no-ext-diff", "--no-textconv"]);
        let output = git.args([old.as_str(), new.as_str()]).run_ok()?;
        Ok(Some(sum_of_lines(&output.stdout)))
    }

    /// All files of a tree.
    pub(crate) fn files_of(&self, tree: &Oid) -> Result<Vec<(RepoPath, FileId)>> {
        let changes = self.diff_trees(&self.repo.trees().empty_tree()?, tree)?.into_iter();
        Ok(changes.filter_map(|change| Some((change.path, change.new?))).collect())
    }

    /// Whether `ancestor` is `descendant` or an ancestor of it.
    pub fn is_ancestor(&self, ancestor: &Oid, descendant: &Oid) -> Result<bool> {
        if ancestor == descendant && self.repo.objects().has_object(ancestor) {
            return Ok(true);
        }
        if let Some(base) = self.common_base(ancestor, descendant) {
            return Ok(base.as_ref() == Some(ancestor));
        }
        let git = self.repo.git().args(["merge-base", "--is-ancestor", ancestor.as_str(), descendant.as_str()]);
        let output = git.run()?;
        match output.code {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            Some(_) | None => Err(output.error()),
        }
    }

    /// The best common ancestor according to gix, which starts no process; `None` where git has to compute it.
    fn common_base(&self, one: &Oid, other: &Oid) -> Option<Option<Oid>> {
        if !self.repo.shortcuts().allow(FastWay::ReadHistory) {
            return None;
        }
        let gix = self.repo.gix().ok()?;
        let base = gix.merge_base(gix_id(one).ok()?, gix_id(other).ok()?).ok()?;
        match base {
            Some(base) => Some(Some(Oid::from_bytes(base.as_bytes()).ok()?)),
            None => Some(None),
        }
    }

    /// Whether all objects exist that the tree of `to` has and the tree of `from` lacks. No process is started; `false` also
    /// where git would have to check it.
    pub fn has_difference(&self, from: &Oid, to: &Oid) -> bool {
        use gix::objs::Exists;
        let (Ok(gix), Ok(changes)) = (self.repo.gix(), tree_diff::diff(self.repo, from, to)) else { return false };
        let wanted = changes.iter().filter_map(|change| change.new.as_ref()).filter(|file| !file.is_submodule());
        let is_there = |file: &FileId| gix_id(&file.oid).is_ok_and(|id| gix.objects.exists(&id));
        wanted.into_iter().all(is_there)
    }

    /// The best common ancestor; `None` for unrelated histories.
    pub fn merge_base(&self, a: &Oid, b: &Oid) -> Result<Option<Oid>> {
        let output = self.repo.git().args(["merge-base", a.as_str(), b.as_str()]).run()?;
        match output.code {
            Some(0) => Ok(Some(Oid::new(output.text()?)?)),
            Some(1) => Ok(None),
            Some(_) | None => Err(output.error()),
        }
    }

    /// How many commits are in the history of `to` and not in that of `from`.
    pub fn count_commits(&self, from: &Oid, to: &Oid) -> Result<u64> {
        let text = self.repo.git().args(["rev-list", "--count", &format!("{from}..{to}")]).text()?;
        text.parse().map_err(|e| Error::new(Code::GitFailed, format!("'git rev-list' printed '{text}'")).because(e))
    }

    /// For each of several commits, how many commits the history of `now` has that it lacks. Most come with the name of a tag
    /// that is one commit on top of it: with tags git counts all in one walk. The `others` need a call each. Commits for which
    /// this fails are left out.
    pub fn commits_since(&self, tags: &BTreeMap<Oid, RefName>, others: &[Oid], now: &Oid) -> Result<BTreeMap<Oid, u64>> {
        let mut since: BTreeMap<Oid, u64> =
            tags.keys().chain(others).filter(|commit| *commit == now).map(|c| (c.clone(), 0)).collect();
        for other in others.iter().filter(|commit| *commit != now) {
            if let Ok(count) = self.count_commits(other, now) {
                since.insert(other.clone(), count);
            }
        }
        let open: BTreeMap<&str, &Oid> =
            tags.iter().filter(|(commit, _)| *commit != now).map(|(commit, tag)| (tag.as_str(), commit)).collect();
        if open.is_empty() {
            return Ok(since);
        }
        let format = format!("--format=%(refname) %(ahead-behind:{now})");
        let output = self.repo.git().args(["for-each-ref", &format]).args(open.keys()).run()?;
        if output.ok() {
            let text = String::from_utf8_lossy(&output.stdout);
            for line in text.lines() {
                let mut parts = line.split(' ');
                let (tag, behind) = (parts.next().unwrap_or_default(), parts.nth(1));
                if let (Some(commit), Some(behind)) = (open.get(tag), behind.and_then(|count| count.parse().ok())) {
                    since.insert((*commit).clone(), behind);
                }
            }
            return Ok(since);
        }
        // Before git 2.41 each commit needs a call; a missing commit makes only its own count fail.
        for commit in open.values() {
            if let Ok(count) = self.count_commits(commit, now) {
                since.insert((*commit).clone(), count);
            }
        }
        Ok(since)
    }

    /// The commits in the history of `to` and in none of `without`, newest first, at most `limit`.
    pub fn log(&self, to: &Oid, without: &[Oid], limit: usize) -> Result<Vec<LoggedCommit>> {
        self.log_with(to, without, limit, &[])
    }

    fn log_with(&self, to: &Oid, without: &[Oid], limit: usize, paths: &[RepoPath]) -> Result<Vec<LoggedCommit>> {
        let format = "--format=%H%x00%P%x00%ct%x00%s%x00%(trailers:key=Axiom-Task,valueonly,separator=%x0A)";
        let git =
            self.repo.git().args(["log", "-z", "--topo-order", "--no-show-signature", "--no-color", "--encoding=UTF-8", format]);
        let git = git.arg(format!("--max-count={limit}")).arg(to.as_str()).args(without.iter().map(|oid| format!("^{oid}")));
        let literal = paths.iter().map(|path| [b":(top,literal)", path.as_bytes()].concat());
        let output = git.arg("--").args(literal.map(OsString::from_vec)).run_ok()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let fields: Vec<&str> = text.split('\0').collect();
        let mut commits = Vec::new();
        for commit in fields.chunks_exact(5) {
            let [oid, parents, seconds, subject, tasks] = commit else { continue };
            commits.push(LoggedCommit {
                oid: Oid::new(*oid)?,
                parents: parents.split_whitespace().map(Oid::new).collect::<Result<_>>()?,
                seconds: seconds.parse().unwrap_or(0),
                subject: (*subject).to_owned(),
                tasks: tasks.lines().map(|task| task.trim().to_owned()).filter(|task| !task.is_empty()).collect(),
            });
        }
        Ok(commits)
    }

    /// The commits of `branch` that `target` has in no form, oldest first: what a rebase of the one onto the other would apply. `None`
    /// where there are merges among them, or more than `limit`.
    pub fn line_of_changes(&self, target: &Oid, branch: &Oid, limit: usize) -> Result<Option<Vec<Oid>>> {
        let list = |more: &[&str], what: String| {
            let git = self.repo.git().args(["rev-list", "--topo-order", "--reverse"]).args(more).arg(what).arg("--");
            Ok::<_, Error>(String::from_utf8_lossy(&git.run_ok()?.stdout).into_owned())
        };
        if !list(&["--merges", "--max-count=1"], format!("{target}..{branch}"))?.is_empty()
            || self.count_commits(target, branch)? > limit as u64
        {
            return Ok(None);
        }
        let text = list(&["--cherry-pick", "--right-only"], format!("{target}...{branch}"))?;
        text.lines().map(Oid::new).collect::<Result<Vec<_>>>().map(Some)
    }

    /// The newest commits in the history of `to` and not in that of `from` that changed one of these paths.
    pub fn log_of_paths(&self, from: &Oid, to: &Oid, paths: &[RepoPath], limit: usize) -> Result<Vec<LoggedCommit>> {
        self.log_with(to, std::slice::from_ref(from), limit, paths)
    }

    /// As [`History::log`] without the tasks, and without a process where that is possible.
    pub fn newest(&self, to: &Oid, without: &[Oid], limit: usize) -> Result<Vec<LoggedCommit>> {
        self.line(to, without, limit).map_or_else(|| self.log(to, without, limit), Ok)
    }

    /// Like [`History::log`] without the tasks, if the commits are a line without merges that starts at one of `without`. No
    /// process is started; `None` where git has to list them.
    pub fn line(&self, to: &Oid, without: &[Oid], limit: usize) -> Option<Vec<LoggedCommit>> {
        if !self.repo.shortcuts().allow(FastWay::ReadHistory) {
            return None;
        }
        let gix = self.repo.gix().ok()?;
        let mut commits = Vec::new();
        let mut next = to.clone();
        while !without.contains(&next) && commits.len() < limit {
            let commit = gix.find_commit(gix_id(&next).ok()?).ok()?;
            let mut parents = commit.parent_ids().map(|id| Oid::from_bytes(id.as_bytes()));
            let parent = parents.next()?.ok()?;
            let message = std::str::from_utf8(commit.message_raw().ok()?).ok()?;
            let subject = message.lines().next().unwrap_or_default();
            let is_one_line = message.lines().nth(1).is_none_or(|line| line.trim().is_empty()) && !subject.trim().is_empty();
            let is_utf8 = commit.decode().ok()?.encoding.is_none();
            if parents.next().is_some() || !is_one_line || !is_utf8 {
                return None;
            }
            let (seconds, subject) = (commit.time().ok()?.seconds, subject.trim().to_owned());
            let oid = std::mem::replace(&mut next, parent.clone());
            commits.push(LoggedCommit { oid, parents: vec![parent], seconds, subject, tasks: Vec::new() });
        }
        Some(commits)
    }
}

impl TaskCommits<'_> {
    /// The commits of [`History::log`] that have an `Axiom-Task` trailer for a task.
    pub fn task_commits(&self, task: &str, to: &Oid, without: &[Oid], limit: usize) -> Result<Vec<LoggedCommit>> {
        let mut commits = self.repo.history().log(to, without, limit)?;
        commits.retain(|commit| commit.tasks.iter().any(|named| named == task));
        Ok(commits)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use super::*;
    use crate::repo::scratch::ScratchRepository;

    #[test]
    fn changed_lines_are_summed_and_binary_files_have_none() {
        let sum = sum_of_lines(b"3\t1\ta b\0-\t-\tpicture\x002\t0\tc\td\0");
        assert_eq!(sum, ChangedLineCounts { files: 3, insertions: 5, deletions: 1 });
        assert_eq!(sum_of_lines(b""), ChangedLineCounts::default());
    }

    #[test]
    fn differences_and_trailers_are_found() {
        let scratch = ScratchRepository::new(&[]);
        let repo = scratch.repo();
        let head = || Oid::new(scratch.git(&["rev-parse", "HEAD"])).unwrap();
        let first = head();
        scratch.write("new\n\"x", b"1");
        std::fs::remove_file(scratch.path().join("a.txt")).ok();
        scratch.git(&["add", "-A"]);
        scratch.git(&["commit", "-q", "-m", "work #t1\n\nbody\n\nAxiom-Task: t1\nAxiom-Agent: ed-001"]);
        scratch.git(&["commit", "-q", "--allow-empty", "-m", "other"]);
        let last = head();
        let changes = repo.history().diff_trees(&first, &last).unwrap();
        assert_eq!(changes.len(), 2);
        assert!(changes[0].new.is_none() && changes[1].old.is_none());
        assert_eq!(changes[1].path.as_bytes(), b"new\n\"x");
        assert_eq!(repo.history().count_commits(&first, &last).unwrap(), 2);
        assert!(repo.history().is_ancestor(&first, &last).unwrap() && !repo.history().is_ancestor(&last, &first).unwrap());
        assert_eq!(repo.history().merge_base(&first, &last).unwrap(), Some(first.clone()));
        let found = repo.task_commits().task_commits("t1", &last, &[], 100).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].subject.as_str(), &found[0].parents[0]), ("work #t1", &first));
        let mut log = repo.history().log(&last, std::slice::from_ref(&first), 100).unwrap();
        assert_eq!(log.len(), 2);
        log.iter_mut().for_each(|commit| commit.tasks.clear());
        assert_eq!(repo.history().line(&last, std::slice::from_ref(&first), 100).unwrap(), log);
        assert_eq!(repo.history().line(&last, &[first], 1).unwrap(), log[..1]);
        assert!(repo.history().line(&last, &[], 100).is_none(), "a root commit ends no line");
    }
}
