//! Locks of the operating system: they end with their holder, so no stale lock file ever has to be deleted.

#![allow(clippy::disallowed_methods)]

use std::fs::{File, OpenOptions};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};

use crate::error::{Error, Result};

/// A held lock (`flock`). It is freed when its descriptor and all inherited copies of it are closed, by exit or crash.
#[derive(Debug)]
pub struct FileLock {
    file: File,
}

/// The outcome of trying to take a lock.
#[derive(Debug)]
pub enum LockAttempt {
    /// This process holds it now.
    Taken(FileLock),
    /// Another process holds it.
    Held,
}

impl FileLock {
    /// Tries to take the lock without waiting. The lock file is created if it is missing, and never deleted.
    ///
    /// # Errors
    /// `IO_FAILED` with the path.
    pub fn try_take(path: &Path) -> Result<LockAttempt> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path)
            .map_err(|e| Error::io("open the lock", path, e))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(LockAttempt::Taken(Self { file })),
            Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => Ok(LockAttempt::Held),
            Err(e) => Err(Error::io("lock", path, e)),
        }
    }

    /// Tries to take the lock on an existing file. A missing file counts as held.
    ///
    /// # Errors
    /// `IO_FAILED` with the path.
    pub fn try_take_existing(path: &Path) -> Result<LockAttempt> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(LockAttempt::Held),
            Err(e) => return Err(Error::io("open the lock", path, e)),
        };
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(LockAttempt::Taken(Self { file })),
            Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => Ok(LockAttempt::Held),
            Err(e) => Err(Error::io("lock", path, e)),
        }
    }

    /// Whether the locked file is the one that is at `path` now.
    pub fn is_on(&self, path: &Path) -> bool {
        use std::os::unix::fs::MetadataExt;
        let place = |meta: std::fs::Metadata| (meta.dev(), meta.ino());
        match (self.file.metadata(), std::fs::symlink_metadata(path)) {
            (Ok(locked), Ok(there)) => place(locked) == place(there),
            (_, _) => false,
        }
    }

    /// Takes the lock, waiting up to `patience`.
    ///
    /// # Errors
    /// `IO_FAILED` with the path.
    pub fn take(path: &Path, patience: Duration) -> Result<LockAttempt> {
        let mut waited = Duration::ZERO;
        let mut pause = Duration::from_micros(200);
        loop {
            match Self::try_take(path)? {
                LockAttempt::Taken(lock) => return Ok(LockAttempt::Taken(lock)),
                LockAttempt::Held if waited >= patience => return Ok(LockAttempt::Held),
                LockAttempt::Held => {
                    std::thread::sleep(pause);
                    waited += pause;
                    pause = (pause * 2).min(Duration::from_millis(10));
                }
            }
        }
    }

    /// The descriptor, for children that have to hold the lock too (git children and the operation lock).
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Whether another process holds the lock at `path` now; `false` where there is no such file.
///
/// # Errors
/// `IO_FAILED` with the path.
pub fn is_locked(path: &Path) -> Result<bool> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(e) => return Err(Error::io("open the lock", path, e)),
    };
    match flock(&file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => Ok(false),
        Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => Ok(true),
        Err(e) => Err(Error::io("access the lock", path, e)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_taker_is_refused_until_the_first_lets_go() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("l");
        assert!(!is_locked(&path).unwrap());
        let first = FileLock::try_take(&path).unwrap();
        assert!(matches!(first, LockAttempt::Taken(_)));
        assert!(is_locked(&path).unwrap());
        assert!(matches!(FileLock::try_take(&path).unwrap(), LockAttempt::Held));
        drop(first);
        assert!(matches!(FileLock::try_take(&path).unwrap(), LockAttempt::Taken(_)));
    }
}
