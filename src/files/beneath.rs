//! Deleting folders with all that is in them: the one place that does.
//!
//! A folder is named once and held open. Each folder below it is opened from the one above, so that no link is followed and
//! no mount is crossed, whoever swaps what meanwhile; and what goes is removed from the folder that is held, never by a path
//! from the root. A crash leaves a part of what was to go.

#![allow(clippy::disallowed_methods)]

use std::ffi::{CStr, CString, OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::env;
use crate::error::{Code, Error, Result};

use super::mounts;
use super::step::{self, Way};

/// Deeper than this, folders are moved up before they go, so that neither descriptors nor the stack run out.
const DEPTH: usize = 64;

/// How often a folder is emptied again that somebody fills at the same moment.
const PASSES: u32 = 5;

/// A folder that is held open: deleting stays beneath it.
#[derive(Debug)]
pub struct Beneath {
    folder: OwnedFd,
    path: PathBuf,
    way: Way,
}

impl Beneath {
    /// Opens the folder `below` of `anchor`; `None` where there is none. What the caller calls `anchor` may be a link, or be
    /// mounted; from there on neither is crossed.
    ///
    /// # Errors
    /// `IN_THE_WAY` where a link is on the way; `HOLDS_MOUNT` where a mount is; `IO_FAILED`.
    pub fn open(anchor: &Path, below: &Path) -> Result<Option<Self>> {
        match Self::at(anchor)? {
            Some(anchor) => anchor.down(below),
            None => Ok(None),
        }
    }

    /// Opens a folder by a path that is the user's own word; `None` where there is none.
    ///
    /// # Errors
    /// `IO_FAILED`.
    pub fn at(anchor: &Path) -> Result<Option<Self>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match rustix::fs::open(anchor, flags, Mode::empty()) {
            Ok(folder) => Ok(Some(Self { folder, path: anchor.to_owned(), way: Way::Kernel })),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(e) => Err(Error::io("open", anchor, e)),
        }
    }

    /// The folder `below` this one, over no link and into no mount; `None` where there is none.
    ///
    /// # Errors
    /// As [`Beneath::open`].
    pub fn down(self, below: &Path) -> Result<Option<Self>> {
        let way = self.way;
        self.walk(below, way)
    }

    /// As [`Beneath::down`], into mounts too: for a place at which the user may have mounted something to be used.
    ///
    /// # Errors
    /// As [`Beneath::open`].
    pub fn down_into_mounts(self, below: &Path) -> Result<Option<Self>> {
        self.walk(below, Way::IntoMounts)
    }

    fn walk(mut self, below: &Path, way: Way) -> Result<Option<Self>> {
        for part in below.components() {
            let Component::Normal(name) = part else {
                return Err(Error::new(Code::Internal, format!("'{}' is not below a folder", below.display())));
            };
            self.path.push(name);
            self.folder = match step::enter(way, self.folder.as_fd(), &c_string(name, &self.path)?, OFlags::RDONLY) {
                Ok(folder) => folder,
                Err(Errno::NOENT) => return Ok(None),
                Err(e) => return Err(refused(&self.path, e)),
            };
        }
        Ok(Some(self))
    }

    /// The same, but never by what the kernel offers.
    #[cfg(test)]
    pub(super) fn by_looking(self) -> Self {
        Self { way: Way::Looking, ..self }
    }

    /// Where it is, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The names in it, in no order.
    ///
    /// # Errors
    /// `IO_FAILED`.
    pub fn names(&self) -> Result<Vec<OsString>> {
        let entries = entries(self.folder.as_fd()).map_err(|e| Error::io("list", &self.path, e))?;
        Ok(entries.into_iter().map(|(name, _)| OsString::from_vec(name.into_bytes())).collect())
    }

    /// When an entry came here or was last changed, in seconds since 1970; `None` where there is none. What is behind a link
    /// is not looked at.
    ///
    /// # Errors
    /// `IO_FAILED`.
    pub fn last_change(&self, name: &OsStr) -> Result<Option<i64>> {
        match rustix::fs::statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            // Moving a folder changes the time of its inode, not of its content.
            Ok(stat) => Ok(Some(stat.st_mtime.max(stat.st_ctime))),
            Err(Errno::NOENT) => Ok(None),
            Err(e) => Err(Error::io("look at", &self.path.join(name), e)),
        }
    }

    /// Removes an entry, whatever it is, with all that is in it, read-only folders too; links themselves. It is no error if
    /// there is none. Nothing is removed of what holds a mount.
    ///
    /// # Errors
    /// `HOLDS_MOUNT`; `IO_FAILED` with the path: a part may be gone.
    pub fn remove(&self, name: &OsStr) -> Result<()> {
        let text = self.entry(name)?;
        // Seen before anything goes.
        mounts::holds_no_mount(&self.path.join(name))?;
        self.carry_away(&text)
    }

    /// As [`Beneath::remove`], for what nobody else knows: it is not looked for mounts before. They are not crossed either, but
    /// what is beside them goes.
    ///
    /// # Errors
    /// As [`Beneath::remove`].
    pub(super) fn remove_own(&self, name: &OsStr) -> Result<()> {
        self.carry_away(&self.entry(name)?)
    }

    /// The name of something in this very folder.
    fn entry(&self, name: &OsStr) -> Result<CString> {
        if name.as_bytes().contains(&b'/') || matches!(name.as_bytes(), b"" | b"." | b"..") {
            return Err(Error::new(Code::Internal, format!("'{}' is no name in a folder", name.display())));
        }
        c_string(name, &self.path.join(name))
    }

    fn carry_away(&self, name: &CStr) -> Result<()> {
        let named = Level { folder: self.folder.as_fd(), path: &self.path, depth: 0, top: self.folder.as_fd() };
        Removal { way: self.way, moved_up: 0 }.entry(&named, name, None)
    }
}

