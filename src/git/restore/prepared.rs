//! Contents made ready beside the worktree, and what the present files are in git's terms.

use std::path::{Path, PathBuf};

use crate::domain::base::line_ends::Settings;
use crate::domain::base::names::{Oid, RepoPath};
use crate::error::{Code, Error, Result};
use crate::files;

use crate::git::capture::differing::{Folders, HeldFiles, bytes_of};
use crate::git::capture::raw::{RAW_LIMIT, RawFile, wanted_bytes};
use crate::git::history::questions::TreeChange;
use crate::git::index::changed_paths::ChangedPaths;
use crate::git::index::file::{copy_index, in_folder, index_facts, mark, nul_list};
use crate::git::objects::durability::sync_file_system;
use crate::git::repo::program::Git;
use crate::git::repo::repository::Repository;
use crate::git::repo::worktrees::Worktree;

/// Files of a tree, written out and synced, waiting to be moved into place.
#[derive(Debug)]
pub struct Staged {
    folder: files::OwnFolder,
}

/// What the files of a tree had, beside what the tree says.
#[derive(Debug, Clone, Copy)]
pub(in crate::git) struct Had<'a> {
    /// The tree.
    pub tree: &'a Oid,
    /// Those of which the bytes were kept, ordered by path.
    pub raw: &'a [RawFile],
    /// What the configuration said of line ends; `None`: what it says now.
    pub line_ends: Option<Settings>,
}

impl<'a> Had<'a> {
    pub fn files(self) -> HeldFiles<'a> {
        HeldFiles { tree: self.tree, raw: self.raw }
    }
}

impl Staged {
    /// Writes `paths` of a tree into a fresh folder below `parent`, with the bytes that they had: with filters, modes and
    /// links, as a checkout would, by the attributes of that tree; those of which the bytes were kept with these.
    ///
    /// # Errors
    /// `DISK_FULL`, `GIT_FAILED` (a failing filter), `IO_FAILED`.
    pub(in crate::git) fn write(
        r: &Repository,
        worktree: &Worktree,
        had: Had<'_>,
        paths: &[RepoPath],
        parent: &Path,
    ) -> Result<Self> {
        let Had { tree, raw, line_ends } = had;
        let staged = Self { folder: files::OwnFolder::make_in(parent, ".staged-")? };
        if paths.is_empty() {
            return Ok(staged);
        }
        let as_they_are = line_ends.is_none_or(|line_ends| line_ends.is_default());
        if raw.is_empty() && as_they_are && r.write_plain(tree, paths, staged.folder.path())? {
            sync_file_system(staged.folder.path())?;
            return Ok(staged);
        }
        let scratch = r.scratch_folder()?;
        let index = in_folder(&scratch, "index");
        // An empty worktree: attributes come from the index, which is the tree's.
        let here = worktree.with_files_in(staged.folder.path());
        let git = |args: &[&str]| {
            let git = r.git_in(&here).index(&index).config("core.sparseCheckout=false").args(args);
            match line_ends.map(Settings::values) {
                Some((autocrlf, eol)) => git.config(format!("core.autocrlf={autocrlf}")).config(format!("core.eol={eol}")),
                None => git,
            }
        };
        git(&["read-tree", tree.as_str()]).run_ok()?;
        // What was kept needs no filter, which may be gone or fail by now.
        let Sources { kept, others } = Sources::of(r, tree, paths, raw)?;
        if !others.is_empty() {
            git(&["checkout-index", "-f", "-q", "-z", "--stdin"]).stdin(nul_list(others)).run_ok()?;
        }
        for (raw, executes) in kept {
            let place = staged.place(&raw.path);
            files::create_dir_all(place.parent().unwrap_or(staged.root()))?;
            files::write_users_file(&place, &r.read_blob(&raw.oid, RAW_LIMIT)?, executes)?;
        }
        sync_file_system(staged.folder.path())?;
        Ok(staged)
    }

    /// Nothing staged.
    #[cfg(test)]
    pub(in crate::git) fn empty(parent: &Path) -> Self {
        Self { folder: files::OwnFolder::make_in(parent, ".staged-").unwrap() }
    }

    /// Where a path's content waits.
    pub(in crate::git) fn place(&self, path: &RepoPath) -> PathBuf {
        self.folder.path().join(path.to_path())
    }

    /// The folder itself, to be looked into.
    pub(in crate::git) fn root(&self) -> &Path {
        self.folder.path()
    }
}

/// How the contents of paths are made.
#[derive(Debug, Default)]
struct Sources<'a> {
    /// Regular files of which the bytes were kept, and whether each can be executed.
    kept: Vec<(&'a RawFile, bool)>,
    /// What a checkout makes.
    others: Vec<&'a RepoPath>,
}

