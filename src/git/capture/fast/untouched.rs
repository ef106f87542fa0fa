//! Whether some paths are as a commit has them, in the index and on disk, without a look at anything else.

use std::collections::BTreeSet;

use rustix::fs::{AtFlags, CWD, FileType, Stat, statat};
use rustix::io::Errno;

use crate::base::tree_change::{FileId, TreeChange};
use crate::repo::handles::QuickCaptures;
use crate::repo::shortcuts::FastWay;
use crate::repo::worktrees::Worktree;
use axiom_base::error::Result;
use axiom_model::base::names::{Oid, RepoPath};

use super::live_index::LiveIndex;
use super::oid;

/// What a look at one path told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UntouchedVerdict {
    /// It is as committed.
    Same,
    /// It is a regular file with the committed mode; its content decides.
    ByContent,
    /// Something else, or something that only git can tell.
    Unclear,
}

/// A look at paths of one worktree.
struct UntouchedPathCheck<'a> {
    worktree: &'a Worktree,
    index: &'a LiveIndex,
    /// Folders on disk that hold tracked files and are no repositories of their own.
    folders: BTreeSet<RepoPath>,
}

impl QuickCaptures<'_> {
    /// Whether, where `changes` lead away from the checked-out commit, index and files are certainly as that commit has them,
    /// and nothing is where it has nothing: then `git status` names no such path, and none above or below one. `false` if one
    /// is not, or if only git can tell. Changes nothing.
    pub(crate) fn are_as_committed(&self, worktree: &Worktree, commit: &Oid, changes: &[TreeChange]) -> Result<bool> {
        let is_plain = self.repo.shortcuts().allow_in(FastWay::CaptureFiles, worktree);
        if !is_plain || self.repo.refs().head(worktree)?.commit() != Some(commit) {
            return Ok(false);
        }
        let Some(index) = LiveIndex::read(self.repo, worktree) else { return Ok(false) };
        let mut paths = UntouchedPathCheck { worktree, index: &index, folders: BTreeSet::new() };
        let mut by_content = Vec::new();
        for change in changes {
            match paths.told(change)? {
                UntouchedVerdict::Same => {}
                UntouchedVerdict::ByContent => by_content.push(change),
                UntouchedVerdict::Unclear => return Ok(false),
            }
        }
        if by_content.is_empty() {
            return Ok(true);
        }
        let of: Vec<&RepoPath> = by_content.iter().map(|change| &change.path).collect();
        let Some(hashes) = self.repo.conversions().hash_plain(worktree, commit, &of) else { return Ok(false) };
        Ok(by_content.iter().zip(hashes).all(|(change, hash)| change.old.as_ref().is_some_and(|old| old.oid == hash)))
    }
}

