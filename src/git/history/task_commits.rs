//! The history of a branch with the task marks in its messages: one call of git, and a cache of what earlier calls found.

use std::collections::HashSet;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_model::base::names::{Oid, RepoPath};
use axiom_model::operation::task_rollback::{self, HistoryCommit, HistoryHeights, RolledBackTask};
use axiom_model::work::tasks::commit_marks;

use crate::objects::database::gix_id;
use crate::repo::handles::{History, TaskCommits};
use crate::repo::shortcuts::FastWay;

/// The version of the cache; it changes when marks are read in another way.
const VERSION: u32 = 1;
/// The largest cache that is read.
const MEMORY: u64 = 16 * 1024 * 1024;
/// With more recorded commits, or further back, reading the whole history costs no more.
const RECORDED: usize = 50;
const FURTHEST: u64 = 50_000;

/// Where each task's commits begin in a history, from the last read: it shows how far back a task's commits can be. Without
/// the cache, or if it does not fit, the whole history is read.
#[derive(Debug, Serialize, Deserialize)]
struct TaskCommitCache {
    version: u32,
    /// The commit whose history was read.
    tip: Oid,
    heights: HistoryHeights,
}

impl TaskCommits<'_> {
    /// The part of a branch's history that matters for some tasks: like [`TaskCommits::all_task_commits`], but without the commits
    /// before the first one that names one of the tasks. Only commits that are newer than the cache are read to find that
    /// point.
    pub fn task_commits_for(&self, to: &Oid, wanted: &[RolledBackTask]) -> Result<Vec<HistoryCommit>> {
        // With a cut or grafted history, positions counted from its beginning mean nothing.
        if !self.repo.shortcuts().allow(FastWay::ReadHistory) {
            return self.all_task_commits(to);
        }
        let Some(heights) = self.remembered_heights(to)? else {
            let log = self.all_task_commits(to)?;
            self.remember(to, task_rollback::heights(&log));
            return Ok(log);
        };
        let lowest = wanted.iter().filter_map(|one| heights.lowest.get(&one.task.folded())).min().copied();
        let below = lowest.map_or(heights.whole, |lowest| lowest - 1);
        let Some(from) = self.first_parent_at(to, heights.whole, below)? else { return self.all_task_commits(to) };
        let recorded: Vec<&Oid> = wanted.iter().flat_map(|one| &one.recorded).collect();
        if recorded.len() > RECORDED {
            return self.all_task_commits(to);
        }
        for commit in recorded {
            if self.repo.objects().has_object(commit) && self.repo.history().is_ancestor(commit, &from)? {
                return self.all_task_commits(to);
            }
        }
        self.task_commits_since(to, Some(&from))
    }

    /// The heights for the whole history of `to`, from the cache and the commits since then; `None` where the cache cannot
    /// be used.
    fn remembered_heights(&self, to: &Oid) -> Result<Option<HistoryHeights>> {
        let Some(TaskCommitCache { tip, heights, .. }) = self.read_memory() else { return Ok(None) };
        if tip == *to {
            return Ok(Some(heights));
        }
        if !self.repo.objects().has_object(&tip) || !self.repo.history().is_ancestor(&tip, to)? {
            return Ok(None);
        }
        let new = self.task_commits_since(to, Some(&tip))?;
        // Heights count along first parents, so the new commits must continue the first-parent line of the cached tip.
        if task_rollback::line_begins_at(&new) != Some(&tip) {
            return Ok(None);
        }
        let heights = heights.with(task_rollback::heights(&new));
        self.remember(to, heights.clone());
        Ok(Some(heights))
    }

    /// The commit at position `height` of the first-parent line of `to`, counted from the beginning of history; the line has
    /// `whole` commits. `None` if `height` is 0 or too far back.
    fn first_parent_at(&self, to: &Oid, whole: u64, height: u64) -> Result<Option<Oid>> {
        if height == 0 || whole < height || whole - height > FURTHEST {
            return Ok(None);
        }
        let gix = self.repo.gix()?;
        let mut commit = gix_id(to)?;
        for _ in height..whole {
            let parent = gix.find_commit(commit).ok().and_then(|found| found.parent_ids().next().map(gix::Id::detach));
            let Some(parent) = parent else { return Ok(None) };
            commit = parent;
        }
        Oid::from_bytes(commit.as_bytes()).map(Some)
    }

    fn memory_file(&self) -> PathBuf {
        self.repo.scratch_folders().own().join("scanned.json")
    }

    /// Reads the cache; a damaged file is ignored. The file has a line with the checksum, then the JSON.
    fn read_memory(&self) -> Option<TaskCommitCache> {
        let bytes = files::read_optional(&self.memory_file(), MEMORY).ok()??;
        let (sum, json) = std::str::from_utf8(&bytes).ok()?.split_once('\n')?;
        let sum = u32::from_str_radix(sum, 16).ok()?;
        let memory: TaskCommitCache = serde_json::from_str(json).ok().filter(|_| crc32c::crc32c(json.as_bytes()) == sum)?;
        (memory.version == VERSION).then_some(memory)
    }

    /// Writes the cache if git axiom is used in this repository already; a failure does no harm.
    fn remember(&self, tip: &Oid, heights: HistoryHeights) {
        let file = self.memory_file();
        let memory = TaskCommitCache { version: VERSION, tip: tip.clone(), heights };
        if let Some(folder) = file.parent()
            && self.repo.common_dir().join("axiom").is_dir()
            && let Ok(json) = serde_json::to_string(&memory)
        {
            let text = format!("{:08x}\n{json}", crc32c::crc32c(json.as_bytes()));
            let written = files::create_dir_all(folder).and_then(|()| files::write_public(&file, text.as_bytes()));
            if let Err(error) = written {
                tracing::debug!(%error, "what was scanned is not remembered");
            }
        }
    }

    /// All commits in the history of `to`, newest first, each before its parents. Replace refs are ignored. Memory grows
    /// with the length of the messages.
    pub fn all_task_commits(&self, to: &Oid) -> Result<Vec<HistoryCommit>> {
        self.task_commits_since(to, None)
    }

    /// The commits in the history of `to` that are not in that of `from`; without `from`, all of them.
    pub fn task_commits_since(&self, to: &Oid, from: Option<&Oid>) -> Result<Vec<HistoryCommit>> {
        // First ordered by date, for which git need not know all commits before it prints. Parents then follow their
        // children unless a clock was wrong.
        let here = if from.is_none() { self.repo.history().walk_history(to) } else { None };
        let by_date = match here {
            Some(log) => log,
            None => self.task_commits_in_order(to, from, None)?,
        };
        match parents_follow(&by_date) {
            true => Ok(by_date),
            false => self.task_commits_in_order(to, from, Some("--topo-order")),
        }
    }

    pub(crate) fn task_commits_in_order(&self, to: &Oid, from: Option<&Oid>, order: Option<&str>) -> Result<Vec<HistoryCommit>> {
        let git = self.repo.git().env("GIT_NO_REPLACE_OBJECTS", "1");
        let git = git.args(["log", "-z", "--no-show-signature", "--no-notes", "--no-color", "--no-decorate"]);
        let git = git.args(order).args(["--encoding=UTF-8", "--format=%H %P%n%B", to.as_str()]);
        let unclear = || Error::new(Code::GitFailed, "cannot make sense of what 'git log' printed");
        let mut commits = Vec::new();
        // The output is parsed while git prints; both take about as long.
        git.args(from.map(|from| format!("^{from}"))).arg("--").each_part(0, |entry| {
            if entry.is_empty() {
                return Ok(());
            }
            let text = String::from_utf8_lossy(entry);
            let (ids, message) = text.split_once('\n').ok_or_else(unclear)?;
            let mut ids = ids.split_ascii_whitespace().map(Oid::new);
            let oid = ids.next().ok_or_else(unclear)??;
            let parents = ids.collect::<Result<_>>()?;
            let subject = message.lines().next().unwrap_or_default().to_owned();
            commits.push(HistoryCommit { oid, parents, subject, marks: commit_marks::read(message) });
            Ok(())
        })?;
        Ok(commits)
    }

    /// The first-parent commits of `to` that are not in the history of `from`; none where one of the two is missing.
    pub fn own_line(&self, from: &Oid, to: &Oid) -> Result<Vec<Oid>> {
        let output = self.repo.git().args(["rev-list", "--first-parent", &format!("{from}..{to}"), "--"]).run()?;
        // A commit that the branch no longer has may have been removed by `git gc`.
        if output.ok() { output.text()?.lines().map(Oid::new).collect() } else { Ok(Vec::new()) }
    }

    /// The commits of `since..to` that change a path, with their subjects, newest first, at most `limit`.
    pub fn commits_on(&self, path: &RepoPath, since: &Oid, to: &Oid, limit: usize) -> Result<Vec<(Oid, String)>> {
        let git = self.repo.git().env("GIT_LITERAL_PATHSPECS", "1");
        let git = git.args(["log", "-z", "--no-show-signature", "--no-color", "--encoding=UTF-8", "--format=%H %s"]);
        let git = git.arg(format!("--max-count={limit}")).arg(format!("{since}..{to}"));
        let output = git.arg("--").arg(path.to_path()).run_ok()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let lines = text.split('\0').filter_map(|line| line.split_once(' '));
        lines.map(|(oid, subject)| Ok((Oid::new(oid)?, subject.to_owned()))).collect()
    }

    /// The branches, local and remote-tracking, with a commit that names a task, from one call of git.
    pub fn branches_naming(&self, task: &str) -> Result<Vec<String>> {
        let git = self.repo.git().args(["log", "--branches", "--remotes", "--source", "--no-color", "--no-show-signature"]);
        let git = git.args(["-F", "-i", "-z", "--encoding=UTF-8", "--format=%S%n%B", "--max-count=1000"]);
        let output = git.args([format!("--grep=Axiom-Task: {task}"), format!("--grep=#{task} @")]).arg("--").run_ok()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let mut names: Vec<String> = Vec::new();
        for (name, message) in text.split('\0').filter_map(|entry| entry.split_once('\n')) {
            let marks = commit_marks::read(message);
            if marks.tasks.iter().any(|named| named.eq_ignore_ascii_case(task)) && !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }
}

