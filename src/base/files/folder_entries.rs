//! Making, renaming and removing the entries of folders, and syncing folders. Each function says whether it syncs.
#![allow(clippy::disallowed_methods)]

use std::fs::{DirBuilder, File};
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::optional_read::says_nothing_is_there;
use crate::env;
use crate::error::{Code, Error, Result};
use crate::platform;

/// How many folders are synced at the same time, in addition to the first.
const AT_ONCE: usize = 4;

/// Creates a folder and its missing parents with mode `0700`. Not synced: for a caller that moves many files and syncs the
/// file system once.
pub fn create_dirs_unsynced(path: &Path) -> Result<()> {
    refusable("create the folder", path)?;
    git_directory_is_there(path)?;
    DirBuilder::new().mode(0o700).recursive(true).create(path).map_err(|e| Error::io("create the folder", path, e))
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
    let copied = std::fs::copy(from, &copy)
        .and_then(|_| platform::sync_file(&File::open(&copy)?))
        .and_then(|()| std::fs::rename(&copy, to));
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
    File::open(path).and_then(|folder| platform::sync_file(&folder)).map_err(|e| Error::io("sync the folder", path, e))
}

/// As [`sync_dir`]; returns `false` where the folder does not exist (any more).
pub fn sync_dir_if_there(path: &Path) -> Result<bool> {
    match File::open(path).and_then(|folder| platform::sync_file(&folder)) {
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
    File::open(path).and_then(|file| platform::sync_file(&file)).map_err(|e| Error::io("sync", path, e))
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
    use crate::files::durable::{read, write_atomic};

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
