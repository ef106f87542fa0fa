//! Writing, reading and removing whole files. [`write_atomic`] gives a file the old or the new content, never a mixture,
//! also after a power failure; the other functions say whether they sync.

#![allow(clippy::disallowed_methods)]

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

use crate::env;
use crate::error::{Code, Error, Result};
use crate::platform;

use super::folder_entries::{parent, sync_dir};
use super::optional_read::{open_unblocked, open_unblocked_with, says_nothing_is_there};

/// Reads a file of at most `limit` bytes.
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>> {
    content(open_unblocked(path), path, limit)
}

/// Like [`read`], but `None` where there is no such file. A link that leads nowhere is something that is there.
pub fn read_optional(path: &Path, limit: u64) -> Result<Option<Vec<u8>>> {
    let is_link = || std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    // Opened without a look before: another process may remove it at any moment. A link is followed at the second try only, so that
    // where nothing is one call tells.
    match open_unblocked_with(path, OFlags::NOFOLLOW) {
        Err(e) if e.kind() == ErrorKind::NotFound || says_nothing_is_there(&e) && !is_link() => Ok(None),
        Err(_) => read(path, limit).map(Some),
        opened => content(opened, path, limit).map(Some),
    }
}

/// What a file holds from a place on; nothing where there is no such file or it is shorter by now.
pub fn read_from(path: &Path, from: u64, limit: u64) -> Result<Vec<u8>> {
    let mut file = match open_unblocked(path) {
        Err(e) if says_nothing_is_there(&e) => return Ok(Vec::new()),
        opened => opened.map_err(|e| Error::io("open", path, e))?,
    };
    std::io::Seek::seek(&mut file, std::io::SeekFrom::Start(from)).map_err(|e| Error::io("read", path, e))?;
    content(Ok(file), path, limit)
}

fn content(opened: std::io::Result<File>, path: &Path, limit: u64) -> Result<Vec<u8>> {
    let file = opened.map_err(|e| Error::io("open", path, e))?;
    // Room for most of our files: an empty vector would be filled in ever larger pieces, each a call.
    let mut bytes = Vec::with_capacity(4096);
    file.take(limit + 1).read_to_end(&mut bytes).map_err(|e| Error::io("read", path, e))?;
    if bytes.len() as u64 > limit {
        return Err(Error::new(Code::TooLarge, format!("'{}' is larger than {limit} bytes", path.display())));
    }
    Ok(bytes)
}

/// Replaces `path` by `bytes` with mode `0600`: the old or the new content is there, never a mixture, and once this returns
/// the new content survives a power failure. A crash may leave a file `.tmp-…` next to it. A symbolic link at `path` is
/// replaced, not followed.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<()> {
    replace(path, |temporary| write_new(temporary, bytes))?;
    sync_dir(parent(path)?)
}

/// As [`write_atomic`], but not synced: for what matters only while processes live. A power failure may leave it empty.
pub fn write_atomic_unsynced(path: &Path, bytes: &[u8]) -> Result<()> {
    replace(path, |temporary| create_if_free(temporary, bytes).map(drop))
}

fn replace(path: &Path, write: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let temporary = parent(path)?.join(format!(".tmp-{}", env::fresh_id()));
    let outcome = write(&temporary).and_then(|()| {
        env::fault_point("files.before-rename");
        std::fs::rename(&temporary, path).map_err(|e| Error::io("replace", path, e))
    });
    outcome.inspect_err(|_| drop(std::fs::remove_file(&temporary)))
}

/// As [`create_new`], but returns `false` where `path` exists. Not synced: a crash may leave the file empty.
pub fn create_if_free(path: &Path, bytes: &[u8]) -> Result<bool> {
    let mut file = match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == ErrorKind::AlreadyExists => return Ok(false),
        Err(e) => return Err(Error::io("create", path, e)),
    };
    file.write_all(bytes).map(|()| true).map_err(|e| {
        let _ = std::fs::remove_file(path);
        Error::io("write", path, e)
    })
}

