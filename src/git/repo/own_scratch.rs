//! Scratch folders: where they are, whose they are, and which have lost their owner.
//!
//! Each has a lock that its owner holds. The lock is held before it has its name, so a folder with a free lock belongs to nobody: its
//! process was killed. That is the only rule; process ids say nothing about other machines and containers. A folder that has no lock yet
//! is being made, and what a crash leaves of that is empty: it goes with what is older than a day.

use std::path::Path;

use axiom_base::error::Result;
use axiom_base::files;
use axiom_base::files::{FileLock, LockAttempt};

/// The lock file that shows that a folder has a living owner.
pub(crate) const OWNED: &str = "owned";
/// Its name until it is locked.
const TO_BE_OWNED: &str = "owned.new";

/// A scratch folder that is removed when this value is dropped. After a crash whoever meets it removes it.
#[derive(Debug)]
pub struct ScratchFolder {
    pub(super) folder: files::OwnFolder,
    pub(super) owned: Option<FileLock>,
}

impl ScratchFolder {
    /// The path of the folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The lock, for whoever takes the folder away and makes it again; then it is theirs.
    pub(crate) fn take_lock(&mut self) -> Option<FileLock> {
        self.owned.take()
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        // Without it, nearly all folders are empty by now, which is found out at once.
        if self.owned.is_some()
            && let Err(error) = files::remove_file(&self.path().join(OWNED))
        {
            tracing::debug!(%error, "the lock of a temporary folder stays");
        }
    }
}

/// Takes the lock of a folder, which is made if it is missing. `None` where the file system has no locks.
pub(crate) fn claim(folder: &Path) -> Result<Option<FileLock>> {
    let new = folder.join(TO_BE_OWNED);
    let lock = match FileLock::try_take(&new) {
        Ok(LockAttempt::Taken(lock)) => lock,
        Ok(LockAttempt::Held) => return Ok(None),
        Err(error) if new.exists() => {
            tracing::debug!(%error, "a temporary folder has no lock: it goes after a day");
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    files::replace_unsynced(&new, &folder.join(OWNED)).map(|()| Some(lock))
}
