//! Contents that are written into a folder of ours before they are moved into the worktree.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_base::platform::LONGEST_PATH;
use axiom_model::base::forms::line_ends::LineEndConfig;
use axiom_model::base::names::{Oid, RepoPath};

use crate::base::flat_name::flat_name;
use crate::capture::file_differences::{TreeEntryCache, bytes_of};
use crate::capture::lfs_store::LfsStore;
use crate::capture::raw_file::RawFile;
use crate::index::file::{in_folder, nul_list};
use crate::index::filters::{WHOLE_LIMIT, is_of_a_filter};
use crate::objects::durability::sync_file_system;
use crate::repo::repository::Repository;
use crate::repo::worktrees::Worktree;
use crate::restore::prepared_permissions::PreparedPermissions;

/// Files of a tree, written out, waiting to be moved into place.
#[derive(Debug)]
pub struct PreparedFiles {
    folder: files::OwnFolder,
    layout: PreparedLayout,
    /// Whether there is no file.
    is_empty: bool,
    /// What was given to the files, before the first one moves.
    pub(crate) dressed: BTreeMap<RepoPath, PreparedPermissions>,
}

/// How prepared files are named in their folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PreparedLayout {
    /// Flat: this process wrote them.
    Flat,
    /// Each at its path: git wrote them, and decides by the path how.
    AsInATree,
}

/// The files of a tree, with what is recorded in addition to the tree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecordedTree<'a> {
    /// The tree.
    pub tree: &'a Oid,
    /// The files whose bytes were kept, ordered by path.
    pub raw: &'a [RawFile],
    /// The configuration of line ends at the time of the capture; `None` for the present one.
    pub line_ends: Option<LineEndConfig>,
}

impl PreparedFiles {
    /// Writes `paths` of a tree into a new folder below `parent`, with the bytes that they had. Files whose bytes were kept
    /// get those; all others are written as by a checkout, with filters, modes and links, by the attributes of that tree.
    /// Nothing is synced: see [`PreparedFiles::sync`].
    pub(crate) fn write(
        r: &Repository,
        worktree: &Worktree,
        had: RecordedTree<'_>,
        paths: &[RepoPath],
        parent: &Path,
    ) -> Result<Self> {
        let RecordedTree { tree, raw, line_ends } = had;
        let folder = files::OwnFolder::make_in(parent, ".staged-")?;
        let prepared = Self { folder, layout: PreparedLayout::Flat, is_empty: paths.is_empty(), dressed: BTreeMap::new() };
        if paths.is_empty() {
            return Ok(prepared);
        }
        let as_they_are = line_ends.is_none_or(|line_ends| line_ends.is_default());
        if raw.is_empty() && as_they_are && r.conversions().write_plain(tree, paths, |path| prepared.place(path))? {
            return Ok(prepared);
        }
        let prepared = Self { layout: PreparedLayout::AsInATree, ..prepared };
        let scratch = r.scratch_folders().make()?;
        let index = in_folder(&scratch, "index");
        // The folder serves as an empty worktree, so that git reads the attributes from the index, which holds the tree.
        let here = worktree.with_files_in(prepared.folder.path());
        let git = |args: &[&str]| {
            let git = r.git_in(&here).index(&index).config("core.sparseCheckout=false").args(args);
            match line_ends.map(LineEndConfig::values) {
                Some((autocrlf, eol)) => git.config(format!("core.autocrlf={autocrlf}")).config(format!("core.eol={eol}")),
                None => git,
            }
        };
        git(&["read-tree", tree.as_str()]).run_ok()?;
        // Kept bytes need no filter, which may be missing or fail by now.
        let ContentSources { kept, others } = ContentSources::of(r, tree, paths, raw)?;
        if !others.is_empty() {
            let git = git(&["checkout-index", "-f", "-q", "-z", "--stdin"]).with_filters().limited(WHOLE_LIMIT);
            let output = git.stdin(nul_list(others.iter().copied())).run()?;
            if !output.ok() {
                return Err(not_written(output.error(), &output.stderr));
            }
            for path in others.into_iter().filter(|path| prepared.is_too_long(path)) {
                files::rename_into(prepared.root(), &path.to_path(), &flat_name(path)?)?;
            }
        }
        let store = LfsStore::of(r);
        for (raw, executes) in kept {
            let place = prepared.place(&raw.path)?;
            files::create_dir_all(place.parent().unwrap_or(prepared.root()))?;
            // Of a content that is not here the pointer is written: the preview of the rollback has named it.
            if let Some(pointer) = &raw.lfs
                && store.write(pointer, &place, executes)?
            {
                continue;
            }
            files::write_users_file(&place, &r.objects().read_blob(&raw.oid, raw.largest())?, executes)?;
        }
        Ok(prepared)
    }

    /// Syncs the files, and the permissions that they were given: a file that has moved must not be lost, nor be more open
    /// after a power loss.
    pub(crate) fn sync(&self) -> Result<()> {
        if self.is_empty { Ok(()) } else { sync_file_system(self.folder.path()) }
    }

    /// Nothing prepared.
    #[cfg(test)]
    pub(crate) fn empty(parent: &Path) -> Self {
        Self {
            folder: files::OwnFolder::make_in(parent, ".staged-").unwrap(),
            layout: PreparedLayout::Flat,
            is_empty: true,
            dressed: BTreeMap::new(),
        }
    }

    /// Where the content of a path is prepared.
    pub(crate) fn place(&self, path: &RepoPath) -> Result<PathBuf> {
        match self.layout {
            PreparedLayout::AsInATree if !self.is_too_long(path) => Ok(self.folder.path().join(path.to_path())),
            PreparedLayout::AsInATree | PreparedLayout::Flat => Ok(self.folder.path().join(flat_name(path)?)),
        }
    }

    /// Whether a path that the worktree can have is longer than the system takes once our folder stands before it.
    fn is_too_long(&self, path: &RepoPath) -> bool {
        self.folder.path().as_os_str().len() + 1 + path.as_bytes().len() >= LONGEST_PATH
    }

    /// The folder that holds the contents, for reading.
    pub(crate) fn root(&self) -> &Path {
        self.folder.path()
    }
}

/// Why git could not write files.
fn not_written(error: Error, stderr: &str) -> Error {
    if error.code() != Code::GitFailed || !is_of_a_filter(stderr) {
        return error;
    }
    Error::new(Code::FilterFailed, "files that only a filter can make cannot be written")
        .why(stderr.trim().replace('\n', "; "))
        .hint("put the filter's program on the PATH (git config --get-regexp '^filter'), or name other paths: -- PATH...")
}

/// Where the contents of paths come from: kept bytes or a checkout.
#[derive(Debug, Default)]
struct ContentSources<'a> {
    /// Regular files whose bytes were kept, and whether each is executable.
    kept: Vec<(&'a RawFile, bool)>,
    /// Files that a checkout writes.
    others: Vec<&'a RepoPath>,
}

impl<'a> ContentSources<'a> {
    fn of(r: &Repository, tree: &Oid, paths: &'a [RepoPath], raw: &'a [RawFile]) -> Result<Self> {
        let (mut sources, mut folders) = (Self::default(), TreeEntryCache::default());
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
