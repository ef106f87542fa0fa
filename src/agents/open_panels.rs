//! A file for each panel, there and locked while it has its terminal. One that is there without its lock is of a panel that was killed:
//! nobody has given that terminal back.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use axiom_base::env;
use axiom_base::files;
use axiom_base::files::{FileLock, LockAttempt};

/// Where the files are, and the one of this process while it has the terminal.
struct OpenPanelMark {
    folder: PathBuf,
    held: Option<(PathBuf, FileLock)>,
}

static MARK: Mutex<Option<OpenPanelMark>> = Mutex::new(None);

/// Says where the files are. Returns how many panels were killed while they had a terminal; each is told once.
pub fn begin(folder: &Path) -> usize {
    if files::create_dirs_unsynced(folder).is_err() {
        return 0;
    }
    let there = files::list(folder).unwrap_or_default().into_iter().map(|entry| entry.path());
    let killed = there.filter(|path| match FileLock::try_take_existing(path) {
        Ok(LockAttempt::Taken(_lock)) => files::remove_file(path).is_ok(),
        Ok(LockAttempt::Held) | Err(_) => false,
    });
    let killed = killed.count();
    *MARK.lock().unwrap_or_else(PoisonError::into_inner) = Some(OpenPanelMark { folder: folder.to_owned(), held: None });
    killed
}

/// From now on this process has its terminal. Where that cannot be noted, nobody is told of it later.
pub fn set() {
    if let Some(OpenPanelMark { folder, held }) = MARK.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
        let path = folder.join(env::fresh_id());
        if let Ok(LockAttempt::Taken(lock)) = FileLock::try_take(&path) {
            *held = Some((path, lock));
        }
    }
}

/// The terminal is as it was.
pub fn clear() {
    // Also in the panic hook: whoever holds it may be what panicked.
    let Ok(mut mark) = MARK.try_lock() else { return };
    if let Some((path, _lock)) = mark.as_mut().and_then(|mark| mark.held.take()) {
        let _ = files::remove_file(&path);
    }
}
