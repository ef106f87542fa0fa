//! Locks on files as git takes them, for refs, HEAD and the configuration: a lock file beside the file, which is renamed to it.
//!
//! Each of our lock files is a hard link to a file in our scratch folder that is held by `flock`, so a lock file that a crash left is
//! recognized at once.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use axiom_base::env;
use axiom_base::error::Result;
use axiom_base::files;
use axiom_base::files::{FileLock, LockAttempt};
use axiom_model::base::names::RefName;

use super::own_scratch::ScratchFolder;

/// A ref that is to be changed or deleted.
pub(crate) struct LockedRef {
    pub(crate) name: RefName,
    /// The file with the new content, already synced.
    ready: PathBuf,
    /// The file of the ref.
    pub file: PathBuf,
    /// The lock file next to it.
    lock: PathBuf,
    /// The `flock` that shows that the lock file has a living owner.
    _held: FileLock,
}

/// Lock files that are removed when this value is dropped.
#[derive(Default)]
pub(crate) struct RefLockFiles(Vec<PathBuf>);

impl RefLockFiles {
    /// Adds a lock that was taken.
    pub fn add(&mut self, one: &LockedRef) {
        self.0.push(one.lock.clone());
    }

    /// Removes a lock that was renamed to its ref.
    pub fn has_moved(&mut self, one: &LockedRef) {
        self.0.retain(|lock| *lock != one.lock);
    }
}

impl Drop for RefLockFiles {
    fn drop(&mut self) {
        for lock in &self.0 {
            // Git would find it for a living one: where the disk fails once, it is removed all the same.
            if let Err(error) = files::remove_file(lock).or_else(|_| files::remove_file(lock)) {
                tracing::warn!(%error, "a lock was left");
            }
        }
    }
}

impl Drop for LockedRef {
    fn drop(&mut self) {
        // The folder is then empty, and goes with one call. The lock file is gone before: without this second name it would be taken
        // for one of git's.
        if let Err(error) = files::remove_file(&self.ready) {
            tracing::debug!(%error, "it goes with its folder");
        }
    }
}

impl LockedRef {
    /// Renames the lock file, which is held, to the file of the ref.
    pub fn carry_out(&self) -> Result<()> {
        files::replace_unsynced(&self.lock, &self.file)
    }

    /// Writes the new content of a ref to the scratch folder and takes its `flock`; no ref is locked yet.
    pub fn ready(folder: &ScratchFolder, number: usize, name: RefName, file: PathBuf, content: &[u8]) -> Result<Option<Self>> {
        let Some(last) = file.file_name() else { return Ok(None) };
        let mut lock = last.to_owned();
        lock.push(".lock");
        let lock = file.with_file_name(lock);
        let ready = folder.path().join(number.to_string());
        files::write_scratch(&ready, content)?;
        let LockAttempt::Taken(held) = FileLock::try_take(&ready)? else { return Ok(None) };
        Ok(Some(Self { name, ready, file, lock, _held: held }))
    }

    /// The lock file next to the ref's file.
    pub fn lock_file(&self) -> &Path {
        &self.lock
    }
}

/// Takes the lock, also one that a dead git axiom process left; returns `false` where another process holds it.
pub(crate) fn lock(one: &LockedRef) -> Result<bool> {
    let take = || files::hard_link(&one.ready, &one.lock);
    match take() {
        Ok(Some(true)) => Ok(true),
        Ok(Some(false)) => Ok(break_dead(&one.lock)? && matches!(take(), Ok(Some(true)))),
        // The folder was removed, or does not allow hard links.
        Ok(None) | Err(_) => Ok(false),
    }
}

/// Removes a lock file of ours whose owner has died, and returns whether it did. While we hold its `flock` no other git
/// axiom removes it.
pub(crate) fn break_dead(lock: &Path) -> Result<bool> {
    // git's own lock files have one hard link, ours two.
    let two_names = || std::fs::symlink_metadata(lock).is_ok_and(|meta| meta.is_file() && meta.nlink() == 2);
    if !two_names() {
        return Ok(false);
    }
    let LockAttempt::Taken(held) = FileLock::try_take_existing(lock)? else { return Ok(false) };
    if !held.is_on(lock) || !two_names() {
        return Ok(false);
    }
    env::fault_point("git.before-own-lock");
    files::remove_file(lock)?;
    Ok(true)
}
