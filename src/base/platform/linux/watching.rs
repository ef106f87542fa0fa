//! Watched folders by inotify.

use std::ffi::OsStr;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::inotify::{self, CreateFlags, Event, ReadFlags, Reader, WatchFlags};

use crate::platform::unix::watching::{FolderChange, FolderTrigger, WatchedFolderId};

/// Whether changes are told at all.
pub const TELLS_CHANGES: bool = true;

/// What watches are added to, and can be waited for; `None` where none can be had.
pub fn start_watching() -> Option<OwnedFd> {
    inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()
}

/// Watches a folder for one kind of change; the same folder has the same number.
pub fn watch_folder(watches: &OwnedFd, path: &Path, what: FolderTrigger) -> Option<i32> {
    let changes = match what {
        FolderTrigger::Comes => WatchFlags::CREATE | WatchFlags::MOVED_TO,
        FolderTrigger::Goes => WatchFlags::DELETE | WatchFlags::MOVED_FROM,
        FolderTrigger::Changes => WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::MODIFY,
        FolderTrigger::Closes => WatchFlags::CLOSE_WRITE,
    };
    let itself = WatchFlags::DELETE_SELF | WatchFlags::MOVE_SELF | WatchFlags::ONLYDIR | WatchFlags::DONT_FOLLOW;
    inotify::add_watch(watches, path, changes | itself).ok()
}

/// Watches the entries of a folder for [`read_changes`]; the same folder has the same number.
pub fn watch_entries(watches: &OwnedFd, path: &Path) -> Option<WatchedFolderId> {
    let entries = WatchFlags::CREATE
        | WatchFlags::MOVED_TO
        | WatchFlags::DELETE
        | WatchFlags::MOVED_FROM
        | WatchFlags::MODIFY
        | WatchFlags::CLOSE_WRITE
        | WatchFlags::ATTRIB;
    let itself = WatchFlags::MOVE_SELF | WatchFlags::ONLYDIR | WatchFlags::DONT_FOLLOW | WatchFlags::EXCL_UNLINK;
    inotify::add_watch(watches, path, entries | itself).ok().map(WatchedFolderId)
}

/// Watches a folder no more.
pub fn forget_watch(watches: &OwnedFd, watch: i32) {
    // One whose folder is gone is gone already.
    let _ = inotify::remove_watch(watches, watch);
}

/// Takes what was told, and forgets it.
pub fn hear_nothing(watches: &OwnedFd) {
    let mut bytes = [const { MaybeUninit::<u8>::uninit() }; 4096];
    while rustix::io::read(watches, &mut bytes[..]).is_ok_and(|(read, _)| !read.is_empty()) {}
}

/// All that was told since the last call.
pub fn read_changes(watches: &OwnedFd) -> Vec<FolderChange> {
    let mut buffer = [const { MaybeUninit::<u8>::uninit() }; 16 * 1024];
    let mut reader = Reader::new(watches, &mut buffer);
    let mut all = Vec::new();
    while let Ok(event) = reader.next() {
        all.extend(change(&event));
    }
    all
}

fn change(event: &Event<'_>) -> Option<FolderChange> {
    let (flags, folder) = (event.events(), WatchedFolderId(event.wd()));
    if flags.contains(ReadFlags::QUEUE_OVERFLOW) {
        return Some(FolderChange::Lost);
    }
    if flags.contains(ReadFlags::IGNORED) {
        return Some(FolderChange::Ended(folder));
    }
    if flags.contains(ReadFlags::MOVE_SELF) {
        return Some(FolderChange::Moved(folder));
    }
    // Without a name it is about the folder itself, of which the folder above tells.
    let name = OsStr::from_bytes(event.file_name()?.to_bytes()).to_owned();
    let is_folder = flags.contains(ReadFlags::ISDIR);
    let is_new = flags.intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO);
    match flags.intersects(ReadFlags::DELETE | ReadFlags::MOVED_FROM) {
        true => Some(FolderChange::Gone { folder, name, is_folder }),
        false => Some(FolderChange::There { folder, name, is_folder, is_new }),
    }
}

/// How many folders the user of this process may watch on this machine: the system's limit, or that of the user namespace.
pub fn watches_of_user() -> u64 {
    let limit = |file: &str| std::fs::read_to_string(file).ok()?.trim().parse::<u64>().ok();
    let all = ["/proc/sys/fs/inotify/max_user_watches", "/proc/sys/user/max_inotify_watches"].into_iter().filter_map(limit);
    all.min().unwrap_or(0)
}
