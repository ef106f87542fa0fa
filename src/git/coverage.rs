//! What a capture does not hold, so that a checkpoint can say so.

use std::collections::BTreeSet;
use std::path::Path;

use walkdir::WalkDir;

pub use crate::domain::checkpoint::{Coverage, PathSample};
use crate::domain::names::RepoPath;
use crate::error::{Code, Error, Result};

/// Finds sockets, fifos and devices: git does not mention them. `skipped` are folders (without `/` at the end) that are
/// counted otherwise. With `allow_unreadable`, what cannot be read is added to the coverage.
///
/// # Errors
/// `FILE_UNREADABLE` where a folder cannot be read.
pub(super) fn find_special(
    root: &Path,
    skipped: &BTreeSet<RepoPath>,
    coverage: &mut Coverage,
    allow_unreadable: bool,
) -> Result<Vec<RepoPath>> {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::FileTypeExt;
    let mut found = Vec::new();
    let inside = |path: &Path| RepoPath::new(path.strip_prefix(root).unwrap_or(path).as_os_str().as_bytes());
    let walk = WalkDir::new(root).into_iter();
    let walk = walk.filter_entry(|entry| entry.file_name() != ".git" && !skipped.contains(&inside(entry.path())));
    for entry in walk {
        let entry = match entry {
            Ok(entry) => entry,
            // Gone between listing and looking.
            Err(e) if e.io_error().is_some_and(|e| e.kind() == std::io::ErrorKind::NotFound) => continue,
            Err(e) if allow_unreadable && e.path().is_some() => {
                let path = inside(e.path().unwrap_or(root));
                if !coverage.unreadable.paths.contains(&path) {
                    coverage.unreadable.add(path);
                }
                continue;
            }
            Err(e) => {
                let path = e.path().unwrap_or(root).display().to_string();
                return Err(Error::new(Code::FileUnreadable, format!("'{path}' cannot be read")).because(e));
            }
        };
        let kind = entry.file_type();
        if kind.is_socket() || kind.is_fifo() || kind.is_block_device() || kind.is_char_device() {
            found.push(inside(entry.path()));
        }
    }
    found.sort();
    Ok(found)
}
