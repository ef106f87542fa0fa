//! Contents made ready beside the worktree.

use std::path::{Path, PathBuf};

use crate::domain::base::line_ends::Settings;
use crate::domain::base::names::{Oid, RepoPath};
use crate::error::Result;
use crate::files;

use crate::git::capture::differing::{Folders, bytes_of};
use crate::git::capture::raw::{RAW_LIMIT, RawFile};
use crate::git::index::file::{in_folder, nul_list};
use crate::git::objects::durability::sync_file_system;
use crate::git::repo::repository::Repository;
use crate::git::repo::worktrees::Worktree;

/// Files of a tree, written out and synced, waiting to be moved into place.
#[derive(Debug)]
pub struct Prepared {
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

impl Prepared {
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
        let prepared = Self { folder: files::OwnFolder::make_in(parent, ".staged-")? };
        if paths.is_empty() {
            return Ok(prepared);
        }
        let as_they_are = line_ends.is_none_or(|line_ends| line_ends.is_default());
        if raw.is_empty() && as_they_are && r.conversions().write_plain(tree, paths, prepared.folder.path())? {
            sync_file_system(prepared.folder.path())?;
            return Ok(prepared);
        }
        let scratch = r.scratch_folder()?;
        let index = in_folder(&scratch, "index");
        // An empty worktree: attributes come from the index, which is the tree's.
        let here = worktree.with_files_in(prepared.folder.path());
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
            let place = prepared.place(&raw.path);
            files::create_dir_all(place.parent().unwrap_or(prepared.root()))?;
            files::write_users_file(&place, &r.objects().read_blob(&raw.oid, RAW_LIMIT)?, executes)?;
        }
        sync_file_system(prepared.folder.path())?;
        Ok(prepared)
    }

    /// Nothing prepared.
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
