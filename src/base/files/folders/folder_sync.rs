//! Syncing files that other programs wrote: everything below a folder, without knowing the files.

#![allow(clippy::disallowed_methods)]

use std::collections::BTreeSet;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::env;
use crate::error::{Error, Result};
use crate::platform;

/// Syncs everything below `folder`: where the system can, its whole file system, else what changed lately.
pub fn sync_file_system(folder: &Path) -> Result<()> {
    FolderToSync::open(folder)?.synced(None)
}

/// As [`sync_file_system`] for several folders: those on one file system, as nearly always, need one call.
pub fn sync_file_systems(folders: &[&Path]) -> Result<()> {
    let opened = folders.iter().map(|folder| FolderToSync::open(folder)).collect::<Result<Vec<_>>>()?;
    each_file_system(&opened)?.into_iter().try_for_each(|folder| folder.synced(None))
}

/// A folder to be synced later with everything below it, even if it is renamed in between. It is opened before other
/// programs write to it: so the sync reports a write that failed in between, even if the kernel has dropped the pages by
/// then.
///
/// This is one call for its file system, or one for each file that changed: see `platform`.
#[derive(Debug)]
pub struct FolderToSync {
    path: PathBuf,
    file: File,
    opened: SystemTime,
}

impl FolderToSync {
    /// Opens a folder.
    pub fn open(folder: &Path) -> Result<Self> {
        use std::os::unix::fs::OpenOptionsExt;
        let directory = i32::try_from(rustix::fs::OFlags::DIRECTORY.bits()).unwrap_or(0);
        let opened = std::fs::OpenOptions::new().read(true).custom_flags(directory).open(folder);
        let file = opened.map_err(|e| Error::io("open the folder", folder, e))?;
        Ok(Self { path: folder.to_owned(), file, opened: env::file_clock() })
    }

    /// Syncs everything below these that changed since they were opened.
    pub fn sync_all(folders: &[Self]) -> Result<()> {
        each_file_system(folders)?.into_iter().try_for_each(|folder| folder.synced(Some(folder.opened)))
    }

    fn synced(&self, changed_since: Option<SystemTime>) -> Result<()> {
        platform::sync_below(&self.file, &self.path, changed_since)
            .map_err(|e| Error::io("sync the file system of", &self.path, e))
    }
}

/// The folders that are to be synced so that all are: the first on each file system, where a whole one is synced at once.
fn each_file_system(folders: &[FolderToSync]) -> Result<Vec<&FolderToSync>> {
    let mut devices = BTreeSet::new();
    let mut needed = Vec::new();
    for folder in folders {
        let device = folder.file.metadata().map_err(|e| Error::io("look at", &folder.path, e))?.dev();
        if !platform::SYNCS_WHOLE_FILE_SYSTEM || devices.insert(device) {
            needed.push(folder);
        }
    }
    Ok(needed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_one_file_system_are_synced_once_and_others_apart() {
        let dir = tempfile::tempdir().unwrap();
        let open = |paths: &[&Path]| paths.iter().map(|path| FolderToSync::open(path).unwrap()).collect::<Vec<_>>();
        let inner = dir.path().join("in");
        std::fs::create_dir(&inner).unwrap();
        let needed = |folders: &[FolderToSync]| each_file_system(folders).unwrap().len();
        let together = if platform::SYNCS_WHOLE_FILE_SYSTEM { 1 } else { 2 };
        assert_eq!(needed(&open(&[dir.path(), &inner])), together);
        assert_eq!(needed(&open(&[dir.path(), Path::new("/dev")])), 2);
        sync_file_systems(&[dir.path(), &inner]).unwrap();
        FolderToSync::sync_all(&open(&[dir.path(), &inner])).unwrap();
    }
}
