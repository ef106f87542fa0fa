//! Making scratch folders, and finding those that have lost their owner.

use std::path::PathBuf;

use axiom_base::error::Result;
use axiom_base::files;
use axiom_base::files::{FileLock, LockAttempt};
use axiom_model::base::own_names::SCRATCH;

use super::own_scratch::{OWNED, ScratchFolder, claim};
use crate::repo::handles::ScratchFolders;

/// How the names of scratch folders begin.
const PREFIX: &str = "git-";

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
        self.repo.common_dir().join(SCRATCH)
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
