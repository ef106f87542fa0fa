//! One call syncs a whole file system.

#![allow(clippy::disallowed_methods)] // this is where a signal's interruption is made good

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::SystemTime;

use rustix::io::retry_on_intr;

/// Whether one sync of a folder costs the same for any number of files, and takes in those beside it.
pub const SYNCS_WHOLE_FILE_SYSTEM: bool = true;

/// Syncs everything below an opened folder. A write that failed since it was opened is reported.
pub fn sync_below(folder: &File, _path: &Path, _changed_since: Option<SystemTime>) -> io::Result<()> {
    Ok(retry_on_intr(|| rustix::fs::syncfs(folder))?)
}

/// Syncs a file or folder with what is known of it.
pub fn sync_file(file: &File) -> io::Result<()> {
    file.sync_all()
}

/// Syncs the content of a file.
pub fn sync_data(file: &File) -> io::Result<()> {
    file.sync_data()
}
