//! Updates an index to what is in the worktree, for given paths.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use axiom_base::error::{Code, Error, Result};
use axiom_model::base::names::RepoPath;

use super::file::nul_list;
use super::filters::is_of_a_filter;
use crate::base::path_inspection::{PathOccupant, look};
use crate::repo::repository::Repository;
use crate::repo::worktrees::Worktree;

/// Paths whose index entries shall be updated to what is on disk.
#[derive(Debug, Default)]
pub(crate) struct ChangedPaths {
    update: Vec<RepoPath>,
    remove: Vec<RepoPath>,
}

impl ChangedPaths {
    /// Looks at the paths: files, links and nested repositories are to be updated, all others to be removed from the index.
    pub fn sort(worktree: &Worktree, paths: Vec<RepoPath>) -> Result<Self> {
        let mut sorted = Self::default();
        for path in paths {
            // git refuses to update a path that is now below a symbolic link, so missing paths are removed explicitly.
            let keep = match look(worktree.path(), &path)? {
                PathOccupant::File(_) | PathOccupant::Link(..) => true,
                PathOccupant::Folder => worktree.path().join(path.to_path()).join(".git").exists(),
                PathOccupant::Missing | PathOccupant::Below(_) | PathOccupant::Special => false,
            };
            if keep { sorted.update.push(path) } else { sorted.remove.push(path) }
        }
        Ok(sorted)
    }

    /// The paths to be updated.
    pub fn there(&self) -> impl Iterator<Item = &RepoPath> {
        self.update.iter()
    }

    /// The paths to be removed from the index.
    pub fn gone(&self) -> impl Iterator<Item = &RepoPath> {
        self.remove.iter()
    }

    /// Leaves of the paths to be updated those that `keep` selects.
    pub fn keep(&mut self, keep: impl FnMut(&RepoPath) -> bool) {
        self.update.retain(keep);
    }

    /// Paths that are there, to be updated.
    pub fn of(update: Vec<RepoPath>) -> Self {
        Self { update, remove: Vec::new() }
    }

    /// The same, but of those to be updated only these.
    pub(crate) fn with_only(&self, update: Vec<RepoPath>) -> Self {
        Self { update, remove: self.remove.clone() }
    }

    /// The same without these.
    pub(crate) fn without(&self, paths: &BTreeSet<RepoPath>) -> Self {
        let others = |path: &&RepoPath| !paths.contains(*path);
        self.with_only(self.update.iter().filter(others).cloned().collect())
    }

    /// Whether there are no paths.
    pub fn is_empty(&self) -> bool {
        self.update.is_empty() && self.remove.is_empty()
    }

    /// Updates `index`, or the worktree's own index if it is `None`. Returns the paths that git refuses because of their
    /// names: some file system might take them for git's own folder. They are then not in the index.
    pub fn stage(&self, repository: &Repository, worktree: &Worktree, index: Option<&Path>) -> Result<Vec<RepoPath>> {
        let git = |arguments: &[&str]| {
            let git = repository.git_in(worktree).arg("update-index").args(arguments).args(["-z", "--stdin"]);
            match index {
                // A private index is discarded later.
                Some(index) => git.index(index).config("core.splitIndex=false").making_objects().fetching_nothing(),
                None => git.writing(),
            }
        };
        if !self.remove.is_empty() {
            git(&["--force-remove"]).stdin(nul_list(&self.remove)).run_ok()?;
        }
        if self.update.is_empty() {
            return Ok(Vec::new());
        }
        let output = git(&["--add", "--remove", "--replace"]).stdin(nul_list(&self.update)).run()?;
        if !output.ok() {
            return Err(unreadable_file(output.error(), &output.stderr));
        }
        refused(&self.update, &output.stderr)
    }
}

/// How git reports that it skips a path; its exit code is 0 nevertheless.
const REFUSED: &str = "Ignoring path ";

/// The paths that git refused because of their names.
pub(crate) fn refused(paths: &[RepoPath], stderr: &str) -> Result<Vec<RepoPath>> {
    let said = stderr.matches(REFUSED).count();
    if said == 0 {
        return Ok(Vec::new());
    }
    let lines: HashSet<&str> = stderr.lines().filter_map(|line| line.strip_prefix(REFUSED)).collect();
    let is_named = |path: &&RepoPath| {
        let text = String::from_utf8_lossy(path.as_bytes());
        // git does not quote a path that contains line ends.
        lines.contains(&*text) || (text.contains('\n') && stderr.contains(&format!("{REFUSED}{text}\n")))
    };
    let refused: Vec<RepoPath> = paths.iter().filter(is_named).cloned().collect();
    if refused.len() < said {
        return Err(Error::new(Code::FileUnreadable, "git refuses the names of some files of the worktree")
            .why(stderr.trim().replace('\n', "; "))
            .hint("give them other names, or add them to .gitignore"));
    }
    Ok(refused)
}

pub(crate) fn unreadable_file(error: Error, stderr: &str) -> Error {
    if error.code() == Code::GitFailed && is_of_a_filter(stderr) {
        return Error::new(Code::FilterFailed, "a filter fails")
            .why(stderr.trim().replace('\n', "; "))
            .hint("fix the filter (git config --get-regexp '^filter'), or remove its attribute");
    }
    let signs =
        ["Permission denied", "unable to index file", "Unable to process path", "unsupported file type", "failed to insert"];
    if error.code() == Code::GitFailed && signs.iter().any(|sign| stderr.contains(sign)) {
        // git was told of the file because it was there.
        if stderr.contains("No such file or directory") {
            return Error::new(Code::ChangedMeanwhile, "a file of the worktree went away while it was read")
                .why(stderr.trim().replace('\n', "; "))
                .hint("run the command again");
        }
        return Error::new(Code::FileUnreadable, "a file of the worktree cannot be read")
            .why(stderr.trim().replace('\n', "; "))
            .hint("make it readable, or add it to .gitignore");
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_went_away_is_not_one_that_cannot_be_read() {
        let code = |stderr: &str| unreadable_file(Error::new(Code::GitFailed, "git failed"), stderr).code();
        let went = "error: open(\"a.txt\"): No such file or directory; fatal: Unable to process path a.txt";
        assert_eq!(code(went), Code::ChangedMeanwhile);
        assert_eq!(code("error: open(\"a.txt\"): Permission denied"), Code::FileUnreadable);
        assert_eq!(code("fatal: something else"), Code::GitFailed);
    }

    #[test]
    fn paths_that_git_refuses_are_told_from_its_words_or_nothing_is() {
        let paths = [".Git/f", "a", "git~1", "x\ny/.git "].map(|path| RepoPath::new(path.as_bytes()));
        let words = "Ignoring path .Git/f\nIgnoring path x\ny/.git \n";
        assert_eq!(refused(&paths, words).unwrap(), [paths[0].clone(), paths[3].clone()]);
        assert!(refused(&paths, "warning: something else\n").unwrap().is_empty());
        assert_eq!(refused(&paths, "Ignoring path other\n").unwrap_err().code(), Code::FileUnreadable);
    }
}
