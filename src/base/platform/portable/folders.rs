//! Folders by what `stat` says: devices, no mounts, no flags.

#![allow(clippy::disallowed_methods)] // a signal's interruption is made good here

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat};
use rustix::io::{Errno, retry_on_intr};

use crate::platform::unix::folders::{ListingBuffer, MoveConstraints, StatThroughLink};

/// How many bytes a path may have, with the one that ends it.
pub const LONGEST_PATH: usize = 1024;

/// Where an administrator's settings for Claude Code are.
pub const ADMINISTRATORS_SETTINGS: &str = "/etc/claude-code";

/// How a folder is opened to be listed.
const LISTED: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// `None`: no call checks for links and mounts in one step.
pub fn open_below(_above: BorrowedFd<'_>, _name: &CStr, _flags: OFlags) -> Option<Result<OwnedFd, Errno>> {
    None
}

/// Gives the owner of a folder full permissions on it, and follows no link. Linux cannot do that by a name.
pub fn give_owner_access(
    above: BorrowedFd<'_>,
    name: &CStr,
    _open: impl FnOnce(OFlags) -> Result<OwnedFd, Errno>,
) -> Result<(), Errno> {
    rustix::fs::chmodat(above, name, Mode::RWXU, AtFlags::SYMLINK_NOFOLLOW)
}

/// Compares the devices: a mount of the same file system elsewhere is not seen.
pub fn is_same_mount(one: BorrowedFd<'_>, other: BorrowedFd<'_>) -> Result<bool, Errno> {
    Ok(rustix::fs::fstat(one)?.st_dev == rustix::fs::fstat(other)?.st_dev)
}

/// What decides whether a file or folder can be moved; `None` where there is nothing. No flags are seen.
pub fn constraints(path: &Path, links: StatThroughLink) -> io::Result<Option<MoveConstraints>> {
    let found = match links {
        StatThroughLink::AsLinks => std::fs::symlink_metadata(path),
        StatThroughLink::Followed => std::fs::metadata(path),
    };
    match found {
        Ok(meta) => {
            let (mount, is_folder) = ((meta.dev(), 0), meta.is_dir());
            Ok(Some(MoveConstraints { mount, is_folder, immutable: false, append_only: false }))
        }
        Err(e) if [Errno::NOENT, Errno::NOTDIR, Errno::LOOP].iter().any(|none| e.raw_os_error() == Some(none.raw_os_error())) => {
            Ok(None)
        }
        Err(e) => Err(e),
    }
}

/// The mount points of other file systems at or below `place`, which is resolved: every folder is looked at, by names within its own
/// folder, since a whole path may be longer than the system takes.
pub fn mount_points(place: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let top = match std::fs::symlink_metadata(place) {
        Ok(meta) if meta.is_dir() => meta.dev(),
        _ => return Ok(found),
    };
    // Below a mount nothing more has to be known.
    if place.parent().is_none_or(|above| std::fs::symlink_metadata(above).is_ok_and(|above| above.dev() != top)) {
        return Ok(vec![place.to_owned()]);
    }
    // Folders that cannot be read are skipped: removing them will fail anyway.
    let Ok(opened) = retry_on_intr(|| openat(CWD, place, LISTED, Mode::empty())) else { return Ok(found) };
    let mut open = vec![(opened, place.to_owned(), Vec::new())];
    open[0].2 = folders_in(&open[0].0);
    while let Some((folder, path, names)) = open.last_mut() {
        let Some(name) = names.pop() else {
            open.pop();
            continue;
        };
        let inside = path.join(name.to_string_lossy().as_ref());
        let Ok(entry) = statat(&*folder, &name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        if device_of(&entry) != top {
            found.push(inside);
            continue;
        }
        match retry_on_intr(|| openat(&*folder, &name, LISTED, Mode::empty())) {
            Ok(opened) => {
                let names = folders_in(&opened);
                open.push((opened, inside, names));
            }
            // Deeper than this process may have folders open: then nothing is known.
            Err(e @ (Errno::MFILE | Errno::NFILE)) => return Err(e.into()),
            Err(_) => {}
        }
    }
    Ok(found)
}

/// The number of a device; the type differs between systems.
#[allow(clippy::unnecessary_cast)]
fn device_of(stat: &rustix::fs::Stat) -> u64 {
    stat.st_dev as u64
}

/// The names of the folders in a folder, as far as it can be read.
fn folders_in(folder: &OwnedFd) -> Vec<CString> {
    let looked_at =
        |name: &CStr| statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).map(|stat| FileType::from_raw_mode(stat.st_mode));
    let is_folder = |entry: &rustix::fs::DirEntry| {
        let told = entry.file_type();
        told.is_dir() || told == FileType::Unknown && looked_at(entry.file_name()).is_ok_and(FileType::is_dir)
    };
    let entries = Dir::read_from(folder).into_iter().flatten().flatten().filter(is_folder);
    let names = entries.map(|entry| entry.file_name().to_owned());
    names.filter(|name| !matches!(name.to_bytes(), b"." | b"..")).collect()
}

/// Hands on each name in a folder; `None` if it cannot be read.
pub fn read_folder(dir: &OwnedFd, _room: &mut ListingBuffer, mut add: impl FnMut(&CStr, FileType)) -> Option<()> {
    for entry in Dir::read_from(dir).ok()? {
        let entry = entry.ok()?;
        add(entry.file_name(), entry.file_type());
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_a_mount_and_a_folder_of_a_path_that_is_too_long_is_looked_at() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().canonicalize().unwrap();
        assert_eq!(mount_points(&place).unwrap(), [] as [&Path; 0]);
        assert_eq!(mount_points(&place.join("none")).unwrap(), [] as [&Path; 0]);
        let name = CString::new("x".repeat(200)).unwrap();
        let mut folder = openat(CWD, &place, LISTED, Mode::empty()).unwrap();
        for _ in 0..30 {
            rustix::fs::mkdirat(&folder, &name, Mode::RWXU).unwrap();
            folder = openat(&folder, &name, LISTED, Mode::empty()).unwrap();
        }
        assert_eq!(mount_points(&place).unwrap(), [] as [&Path; 0]);
        assert_eq!(constraints(&place.join("none/x"), StatThroughLink::AsLinks).unwrap(), None);
        assert!(constraints(&place, StatThroughLink::Followed).unwrap().unwrap().is_folder);
    }
}