/// One folder on the way down.
struct Level<'a> {
    folder: BorrowedFd<'a>,
    path: &'a Path,
    /// 0 is the folder that the caller named, which stays as it is.
    depth: usize,
    /// The uppermost folder that goes.
    top: BorrowedFd<'a>,
}

impl Level<'_> {
    fn place(&self, name: &CStr) -> PathBuf {
        self.path.join(OsStr::from_bytes(name.to_bytes()))
    }

    /// Changes what is in this folder; where its permissions forbid that, once more with it opened up (module caches are
    /// read-only). The folder that the caller named keeps its permissions.
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

struct Removal {
    way: Way,
    /// How many folders were too deep and are in the uppermost one now.
    moved_up: usize,
}

impl Removal {
    fn entry(&mut self, above: &Level<'_>, name: &CStr, kind: Option<FileType>) -> Result<()> {
        let kind = match kind.filter(|kind| *kind != FileType::Unknown) {
            Some(kind) => kind,
            None => match rustix::fs::statat(above.folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                Err(Errno::NOENT) => return Ok(()),
                Err(e) => return Err(Error::io("look at", &above.place(name), e)),
            },
        };
        if kind == FileType::Directory {
            return self.folder(above, name, &above.place(name));
        }
        above.unlink(name, AtFlags::empty()).map_err(|e| refused(&above.place(name), e))
    }

    fn folder(&mut self, above: &Level<'_>, name: &CStr, path: &Path) -> Result<()> {
        let folder = match step::enter_opened_up(self.way, above.folder, name) {
            Ok(folder) => folder,
            Err(Errno::NOENT) => return Ok(()),
            Err(e) => return Err(refused(path, e)),
        };
        let (folder, depth) = (folder.as_fd(), above.depth + 1);
        if depth > DEPTH {
            return self.move_up(above, name, folder).map_err(|e| refused(path, e));
        }
        let level = Level { folder, path, depth, top: if depth == 1 { folder } else { above.top } };
        let mut passes = PASSES;
        loop {
            let moved_up = self.moved_up;
            for (name, kind) in entries(folder).map_err(|e| Error::io("list", path, e))? {
                self.entry(&level, &name, Some(kind))?;
            }
            match above.unlink(name, AtFlags::REMOVEDIR) {
                Ok(()) => return Ok(()),
                // What was moved up goes in the next pass of the uppermost folder.
                Err(Errno::NOTEMPTY | Errno::EXIST) if self.moved_up > moved_up => {}
                Err(Errno::NOTEMPTY | Errno::EXIST) if passes > 0 => passes -= 1,
                Err(e) => return Err(refused(path, e)),
            }
        }
    }

    fn move_up(&mut self, above: &Level<'_>, name: &CStr, folder: BorrowedFd<'_>) -> Result<(), Errno> {
        // A folder that changes its parent is itself changed.
        let _ = rustix::fs::fchmod(folder, Mode::RWXU);
        above.change(|| rustix::fs::renameat(above.folder, name, above.top, env::fresh_id()))?;
        self.moved_up += 1;
        Ok(())
    }
}

/// The names and kinds of what is in a folder.
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
