//! A file system is synced file by file: those that changed since it was needed last. The older ones are asked for by `sync`, which may
//! return before they are written, and were written by the system itself long before as a rule.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use rustix::io::Errno;

/// Whether one sync of a folder costs the same for any number of files, and takes in those beside it.
pub const SYNCS_WHOLE_FILE_SYSTEM: bool = false;

/// What changed this long before is looked at too: the times of files have a grain, and clocks are set.
const MARGIN: Duration = Duration::from_secs(1);

/// When this process began the last complete sync of a folder.
static SYNCED: Mutex<BTreeMap<PathBuf, SystemTime>> = Mutex::new(BTreeMap::new());

/// Syncs everything below an opened folder that changed since a time; without one, since the last sync of it by this process, or since
/// this process began.
pub fn sync_below(folder: &File, path: &Path, changed_since: Option<SystemTime>) -> io::Result<()> {
    sync_changed_below(folder, path, changed_since, own_start)
}

/// As [`sync_below`], where a system tells in its own way when this process began.
pub fn sync_changed_below(
    folder: &File,
    path: &Path,
    changed_since: Option<SystemTime>,
    own_start: fn() -> Option<SystemTime>,
) -> io::Result<()> {
    let begun = now();
    let known = || path.ancestors().filter_map(|above| synced().get(above).copied()).max();
    let since = changed_since.or_else(known).or_else(own_start);
    let since = since.and_then(|since| since.checked_sub(MARGIN)).unwrap_or(SystemTime::UNIX_EPOCH);
    rustix::fs::sync();
    for entry in walkdir::WalkDir::new(path) {
        match entry {
            Ok(entry) => sync_changed(entry.path(), since)?,
            Err(e) if e.io_error().is_some_and(is_not_ours) => {}
            Err(e) => return Err(io::Error::other(e)),
        }
    }
    // The disk's own cache, where a sync of a file leaves what it has there: once for all of them.
    super::super::system::syncing::sync_file(folder)?;
    if changed_since.is_none() {
        synced().insert(path.to_owned(), begun);
    }
    Ok(())
}

fn sync_changed(path: &Path, since: SystemTime) -> io::Result<()> {
    let outcome = std::fs::symlink_metadata(path).and_then(|meta| {
        let changed = SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(meta.ctime()).unwrap_or(0));
        let kind = meta.file_type();
        // What is a fifo by then is not waited for.
        let is_synced = (kind.is_dir() || kind.is_file()) && !kind.is_fifo() && changed >= since.min(now());
        if is_synced { write_out(path) } else { Ok(()) }
    });
    match outcome {
        Err(e) if is_not_ours(&e) => Ok(()),
        outcome => outcome,
    }
}

fn write_out(path: &Path) -> io::Result<()> {
    let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.union(rustix::fs::OFlags::NOFOLLOW).bits()).unwrap_or(0);
    #[allow(clippy::disallowed_methods)] // opened for reading
    let file = std::fs::OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    Ok(rustix::io::retry_on_intr(|| rustix::fs::fsync(&file))?)
}

/// What is gone, is a link by now, has a path that is too long, or may not be opened: this process did not write it.
fn is_not_ours(error: &io::Error) -> bool {
    let codes = [Errno::NOENT, Errno::ACCESS, Errno::PERM, Errno::LOOP, Errno::NAMETOOLONG, Errno::NXIO];
    codes.iter().any(|code| error.raw_os_error() == Some(code.raw_os_error()))
}

fn synced() -> std::sync::MutexGuard<'static, BTreeMap<PathBuf, SystemTime>> {
    SYNCED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// When this process began, by the clock of the system.
fn own_start() -> Option<SystemTime> {
    let own = super::processes::process(rustix::process::getpid().as_raw_nonzero().get())?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(own.start))
}

#[allow(clippy::disallowed_methods)] // compared with times of files alone
fn now() -> SystemTime {
    SystemTime::now()
}

/// Syncs a file or folder with what is known of it.
pub fn sync_file(file: &File) -> io::Result<()> {
    file.sync_all()
}

/// Syncs the content of a file.
pub fn sync_data(file: &File) -> io::Result<()> {
    file.sync_data()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_this_user_may_not_open_and_what_goes_meanwhile_is_no_failure() {
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("nowhere", dir.path().join("link")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(dir.path().join("socket")).unwrap();
        let folder = File::open(dir.path()).unwrap();
        sync_below(&folder, dir.path(), None).unwrap();
        sync_below(&folder, dir.path(), Some(SystemTime::UNIX_EPOCH)).unwrap();
        assert!(synced().contains_key(dir.path()));
        sync_changed(&dir.path().join("none"), SystemTime::UNIX_EPOCH).unwrap();
        for code in [Errno::ACCESS, Errno::PERM] {
            assert!(is_not_ours(&code.into()));
        }
        assert!(!is_not_ours(&Errno::IO.into()));
    }

    #[test]
    fn this_process_began_before_now() {
        let begun = own_start().unwrap();
        assert!(begun <= now() && now().duration_since(begun).unwrap() < Duration::from_secs(24 * 3600));
    }
}
