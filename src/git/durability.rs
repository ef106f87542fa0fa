//! Making what git wrote survive a power loss.

use std::path::Path;

use crate::env;
use crate::error::{Error, Result};

use super::repository::Repository;

impl Repository {
    /// Packs loose objects that something refers to, durably, and removes them where they were loose. No other object is
    /// touched. A crash leaves objects twice at worst.
    ///
    /// # Errors
    /// `DISK_FULL`, `GIT_FAILED`.
    pub fn pack_loose(&self) -> Result<()> {
        // The pack is on disk before the loose objects go; a bitmap would need all objects in one pack.
        self.git().writing().config("repack.writeBitmaps=false").args(["repack", "-q", "-l"]).run_ok()?;
        self.sync_objects()?;
        env::fault_point("git.packed");
        self.git().args(["prune-packed", "-q"]).run_ok().map(drop)
    }

    /// Syncs all objects, those that others wrote too, and the folders that name them.
    ///
    /// On Linux this is one `syncfs` of the git directory's file system; elsewhere every object file and folder is synced
    /// by itself, which costs time in a repository with many loose objects.
    ///
    /// # Errors
    /// `IO_FAILED`; then nothing that was written may be claimed.
    pub fn sync_objects(&self) -> Result<()> {
        env::fault_point("git.before-object-sync");
        sync_file_system(&self.common_dir().join("objects"))
    }
}

/// Syncs everything below `folder`, by file system where that is possible.
///
/// # Errors
/// `IO_FAILED`.
#[cfg(target_os = "linux")]
pub(super) fn sync_file_system(folder: &Path) -> Result<()> {
    let file = std::fs::File::open(folder).map_err(|e| Error::io("open", folder, e))?;
    rustix::fs::syncfs(&file).map_err(|e| Error::io("sync the file system of", folder, e))
}

/// Syncs every folder and regular file below `folder`, one by one.
///
/// # Errors
/// `IO_FAILED`.
#[cfg(not(target_os = "linux"))]
pub(super) fn sync_file_system(folder: &Path) -> Result<()> {
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
