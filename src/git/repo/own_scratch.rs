//! Scratch folders: where they are, whose they are, and which have lost their owner.
//!
//! Each has a lock that its owner holds. The lock is held before it has its name, so a folder with a free lock belongs to nobody: its
//! process was killed. That is the only rule; process ids say nothing about other machines and containers. A folder that has no lock yet
//! is being made, and what a crash leaves of that is empty: it goes with what is older than a day.

use std::path::{Path, PathBuf};

use axiom_base::error::Result;
use axiom_base::files;
use axiom_base::files::{FileLock, LockAttempt};

use crate::repo::handles::ScratchFolders;
use axiom_model::base::own_names::SCRATCH;

/// How the names of scratch folders begin.
const PREFIX: &str = "git-";
/// The lock file that shows that a folder has a living owner.
pub(crate) const OWNED: &str = "owned";
/// Its name until it is locked.
const TO_BE_OWNED: &str = "owned.new";

/// A scratch folder that is removed when this value is dropped. After a crash whoever meets it removes it.
#[derive(Debug)]
pub struct ScratchFolder {
    folder: files::OwnFolder,
    owned: Option<FileLock>,
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

/// A folder whose owner is dead; nobody else takes it away while this value lives.
#[derive(Debug)]
pub(crate) struct OrphanScratchFolder {
    pub path: PathBuf,
    _lock: FileLock,
}

impl OrphanScratchFolder {
    /// Removes it. A crash leaves a part of it, with its lock as long as there is anything else in it.
    pub fn remove(&self) -> Result<()> {
        files::remove_trashed_but(&self.path, OWNED)
    }
}

impl ScratchFolders<'_> {
    /// git axiom's scratch folder; its contents may be deleted.
    pub(crate) fn own(&self) -> PathBuf {
        self.repo.common_dir.join(SCRATCH)
    }

    /// Creates a new folder below `axiom/tmp` of the common git directory.
    pub fn make(&self) -> Result<ScratchFolder> {
        let parent = self.own();
        let make = || files::OwnFolder::make_in(&parent, PREFIX);
        // Nearly always the folder above is there.
        let folder = make().or_else(|_| files::create_dir_all(&parent).and_then(|()| make()))?;
        let owned = claim(folder.path())?;
        Ok(ScratchFolder { folder, owned })
    }

    /// The scratch folders whose owner was killed: one list of names where there are none.
    pub(crate) fn dead(&self) -> Result<Vec<OrphanScratchFolder>> {
        let mut dead = Vec::new();
        for entry in files::list(&self.own())? {
            let name = entry.file_name();
            let name = name.as_encoded_bytes();
            if !name.starts_with(PREFIX.as_bytes()) || !files::is_trashed_name(name) {
                continue;
            }
            let path = entry.path();
            let lock = path.join(OWNED);
            // Its owner may take it away right now.
            match FileLock::try_take_existing(&lock) {
                Ok(LockAttempt::Taken(taken)) if taken.is_on(&lock) => dead.push(OrphanScratchFolder { path, _lock: taken }),
                Ok(LockAttempt::Taken(_) | LockAttempt::Held) => {}
                Err(error) => tracing::debug!(%error, "whose temporary folder it is cannot be told"),
            }
        }
        Ok(dead)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use super::*;
    use crate::repo::scratch::ScratchRepository;

    #[test]
    fn a_folder_is_dead_when_its_lock_is_free_and_only_then() {
        let scratch = ScratchRepository::new(&[]);
        let repo = scratch.repo();
        let (living, left) = (repo.scratch_folders().make().unwrap(), repo.scratch_folders().make().unwrap());
        assert!(repo.scratch_folders().dead().unwrap().is_empty(), "also where this process is the owner");
        let tmp = scratch.path().join(".git/axiom/tmp");
        // Being made, and no folder of ours.
        for name in ["git-0123456789abcdef", "git-other", "trusted"] {
            std::fs::create_dir(tmp.join(name)).unwrap();
        }
        std::fs::write(tmp.join("git-other").join(OWNED), b"").unwrap();
        let killed = tmp.join("git-dead-0123456789abcdef");
        std::fs::rename(left.path(), &killed).unwrap();
        assert!(repo.scratch_folders().dead().unwrap().is_empty(), "the lock goes with the folder");
        drop(left);
        std::fs::create_dir(killed.join("pack")).unwrap();
        std::fs::write(killed.join("pack/tmp_pack_x"), b"half").unwrap();
        // Until it has become a program, a process that another test begins at this moment has the lock too.
        let begun = std::time::Instant::now();
        let dead = loop {
            let dead = repo.scratch_folders().dead().unwrap();
            if !dead.is_empty() || begun.elapsed().as_secs() > 10 {
                break dead;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        };
        assert_eq!(dead.iter().map(|one| &one.path).collect::<Vec<_>>(), [&killed]);
        assert!(repo.scratch_folders().dead().unwrap().is_empty(), "one at a time");
        dead.iter().for_each(|one| one.remove().unwrap());
        assert!(!killed.exists() && living.path().exists() && tmp.join("git-0123456789abcdef").exists());
        let path = living.path().to_owned();
        drop(living);
        assert!(!path.exists());
    }
}
