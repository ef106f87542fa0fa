//! What is told of a watched folder.

use std::ffi::OsString;

/// Which changes of a folder ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FolderTrigger {
    /// An entry comes.
    Comes,
    /// An entry goes.
    Goes,
    /// An entry comes, or a file is written to.
    Changes,
    /// Every process has closed a file that it could write to: a lock on it is free.
    Closes,
}

/// A number of the system for a watched folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct WatchedFolderId(pub i32);

/// Something that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FolderChange {
    /// An entry of a folder came, or was changed.
    There {
        /// The folder.
        folder: WatchedFolderId,
        /// The name of the entry.
        name: OsString,
        /// Whether the entry is a folder.
        is_folder: bool,
        /// Whether it was not there before under this name.
        is_new: bool,
    },
    /// An entry of a folder went.
    Gone {
        /// The folder.
        folder: WatchedFolderId,
        /// The name of the entry.
        name: OsString,
        /// Whether the entry was a folder.
        is_folder: bool,
    },
    /// A watched folder is no longer watched: it was deleted.
    Ended(WatchedFolderId),
    /// A watched folder has another place now.
    Moved(WatchedFolderId),
    /// So much changed that the system did not keep all of it.
    Lost,
}
