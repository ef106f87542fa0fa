//! Deleting folders with all their contents: the one place that does so.
//!
//! The folder is opened once by its path. Each folder below it is opened from the one above, so that no link is followed and
//! no mount is crossed, even if another process replaces entries meanwhile. Entries are removed relative to the open folder,
//! never by a path from the root. A crash leaves a part of the contents.

#![allow(clippy::disallowed_methods)]

use std::ffi::{CStr, CString, OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::env;
use crate::error::{Code, Error, Result};

use crate::files::folders::descent;
use crate::files::folders::descent::DescentMethod;
use crate::files::folders::mounts;
use crate::files::retry_interrupted::open_at;

/// Folders at a greater depth are moved up before they are deleted, so that neither descriptors nor the stack run out.
const DEPTH: usize = 64;

/// How often a folder is emptied again if another process adds entries at the same time.
const PASSES: u32 = 5;

/// An open folder. Everything is deleted below it.
#[derive(Debug)]
pub struct DeletionFolder {
    folder: OwnedFd,
    path: PathBuf,
    way: DescentMethod,
}

impl DeletionFolder {
    /// Opens the folder `below` of `anchor`; `None` where there is none. `anchor` itself may be a link or a mount; below it
    /// neither is crossed.
    pub fn open(anchor: &Path, below: &Path) -> Result<Option<Self>> {
        match Self::at(anchor)? {
            Some(anchor) => anchor.down(below),
            None => Ok(None),
        }
    }

    /// Opens a folder by a path that may contain links and mounts; `None` where there is none.
    pub fn at(anchor: &Path) -> Result<Option<Self>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match open_at(CWD, anchor, flags, Mode::empty()) {
            Ok(folder) => Ok(Some(Self { folder, path: anchor.to_owned(), way: DescentMethod::Kernel })),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(e) => Err(Error::io("open", anchor, e)),
        }
    }

    /// The folder `below` this one, without following links or entering mounts; `None` where there is none.
    pub fn down(self, below: &Path) -> Result<Option<Self>> {
        let way = self.way;
        self.walk(below, way)
    }

    /// As [`DeletionFolder::down`], but enters mounts: for a place where the user may have mounted a file system on purpose.
    pub fn down_into_mounts(self, below: &Path) -> Result<Option<Self>> {
        self.walk(below, DescentMethod::IntoMounts)
    }

    fn walk(mut self, below: &Path, way: DescentMethod) -> Result<Option<Self>> {
        for part in below.components() {
            let Component::Normal(name) = part else {
                return Err(Error::new(Code::Internal, format!("'{}' is not below a folder", below.display())));
            };
            self.path.push(name);
            self.folder = match descent::enter(way, self.folder.as_fd(), &c_string(name, &self.path)?, OFlags::RDONLY) {
                Ok(folder) => folder,
                Err(Errno::NOENT) => return Ok(None),
                Err(e) => return Err(refused(&self.path, e)),
            };
        }
        Ok(Some(self))
    }

    /// The same, but without `openat2`.
    #[cfg(test)]
    pub(in crate::files) fn by_looking(self) -> Self {
        Self { way: DescentMethod::Looking, ..self }
    }

    /// Its path, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The names of its entries, in no particular order.
    pub fn names(&self) -> Result<Vec<OsString>> {
        let entries = entries(self.folder.as_fd()).map_err(|e| Error::io("list", &self.path, e))?;
        Ok(entries.into_iter().map(|(name, _)| OsString::from_vec(name.into_bytes())).collect())
    }

    /// When an entry was moved here or last changed, in seconds since 1970; `None` where there is none. Links are not
    /// followed.
    pub fn last_change(&self, name: &OsStr) -> Result<Option<i64>> {
        match rustix::fs::statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            // Moving a folder changes its ctime, not its mtime.
            Ok(stat) => Ok(Some(stat.st_mtime.max(stat.st_ctime))),
            Err(Errno::NOENT) => Ok(None),
            Err(e) => Err(Error::io("access", &self.path.join(name), e)),
        }
    }

    /// Removes an entry of any type, with all its contents, including read-only folders. Links are removed, not followed. It
    /// is no error if there is no such entry. If there is a mount in it, nothing is removed.
    pub fn remove(&self, name: &OsStr) -> Result<()> {
        let text = self.entry(name)?;
        // Checked before anything is removed.
        mounts::holds_no_mount(&self.path.join(name))?;
        self.carry_away(&text)
    }

    /// As [`DeletionFolder::remove`], for entries that no other program uses: there is no check for mounts before. Mounts are not
    /// crossed either, but entries next to them are removed.
    pub(in crate::files) fn remove_own(&self, name: &OsStr) -> Result<()> {
        self.carry_away(&self.entry(name)?)
    }

    /// Checks the name of an entry of this folder.
    fn entry(&self, name: &OsStr) -> Result<CString> {
        if name.as_bytes().contains(&b'/') || matches!(name.as_bytes(), b"" | b"." | b"..") {
            return Err(Error::new(Code::Internal, format!("'{}' is not a name in a folder", name.display())));
        }
        c_string(name, &self.path.join(name))
    }

    fn carry_away(&self, name: &CStr) -> Result<()> {
        let named = DeletionLevel { folder: self.folder.as_fd(), path: &self.path, depth: 0, top: self.folder.as_fd() };
        FolderRemoval { way: self.way, moved_up: 0 }.entry(&named, name, None)
    }
}