/// Creates `path` with `bytes`, synced, mode `0600`; the folder is synced too.
pub fn create_new(path: &Path, bytes: &[u8]) -> Result<()> {
    write_new(path, bytes)?;
    sync_dir(parent(path)?)
}

fn write_new(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file =
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(|e| Error::io("create", path, e))?;
    let written = file.write_all(bytes).and_then(|()| platform::sync_file(&file));
    written.map_err(|e| {
        let _ = std::fs::remove_file(path);
        Error::io("write", path, e)
    })
}

/// Writes a file that is not needed after a crash: not synced, overwritten in place.
pub fn write_scratch(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).map_err(|e| Error::io("write", path, e))
}

/// Creates a read-only file; the user's umask decides who can read it. Not synced.
pub fn write_read_only(path: &Path, bytes: &[u8]) -> Result<()> {
    let opened = OpenOptions::new().write(true).create_new(true).mode(0o444).open(path);
    let mut file = opened.map_err(|e| Error::io("create", path, e))?;
    file.write_all(bytes).map_err(|e| {
        let _ = std::fs::remove_file(path);
        Error::io("write", path, e)
    })
}

/// Sets the times of a file to now, without changing its content. Returns whether that succeeded. A crash leaves the old
/// times or the new ones.
pub fn touch(path: &Path) -> bool {
    let now = rustix::fs::Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW };
    let times = rustix::fs::Timestamps { last_access: now, last_modification: now };
    rustix::fs::utimensat(rustix::fs::CWD, path, &times, rustix::fs::AtFlags::empty()).is_ok()
}

/// Sets both times of a file, and looks whether the file system took them: some say so and ignore one that is set alone, or both.
/// Returns whether the file counts as changed at `time`, or earlier. Not synced.
pub fn set_times(path: &Path, time: std::time::SystemTime) -> bool {
    let times = std::fs::FileTimes::new().set_accessed(time).set_modified(time);
    let set = File::open(path).and_then(|file| {
        file.set_times(times)?;
        file.metadata()?.modified()
    });
    set.is_ok_and(|now| now <= time)
}

/// Sets the modification time of a file. Not synced.
pub fn set_modified(path: &Path, time: std::time::SystemTime) -> Result<()> {
    File::open(path).and_then(|file| file.set_modified(time)).map_err(|e| Error::io("set the time of", path, e))
}

/// Creates one of the user's own files, with the permissions from the user's umask. Not synced.
pub fn write_users_file(path: &Path, bytes: &[u8], executable: bool) -> Result<()> {
    let mode = if executable { 0o777 } else { 0o666 };
    let opened = OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
    opened.and_then(|mut file| file.write_all(bytes)).map_err(|e| Error::io("write", path, e))
}

/// Replaces `path` by `bytes` with the mode from the user's umask: for files that others may read, such as pages of the
/// manual. Replaced by a rename as in [`write_atomic`]; not synced, since it can be written again.
pub fn write_public(path: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = parent(path)?.join(format!(".tmp-{}", env::fresh_id()));
    let outcome = std::fs::write(&temporary, bytes)
        .map_err(|e| Error::io("write", &temporary, e))
        .and_then(|()| std::fs::rename(&temporary, path).map_err(|e| Error::io("replace", path, e)));
    outcome.inspect_err(|_| drop(std::fs::remove_file(&temporary)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever writes a new state removes files of the old one while others read.
    #[test]
    fn a_file_that_another_removes_meanwhile_is_there_or_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("part");
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for _ in 0..20_000 {
                    std::fs::write(&path, "x").unwrap();
                    std::fs::remove_file(&path).unwrap();
                }
            });
            while !writer.is_finished() {
                read_optional(&path, 10).unwrap();
            }
        });
        std::os::unix::fs::symlink("nowhere", &path).unwrap();
        assert!(read_optional(&path, 10).is_err(), "a link that leads nowhere is there");
    }

    #[test]
    fn write_atomic_replaces_and_leaves_no_temporary_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        write_atomic(&path, b"one").unwrap();
        write_atomic(&path, b"two").unwrap();
        assert_eq!(read(&path, 10).unwrap(), b"two");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
