//! Writing, reading and removing whole files. [`write_atomic`] gives a file the old or the new content, never a mixture,
//! also after a power failure; the other functions say whether they sync.

#![allow(clippy::disallowed_methods)]

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::env;
use crate::error::{Code, Error, Result};

use super::optional_read::{open_unblocked, says_nothing_is_there};

/// How many folders are synced at the same time, in addition to the first.
const AT_ONCE: usize = 4;

/// Reads a file of at most `limit` bytes.
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>> {
    content(open_unblocked(path), path, limit)
}

/// Like [`read`], but `None` where there is no such file. A link that leads nowhere is something that is there.
pub fn read_optional(path: &Path, limit: u64) -> Result<Option<Vec<u8>>> {
    let is_link = || std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    // Opened without a look before: another process may remove it at any moment.
    match open_unblocked(path) {
        Err(e) if says_nothing_is_there(&e) && !is_link() => Ok(None),
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
    let folder = parent(path)?;
    let temporary = folder.join(format!(".tmp-{}", env::fresh_id()));
    let outcome = write_new(&temporary, bytes).and_then(|()| {
        env::fault_point("files.before-rename");
        std::fs::rename(&temporary, path).map_err(|e| Error::io("replace", path, e))
    });
    if let Err(error) = outcome {
        let _ = std::fs::remove_file(&temporary);
        return Err(error);
    }
    sync_dir(folder)
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
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
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

/// Creates a folder and its missing parents with mode `0700`. Not synced: for a caller that moves many files and syncs the
/// file system once.
pub fn create_dirs_unsynced(path: &Path) -> Result<()> {
    refusable("create the folder", path)?;
    git_directory_is_there(path)?;
    DirBuilder::new().mode(0o700).recursive(true).create(path).map_err(|e| Error::io("create the folder", path, e))
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

/// Creates a folder and its missing parents with the mode from the user's umask.
pub fn create_public_dir(path: &Path) -> Result<()> {
    std::fs::create_dir_all(path).map_err(|e| Error::io("create the folder", path, e))
}

/// A repository that was deleted or moved away does not come into being again by what is written into it: only git makes a git
/// directory.
fn git_directory_is_there(path: &Path) -> Result<()> {
    let gone = path.ancestors().find(|above| above.file_name().is_some_and(|name| name == ".git") && !above.exists());
    match gone {
        Some(gone) => Err(Error::io("find the git directory", gone, ErrorKind::NotFound)),
        None => Ok(()),
    }
}

/// Creates a folder and its missing parents with mode `0700`, and syncs every folder that got a new entry. A folder in a git
/// directory that is gone is refused.
pub fn create_dir_all(path: &Path) -> Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    git_directory_is_there(path)?;
    let above = parent(path)?;
    create_dir_all(above)?;
    match DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => sync_dir(above),
        Err(e) if e.kind() == ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(e) => Err(Error::io("create the folder", path, e)),
    }
}

/// Creates one folder among the user's own files, with the permissions from the user's umask; no error if it exists. Not
/// synced.
pub fn create_users_dir(path: &Path) -> Result<()> {
    refusable("create the folder", path)?;
    match std::fs::create_dir(path) {
        Err(e) if e.kind() != ErrorKind::AlreadyExists || !path.is_dir() => Err(Error::io("create the folder", path, e)),
        _ => Ok(()),
    }
}

/// Creates one folder with mode `0700`. Returns whether it did not exist before. Not synced.
pub fn create_private_dir(path: &Path) -> Result<bool> {
    match DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == ErrorKind::AlreadyExists && path.is_dir() => Ok(false),
        Err(e) => Err(Error::io("create the folder", path, e)),
    }
}

/// Sets the permissions of a file or folder. Not synced.
pub fn set_mode(path: &Path, mode: u32) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    refusable("set the permissions of", path)?;
    let permissions = std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(path, permissions).map_err(|e| Error::io("set the permissions of", path, e))
}

/// Renames, replacing a file at `to`, and syncs both folders.
pub fn rename(from: &Path, to: &Path) -> Result<()> {
    refusable("replace", to)?;
    std::fs::rename(from, to).map_err(|e| Error::io(&format!("rename '{}' to", from.display()), to, e))?;
    sync_dir(parent(to)?)?;
    if parent(from)? == parent(to)? { Ok(()) } else { sync_dir(parent(from)?) }
}

/// Renames, replacing a file at `to`. Not synced: a caller that moves several files syncs their folders once.
pub fn replace_unsynced(from: &Path, to: &Path) -> Result<()> {
    std::fs::rename(from, to).map_err(|e| Error::io(&format!("rename '{}' to", from.display()), to, e))
}

/// Moves a file, replacing a file at `to`, also to another file system: there a synced copy is renamed to `to`. No folder is
/// synced.
pub fn move_unsynced(from: &Path, to: &Path) -> Result<()> {
    match std::fs::rename(from, to) {
        Err(e) if e.kind() == ErrorKind::CrossesDevices => {}
        moved => return moved.map_err(|e| Error::io(&format!("rename '{}' to", from.display()), to, e)),
    }
    let copy = parent(to)?.join(format!("tmp_obj_{}", env::fresh_id()));
    let copied = std::fs::copy(from, &copy).and_then(|_| File::open(&copy)?.sync_all()).and_then(|()| std::fs::rename(&copy, to));
    if let Err(e) = copied {
        let _ = std::fs::remove_file(&copy);
        return Err(Error::io(&format!("copy '{}' to", from.display()), to, e));
    }
    remove_file(from)
}

