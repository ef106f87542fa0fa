//! Moving files and folders, replacing nothing, by the best way that the file system has.

#![allow(clippy::disallowed_methods)]

use std::fs::Metadata;
use std::io::{Error as IoError, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::io::Errno;

use crate::env;
use crate::error::{Error, Result};

use super::parts;

/// Renames only if nothing is at `to`, and says whether it did. Neither folder is synced: a caller that moves many
/// files syncs the folders once.
///
/// Where the file system does not know the flag for it (FUSE, NFS and others), a file gets its second name, which never
/// replaces anything, and then loses its first; a crash in between leaves both. Where there are no second names either
/// (exFAT), the place is taken by an empty file first. A folder is renamed as it is: that replaces an empty folder at
/// most, and none that was seen.
///
/// # Errors
/// `IO_FAILED` with both paths.
pub fn rename_no_replace(from: &Path, to: &Path) -> Result<bool> {
    match renamed(from, to)? {
        Renamed::Done => Ok(true),
        Renamed::Taken => Ok(false),
        Renamed::Elsewhere => Err(parts::elsewhere(from, to)),
    }
}

/// What became of a rename that replaces nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Renamed {
    /// It was done.
    Done,
    /// Something is in its place.
    Taken,
    /// No rename leads there: another file system, or a folder of a lower layer.
    Elsewhere,
}

/// Renames only if nothing is at `to`, as [`rename_no_replace`].
///
/// # Errors
/// `IO_FAILED` with both paths.
pub(super) fn renamed(from: &Path, to: &Path) -> Result<Renamed> {
    let outcome = match by_flag(from, to) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => without_flag(from, to),
        Err(Errno::EXIST | Errno::NOTEMPTY) => Ok(false),
        Err(e) => Err(e.into()),
        Ok(()) => Ok(true),
    };
    match outcome {
        Ok(true) => Ok(Renamed::Done),
        Ok(false) => Ok(Renamed::Taken),
        Err(e) if e.kind() == ErrorKind::CrossesDevices => Ok(Renamed::Elsewhere),
        Err(e) => Err(Error::io(&format!("move '{}' to", from.display()), to, e)),
    }
}

/// As [`rename_no_replace`], for what may be a folder: it moves whole, or not at all where something is mounted in it. A
/// mount would move with it, and who mounted it would find it nowhere. Where no rename leads there it goes in parts (see
/// [`super::turn_back`]), and is on disk when this returns.
///
/// # Errors
/// `HOLDS_MOUNT`; as [`rename_no_replace`]. In parts also `CHANGED_MEANWHILE`, `DISK_FULL`: some of it may have moved.
pub fn move_whole(from: &Path, to: &Path) -> Result<bool> {
    super::holds_no_mount(from)?;
    if parts::is_begun(to)? {
        return parts::move_in_parts(from, to);
    }
    match renamed_whole(from, to)? {
        Renamed::Done => Ok(true),
        Renamed::Taken => Ok(false),
        Renamed::Elsewhere => parts::move_in_parts(from, to),
    }
}

fn renamed_whole(from: &Path, to: &Path) -> Result<Renamed> {
    match env::refusal_point("files.across") {
        Err(_) => Ok(Renamed::Elsewhere),
        Ok(()) => renamed(from, to),
    }
}

fn by_flag(from: &Path, to: &Path) -> Result<(), Errno> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    let refused = env::refusal_point("files.change").and_then(|()| env::refusal_point("files.no-replace"));
    refused.map_err(|e| Errno::from_io_error(&e).unwrap_or(Errno::IO))?;
    renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE)
}

fn without_flag(from: &Path, to: &Path) -> Result<bool, IoError> {
    let meta = std::fs::symlink_metadata(from)?;
    if meta.is_dir() {
        return folder_without_flag(from, to);
    }
    match link(from, to) {
        Ok(()) => std::fs::remove_file(from).map(|()| true),
        Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(e) if has_no_links(&e) => into_placeholder(from, to),
        Err(e) => Err(e),
    }
}

fn folder_without_flag(from: &Path, to: &Path) -> Result<bool, IoError> {
    if std::fs::symlink_metadata(to).is_ok() {
        return Ok(false);
    }
    match std::fs::rename(from, to) {
        Ok(()) => Ok(true),
        Err(e) if matches!(e.kind(), ErrorKind::DirectoryNotEmpty | ErrorKind::NotADirectory) => Ok(false),
        Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(e) => Err(e),
    }
}

/// An empty file claims the place, which fails where anything is there; then it is replaced. Whoever writes into that very
/// file in between would lose it, so it is looked at right before.
fn into_placeholder(from: &Path, to: &Path) -> Result<bool, IoError> {
    let claimed = match std::fs::OpenOptions::new().write(true).create_new(true).open(to) {
        Ok(file) => file.metadata()?,
        Err(e) if e.kind() == ErrorKind::AlreadyExists => return Ok(false),
        Err(e) => return Err(e),
    };
    let is_claim = |now: &Metadata| now.is_file() && now.len() == 0 && now.ino() == claimed.ino();
    if !std::fs::symlink_metadata(to).is_ok_and(|now| is_claim(&now)) {
        return Ok(false);
    }
    std::fs::rename(from, to).map(|()| true).inspect_err(|_| {
        if std::fs::symlink_metadata(to).is_ok_and(|now| is_claim(&now)) {
            let _ = std::fs::remove_file(to);
        }
    })
}

fn link(existing: &Path, name: &Path) -> Result<(), IoError> {
    env::refusal_point("files.link")?;
    std::fs::hard_link(existing, name)
}

/// Whether a file cannot get a second name here at all.
fn has_no_links(error: &IoError) -> bool {
    let codes = [Errno::PERM, Errno::OPNOTSUPP, Errno::NOSYS, Errno::MLINK, Errno::INVAL];
    error.raw_os_error().is_some_and(|code| codes.iter().any(|one| one.raw_os_error() == code))
}

/// Gives the file `existing` a second name, and says whether it did (`false`: the name is taken); `None` where files have one
/// name only.
///
/// # Errors
/// `IO_FAILED` with the path.
pub fn hard_link(existing: &Path, name: &Path) -> Result<Option<bool>> {
    match link(existing, name) {
        Ok(()) => Ok(Some(true)),
        Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(Some(false)),
        Err(e) if has_no_links(&e) => Ok(None),
        Err(e) => Err(Error::io("link", name, e)),
    }
}
