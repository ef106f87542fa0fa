//! Runs `git status` and parses its output.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use axiom_base::error::{Code, Error, Result};
use axiom_model::base::names::{Oid, RepoPath};

use super::conversions::is_of_no_encoding;
use super::file::{copy_index, in_folder, mark};
use super::filters::{FILTER_LIMIT, FilterDrivers};
use crate::repo::handles::Index;
use crate::repo::program::Git;
use crate::repo::worktrees::Worktree;

/// The entries, the folders that git could not read, and what it said of others.
type StatusOutput = (Vec<StatusEntry>, Vec<RepoPath>, Option<String>);

/// How a path differs from HEAD or from the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatusKind {
    /// A tracked path, with the letters for index and worktree (`.` means unchanged).
    Tracked {
        /// HEAD compared with the index.
        index: u8,
        /// The index compared with the worktree.
        worktree: u8,
        /// The path is a submodule that has another commit checked out.
        dirty_submodule: bool,
    },
    /// A path in conflict.
    Unmerged,
    /// An untracked file.
    Untracked,
    /// A nested repository that git does not track.
    NestedRepository,
    /// An ignored path. If a whole folder is ignored, only the folder is listed.
    Ignored,
}

/// A path that `git status` reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusEntry {
    /// The path, without `/` at the end.
    pub path: RepoPath,
    /// How it differs.
    pub kind: StatusKind,
}