/// One folder on the path down.
struct DeletionLevel<'a> {
    folder: BorrowedFd<'a>,
    path: &'a Path,
    /// 0 is the folder that the caller opened, whose permissions are not changed.
    depth: usize,
    /// The topmost folder that is removed.
    top: BorrowedFd<'a>,
}

impl DeletionLevel<'_> {
    fn place(&self, name: &CStr) -> PathBuf {
        self.path.join(OsStr::from_bytes(name.to_bytes()))
    }

    /// Changes an entry of this folder. If its permissions forbid that, they are changed first (module caches are
    /// read-only). The folder that the caller opened keeps its permissions.
    fn change(&self, change: impl Fn() -> Result<(), Errno>) -> Result<(), Errno> {
        match change() {
            Err(Errno::ACCESS) if self.depth > 0 => {
                rustix::fs::fchmod(self.folder, Mode::RWXU).and_then(|()| change()).map_err(|_| Errno::ACCESS)
            }
            outcome => outcome,
        }
    }

    fn unlink(&self, name: &CStr, flags: AtFlags) -> Result<(), Errno> {
        match self.change(|| rustix::fs::unlinkat(self.folder, name, flags)) {
            Err(Errno::NOENT) => Ok(()),
            outcome => outcome,
        }
    }
}

struct FolderRemoval {
    way: DescentMethod,
    /// How many folders were too deep and were moved to the topmost one.
    moved_up: usize,
}

impl FolderRemoval {
    fn entry(&mut self, above: &DeletionLevel<'_>, name: &CStr, kind: Option<FileType>) -> Result<()> {
        let kind = match kind.filter(|kind| *kind != FileType::Unknown) {
            Some(kind) => kind,
            None => match rustix::fs::statat(above.folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                Err(Errno::NOENT) => return Ok(()),
                Err(e) => return Err(Error::io("access", &above.place(name), e)),
            },
        };
        if kind == FileType::Directory {
            return self.folder(above, name, &above.place(name));
        }
        above.unlink(name, AtFlags::empty()).map_err(|e| refused(&above.place(name), e))
    }

    fn folder(&mut self, above: &DeletionLevel<'_>, name: &CStr, path: &Path) -> Result<()> {
        let folder = match descent::enter_opened_up(self.way, above.folder, name) {
            Ok(folder) => folder,
            Err(Errno::NOENT) => return Ok(()),
            Err(e) => return Err(refused(path, e)),
        };
        let (folder, depth) = (folder.as_fd(), above.depth + 1);
        if depth > DEPTH {
            return self.move_up(above, name, folder).map_err(|e| refused(path, e));
        }
        let level = DeletionLevel { folder, path, depth, top: if depth == 1 { folder } else { above.top } };
        let mut passes = PASSES;
        loop {
            let moved_up = self.moved_up;
            for (name, kind) in entries(folder).map_err(|e| Error::io("list", path, e))? {
                self.entry(&level, &name, Some(kind))?;
            }
            match above.unlink(name, AtFlags::REMOVEDIR) {
                Ok(()) => return Ok(()),
                // Folders that were moved up are removed in the next pass of the topmost folder.
                Err(Errno::NOTEMPTY | Errno::EXIST) if self.moved_up > moved_up => {}
                Err(Errno::NOTEMPTY | Errno::EXIST) if passes > 0 => passes -= 1,
                Err(e) => return Err(refused(path, e)),
            }
        }
    }

    fn move_up(&mut self, above: &DeletionLevel<'_>, name: &CStr, folder: BorrowedFd<'_>) -> Result<(), Errno> {
        // Moving a folder to another parent needs write permission on the folder itself.
        let _ = rustix::fs::fchmod(folder, Mode::RWXU);
        above.change(|| rustix::fs::renameat(above.folder, name, above.top, env::fresh_id()))?;
        self.moved_up += 1;
        Ok(())
    }
}

/// The names and types of a folder's entries.
fn entries(folder: BorrowedFd<'_>) -> Result<Vec<(CString, FileType)>, Errno> {
    let mut found = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            found.push((entry.file_name().to_owned(), entry.file_type()));
        }
    }
    Ok(found)
}

fn c_string(name: &OsStr, place: &Path) -> Result<CString> {
    CString::new(name.as_bytes()).map_err(|e| Error::io("name", place, std::io::Error::other(e)))
}

fn refused(path: &Path, errno: Errno) -> Error {
    match errno {
        Errno::LOOP => Error::new(Code::InTheWay, format!("'{}' is a symbolic link", path.display()))
            .why("what is behind it is not deleted")
            .hint("remove the link, or make it a folder"),
        Errno::XDEV | Errno::BUSY => mounts::holds_mount(path, path),
        errno => Error::io("remove", path, errno),
    }
}
