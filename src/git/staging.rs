//! Contents made ready beside the worktree, and what the present files are in git's terms.

use std::path::{Path, PathBuf};

use crate::domain::names::{Oid, RepoPath};
use crate::error::{Code, Error, Result};
use crate::files;

use super::durability::sync_file_system;
use super::index_file::{in_folder, nul_list};
use super::program::Git;
use super::raw_files::{RAW_LIMIT, RawFile};
use super::repository::Repository;
use super::restore::executable;
use super::worktree_list::Worktree;

/// Files of a tree, written out and synced, waiting to be moved into place.
#[derive(Debug)]
pub struct Staged {
    folder: files::OwnFolder,
}

impl Staged {
    /// Writes `paths` of `tree` into a fresh folder below `parent`: with filters, modes and links, as a checkout would,
    /// by the attributes of that tree; those of which the bytes were kept, ordered by path, with these.
    ///
    /// # Errors
    /// `DISK_FULL`, `GIT_FAILED` (a failing filter), `IO_FAILED`.
    pub(super) fn write(
        r: &Repository,
        worktree: &Worktree,
        tree: &Oid,
        paths: &[RepoPath],
        at: (&Path, &[RawFile]),
    ) -> Result<Self> {
        let (parent, raw) = at;
        let staged = Self { folder: files::OwnFolder::make_in(parent, ".staged-")? };
        if paths.is_empty() {
            return Ok(staged);
        }
        if raw.is_empty() && r.write_plain(tree, paths, staged.folder.path())? {
            sync_file_system(staged.folder.path())?;
            return Ok(staged);
        }
        let scratch = r.scratch_folder()?;
        let index = in_folder(&scratch, "index");
        // An empty worktree: attributes come from the index, which is the tree's.
        let here = worktree.with_files_in(staged.folder.path());
        let git = |args: &[&str]| r.git_in(&here).index(&index).config("core.sparseCheckout=false").args(args);
        git(&["read-tree", tree.as_str()]).run_ok()?;
        git(&["checkout-index", "-f", "-q", "-z", "--stdin"]).stdin(nul_list(paths)).run_ok()?;
        for path in paths {
            if let Ok(kept) = raw.binary_search_by(|one| one.path.cmp(path)) {
                staged.replace(r, &raw[kept])?;
            }
        }
        sync_file_system(staged.folder.path())?;
        Ok(staged)
    }

    /// Puts the bytes of a file in the place of what a checkout made of it.
    fn replace(&self, repository: &Repository, raw: &RawFile) -> Result<()> {
        let place = self.place(&raw.path);
        let executes = match std::fs::symlink_metadata(&place) {
            Ok(meta) if meta.is_file() => executable(&meta),
            Ok(_) => return Ok(()),
            Err(e) => return Err(Error::io("look at", &place, e)),
        };
        files::remove_file(&place)?;
        files::write_users_file(&place, &repository.read_blob(&raw.oid, RAW_LIMIT)?, executes)
    }

    /// Nothing staged.
    #[cfg(test)]
    pub(super) fn empty(parent: &Path) -> Self {
        Self { folder: files::OwnFolder::make_in(parent, ".staged-").unwrap() }
    }

    /// Where a path's content waits.
    pub(super) fn place(&self, path: &RepoPath) -> PathBuf {
        self.folder.path().join(path.to_path())
    }

    /// The folder itself, to be looked into.
    pub(super) fn root(&self) -> &Path {
        self.folder.path()
    }
}

/// The blobs that regular files of a worktree would be, in the order of `paths`; filters by the attributes of `tree`.
///
/// # Errors
/// `GIT_FAILED` where a file went away or a filter failed.
pub(super) fn hash_files(r: &Repository, worktree: &Worktree, tree: &Oid, paths: &[&RepoPath]) -> Result<Vec<Oid>> {
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    if let Some(hashes) = r.hash_plain(worktree, tree, paths) {
        return Ok(hashes);
    }
    // The files on disk may have other attributes by now, where an earlier try got as far as .gitattributes.
    hashes(r.git_in(worktree).env("GIT_ATTR_SOURCE", tree.as_str()), paths)
}

/// As [`hash_files`], by the attributes that are in force in the worktree: those too that no tree has, because git ignores
/// their file.
///
/// # Errors
/// As [`hash_files`].
pub(super) fn hash_here(r: &Repository, worktree: &Worktree, paths: &[&RepoPath]) -> Result<Vec<Oid>> {
    if paths.is_empty() { Ok(Vec::new()) } else { hashes(r.git_in(worktree), paths) }
}

fn hashes(git: Git<'_>, paths: &[&RepoPath]) -> Result<Vec<Oid>> {
    let mut input = Vec::new();
    for path in paths {
        quote(path.as_bytes(), &mut input);
        input.push(b'\n');
    }
    let output = git.args(["hash-object", "--stdin-paths"]).stdin(input).run()?;
    if !output.ok() {
        let words = output.stderr.as_str();
        // Somebody removed it since it was looked at.
        let vanished = words.contains("could not open '") && words.contains("No such file or directory");
        return Err(if vanished {
            Error::new(Code::ChangedMeanwhile, "a file was removed meanwhile").why(words.trim().replace('\n', "; "))
        } else {
            output.error()
        });
    }
    output.text()?.lines().map(Oid::new).collect()
}

/// A path in double quotes, as git reads it from a line.
pub(super) fn quote(path: &[u8], line: &mut Vec<u8>) {
    line.push(b'"');
    for byte in path {
        match byte {
            b'"' | b'\\' => line.extend_from_slice(&[b'\\', *byte]),
            0..0x20 | 0x7f => line.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
            _ => line.push(*byte),
        }
    }
    line.push(b'"');
}