impl Index<'_> {
    /// What differs in a worktree. Untracked files are listed one by one. Nothing is written, not even the index's stat
    /// data.
    ///
    /// `index` replaces the worktree's own index.
    pub fn status(&self, index: Option<&Path>) -> Result<Vec<StatusEntry>> {
        let (entries, unread, unnamed) = self.status_with(index, &[])?;
        if let Some(line) = unnamed {
            return Err(Error::new(Code::FileUnreadable, "a folder or file of the worktree cannot be read")
                .why(line)
                .hint("make it readable, or add it to .gitignore"));
        }
        match unread.first() {
            Some(path) => Err(Error::new(Code::FileUnreadable, "a folder or file of the worktree cannot be read")
                .why(self.worktree.path().join(path.to_path()).display().to_string())
                .hint("make it readable, or add it to .gitignore")),
            None => Ok(entries),
        }
    }

    /// As [`Index::status`], but returns the folders that cannot be read instead of failing. What else git could not read it
    /// names in no certain way: whoever calls this looks for itself.
    /// `ignored` takes the place of the user's file with patterns.
    pub(crate) fn status_and_unread(
        &self,
        index: Option<&Path>,
        ignored: Option<&Path>,
    ) -> Result<(Vec<StatusEntry>, Vec<RepoPath>)> {
        let ignored = ignored.and_then(Path::to_str).map(|file| format!("core.excludesFile={file}"));
        let config: Vec<&str> = ignored.iter().map(String::as_str).collect();
        let (entries, unread, _unnamed) = self.status_with(index, &config)?;
        Ok((entries, unread))
    }

    /// Untracked files that git does not report because it takes their names for those of tracked files: `core.ignoreCase`
    /// is set, but the file system is case-sensitive. `known` is what git reports. In all other cases this costs nothing.
    pub(crate) fn hidden_by_case(&self, index: &Path, known: &[StatusEntry]) -> Result<Vec<StatusEntry>> {
        if !self.repo.settings().ignores_case() || is_insensitive(self.worktree) {
            return Ok(Vec::new());
        }
        let known: BTreeSet<&RepoPath> = known.iter().map(|entry| &entry.path).collect();
        let is_said = |path: &RepoPath| known.contains(path) || path.folders_above().any(|folder| known.contains(&folder));
        let (entries, ..) = self.status_with(Some(index), &["core.ignoreCase=false"])?;
        let hidden = entries.into_iter().filter(|entry| {
            let untracked = matches!(entry.kind, StatusKind::Untracked | StatusKind::NestedRepository);
            untracked && !is_said(&entry.path)
        });
        Ok(hidden.collect())
    }

    /// The entries, the folders that git could not read, and what it said of others. Of an index of ours, no filter is at work: a
    /// file with a filter whose stat data are no proof counts as changed, and whoever stores it finds out that it is not. Else
    /// filters have a limit.
    fn status_with(&self, index: Option<&Path>, config: &[&str]) -> Result<StatusOutput> {
        let filters = if index.is_some() { FilterDrivers::default() } else { self.repo.conversions().filters(self.worktree)? };
        match self.status_with_filters(index, config, &filters) {
            // Without attributes more files count as changed than are.
            Err(error) if is_of_no_encoding(&error.to_string()) => {
                let nowhere = self.repo.trees().empty_tree()?;
                self.status_of_all(index, config, |git| git.without(&filters).with_attributes_of(&nowhere))
            }
            told => told,
        }
    }

    fn status_with_filters(&self, index: Option<&Path>, config: &[&str], filters: &FilterDrivers) -> Result<StatusOutput> {
        if filters.is_empty() {
            return self.status_of_all(index, config, |git| git);
        }
        match self.status_of_all(index, config, |git| git.limited(FILTER_LIMIT)) {
            // A filter is at fault, or the call without any fails as well.
            Err(error) if matches!(error.code(), Code::FilterFailed | Code::GitFailed) => {
                self.status_of_all(index, config, |git| git.without(filters))
            }
            told => told,
        }
    }

    /// Where git fails at a submodule (its configuration is torn, for example), it looks into none, and those that can be looked into
    /// are looked at here.
    fn status_of_all(&self, index: Option<&Path>, config: &[&str], with: impl Fn(Git<'_>) -> Git<'_>) -> Result<StatusOutput> {
        let error = match self.status_by(index, config, &with) {
            Err(error) if error.code() == Code::GitFailed => error,
            told => return told,
        };
        let submodules = self.submodules();
        if submodules.is_empty() {
            return Err(error);
        }
        let folder = self.repo.scratch_folders().make()?;
        let without = in_folder(&folder, "without-submodules");
        let own = self.worktree.index_file();
        copy_index(self.repo.hash(), index.unwrap_or(&own), &without)?;
        let paths: Vec<RepoPath> = submodules.iter().map(|(path, _)| path.clone()).collect();
        mark(self.repo, self.worktree, &without, "--assume-unchanged", &paths)?;
        let Ok((mut entries, unread, unnamed)) = self.status_by(Some(&without), config, &with) else { return Err(error) };
        entries.extend(submodules.into_iter().filter_map(|(path, commit)| self.status_of_submodule(path, &commit)));
        Ok((entries, unread, unnamed))
    }

    /// How the submodule at a path differs from its entry in the index, which has this commit.
    fn status_of_submodule(&self, path: RepoPath, commit: &Oid) -> Option<StatusEntry> {
        let folder = self.worktree.path().join(path.to_path());
        let (letter, dirty_submodule) = match folder.symlink_metadata() {
            Ok(meta) if meta.is_dir() => (b'M', true),
            Ok(_) => (b'T', false),
            Err(_) => (b'D', false),
        };
        if dirty_submodule && self.repo.restore().head_of_nested(&folder).is_none_or(|now| now == *commit) {
            return None;
        }
        Some(StatusEntry { path, kind: StatusKind::Tracked { index: b'.', worktree: letter, dirty_submodule } })
    }

    fn status_by(&self, index: Option<&Path>, config: &[&str], with: impl Fn(Git<'_>) -> Git<'_>) -> Result<StatusOutput> {
        let git = config.iter().fold(with(self.repo.git_in(self.worktree)), |git, pair| git.config(*pair));
        let git = git.config("status.renames=false").fetching_nothing().args([
            "status",
            "--porcelain=v2",
            "-z",
            "--untracked-files=all",
            "--ignored=matching",
            // What is in a submodule is looked at in its own repository; a broken one fails git's look into it.
            "--ignore-submodules=dirty",
            "--no-renames",
        ]);
        let git = match index {
            Some(index) => git.index(index),
            None => git,
        };
        let output = git.run_ok()?;
        let fields = output.stdout.split(|b| *b == 0).filter(|field| !field.is_empty());
        let entries: Result<Vec<StatusEntry>> = fields.filter_map(|field| parse(field).transpose()).collect();
        let (unread, unnamed) = unreadable(&output.stderr);
        Ok((entries?, unread, unnamed))
    }
}

/// Whether the file system of a worktree ignores case in names.
fn is_insensitive(worktree: &Worktree) -> bool {
    let [lower, upper] = [".git", ".GIT"].map(|name| worktree.path().join(name).symlink_metadata());
    matches!((lower, upper), (Ok(lower), Ok(upper)) if (lower.dev(), lower.ino()) == (upper.dev(), upper.ino()))
}

/// The folders that git could not read: git only warns about them, and leaves their content out. The second is the first line
/// about something else that could not be read.
fn unreadable(stderr: &str) -> (Vec<RepoPath>, Option<String>) {
    let (mut paths, mut unnamed) = (Vec::new(), None);
    for line in stderr.lines() {
        let named = line.strip_prefix("warning: could not open directory '").and_then(|rest| rest.rsplit_once("':"));
        match named {
            // git prints the path unquoted. A path with a line end does not match here.
            Some((path, _)) => paths.push(RepoPath::new(path.trim_end_matches('/').as_bytes())),
            None if line.contains("could not open directory") || line.contains("Permission denied") => {
                unnamed.get_or_insert_with(|| line.to_owned());
            }
            None => {}
        }
    }
    (paths, unnamed)
}

fn parse(field: &[u8]) -> Result<Option<StatusEntry>> {
    let unclear = || Error::new(Code::GitFailed, "cannot make sense of what 'git status' printed");
    let (kind, skip) = match field.first() {
        Some(b'1') => (None, 8),
        Some(b'u') => (Some(StatusKind::Unmerged), 10),
        Some(b'?') if field.ends_with(b"/") => (Some(StatusKind::NestedRepository), 1),
        Some(b'?') => (Some(StatusKind::Untracked), 1),
        Some(b'!') => (Some(StatusKind::Ignored), 1),
        Some(b'#') => return Ok(None),
        Some(_) | None => return Err(unclear()),
    };
    let path = field.splitn(skip + 1, |b| *b == b' ').nth(skip).ok_or_else(unclear)?;
    let kind = match kind {
        Some(kind) => kind,
        None => tracked(field).ok_or_else(unclear)?,
    };
    Ok(Some(StatusEntry { path: RepoPath::new(path.strip_suffix(b"/").unwrap_or(path)), kind }))
}

/// The kind of a tracked path, from a line `1 <XY> <sub> <mH> <mI> <mW> …`
fn tracked(field: &[u8]) -> Option<StatusKind> {
    let mut parts = field.split(|b| *b == b' ').skip(1);
    let (letters, submodule) = (parts.next()?, parts.next()?);
    let dirty_submodule = submodule.first() == Some(&b'S') && submodule.get(1..)?.iter().any(|b| *b != b'.');
    Some(StatusKind::Tracked { index: *letters.first()?, worktree: *letters.get(1)?, dirty_submodule })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_git_could_not_open_is_named_and_what_it_names_otherwise_is_not_missed() {
        let words = "warning: could not open directory 'x/': Permission denied\n";
        assert_eq!(unreadable(words), (vec![RepoPath::new(&b"x"[..])], None));
        let other = "error: open(\"x\"): Permission denied";
        assert_eq!(unreadable(&format!("{other}\n")), (Vec::new(), Some(other.to_owned())));
        assert_eq!(unreadable("warning: something else\n"), (Vec::new(), None));
    }
}
