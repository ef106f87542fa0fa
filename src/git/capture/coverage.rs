//! Finds what git does not report, so that a checkpoint can list what a capture does not hold. The type [`CaptureCoverage`] itself
//! is in `model`.

use std::collections::BTreeSet;
use std::path::Path;

use walkdir::WalkDir;

use axiom_base::files;
use axiom_model::base::names::RepoPath;
pub use axiom_model::checkpoint::coverage::{CaptureCoverage, PathSample};

use super::gaps::CaptureGaps;
use super::permissions::UsualPermissions;
use crate::base::readable::is_gap;
use crate::repo::worktrees::Worktree;

/// What git does not report.
#[derive(Debug, Default)]
pub(crate) struct UnreportedPaths {
    /// Sockets, fifos and devices.
    pub special: Vec<RepoPath>,
    /// Folders that contain a `.git`, except the worktree's own top folder.
    pub with_git: Vec<RepoPath>,
    /// Files that fewer users may read than usual.
    pub narrow: Vec<RepoPath>,
    /// The `.gitattributes` files, ignored or not.
    pub attributes: Vec<RepoPath>,
    /// Folders that are closed.
    pub closed: Vec<RepoPath>,
}

/// Finds what git does not report; `special` and `with_git` are sorted. `skipped` are folders (without `/` at the end) that
/// are listed elsewhere and not looked into, nor are those that are closed. Folders that cannot be read are gaps.
pub(crate) fn find_unmentioned(
    worktree: &Worktree,
    skipped: &BTreeSet<RepoPath>,
    closes: impl Fn(&RepoPath) -> bool,
    gaps: &mut CaptureGaps,
) -> UnreportedPaths {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let (root, usual) = (worktree.path(), UsualPermissions::of(worktree));
    let (mut special, mut with_git, mut narrow, mut attributes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut closed = Vec::new();
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
        let path = inside(entry.path());
        if is_git || skipped.contains(&path) {
            return false;
        }
        let is_open = entry.depth() == 0 || !entry.file_type().is_dir() || !closes(&path);
        if !is_open {
            closed.push(path);
        }
        is_open
    });
    for entry in walk {
        let entry = match entry {
            Ok(entry) => entry,
            Err(e) => {
                // It may have vanished between listing and looking.
                if !e.io_error().is_some_and(files::says_nothing_is_there) {
                    gaps.add(inside(e.path().unwrap_or(root)));
                }
                continue;
            }
        };
        let kind = entry.file_type();
        if kind.is_socket() || kind.is_fifo() || kind.is_block_device() || kind.is_char_device() {
            special.push(inside(entry.path()));
        }
        match kind.is_file().then(|| entry.metadata()) {
            Some(Ok(meta)) if usual.is_narrow(meta.mode()) => narrow.push(inside(entry.path())),
            // In a folder that can be listed and not entered.
            Some(Err(e)) if e.io_error().is_some_and(is_gap) => gaps.add(inside(entry.path())),
            // A file without metadata vanished since.
            Some(Ok(_) | Err(_)) | None => {}
        }
    }
    special.sort();
    with_git.sort();
    UnreportedPaths { special, with_git, narrow, attributes, closed }
}
