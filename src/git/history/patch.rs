//! What a human reads of the difference of two trees: how many lines of each file, and the patch.

use std::collections::BTreeMap;

use crate::repo::handles::History;
use crate::repo::program::Git;
use axiom_base::error::Result;
use axiom_model::base::names::{Oid, RepoPath};
use axiom_model::operation::change_json::FileChange;

/// A larger file is only named, as git does with binary files.
const LARGE: &str = "core.bigFileThreshold=2m";

/// A file in which two trees differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDiffStat {
    /// Its path.
    pub path: RepoPath,
    /// What happens to it.
    pub change: FileChange,
    /// How many lines are added and removed; `None` where it is binary or large.
    pub lines: Option<(u64, u64)>,
}

/// Whether git colours a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatchColor {
    /// It is to be read by programs, or made visible.
    Plain,
    /// As the user has configured `color.diff`.
    Colored,
}

impl PatchColor {
    /// The option of `git diff`.
    pub fn option(self) -> &'static str {
        match self {
            Self::Plain => "--color=never",
            Self::Colored => "--color=always",
        }
    }
}

impl History<'_> {
    /// The files in which two trees (or commits) differ, with their lines, ordered by path. Renames are a deletion and an addition.
    pub fn file_lines(&self, old: &Oid, new: &Oid) -> Result<Vec<FileDiffStat>> {
        let changes = self.diff_trees(old, new)?;
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        let git = self.read_diff(&["--no-color", "--numstat", "-z", "--no-renames"]);
        let counted = numstat(&git.args([old.as_str(), new.as_str(), "--"]).run_ok()?.stdout);
        let counted: BTreeMap<RepoPath, Option<(u64, u64)>> = counted.into_iter().collect();
        let lines = |path: &RepoPath| counted.get(path).copied().flatten();
        Ok(changes
            .into_iter()
            .map(|change| FileDiffStat { lines: lines(&change.path), change: change.what(), path: change.path })
            .collect())
    }

    /// The patch from one tree (or commit) to another, which `git apply` reads. Of binary and large files it says only that they
    /// differ. Names are quoted by git; contents are as they are.
    pub fn patch(&self, old: &Oid, new: &Oid, color: PatchColor) -> Result<Vec<u8>> {
        let prefixes = ["--src-prefix=a/", "--dst-prefix=b/"];
        let git = self.read_diff(&["--patch", color.option(), "--find-renames"]).args(prefixes);
        Ok(git.args([old.as_str(), new.as_str(), "--"]).run_ok()?.stdout)
    }

    fn read_diff(&self, options: &[&str]) -> Git<'_> {
        let git = self.repo.git().config(LARGE).config("core.quotePath=true");
        git.args(["diff", "--no-ext-diff", "--no-textconv", "--submodule=short", "-O/dev/null"]).args(options)
    }
}

/// The records of `git diff --numstat -z`: `added TAB deleted TAB path NUL`, with `-` for binary files.
pub(super) fn numstat(output: &[u8]) -> Vec<(RepoPath, Option<(u64, u64)>)> {
    let record = |record: &[u8]| {
        let mut fields = record.splitn(3, |byte| *byte == b'\t');
        let mut number = || std::str::from_utf8(fields.next()?).ok()?.parse().ok();
        let (added, deleted) = (number(), number());
        let path = fields.next().map(RepoPath::new)?;
        Some((path, added.zip(deleted)))
    };
    output.split(|byte| *byte == 0).filter_map(record).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_and_binary_files_have_none() {
        let told = numstat(b"3\t1\ta b\0-\t-\tc\nd\x000\t0\te\0");
        let path = |text: &str| RepoPath::new(text);
        assert_eq!(told, [(path("a b"), Some((3, 1))), (path("c\nd"), None), (path("e"), Some((0, 0)))]);
    }
}