/// Removes one file; it is no error if there is none. The folder is not synced: after a crash the file may exist again.
pub fn remove_file(path: &Path) -> Result<()> {
    refusable("remove", path)?;
    match std::fs::remove_file(path) {
        Err(e) if !says_nothing_is_there(&e) => Err(Error::io("remove", path, e)),
        _ => Ok(()),
    }
}

/// Removes a folder if it is empty. Returns whether it no longer exists.
pub fn remove_empty_dir(path: &Path) -> Result<bool> {
    refusable("remove the folder", path)?;
    match std::fs::remove_dir(path) {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(true),
        Err(e) if e.kind() == ErrorKind::DirectoryNotEmpty => Ok(false),
        Err(e) => Err(Error::io("remove the folder", path, e)),
    }
}

/// Syncs a folder, so that entries added or removed in it survive a power failure.
pub fn sync_dir(path: &Path) -> Result<()> {
    File::open(path).and_then(|folder| folder.sync_all()).map_err(|e| Error::io("sync the folder", path, e))
}

/// As [`sync_dir`]; returns `false` where the folder does not exist (any more).
pub fn sync_dir_if_there(path: &Path) -> Result<bool> {
    match File::open(path).and_then(|folder| folder.sync_all()) {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(Error::io("sync the folder", path, e)),
    }
}

/// Syncs several folders. Returns `false` where one of them does not exist (any more).
///
/// All at the same time: the file system then writes its journal once for all of them, instead of once for each, together
/// with a flush of the disk's cache.
pub fn sync_dirs_if_there(folders: &[&Path]) -> Result<bool> {
    let Some((first, rest)) = folders.split_first() else { return Ok(true) };
    std::thread::scope(|scope| {
        let part = rest.len().div_ceil(AT_ONCE).max(1);
        let sync = |folders: &[&Path]| -> Result<bool> {
            let mut all_there = true;
            for folder in folders {
                all_there &= sync_dir_if_there(folder)?;
            }
            Ok(all_there)
        };
        let begin = |part| (part, std::thread::Builder::new().spawn_scoped(scope, move || sync(part)));
        let begun: Vec<_> = rest.chunks(part).map(begin).collect();
        let mut all_there = sync_dir_if_there(first);
        for (part, thread) in begun {
            // A thread that could not be started, or that panicked, has synced nothing.
            let outcome = thread.ok().and_then(|thread| thread.join().ok()).unwrap_or_else(|| sync(part));
            all_there = all_there.and_then(|so_far| Ok(so_far & outcome?));
        }
        all_there
    })
}

/// Syncs a file that another program wrote.
pub fn sync_file(path: &Path) -> Result<()> {
    File::open(path).and_then(|file| file.sync_all()).map_err(|e| Error::io("sync", path, e))
}

/// Lets a test make a change fail.
fn refusable(action: &str, path: &Path) -> Result<()> {
    env::refusal_point("files.change").map_err(|e| Error::io(action, path, e))
}

pub(super) fn parent(path: &Path) -> Result<&Path> {
    match path.parent() {
        Some(folder) if folder.as_os_str().is_empty() => Ok(Path::new(".")),
        Some(folder) => Ok(folder),
        None => Err(Error::new(Code::IoFailed, format!("'{}' has no folder", PathBuf::from(path).display()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_git_directory_that_is_gone_is_not_made_again() {
        let dir = tempfile::tempdir().unwrap();
        let (repo, state) = (dir.path().join("r"), dir.path().join("r/.git/axiom/state"));
        for make in [create_dir_all, create_dirs_unsynced] {
            assert!(make(&state).unwrap_err().is_of_something_gone() && !repo.exists());
        }
        std::fs::create_dir_all(repo.join(".git")).unwrap();
        create_dir_all(&state).unwrap();
        assert!(state.is_dir());
    }

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
    fn folders_are_synced_together_and_one_that_is_gone_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let folders: Vec<PathBuf> = (0..9).map(|number| dir.path().join(number.to_string())).collect();
        folders.iter().for_each(|folder| std::fs::create_dir(folder).unwrap());
        let mut paths: Vec<&Path> = folders.iter().map(PathBuf::as_path).collect();
        for count in 0..=paths.len() {
            assert!(sync_dirs_if_there(&paths[..count]).unwrap(), "{count}");
        }
        let gone = dir.path().join("gone");
        for place in 0..paths.len() {
            let there = std::mem::replace(&mut paths[place], &gone);
            assert!(!sync_dirs_if_there(&paths).unwrap(), "{place}");
            paths[place] = there;
        }
        // No folder at all: opening it fails.
        let file = dir.path().join("0/loop");
        std::os::unix::fs::symlink("loop", &file).unwrap();
        for place in 0..paths.len() {
            let there = std::mem::replace(&mut paths[place], &file);
            assert_eq!(sync_dirs_if_there(&paths).unwrap_err().code(), Code::IoFailed, "{place}");
            paths[place] = there;
        }
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

    #[test]
    fn rename_no_replace_keeps_what_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        write_atomic(&a, b"a").unwrap();
        write_atomic(&b, b"b").unwrap();
        assert!(!crate::files::rename_no_replace(&a, &b).unwrap());
        assert_eq!(read(&b, 10).unwrap(), b"b");
        assert!(matches!(read(&b, 0), Err(e) if e.code() == Code::TooLarge));
    }
}
