//! Folders of one user's own in a folder that all users may write to, such as `/tmp`: made with mode `0700`, and used only
//! if nobody else made them and nobody else can get in.
//!
//! Each folder is opened from the one above, without following a link, and looked at once more when it is open. What is
//! below it is opened from there, so that nothing can be put in its place meanwhile.

#![allow(clippy::disallowed_methods)]

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, fchmod, fstat, mkdirat, statat};
use rustix::io::Errno;

use crate::error::{Code, Error, Result};
use crate::files::retry_interrupted::open_at;
use crate::shell_word::shell_word;

/// An open folder that belongs to this user alone.
#[derive(Debug)]
pub struct PrivateFolder {
    folder: OwnedFd,
    path: PathBuf,
}

/// What becomes of a part of the path that is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MissingFolderPolicy {
    Made,
    Reported,
}

impl PrivateFolder {
    /// Opens the folder `anchor/below[0]/below[1]/…`, and makes what is missing below `anchor` with mode `0700`. `anchor`
    /// itself may be a link and belong to anybody. Not synced.
    pub fn make(anchor: &Path, below: &[&str]) -> Result<Self> {
        let missing = |path: &Path| Error::io("open", path, std::io::Error::from(std::io::ErrorKind::NotFound));
        Self::walk(anchor, below, MissingFolderPolicy::Made)?.ok_or_else(|| missing(anchor))
    }

    /// As [`PrivateFolder::make`], but makes nothing: `None` where a part is missing.
    pub fn find(anchor: &Path, below: &[&str]) -> Result<Option<Self>> {
        Self::walk(anchor, below, MissingFolderPolicy::Reported)
    }

    fn walk(anchor: &Path, below: &[&str], missing: MissingFolderPolicy) -> Result<Option<Self>> {
        let mut path = anchor.to_owned();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut folder = match open_at(CWD, anchor, flags, Mode::empty()) {
            Ok(folder) => folder,
            Err(Errno::NOENT) if missing == MissingFolderPolicy::Reported => return Ok(None),
            Err(e) => return Err(Error::io("open", anchor, e)),
        };
        for part in below {
            path.push(part);
            let made = missing == MissingFolderPolicy::Made && make_one(folder.as_fd(), part, &path)?;
            let Some(next) = enter(folder.as_fd(), part, &path)? else { return Ok(None) };
            if made {
                // The umask may have taken permissions that are needed.
                fchmod(&next, Mode::RWXU).map_err(|e| Error::io("set the permissions of", &path, e))?;
            }
            folder = next;
        }
        Ok(Some(Self { folder, path }))
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The names of its entries, in no particular order.
    pub fn names(&self) -> Result<Vec<OsString>> {
        let failed = |e| Error::io("list", &self.path, e);
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.folder).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name().to_bytes().to_vec();
            if !matches!(name.as_slice(), b"." | b"..") {
                names.push(OsString::from_vec(name));
            }
        }
        Ok(names)
    }

    /// Opens a file in it for reading; `None` where there is none. Does not wait, whatever it is.
    pub fn look_at(&self, name: &OsStr) -> Result<Option<File>> {
        match self.open(name, OFlags::RDONLY) {
            Ok(file) => self.regular(file, name).map(Some),
            Err(Errno::NOENT) => Ok(None),
            Err(e) => Err(self.refused(name, e)),
        }
    }

    /// Opens a file in it for reading and writing, and makes it with mode `0600` where it is missing. Not synced.
    pub fn make_file(&self, name: &OsStr) -> Result<File> {
        let file = self.open(name, OFlags::RDWR | OFlags::CREATE).map_err(|e| self.refused(name, e))?;
        self.regular(file, name)
    }

    fn open(&self, name: &OsStr, flags: OFlags) -> Result<OwnedFd, Errno> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        open_at(&self.folder, name, flags, Mode::RUSR | Mode::WUSR)
    }

    fn regular(&self, file: OwnedFd, name: &OsStr) -> Result<File> {
        let path = self.path.join(name);
        let stat = fstat(&file).map_err(|e| Error::io("access", &path, e))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(not_private(&path, "it is no regular file"));
        }
        of_this_user(&stat, &path)?;
        Ok(File::from(file))
    }

    fn refused(&self, name: &OsStr, e: Errno) -> Error {
        let path = self.path.join(name);
        match e {
            Errno::LOOP | Errno::MLINK => not_private(&path, "it is a symbolic link"),
            // A socket; a folder.
            Errno::NXIO | Errno::ISDIR => not_private(&path, "it is no regular file"),
            other => Error::io("open", &path, other),
        }
    }
}

/// Makes a folder; returns whether it was missing.
fn make_one(above: BorrowedFd<'_>, name: &str, path: &Path) -> Result<bool> {
    match mkdirat(above, name, Mode::RWXU) {
        Ok(()) => Ok(true),
        Err(Errno::EXIST) => Ok(false),
        Err(e) => Err(Error::io("create the folder", path, e)),
    }
}

