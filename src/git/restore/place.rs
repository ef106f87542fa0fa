//! Looks at one path of a worktree without following links, and moves things to the trash.

use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::domain::base::names::RepoPath;
use crate::error::{Code, Error, Result};
use crate::files;

/// What is at a path.
#[derive(Debug)]
pub(in crate::git) enum Found {
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
pub(in crate::git) struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
}

impl Stamp {
    pub fn of(meta: &Metadata) -> Self {
        Self { device: meta.dev(), inode: meta.ino(), size: meta.size(), modified: (meta.mtime(), meta.mtime_nsec()) }
    }

    /// The stamp of the file at a path.
    ///
    /// # Errors
    /// `IO_FAILED`.
    pub fn at(path: &Path) -> Result<Self> {
        std::fs::symlink_metadata(path).map(|meta| Self::of(&meta)).map_err(|e| Error::io("access", path, e))
    }
}

/// Looks at `path` below `root` without following links above it or at it.
///
/// # Errors
/// `IO_FAILED`.
pub(in crate::git) fn look(root: &Path, path: &RepoPath) -> Result<Found> {
    for above in path.folders_above() {
        match files::metadata(&root.join(above.to_path()))? {
            None => return Ok(Found::Missing),
            Some(meta) if meta.is_dir() => {}
            Some(_) => return Ok(Found::Below(above)),
        }
    }
    let place = root.join(path.to_path());
    let Some(meta) = files::metadata(&place)? else { return Ok(Found::Missing) };
    let kind = meta.file_type();
    if kind.is_dir() {
        Ok(Found::Folder)
    } else if kind.is_file() {
        Ok(Found::File(Box::new(meta)))
    } else if kind.is_symlink() {
        let target = std::fs::read_link(&place).map_err(|e| Error::io("read the link", &place, e))?;
        Ok(Found::Link(Box::new(meta), target.as_os_str().as_bytes().to_owned()))
    } else {
        Ok(Found::Special)
    }
}

/// The sets of files in a trash, which have separate folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::git) enum Set {
    /// What an operation found and moved away: it comes back if the operation is reversed.
    Found,
    /// What an operation had put into place: it is moved here when the operation is reversed.
    PutThere,
}

impl Set {
    fn name(self) -> &'static str {
        match self {
            Self::Found => "files",
            Self::PutThere => "taken-back",
        }
    }
}

/// How often one path can be put into one set of a trash.
const COPIES: u32 = 1000;

/// The trash folder of one transaction. It never replaces anything: if a path is put into it twice, the second copy gets a
/// new folder.
#[derive(Debug, Clone)]
pub(in crate::git) struct Trash<'a> {
    folder: &'a Path,
}

impl<'a> Trash<'a> {
    /// Opens the trash in `folder`, which is created if it is missing.
    ///
    /// # Errors
    /// `IO_FAILED`; `REPOSITORY_UNSUPPORTED` if it is on another file system than `worktree`.
    pub fn open(folder: &'a Path, worktree: &Path) -> Result<Self> {
        files::create_dir_all(folder)?;
        if files::mount_of(folder)? != files::mount_of(worktree)? {
            let what = format!("'{}' and '{}' are on different file systems", folder.display(), worktree.display());
            return Err(
                Error::new(Code::RepositoryUnsupported, what).hint("set agents.workspaceRoot to a folder beside the files")
            );
        }
        Ok(Self { folder })
    }

    /// The trash in `folder`, for reading only; it need not exist.
    pub fn unopened(folder: &'a Path) -> Self {
        Self { folder }
    }

    /// The folder of the trash.
    pub fn folder(&self) -> &Path {
        self.folder
    }

    fn copy(&self, set: Set, number: u32, path: &RepoPath) -> PathBuf {
        self.folder.join(format!("{}-{number}", set.name())).join(path.to_path())
    }

    /// Whether the trash holds what an operation found at `path`.
    ///
    /// # Errors
    /// `IO_FAILED`.
    pub fn holds(&self, path: &RepoPath) -> Result<bool> {
        Ok(self.find(path)?.is_some())
    }

    /// Where the trash holds what an operation found at `path`: the first copy.
    ///
    /// # Errors
    /// `IO_FAILED`.
    pub fn find(&self, path: &RepoPath) -> Result<Option<PathBuf>> {
        for number in 0..COPIES {
            let copy = self.folder.join(format!("files-{number}"));
            if !copy.is_dir() {
                return Ok(None);
            }
            // A folder above the path may have been a link, which is in the trash now and must not be followed.
            match look(&copy, path)? {
                Found::Missing | Found::Below(_) => {}
                Found::File(_) | Found::Link(..) | Found::Folder | Found::Special => {
                    return Ok(Some(self.copy(Set::Found, number, path)));
                }
            }
        }
        Ok(None)
    }

    /// Creates the folders for what will be moved to this set, durably: if a power loss removed such a folder, the files in
    /// it would be lost with it.
    ///
    /// # Errors
    /// `IO_FAILED`, `DISK_FULL`.
    pub fn make_room<'p>(&self, set: Set, paths: impl Iterator<Item = &'p RepoPath>) -> Result<()> {
        let mut is_new = false;
        for path in paths {
            let place = self.copy(set, 0, path);
            let Some(folder) = place.parent().filter(|folder| !folder.is_dir()) else { continue };
            match files::create_dirs_unsynced(folder) {
                Ok(()) => is_new = true,
                Err(error) if error.code() == Code::DiskFull => return Err(error),
                // A file from an earlier move is in the way: `take_to` uses the next copy then.
                Err(_) => {}
            }
        }
        if is_new { files::sync_file_system(self.folder) } else { Ok(()) }
    }

    /// Moves what is at `path` below `root` to the trash, and returns where it is now; `None` if nothing was there. The
    /// caller syncs the folders once, after all moves.
    ///
    /// # Errors
    /// `IO_FAILED`.
    pub fn take(&self, root: &Path, path: &RepoPath) -> Result<Option<PathBuf>> {
        self.take_to(Set::Found, root, path)
    }

    /// As [`Trash::take`], to one of the two sets.
    ///
    /// # Errors
    /// `IO_FAILED`.
    pub fn take_to(&self, set: Set, root: &Path, path: &RepoPath) -> Result<Option<PathBuf>> {
        let from = root.join(path.to_path());
        if files::metadata(&from)?.is_none() {
            return Ok(None);
        }
        for number in 0..COPIES {
            let to = self.copy(set, number, path);
            // A file in this copy may be where a folder is needed: then the next copy is used. The folder exists already,
            // unless a path comes twice.
            let made = to.parent().map_or(Ok(()), files::create_dir_all);
            if made.is_ok() && files::rename_no_replace(&from, &to)? {
                return Ok(Some(to));
            }
            if let Err(error) = made
                && error.code() == Code::DiskFull
            {
                return Err(error);
            }
        }
        Err(Error::new(Code::IoFailed, format!("the trash '{}' is full", self.folder.display())))
    }
}