impl History<'_> {
    /// Whether the history is cut off, as in `git clone --depth`.
    pub fn is_shallow(&self) -> bool {
        self.repo.common_dir().join("shallow").exists()
    }
}

/// Whether every commit comes before all of its parents.
fn parents_follow(log: &[HistoryCommit]) -> bool {
    let mut seen: HashSet<&Oid> = HashSet::with_capacity(log.len());
    log.iter().all(|commit| seen.insert(&commit.oid) && !commit.parents.iter().any(|parent| seen.contains(parent)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::scratch::ScratchRepository;

    #[test]
    fn a_history_is_read_with_its_marks_and_branches_are_found() {
        let scratch = ScratchRepository::new(&[]);
        let repo = scratch.repo();
        let head = || Oid::new(scratch.git(&["rev-parse", "HEAD"])).unwrap();
        let first = head();
        scratch.write("new", b"1");
        scratch.git(&["add", "-A"]);
        scratch.git(&["commit", "-q", "-m", "work #t1 @ed-001\n\nbody\n\nAxiom-Task: t1"]);
        let second = head();
        scratch.git(&["revert", "--no-edit", "HEAD"]);
        let log = repo.task_commits().all_task_commits(&head()).unwrap();
        assert_eq!(log.iter().map(|commit| &commit.oid).collect::<Vec<_>>(), [&head(), &second, &first]);
        assert_eq!((log[0].marks.reverts.as_slice(), log[0].marks.tasks.as_slice()), (&[second.clone()][..], &["t1".into()][..]));
        assert_eq!((log[1].subject.as_str(), log[1].parents.as_slice()), ("work #t1 @ed-001", &[first.clone()][..]));
        let on = repo.task_commits().commits_on(&RepoPath::new(&b"new"[..]), &second, &head(), 5).unwrap();
        assert_eq!(on.len(), 1);
        assert_eq!(repo.task_commits().own_line(&first, &second).unwrap(), [second]);
        assert!(repo.task_commits().own_line(&Oid::new("1".repeat(40)).unwrap(), &first).unwrap().is_empty());
        assert_eq!(repo.task_commits().branches_naming("T1").unwrap(), ["main"]);
        assert!(repo.task_commits().branches_naming("t").unwrap().is_empty());
    }
}
