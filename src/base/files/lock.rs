//! Locks of the operating system: they end with their holder, so no stale lock file ever has to be deleted.

#![allow(clippy::disallowed_methods)]

use std::fs::{File, OpenOptions};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::error::{Error, Result};

/// How often a lock is tried again that somebody looks at, and the pause between: a look takes microseconds.
const TRIES: u32 = 100;
const LOOK: Duration = Duration::from_micros(100);

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
            Err(Errno::WOULDBLOCK | Errno::INTR) => Ok(LockAttempt::Held),
            Err(e) => Err(Error::io("lock", path, e)),
        }
    }

    /// Tries to take the lock on an existing file. A missing file counts as held.
    pub fn try_take_existing(path: &Path) -> Result<LockAttempt> {
        // For writing too: NFS gives no other descriptor such a lock.
        let file = match OpenOptions::new().read(true).write(true).open(path).or_else(|_| File::open(path)) {
            Ok(file) => file,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(LockAttempt::Held),
            Err(e) => return Err(Error::io("open the lock", path, e)),
        };
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(LockAttempt::Taken(Self { file })),
            Err(Errno::WOULDBLOCK | Errno::INTR) => Ok(LockAttempt::Held),
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

    /// Whether the locked file is certainly not the one that is at `path` now: there is nothing, or another file. Where that cannot be
    /// found out, it is taken for there.
    pub fn is_off(&self, path: &Path) -> bool {
        match std::fs::symlink_metadata(path) {
            Ok(_) => !self.is_on(path),
            Err(e) => matches!(e.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory),
        }
    }

    /// Takes the lock, waiting up to `patience`.
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

    /// Tries to lock an open file without waiting. `path` is for messages. A process that only looks ([`is_held`]) at the
    /// same moment is no obstacle.
    pub fn try_on(file: File, path: &Path) -> Result<LockAttempt> {
        for _ in 0..TRIES {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(LockAttempt::Taken(Self { file })),
                Err(Errno::WOULDBLOCK | Errno::INTR) => {}
                Err(e) => return Err(Error::io("lock", path, e)),
            }
            if is_held(&file, path)? {
                return Ok(LockAttempt::Held);
            }
            std::thread::sleep(LOOK);
        }
        Ok(LockAttempt::Held)
    }

    /// Locks an open file, and waits for it as long as it takes. `path` is for messages.
    pub fn wait_on(file: File, path: &Path) -> Result<Self> {
        loop {
            match flock(&file, FlockOperation::LockExclusive) {
                Ok(()) => return Ok(Self { file }),
                Err(Errno::INTR) => {}
                Err(e) => return Err(Error::io("lock", path, e)),
            }
        }
    }

    /// Replaces what is in the locked file. Not synced: after a crash the lock is free, and its content without meaning. A
    /// reader may see the new content before the end of a longer old one.
    pub fn describe(&self, content: &[u8], path: &Path) -> Result<()> {
        let written = self.file.write_all_at(content, 0).and_then(|()| self.file.set_len(content.len() as u64));
        written.map_err(|e| {
            let _ = self.file.set_len(0);
            Error::io("write", path, e)
        })
    }

    /// The descriptor, for children that have to hold the lock too (git children and the change lock).
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Whether another process holds the lock of an open file now. `path` is for messages. Whoever tries to take the lock at this
/// very moment may find it held, unless by [`FileLock::try_on`].
pub fn is_held(file: &File, path: &Path) -> Result<bool> {
    match flock(file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => flock(file, FlockOperation::Unlock).map(|()| false).map_err(|e| Error::io("unlock", path, e)),
        Err(Errno::WOULDBLOCK | Errno::INTR) => Ok(true),
        Err(e) => Err(Error::io("access the lock", path, e)),
    }
}

/// Whether another process holds the lock at `path` now; `false` where there is no such file.
pub fn is_locked(path: &Path) -> Result<bool> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(e) => return Err(Error::io("open the lock", path, e)),
    };
    is_held(&file, path)
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

    #[test]
    fn a_lock_whose_file_was_moved_deleted_or_replaced_is_off_its_path() {
        let dir = tempfile::tempdir().unwrap();
        let (folder, moved) = (dir.path().join("folder"), dir.path().join("moved"));
        std::fs::create_dir(&folder).unwrap();
        let path = folder.join("l");
        let LockAttempt::Taken(lock) = FileLock::try_take(&path).unwrap() else { panic!() };
        assert!(!lock.is_off(&path));
        std::fs::rename(&folder, &moved).unwrap();
        assert!(lock.is_off(&path) && !lock.is_off(&moved.join("l")));
        std::fs::write(&folder, "").unwrap();
        assert!(lock.is_off(&path), "below a file");
        std::fs::remove_file(&folder).unwrap();
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(&path, "").unwrap();
        assert!(lock.is_off(&path), "another file");
        assert!(!lock.is_off(&moved.join("l")));
    }

    #[test]
    fn who_only_looks_is_in_nobodys_way() {
        const LOOKS: usize = 200;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("l");
        std::fs::write(&path, "").unwrap();
        let opened = || OpenOptions::new().read(true).write(true).open(&path).unwrap();
        let looks = std::sync::atomic::AtomicUsize::new(0);
        let a_moment = Duration::from_micros(200);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let file = File::open(&path).unwrap();
                while looks.load(std::sync::atomic::Ordering::Relaxed) < LOOKS {
                    // As in a look, by a process that has to wait for a processor in the middle of it.
                    if flock(&file, FlockOperation::NonBlockingLockShared).is_ok() {
                        std::thread::sleep(a_moment);
                        flock(&file, FlockOperation::Unlock).unwrap();
                        looks.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    }
                    std::thread::sleep(a_moment);
                }
            });
            let (mut taken, mut in_the_way) = (0, 0);
            while looks.load(std::sync::atomic::Ordering::Relaxed) < LOOKS {
                match FileLock::try_on(opened(), &path).unwrap() {
                    LockAttempt::Taken(_lock) => {
                        assert!(is_held(&opened(), &path).unwrap(), "held");
                        assert!(matches!(FileLock::try_on(opened(), &path).unwrap(), LockAttempt::Held), "held");
                        taken += 1;
                    }
                    // A few times: a child that another test has just forked has all our files, until it is another program.
                    LockAttempt::Held => in_the_way += 1,
                }
                std::thread::sleep(a_moment);
            }
            assert!(in_the_way * 4 < taken, "a look was in the way {in_the_way} times, the lock was taken {taken} times");
        });
    }

    #[test]
    fn a_shorter_description_leaves_nothing_of_a_longer_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("l");
        let LockAttempt::Taken(lock) = FileLock::try_take(&path).unwrap() else { panic!("held") };
        lock.describe(b"a long one", &path).unwrap();
        lock.describe(b"short", &path).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"short");
    }
}
