//! Finds what git does not report, so that a checkpoint can list what a capture does not hold. The type [`Coverage`] itself
//! is in `domain`.

use std::collections::BTreeSet;
use std::path::Path;

use walkdir::WalkDir;

use crate::domain::base::names::RepoPath;
pub use crate::domain::checkpoint::document::{Coverage, PathSample};
use crate::error::{Code, Error, Result};

use super::permissions::Usual;
use crate::git::repo::worktrees::Worktree;

/// What git does not report.
#[derive(Debug, Default)]
pub(in crate::git) struct Unmentioned {
    /// Sockets, fifos and devices.
    pub special: Vec<RepoPath>,
    /// Folders that contain a `.git`, except the worktree's own top folder.
    pub with_git: Vec<RepoPath>,
    /// Files that fewer users may read than usual.
    pub narrow: Vec<RepoPath>,
    /// The `.gitattributes` files, ignored or not.
    pub attributes: Vec<RepoPath>,
}

/// Finds what git does not report; `special` and `with_git` are sorted. `skipped` are folders (without `/` at the end) that
/// are listed elsewhere and not looked into. With `allow_unreadable`, what cannot be read is added to the coverage.
///
/// # Errors
/// `FILE_UNREADABLE` if a folder cannot be read.
pub(in crate::git) fn find_unmentioned(
    worktree: &Worktree,
    skipped: &BTreeSet<RepoPath>,
    coverage: &mut Coverage,
    allow_unreadable: bool,
) -> Result<Unmentioned> {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let (root, usual) = (worktree.path(), Usual::of(worktree));
    let (mut special, mut with_git, mut narrow, mut attributes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let inside = |path: &Path| RepoPath::new(path.strip_prefix(root).unwrap_or(path).as_os_str().as_bytes());
    let walk = WalkDir::new(root).into_iter();
    let walk = walk.filter_entry(|entry| {
        let is_git = entry.file_name() == ".git";
        if is_git && entry.depth() > 1 {
            with_git.extend(entry.path().parent().map(inside));
        }
        if entry.file_name() == ".gitattributes" {
            attributes.push(inside(entry.path()));
        }
        !is_git && !skipped.contains(&inside(entry.path()))
    });
    for entry in walk {
        let entry = match entry {
            Ok(entry) => entry,
            // It vanished between listing and looking.
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
            special.push(inside(entry.path()));
        }
        // A file without metadata vanished since.
        if kind.is_file() && entry.metadata().is_ok_and(|meta| usual.is_narrow(meta.mode())) {
            narrow.push(inside(entry.path()));
        }
    }
    special.sort();
    with_git.sort();
    Ok(Unmentioned { special, with_git, narrow, attributes })
}
