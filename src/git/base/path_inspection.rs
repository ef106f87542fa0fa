//! Looks at one path of a worktree without following links.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, statat};

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
    /// The folder of the path before: many paths in a row are in one.
    last: Option<Vec<u8>>,
    /// The folder that was opened last.
    open: Option<(Vec<u8>, OwnedFd)>,
}

impl<'a> WorktreeInspector<'a> {
    /// Looks below `root`.
    pub fn below(root: &'a Path) -> Self {
        Self { root, folders: BTreeSet::new(), last: None, open: None }
    }

    /// As [`look`].
    pub fn look(&mut self, path: &RepoPath) -> Result<PathOccupant> {
        let (folder, _) = path.split();
        if self.last.as_deref() == Some(folder) {
            return look_at(&self.root.join(path.to_path()));
        }
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
        self.last = Some(folder.to_vec());
        look_at(&self.root.join(path.to_path()))
    }
}

impl WorktreeInspector<'_> {
    /// The stat data of a regular file, and `None` of anything else, also of what cannot be looked at. Of many files in one folder,
    /// the way to it is gone once.
    pub fn file(&mut self, path: &RepoPath) -> Option<Stat> {
        let (folder, name) = path.split();
        if self.open.as_ref().is_none_or(|(open, _)| open != folder) {
            let is_file = matches!(self.look(path), Ok(PathOccupant::File(_)));
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let place = self.root.join(Path::new(OsStr::from_bytes(folder)));
            self.open = Some((folder.to_vec(), files::open_at(CWD, &place, flags, Mode::empty()).ok().filter(|_| is_file)?));
        }
        let (_, open) = self.open.as_ref()?;
        let stat = statat(open, OsStr::from_bytes(name), AtFlags::SYMLINK_NOFOLLOW).ok()?;
        (FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile).then_some(stat)
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
