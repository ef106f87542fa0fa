//! Git's small files that name a folder (`gitdir`, `.git`), and whether two paths are one place.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The largest content of git's small pointer files (`gitdir`, `.git`) that is read.
pub(crate) const POINTER_LIMIT: u64 = 64 * 1024;

/// The bytes as a path.
pub(crate) fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

/// The content of such a file without its line feed.
pub(crate) fn trimmed(bytes: &[u8]) -> &[u8] {
    bytes.strip_suffix(b"\n").unwrap_or(bytes)
}

/// Whether two paths are the same file or folder: both have the same device and inode now. A bind mount is the same as its
/// source.
pub(crate) fn is_same_place(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| std::fs::metadata(path).map(|meta| (meta.dev(), meta.ino()));
    matches!((place(one), place(other)), (Ok(one), Ok(other)) if one == other)
}

/// Where a `.git` leads that is a link.
pub(super) fn linked_to(pointer: &Path) -> Option<PathBuf> {
    let is_link = pointer.symlink_metadata().is_ok_and(|meta| meta.is_symlink());
    if is_link { std::fs::read_link(pointer).ok() } else { None }
}
