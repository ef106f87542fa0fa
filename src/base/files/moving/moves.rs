//! Moving files and folders without replacing anything, in the best way that the file system supports.

#![allow(clippy::disallowed_methods)]

use std::fs::Metadata;
use std::io::{Error as IoError, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::io::Errno;

use crate::env;
use crate::error::{Error, Result};
use crate::platform;

use crate::files::moving::moves;

/// Renames only if nothing exists at `to`. Returns whether it did. Neither folder is synced: a caller that moves many files
/// syncs the folders once.
///
/// If the file system does not support the flag for this (FUSE, NFS and others), a file gets a hard link at `to`, which
/// never replaces anything, and then loses its old name; a crash in between leaves both. If there are no hard links either
/// (exFAT), an empty file is created at `to` first. A folder is checked for and then renamed: at most, that replaces an
/// empty folder created at the same moment.
pub fn rename_no_replace(from: &Path, to: &Path) -> Result<bool> {
    match renamed(from, to)? {
        RenameOutcome::Done => Ok(true),
        RenameOutcome::Taken => Ok(false),
        RenameOutcome::Elsewhere => Err(moves::elsewhere(from, to)),
    }
}

/// Renames what is at a path below a folder of ours, which may be so long that the system takes it only from there, to a name in the
/// folder. Not synced.
pub fn rename_into(folder: &Path, from: &Path, name: &str) -> Result<()> {
    use rustix::fs::{Mode, OFlags, open, renameat};
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let moved = open(folder, flags, Mode::empty()).and_then(|opened| renameat(&opened, from, &opened, name));
    moved.map_err(|e| Error::io("rename a file in", folder, e))
}

/// The result of a rename that replaces nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::files) enum RenameOutcome {
    /// It was done.
    Done,
    /// There is something at the new path.
    Taken,
    /// A rename is not possible: `to` is on another file system, or the folder is in a lower layer of an overlay.
    Elsewhere,
}

/// As [`rename_no_replace`], with the three possible results.
pub(in crate::files) fn renamed(from: &Path, to: &Path) -> Result<RenameOutcome> {
    let outcome = match by_flag(from, to) {
        Err(e) if e == Errno::INVAL || platform::is_not_supported(e) => without_flag(from, to),
        Err(Errno::EXIST | Errno::NOTEMPTY) => Ok(false),
        Err(e) => Err(e.into()),
        Ok(()) => Ok(true),
    };
    match outcome {
        Ok(true) => Ok(RenameOutcome::Done),
        Ok(false) => Ok(RenameOutcome::Taken),
        Err(e) if e.kind() == ErrorKind::CrossesDevices => Ok(RenameOutcome::Elsewhere),
        Err(e) => Err(Error::io(&format!("move '{}' to", from.display()), to, e)),
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

/// Creates an empty file at `to`, which fails if there is anything, and then replaces it. A program that writes into that
/// file in between would lose its data, so the file is checked right before the rename.
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

/// Whether the error means that hard links are not possible here.
fn has_no_links(error: &IoError) -> bool {
    let is_it = |code: Errno| [Errno::PERM, Errno::MLINK, Errno::INVAL].contains(&code) || platform::is_not_supported(code);
    Errno::from_io_error(error).is_some_and(is_it)
}

/// Creates a symbolic link `name` to `target`. Not synced.
pub fn symbolic_link(target: &Path, name: &Path) -> Result<()> {
    std::os::unix::fs::symlink(target, name).map_err(|e| Error::io("link", name, e))
}

/// Creates a hard link `name` to the file `existing`. Returns whether it did (`false`: the name is taken), or `None` where
/// hard links are not possible.
pub fn hard_link(existing: &Path, name: &Path) -> Result<Option<bool>> {
    match link(existing, name) {
        Ok(()) => Ok(Some(true)),
        Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(Some(false)),
        Err(e) if has_no_links(&e) => Ok(None),
        Err(e) => Err(Error::io("link", name, e)),
    }
}

pub(in crate::files) fn elsewhere(from: &Path, to: &Path) -> Error {
    Error::io(&format!("move '{}' to", from.display()), to, std::io::Error::from(rustix::io::Errno::XDEV))
}