/// Opens a folder that belongs to this user alone; `None` where there is none.
fn enter(above: BorrowedFd<'_>, name: &str, path: &Path) -> Result<Option<OwnedFd>> {
    // Looked at first, so that the reason is known where it cannot be opened.
    match statat(above, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => is_private(&stat, path)?,
        Err(Errno::NOENT) => return Ok(None),
        Err(e) => return Err(Error::io("access", path, e)),
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = match open_at(above, name, flags, Mode::empty()) {
        Ok(folder) => folder,
        Err(Errno::NOENT) => return Ok(None),
        Err(Errno::LOOP | Errno::MLINK | Errno::NOTDIR) => return Err(not_private(path, "it is no folder")),
        Err(e) => return Err(Error::io("open", path, e)),
    };
    // It may have been replaced since.
    is_private(&fstat(&folder).map_err(|e| Error::io("access", path, e))?, path)?;
    Ok(Some(folder))
}

fn is_private(stat: &Stat, path: &Path) -> Result<()> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => {}
        FileType::Symlink => return Err(not_private(path, "it is a symbolic link")),
        FileType::RegularFile
        | FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => return Err(not_private(path, "it is no folder")),
    }
    of_this_user(stat, path)?;
    let mode = stat.st_mode & 0o7777;
    if mode & 0o077 != 0 {
        return Err(not_private(path, &format!("others may enter it: its mode is {mode:04o}"))
            .hint(format!("chmod 700 {}    if you know what is in it", shell_word(&path.display().to_string()))));
    }
    Ok(())
}

fn of_this_user(stat: &Stat, path: &Path) -> Result<()> {
    let own = rustix::process::geteuid().as_raw();
    if stat.st_uid == own {
        return Ok(());
    }
    let why = format!("it belongs to user {}, and this is user {own}", stat.st_uid);
    Err(not_private(path, &why).hint("that user or root has to remove it"))
}

fn not_private(path: &Path, why: &str) -> Error {
    Error::new(Code::NotPrivate, format!("'{}' is not used", path.display()))
        .why(why)
        .hint(format!("ls -ld '{}'    shows what is there", path.display()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use super::*;

    const BELOW: &[&str] = &["own", "locks"];

    fn code_of(anchor: &Path) -> Code {
        PrivateFolder::make(anchor, BELOW).unwrap_err().code()
    }

    #[test]
    fn it_is_made_for_this_user_alone_and_found_again() {
        let dir = tempfile::tempdir().unwrap();
        assert!(PrivateFolder::find(dir.path(), BELOW).unwrap().is_none());
        let folder = PrivateFolder::make(dir.path(), BELOW).unwrap();
        for path in ["own", "own/locks"] {
            assert_eq!(std::fs::metadata(dir.path().join(path)).unwrap().mode() & 0o7777, 0o700);
        }
        assert!(folder.look_at("x".as_ref()).unwrap().is_none());
        folder.make_file("x".as_ref()).unwrap();
        assert_eq!(std::fs::metadata(folder.path().join("x")).unwrap().mode() & 0o7777, 0o600);
        let found = PrivateFolder::find(dir.path(), BELOW).unwrap().unwrap();
        assert!(found.look_at("x".as_ref()).unwrap().is_some());
        assert_eq!(found.names().unwrap(), ["x"]);
    }

    #[test]
    fn what_others_may_enter_or_lead_elsewhere_is_refused() {
        for part in ["own", "own/locks"] {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join(part);
            PrivateFolder::make(dir.path(), BELOW).unwrap();
            for mode in [0o701, 0o710, 0o770, 0o1777] {
                std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
                assert_eq!(code_of(dir.path()), Code::NotPrivate, "{part} {mode:o}");
                assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o7777, mode, "it was changed");
            }
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
            std::fs::rename(&path, dir.path().join("elsewhere")).unwrap();
            symlink(dir.path().join("elsewhere"), &path).unwrap();
            assert_eq!(code_of(dir.path()), Code::NotPrivate, "{part}: a link");
            std::fs::remove_file(&path).unwrap();
            std::fs::write(&path, "").unwrap();
            assert_eq!(code_of(dir.path()), Code::NotPrivate, "{part}: a file");
        }
    }

    #[test]
    fn only_regular_files_are_opened_and_nothing_waits() {
        let dir = tempfile::tempdir().unwrap();
        let folder = PrivateFolder::make(dir.path(), BELOW).unwrap();
        let path = folder.path().join("x");
        let refused = |what: &str| {
            for opened in [folder.look_at("x".as_ref()).map(drop), folder.make_file("x".as_ref()).map(drop)] {
                assert_eq!(opened.unwrap_err().code(), Code::NotPrivate, "{what}");
            }
        };
        rustix::fs::mknodat(CWD, &path, FileType::Fifo, Mode::RWXU, 0).unwrap();
        refused("a FIFO");
        std::fs::remove_file(&path).unwrap();
        symlink("/etc/passwd", &path).unwrap();
        refused("a link");
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        refused("a folder");
    }
}
