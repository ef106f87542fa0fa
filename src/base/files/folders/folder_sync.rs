//! Syncing files that other programs wrote: everything below a folder, without knowing the files.

#![allow(clippy::disallowed_methods)]

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::env;
use crate::error::{Error, Result};
use crate::platform;

/// Syncs everything below `folder`: where the system can, its whole file system, else what changed lately.
pub fn sync_file_system(folder: &Path) -> Result<()> {
    FolderToSync::open(folder)?.synced(None)
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

    /// Syncs everything below it that changed since it was opened.
    pub fn sync(&self) -> Result<()> {
        self.synced(Some(self.opened))
    }

    fn synced(&self, changed_since: Option<SystemTime>) -> Result<()> {
        platform::sync_below(&self.file, &self.path, changed_since)
            .map_err(|e| Error::io("sync the file system of", &self.path, e))
    }
}