impl UntouchedPathCheck<'_> {
    fn told(&mut self, change: &TreeChange) -> Result<UntouchedVerdict> {
        let path = &change.path;
        // In the index, no file has the path of a folder, and no folder that of a file.
        let clashes = !self.index.below(path.as_bytes()).is_empty();
        if clashes || path.folders_above().any(|folder| self.index.find(folder.as_bytes()).is_some()) {
            return Ok(UntouchedVerdict::Unclear);
        }
        match (&change.old, self.index.find(path.as_bytes())) {
            (None, None) => Ok(self.is_free(path)),
            (Some(old), Some(entry)) => self.file(path, old, entry),
            (None, Some(_)) | (Some(_), None) => Ok(UntouchedVerdict::Unclear),
        }
    }

    /// A path that neither commit nor index has.
    fn is_free(&mut self, path: &RepoPath) -> UntouchedVerdict {
        match self.folders_are_there(path) {
            Some(true) if !matches!(self.stat(path), Err(Errno::NOENT)) => UntouchedVerdict::Unclear,
            Some(true | false) => UntouchedVerdict::Same,
            None => UntouchedVerdict::Unclear,
        }
    }

    fn file(&mut self, path: &RepoPath, old: &FileId, entry: usize) -> Result<UntouchedVerdict> {
        if self.index.mode(entry) != old.mode
            || oid(self.index.id(entry))? != old.oid
            || self.folders_are_there(path) != Some(true)
        {
            return Ok(UntouchedVerdict::Unclear);
        }
        let Ok(stat) = self.stat(path) else { return Ok(UntouchedVerdict::Unclear) };
        let executes = stat.st_mode & 0o100 != 0;
        let fits = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile && executes == (old.mode == 0o100_755);
        Ok(match self.index.is_unchanged(entry, &stat) {
            true => UntouchedVerdict::Same,
            false if fits && !old.is_link() => UntouchedVerdict::ByContent,
            false => UntouchedVerdict::Unclear,
        })
    }

    /// Whether all folders above a path are there; `false` if one is missing, `None` if one is no folder, or is a folder that
    /// git may take as a whole: an ignored one, an untracked one, a repository of its own.
    fn folders_are_there(&mut self, path: &RepoPath) -> Option<bool> {
        for folder in path.folders_above() {
            if self.folders.contains(&folder) {
                continue;
            }
            match self.stat(&folder) {
                Err(Errno::NOENT) => return Some(false),
                Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Directory => {}
                Ok(_) | Err(_) => return None,
            }
            let inside = RepoPath::new([folder.as_bytes(), b"/.git"].concat());
            if self.index.below(folder.as_bytes()).is_empty() || !matches!(self.stat(&inside), Err(Errno::NOENT)) {
                return None;
            }
            self.folders.insert(folder);
        }
        Some(true)
    }

    fn stat(&self, path: &RepoPath) -> Result<Stat, Errno> {
        statat(CWD, self.worktree.path().join(path.to_path()), AtFlags::SYMLINK_NOFOLLOW)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::repo::scratch::ScratchRepository;

    /// `main`, ahead of it a commit that changes `a.txt`, removes `sub/b.txt`, and adds `sub/new` and `other/new`.
    fn ahead() -> (ScratchRepository, Oid, Vec<TreeChange>) {
        let scratch = ScratchRepository::new(&[]);
        let old = Oid::new(scratch.git(&["rev-parse", "HEAD"])).unwrap();
        scratch.write("a.txt", b"ahead\n");
        scratch.write("sub/new", b"new\n");
        scratch.write("sub/more", b"more\n");
        scratch.write("other/new", b"new\n");
        scratch.git(&["rm", "-q", "sub/b.txt"]);
        scratch.git(&["add", "-A"]);
        scratch.git(&["commit", "-qm", "ahead"]);
        let new = Oid::new(scratch.git(&["rev-parse", "HEAD"])).unwrap();
        scratch.git(&["reset", "-q", "--hard", old.as_str()]);
        // Files that were not written at the same moment as the index.
        for path in ["a.txt", "sub/b.txt"] {
            let file = std::fs::File::open(scratch.path().join(path)).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(100)).unwrap();
        }
        scratch.git(&["update-index", "-q", "--refresh"]);
        let changes = scratch.repo().history().diff_trees(&old, &new).unwrap();
        assert_eq!(changes.len(), 5);
        (scratch, old, changes)
    }

    fn are_as_committed((scratch, old, changes): &(ScratchRepository, Oid, Vec<TreeChange>)) -> bool {
        scratch.repo().quick_captures().are_as_committed(&scratch.main(), old, changes).unwrap()
    }

    #[test]
    fn what_is_changed_elsewhere_does_not_matter() {
        let all = ahead();
        assert!(are_as_committed(&all));
        all.0.write("sub/untracked", b"u");
        all.0.write("unrelated/staged", b"s");
        all.0.git(&["add", "unrelated"]);
        assert!(are_as_committed(&all));
    }

    /// Something that somebody does in a worktree.
    type Deed = fn(&ScratchRepository);

    #[test]
    fn whatever_git_names_at_above_or_below_a_path_is_seen() {
        let deeds: [(&str, Deed); 15] = [
            ("edited", |s| s.write("a.txt", b"b\n")),
            ("edited in time and size", |s| {
                let place = s.path().join("a.txt");
                let then = place.metadata().unwrap().modified().unwrap();
                s.write("a.txt", b"b\n");
                std::fs::File::open(place).unwrap().set_modified(then).unwrap();
            }),
            ("executable", |s| {
                std::fs::set_permissions(s.path().join("a.txt"), std::fs::Permissions::from_mode(0o755)).unwrap();
            }),
            ("staged", |s| {
                s.write("a.txt", b"b\n");
                s.git(&["add", "a.txt"]);
                s.write("a.txt", b"a\n");
            }),
            ("gone", |s| std::fs::remove_file(s.path().join("sub/b.txt")).unwrap()),
            ("unstaged", |s| drop(s.git(&["rm", "-q", "--cached", "sub/b.txt"]))),
            ("untracked", |s| s.write("sub/new", b"u")),
            ("untracked folder", |s| s.write("other/else", b"u")),
            ("ignored folder", |s| {
                s.write(".git/info/exclude", b"/other/\n");
                s.write("other/else", b"u");
            }),
            ("below a path", |s| s.write("sub/new/below", b"u")),
            ("a file above a path", |s| s.write("other", b"u")),
            ("a staged file above a path", |s| {
                s.write("other", b"u");
                s.git(&["add", "other"]);
                std::fs::remove_file(s.path().join("other")).unwrap();
            }),
            ("announced", |s| {
                s.write("sub/new", b"u");
                s.git(&["add", "-N", "sub/new"]);
            }),
            ("a link instead of a folder", |s| {
                std::fs::rename(s.path().join("sub"), s.path().join("moved")).unwrap();
                symlink("moved", s.path().join("sub")).unwrap();
            }),
            ("a repository", |s| drop(s.git(&["init", "-q", "sub"]))),
        ];
        for (what, deed) in deeds {
            let all = ahead();
            deed(&all.0);
            assert!(!are_as_committed(&all), "{what}");
        }
    }

    #[test]
    fn another_commit_is_checked_out() {
        let (scratch, old, changes) = ahead();
        scratch.git(&["commit", "-q", "--allow-empty", "-m", "more"]);
        assert!(!are_as_committed(&(scratch, old, changes)));
    }
}
