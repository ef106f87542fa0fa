//! Looks at one path of a worktree without following links.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use axiom_base::error::{Error, Result};
use axiom_base::files;
use axiom_model::base::names::RepoPath;

/// What is at a path.
#[derive(Debug)]
pub(crate) enum PathOccupant {
    /// Nothing.
    Missing,
    /// A folder above the path is a file or link instead; its path.
    Below(RepoPath),
    /// A regular file.
    File(Box<Metadata>),
    /// A symbolic link and its target.
    Link(Box<Metadata>, Vec<u8>),
    /// A folder.
    Folder,
    /// A socket, fifo or device.
    Special,
}

/// Stat data that shows whether a file was touched between two looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileTouchStamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
}

impl FileTouchStamp {
    pub fn of(meta: &Metadata) -> Self {
        Self { device: meta.dev(), inode: meta.ino(), size: meta.size(), modified: (meta.mtime(), meta.mtime_nsec()) }
    }

    /// The stamp of the file at a path.
    pub fn at(path: &Path) -> Result<Self> {
        std::fs::symlink_metadata(path).map(|meta| Self::of(&meta)).map_err(|e| Error::io("access", path, e))
    }
}

/// Looks at `path` below `root` without following links above it or at it.
pub(crate) fn look(root: &Path, path: &RepoPath) -> Result<PathOccupant> {
    WorktreeInspector::below(root).look(path)
}

/// Looks at many paths below a root, and at each folder above them once. A folder may have become something else by the time
/// that the next path in it is looked at, just as it may after a look at every path: whatever moves files checks again.
#[derive(Debug)]
pub(crate) struct WorktreeInspector<'a> {
    root: &'a Path,
    folders: BTreeSet<RepoPath>,
}

impl<'a> WorktreeInspector<'a> {
    /// Looks below `root`.
    pub fn below(root: &'a Path) -> Self {
        Self { root, folders: BTreeSet::new() }
    }

    /// As [`look`].
    pub fn look(&mut self, path: &RepoPath) -> Result<PathOccupant> {
        for above in path.folders_above() {
            if self.folders.contains(&above) {
                continue;
            }
            match files::metadata(&self.root.join(above.to_path()))? {
                None => return Ok(PathOccupant::Missing),
                Some(meta) if meta.is_dir() => self.folders.insert(above),
                Some(_) => return Ok(PathOccupant::Below(above)),
            };
        }
        look_at(&self.root.join(path.to_path()))
    }
}

/// What is at a place, without following a link there.
pub(crate) fn look_at(place: &Path) -> Result<PathOccupant> {
    let Some(meta) = files::metadata(place)? else { return Ok(PathOccupant::Missing) };
    let kind = meta.file_type();
    if kind.is_dir() {
        Ok(PathOccupant::Folder)
    } else if kind.is_file() {
        Ok(PathOccupant::File(Box::new(meta)))
    } else if kind.is_symlink() {
        let target = std::fs::read_link(place).map_err(|e| Error::io("read the link", place, e))?;
        Ok(PathOccupant::Link(Box::new(meta), target.as_os_str().as_bytes().to_owned()))
    } else {
        Ok(PathOccupant::Special)
    }
}
