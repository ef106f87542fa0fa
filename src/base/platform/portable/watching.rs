//! No watches: whoever waits looks again after a short time.

use std::os::fd::OwnedFd;
use std::path::Path;

use crate::platform::unix::watching::{FolderChange, FolderTrigger, WatchedFolderId};

/// Whether changes are told at all.
pub const TELLS_CHANGES: bool = false;

/// None can be had.
pub fn start_watching() -> Option<OwnedFd> {
    None
}

/// Watches nothing.
pub fn watch_folder(_watches: &OwnedFd, _path: &Path, _what: FolderTrigger) -> Option<i32> {
    None
}

/// Watches nothing.
pub fn watch_entries(_watches: &OwnedFd, _path: &Path) -> Option<WatchedFolderId> {
    None
}

/// There is none.
pub fn forget_watch(_watches: &OwnedFd, _watch: i32) {}

/// There is nothing to hear.
pub fn hear_nothing(_watches: &OwnedFd) {}

/// Nothing is told.
pub fn read_changes(_watches: &OwnedFd) -> Vec<FolderChange> {
    Vec::new()
}

/// None.
pub fn watches_of_user() -> u64 {
    0
}
