//! Making what git wrote survive a power loss.

use std::path::Path;

use crate::env;
use crate::error::{Error, Result};

use super::repository::Repository;

impl Repository {
    /// Syncs all objects, those that others wrote too, and the folders that name them.
    ///
    /// On Linux this is one `syncfs` of the git directory's file system; elsewhere every object folder is synced (the
    /// object files were synced by git itself when we wrote them; those of others are only as safe as git made them).
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

/// Syncs every folder and file below `folder`.
///
/// # Errors
/// `IO_FAILED`.
#[cfg(not(target_os = "linux"))]
pub(super) fn sync_file_system(folder: &Path) -> Result<()> {
    for entry in walkdir::WalkDir::new(folder).max_depth(1) {
        let entry = entry.map_err(|e| Error::io("list", folder, std::io::Error::other(e)))?;
        if entry.file_type().is_dir() {
            crate::files::sync_dir(entry.path())?;
        }
    }
    Ok(())
}
