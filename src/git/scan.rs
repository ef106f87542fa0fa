//! The whole history of a branch with what the messages say of tasks: one call of git.

use crate::domain::commit_marks;
use crate::domain::names::{Oid, RepoPath};
use crate::domain::task_rollback::Logged;
use crate::error::{Code, Error, Result};

use super::repository::Repository;

impl Repository {
    /// All commits that `to` reaches, newest first, each before its parents, read as they were made (grafts and
    /// replacements left aside). Memory grows with the length of the messages.
    ///
    /// # Errors
    /// `GIT_FAILED` where a commit is missing.
    pub fn scan_history(&self, to: &Oid) -> Result<Vec<Logged>> {
        let git = self.git().env("GIT_NO_REPLACE_OBJECTS", "1");
        let git = git.args(["log", "-z", "--topo-order", "--no-show-signature", "--no-notes", "--no-color", "--no-decorate"]);
        let output = git.args(["--encoding=UTF-8", "--format=%H %P%n%B", to.as_str(), "--"]).run_ok()?;
        let unclear = || Error::new(Code::GitFailed, "cannot make sense of what 'git log' printed");
        let mut commits = Vec::new();
        for entry in output.stdout.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
            let text = String::from_utf8_lossy(entry);
            let (ids, message) = text.split_once('\n').ok_or_else(unclear)?;
            let mut ids = ids.split_ascii_whitespace().map(Oid::new);
            let oid = ids.next().ok_or_else(unclear)??;
            let parents = ids.collect::<Result<_>>()?;
            let subject = message.lines().next().unwrap_or_default().to_owned();
            commits.push(Logged { oid, parents, subject, marks: commit_marks::read(message) });
        }
        Ok(commits)
    }

    /// The commits of a branch's own line (first parents) that `to` has and `from` lacks; none where either is gone.
    ///
    /// # Errors
    /// `GIT_MISSING`.
    pub fn own_line(&self, from: &Oid, to: &Oid) -> Result<Vec<Oid>> {
        let output = self.git().args(["rev-list", "--first-parent", &format!("{from}..{to}"), "--"]).run()?;
        // What a branch no longer holds may have been collected: it is in no history then.
        if output.ok() { output.text()?.lines().map(Oid::new).collect() } else { Ok(Vec::new()) }
    }

    /// The commits of `since..to` that touch a path, with their subjects, newest first, at most `limit`.
    ///
    /// # Errors
    /// `GIT_FAILED`.
    pub fn commits_on(&self, path: &RepoPath, since: &Oid, to: &Oid, limit: usize) -> Result<Vec<(Oid, String)>> {
        let git = self.git().env("GIT_LITERAL_PATHSPECS", "1");
        let git = git.args(["log", "-z", "--no-show-signature", "--no-color", "--encoding=UTF-8", "--format=%H %s"]);
        let git = git.arg(format!("--max-count={limit}")).arg(format!("{since}..{to}"));
        let output = git.arg("--").arg(path.to_path()).run_ok()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let lines = text.split('\0').filter_map(|line| line.split_once(' '));
        lines.map(|(oid, subject)| Ok((Oid::new(oid)?, subject.to_owned()))).collect()
    }

    /// The branches, local and remote-tracking, on which a commit names a task, in one call of git.
    ///
    /// # Errors
    /// `GIT_FAILED`.
    pub fn branches_naming(&self, task: &str) -> Result<Vec<String>> {
        let git = self.git().args(["log", "--branches", "--remotes", "--source", "--no-color", "--no-show-signature"]);
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

#[cfg(test)]
mod tests {
    use super::super::scratch::Scratch;
    use super::*;

    #[test]
    fn a_history_is_read_with_its_marks_and_branches_are_found() {
        let scratch = Scratch::new(&[]);
        let repo = scratch.repo();
        let head = || Oid::new(scratch.git(&["rev-parse", "HEAD"])).unwrap();
        let first = head();
        scratch.write("new", b"1");
        scratch.git(&["add", "-A"]);
        scratch.git(&["commit", "-q", "-m", "work #t1 @ed-001\n\nbody\n\nAxiom-Task: t1"]);
        let second = head();
        scratch.git(&["revert", "--no-edit", "HEAD"]);
        let log = repo.scan_history(&head()).unwrap();
        assert_eq!(log.iter().map(|commit| &commit.oid).collect::<Vec<_>>(), [&head(), &second, &first]);
        assert_eq!((log[0].marks.reverts.as_slice(), log[0].marks.tasks.as_slice()), (&[second.clone()][..], &["t1".into()][..]));
        assert_eq!((log[1].subject.as_str(), log[1].parents.as_slice()), ("work #t1 @ed-001", &[first.clone()][..]));
        let on = repo.commits_on(&RepoPath::new(&b"new"[..]), &second, &head(), 5).unwrap();
        assert_eq!(on.len(), 1);
        assert_eq!(repo.own_line(&first, &second).unwrap(), [second]);
        assert!(repo.own_line(&Oid::new("1".repeat(40)).unwrap(), &first).unwrap().is_empty());
        assert_eq!(repo.branches_naming("T1").unwrap(), ["main"]);
        assert!(repo.branches_naming("t").unwrap().is_empty());
    }
}
