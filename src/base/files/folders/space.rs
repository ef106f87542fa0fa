//! What a file system has left.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// What a file system has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreeSpace {
    /// Bytes that this user may still write.
    pub free: u64,
    /// All its bytes.
    pub total: u64,
    /// How many files can still be made; `None` where it has no such limit.
    pub free_files: Option<u64>,
}

/// What is left on the file system of a path that exists or will be created.
pub fn space_at(path: &Path) -> Result<FreeSpace> {
    let there = nearest(path);
    let found = rustix::fs::statvfs(&there).map_err(|e| Error::io("measure the space at", &there, e))?;
    let block = if found.f_frsize > 0 { found.f_frsize } else { found.f_bsize };
    Ok(FreeSpace {
        free: found.f_bavail.saturating_mul(block),
        total: found.f_blocks.saturating_mul(block),
        // Where it makes room for files as they come (btrfs), it says 0 of 0.
        free_files: (found.f_files > 0).then_some(found.f_favail),
    })
}

/// The path, or the nearest folder above that exists.
fn nearest(path: &Path) -> PathBuf {
    path.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/")).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_exist_yet_has_the_space_of_the_folder_above() {
        let dir = tempfile::tempdir().unwrap();
        let [here, below] = [dir.path().to_owned(), dir.path().join("a/b")].map(|path| space_at(&path).unwrap());
        assert_eq!(here.total, below.total);
        assert!(here.total > 0 && here.free <= here.total);
    }
}
