//! Whether a worktree is certainly as its commit, without a process: most of many workspaces are, or `git status` is worth its price.

use std::os::unix::fs::PermissionsExt;

use crate::capture::permissions::UsualPermissions;
use crate::repo::handles::QuickCaptures;
use crate::repo::shortcuts::FastWay;
use crate::repo::worktrees::Worktree;
use axiom_base::error::Result;
use axiom_model::base::names::{Oid, RepoPath};

use super::live_index::LiveIndex;
use super::oid;
use super::walk::{WalkFindings, WorktreeWalk};

impl QuickCaptures<'_> {
    /// Whether index and files are certainly all as the checked-out commit has them, and nothing else is there, not even an ignored
    /// file: then `git status` says nothing. `false` if something differs, or if only git can tell. Changes nothing.
    pub fn is_certainly_clean(&self, worktree: &Worktree) -> Result<bool> {
        if !self.repo.shortcuts().allow_in(FastWay::CaptureFiles, worktree) {
            return Ok(false);
        }
        let head = self.repo.refs().head(worktree)?;
        let (Some(commit), Some(index)) = (head.commit(), LiveIndex::read(self.repo, worktree)) else { return Ok(false) };
        let Some(tree) = index.cached_trees().filter(|tree| tree.num_entries.is_some_and(|all| all as usize == index.len()))
        else {
            return Ok(false);
        };
        if oid(&tree.id)? != self.repo.trees().tree_of(commit)? {
            return Ok(false);
        }
        let Some(seen) = WorktreeWalk::new(worktree.path(), &index, &[], UsualPermissions::of(worktree)).run() else {
            return Ok(false);
        };
        let WalkFindings { unsure, narrow: _, gone, unknown, special, attributes: _, ignores: _ } = seen;
        if !(gone.is_empty() && unknown.is_empty() && special.is_empty()) {
            return Ok(false);
        }
        let unsure: Vec<usize> = unsure.into_iter().map(|one| one.entry).collect();
        self.are_as_listed(worktree, (&index, commit), &unsure)
    }

    /// Whether the content of these entries' files is what the index lists.
    fn are_as_listed(&self, worktree: &Worktree, (index, commit): (&LiveIndex, &Oid), unsure: &[usize]) -> Result<bool> {
        if unsure.is_empty() {
            return Ok(true);
        }
        let paths: Vec<RepoPath> = unsure.iter().map(|entry| RepoPath::new(index.path(*entry))).collect();
        let executes = |path: &RepoPath| {
            let meta = worktree.path().join(path.to_path()).symlink_metadata();
            meta.ok().filter(std::fs::Metadata::is_file).map(|meta| meta.permissions().mode() & 0o100 != 0)
        };
        let has_its_mode = |(entry, path): (&usize, &RepoPath)| executes(path) == Some(index.mode(*entry) == 0o100_755);
        if !unsure.iter().zip(&paths).all(has_its_mode) {
            return Ok(false);
        }
        let of: Vec<&RepoPath> = paths.iter().collect();
        let Some(hashes) = self.repo.conversions().hash_plain(worktree, commit, &of) else { return Ok(false) };
        for (entry, hash) in unsure.iter().zip(hashes) {
            if oid(index.id(*entry))? != hash {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use std::os::unix::fs::symlink;

    use super::*;
    use crate::repo::scratch::ScratchRepository;

    /// Something that somebody does in a worktree.
    type Deed = fn(&ScratchRepository);

    #[test]
    fn what_git_status_names_is_never_clean() {
        let clean = ScratchRepository::new(&[]);
        assert!(clean.repo().quick_captures().is_certainly_clean(&clean.main()).unwrap(), "just written, so its files are read");
        let deeds: [(&str, Deed); 13] = [
            ("edited", |s| s.write("a.txt", b"b\n")),
            ("edited in time and size", |s| {
                let place = s.path().join("a.txt");
                let (size, then) = place.metadata().map(|meta| (meta.len(), meta.modified().unwrap())).unwrap();
                s.write("a.txt", &vec![b'x'; usize::try_from(size).unwrap()]);
                std::fs::File::open(place).unwrap().set_modified(then).unwrap();
            }),
            ("executable", |s| {
                std::fs::set_permissions(s.path().join("a.txt"), std::fs::Permissions::from_mode(0o755)).unwrap();
            }),
            ("staged", |s| {
                s.write("a.txt", b"b\n");
                s.git(&["add", "a.txt"]);
            }),
            ("staged and taken back on disk", |s| {
                let before = std::fs::read(s.path().join("a.txt")).unwrap();
                s.write("a.txt", b"b\n");
                s.git(&["add", "a.txt"]);
                s.write("a.txt", &before);
            }),
            ("staged, and its tree written", |s| {
                s.write("a.txt", b"b\n");
                s.git(&["add", "a.txt"]);
                s.git(&["write-tree"]);
            }),
            ("edited, where a filter says what the content is", |s| {
                s.git(&["config", "filter.same.clean", "cat"]);
                s.write(".git/info/attributes", b"*.txt filter=same\n");
                s.write("a.txt", b"b\n");
            }),
            ("a pipe", |s| {
                let (at, kind) = (s.path().join("pipe"), rustix::fs::FileType::Fifo);
                rustix::fs::mknodat(rustix::fs::CWD, at, kind, 0o600.into(), 0).unwrap();
            }),
            ("removed", |s| std::fs::remove_file(s.path().join("a.txt")).unwrap()),
            ("another kind", |s| {
                std::fs::remove_file(s.path().join("a.txt")).unwrap();
                symlink("sub/b.txt", s.path().join("a.txt")).unwrap();
            }),
            ("untracked", |s| s.write("sub/new", b"n")),
            ("ignored", |s| {
                s.write(".git/info/exclude", b"*.log\n");
                s.write("x.log", b"n");
            }),
            ("unborn", |s| {
                s.git(&["checkout", "-q", "--orphan", "other"]);
            }),
        ];
        for (what, deed) in deeds {
            let scratch = ScratchRepository::new(&[]);
            deed(&scratch);
            assert!(!scratch.repo().quick_captures().is_certainly_clean(&scratch.main()).unwrap(), "{what}");
        }
    }
}
