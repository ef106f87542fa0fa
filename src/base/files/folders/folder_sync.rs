//! Syncing files that other programs wrote: everything below a folder, without knowing the files.

#![allow(clippy::disallowed_methods)]

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// Syncs everything below `folder`; on Linux, its whole file system.
pub fn sync_file_system(folder: &Path) -> Result<()> {
    FolderToSync::open(folder)?.sync()
}

/// A folder to be synced later with everything below it, even if it is renamed in between. It is opened before other
/// programs write to it: so the sync reports a write that failed in between, even if the kernel has dropped the pages by
/// then.
///
/// On Linux this is one `syncfs` of its file system; on other systems every file and folder is synced separately.
#[derive(Debug)]
pub struct FolderToSync {
    path: PathBuf,
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    file: File,
}

impl FolderToSync {
    /// Opens a folder.
    pub fn open(folder: &Path) -> Result<Self> {
        use std::os::unix::fs::OpenOptionsExt;
        let directory = i32::try_from(rustix::fs::OFlags::DIRECTORY.bits()).unwrap_or(0);
        let opened = std::fs::OpenOptions::new().read(true).custom_flags(directory).open(folder);
        let file = opened.map_err(|e| Error::io("open the folder", folder, e))?;
        Ok(Self { path: folder.to_owned(), file })
    }

    /// Syncs everything below it.
    #[cfg(target_os = "linux")]
    pub fn sync(&self) -> Result<()> {
        crate::files::retry_interrupted::sync_all_of(&self.file).map_err(|e| Error::io("sync the file system of", &self.path, e))
    }

    /// Syncs everything below it.
    #[cfg(not(target_os = "linux"))]
    pub fn sync(&self) -> Result<()> {
        let folder = &self.path;
        for entry in walkdir::WalkDir::new(folder) {
            let entry = match entry {
                Ok(entry) => entry,
                Err(e) if e.io_error().is_some_and(|e| e.kind() == std::io::ErrorKind::NotFound) => continue,
                Err(e) => return Err(Error::io("list", folder, std::io::Error::other(e))),
            };
            if entry.file_type().is_dir() {
                crate::files::sync_dir(entry.path())?;
            } else if entry.file_type().is_file() {
                crate::files::sync_file(entry.path())?;
            }
        }
        Ok(())
    }
}