impl<'a> Sources<'a> {
    fn of(r: &Repository, tree: &Oid, paths: &'a [RepoPath], raw: &'a [RawFile]) -> Result<Self> {
        let (mut sources, mut folders) = (Self::default(), Folders::default());
        for path in paths {
            let Some(kept) = bytes_of(raw, path) else {
                sources.others.push(path);
                continue;
            };
            match folders.file_at(r, tree, path)?.map(|file| file.mode) {
                Some(0o100_644) => sources.kept.push((kept, false)),
                Some(0o100_755) => sources.kept.push((kept, true)),
                Some(_) | None => sources.others.push(path),
            }
        }
        Ok(sources)
    }
}

/// The blobs that regular files of a worktree would be, in the order of `paths`; filters by the attributes of `tree`.
///
/// # Errors
/// `GIT_FAILED` where a file went away or a filter failed.
pub(in crate::git) fn hash_files(r: &Repository, worktree: &Worktree, tree: &Oid, paths: &[&RepoPath]) -> Result<Vec<Oid>> {
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    if let Some(hashes) = r.hash_plain(worktree, tree, paths) {
        return Ok(hashes);
    }
    // The files on disk may have other attributes by now, where an earlier try got as far as .gitattributes.
    hashes(r.git_in(worktree).env("GIT_ATTR_SOURCE", tree.as_str()), paths)
}

/// As [`hash_files`], by everything that counts in the worktree, as a capture would see it now: attributes that no tree has,
/// because git ignores their file, and what the index has, which decides over line ends. `None` of what git takes into no
/// tree, or is gone.
///
/// # Errors
/// `GIT_FAILED` and `FILE_UNREADABLE`, where a filter failed for example; `IO_FAILED`, `DISK_FULL`.
pub(in crate::git) fn hash_here(r: &Repository, worktree: &Worktree, paths: &[&RepoPath]) -> Result<Vec<Option<Oid>>> {
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let scratch = r.scratch_folder()?;
    let index = in_folder(&scratch, "index");
    copy_index(&worktree.index_file(), &index)?;
    let facts = index_facts(r, worktree, &index)?;
    let these = |marked: Vec<RepoPath>| marked.into_iter().filter(|path| paths.contains(&path)).collect::<Vec<_>>();
    mark(r, worktree, &index, "--no-assume-unchanged", &these(facts.assume_unchanged))?;
    mark(r, worktree, &index, "--no-skip-worktree", &these(facts.skip_worktree))?;
    let paths: Vec<RepoPath> = paths.iter().map(|path| (*path).clone()).collect();
    ChangedPaths::sort(worktree, paths.clone())?.stage(r, worktree, Some(&index))?;
    r.blobs(worktree, &index, &paths)
}

/// Whether regular files of a worktree are, byte for byte, what files of a tree were when it was captured.
///
/// # Errors
/// `DISK_FULL`. What cannot be written for comparing is taken for another.
pub(in crate::git) fn are_as_they_were(
    r: &Repository,
    worktree: &Worktree,
    had: Had<'_>,
    changes: &[TreeChange],
) -> Result<Vec<bool>> {
    let is_file = |change: &&TreeChange| change.new.as_ref().is_some_and(|new| new.mode & 0o170_000 == 0o100_000);
    let paths: Vec<RepoPath> = changes.iter().filter(is_file).map(|change| change.path.clone()).collect();
    if paths.is_empty() {
        return Ok(vec![false; changes.len()]);
    }
    let raw = wanted_bytes(had.raw, changes);
    let scratch = r.scratch_folder()?;
    let staged = match Staged::write(r, worktree, Had { raw: &raw, ..had }, &paths, scratch.path()) {
        Err(error) if !error.passes() => return Ok(vec![false; changes.len()]),
        staged => staged?,
    };
    let same = |change: &TreeChange| {
        let place = worktree.path().join(change.path.to_path());
        let are_files = [&place, &staged.place(&change.path)].iter().all(|at| at.symlink_metadata().is_ok_and(|m| m.is_file()));
        are_files && files::same_bytes(&place, &staged.place(&change.path)).unwrap_or(false)
    };
    Ok(changes.iter().map(same).collect())
}

fn hashes(git: Git<'_>, paths: &[&RepoPath]) -> Result<Vec<Oid>> {
    let output = git.args(["hash-object", "--stdin-paths"]).stdin(quoted_lines(paths.iter().copied())).run()?;
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

/// Paths, a line each, as git reads them.
pub(in crate::git) fn quoted_lines<'p>(paths: impl IntoIterator<Item = &'p RepoPath>) -> Vec<u8> {
    let mut lines = Vec::new();
    for path in paths {
        quote(path.as_bytes(), &mut lines);
        lines.push(b'\n');
    }
    lines
}

/// A path in double quotes, as git reads it from a line.
pub(in crate::git) fn quote(path: &[u8], line: &mut Vec<u8>) {
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
