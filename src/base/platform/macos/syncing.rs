//! What changed is synced file by file, then the volume by one call, where its file system knows that: alone it does not say that a write
//! failed. A file is synced by `F_FULLFSYNC`, which is what `sync_all` does there; where a disk does not know it, by `fsync`.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use rustix::io::Errno;

use super::of_kernel;
use crate::platform::portable::syncing as portable;

/// Whether one sync of a folder costs the same for any number of files, and takes in those beside it: not on every volume.
pub const SYNCS_WHOLE_FILE_SYSTEM: bool = false;

/// The errors of file systems (SMB, FUSE, some disks) that know no sync of the disk's cache.
const NO_FULL_SYNC: [Errno; 5] = [Errno::NOTSUP, Errno::OPNOTSUPP, Errno::INVAL, Errno::NOTTY, Errno::NOSYS];

fn is_unknown(error: &io::Error) -> bool {
    NO_FULL_SYNC.iter().any(|code| error.raw_os_error() == Some(code.raw_os_error()))
}

/// Syncs what changed below an opened folder, and its volume.
pub fn sync_below(folder: &File, path: &Path, changed_since: Option<SystemTime>) -> io::Result<()> {
    portable::sync_changed_below(folder, path, changed_since, own_start)?;
    match of_kernel::sync_volume(folder) {
        Err(e) if is_unknown(&e) => Ok(()),
        synced => synced,
    }
}

fn own_start() -> Option<SystemTime> {
    let own = super::processes::process(rustix::process::getpid().as_raw_nonzero().get())?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_micros(own.start))
}

/// Syncs a file or folder with what is known of it, and the disk's cache where that is possible.
pub fn sync_file(file: &File) -> io::Result<()> {
    match file.sync_all() {
        Err(e) if is_unknown(&e) => Ok(rustix::io::retry_on_intr(|| rustix::fs::fsync(file))?),
        synced => synced,
    }
}

/// Syncs the content of a file, as [`sync_file`].
pub fn sync_data(file: &File) -> io::Result<()> {
    sync_file(file)
}
