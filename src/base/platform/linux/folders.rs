//! Folders by calls of Linux: `openat2`, `statx`, the list of mounts, names in few calls.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, StatxAttributes, StatxFlags, makedev, statx};
use rustix::io::Errno;

use crate::platform::portable::folders as portable;
use crate::platform::unix::folders::{ListingBuffer, MoveConstraints, StatThroughLink};

/// How many bytes a path may have, with the one that ends it.
pub const LONGEST_PATH: usize = 4096;

/// Where an administrator's settings for Claude Code are.
pub const ADMINISTRATORS_SETTINGS: &str = "/etc/claude-code";

/// How often to retry when the kernel reports a concurrent rename.
const AGAIN: u32 = 1000;

/// Opens a folder in another one, and neither follows a link nor enters a mount. `None` where the kernel cannot check that in one step,
/// or a sandbox forbids it.
pub fn open_below(above: BorrowedFd<'_>, name: &CStr, flags: OFlags) -> Option<Result<OwnedFd, Errno>> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    for _ in 0..AGAIN {
        match rustix::fs::openat2(above, name, flags, Mode::empty(), resolve) {
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(Errno::NOSYS | Errno::PERM) => return None,
            opened => return Some(opened),
        }
    }
    Some(Err(Errno::AGAIN))
}

/// Gives the owner of a folder full permissions on it, through the folder that `open` opens, never by its name.
pub fn give_owner_access(
    _above: BorrowedFd<'_>,
    _name: &CStr,
    open: impl FnOnce(OFlags) -> Result<OwnedFd, Errno>,
) -> Result<(), Errno> {
    let folder = open(OFlags::PATH)?;
    rustix::fs::chmod(format!("/proc/self/fd/{}", folder.as_raw_fd()), Mode::RWXU)
}

/// Compares the mount numbers. A kernel before 5.8 does not provide them: then the devices.
pub fn is_same_mount(one: BorrowedFd<'_>, other: BorrowedFd<'_>) -> Result<bool, Errno> {
    let number = |folder: BorrowedFd<'_>| match statx(folder, c"", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID) {
        Ok(found) if found.stx_mask & StatxFlags::MNT_ID.bits() != 0 => Ok(Some(found.stx_mnt_id)),
        Ok(_) | Err(Errno::NOSYS | Errno::PERM) => Ok(None),
        Err(e) => Err(e),
    };
    match (number(one)?, number(other)?) {
        (Some(one), Some(other)) => Ok(one == other),
        (_, _) => portable::is_same_mount(one, other),
    }
}

/// What decides whether a file or folder can be moved; `None` where there is nothing.
pub fn constraints(path: &Path, links: StatThroughLink) -> io::Result<Option<MoveConstraints>> {
    let flags = match links {
        StatThroughLink::AsLinks => AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT,
        StatThroughLink::Followed => AtFlags::NO_AUTOMOUNT,
    };
    match statx(CWD, path, flags, StatxFlags::BASIC_STATS | StatxFlags::MNT_ID) {
        Ok(found) => {
            let has = |attribute| found.stx_attributes.contains(attribute);
            let mount = if found.stx_mask & StatxFlags::MNT_ID.bits() == 0 { 0 } else { found.stx_mnt_id };
            let (immutable, append_only) = (has(StatxAttributes::IMMUTABLE), has(StatxAttributes::APPEND));
            let device = makedev(found.stx_dev_major, found.stx_dev_minor);
            let is_folder = FileType::from_raw_mode(found.stx_mode.into()).is_dir();
            Ok(Some(MoveConstraints { mount: (device, mount), is_folder, immutable, append_only }))
        }
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
        // An old kernel, or a sandbox without statx.
        Err(Errno::NOSYS | Errno::PERM) => portable::constraints(path, links),
        Err(e) => Err(e.into()),
    }
}

/// All mount points, those below `place` at least; `None` where the system does not list them.
pub fn mount_points(place: &Path) -> io::Result<Vec<PathBuf>> {
    match std::fs::read("/proc/self/mountinfo") {
        Ok(list) => Ok(list.split(|byte| *byte == b'\n').filter_map(mount_point).collect()),
        Err(_) => portable::mount_points(place),
    }
}

/// The mount point in a line of the kernel's list: the fifth field, with blanks written as `\040`.
fn mount_point(line: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    let field = line.split(|byte| *byte == b' ').nth(4)?;
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        let octal = after.get(..3).filter(|_| *first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[3..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    Some(PathBuf::from(std::ffi::OsString::from_vec(bytes)))
}

/// Hands on each name in a folder, with as few calls as the kernel needs; `None` if it cannot be read.
pub fn read_folder(dir: &OwnedFd, room: &mut ListingBuffer, mut add: impl FnMut(&CStr, FileType)) -> Option<()> {
    let mut entries = rustix::fs::RawDir::new(dir, room.0.spare_capacity_mut());
    while let Some(entry) = entries.next() {
        match entry {
            Ok(entry) => add(entry.file_name(), entry.file_type()),
            Err(Errno::INTR) => {}
            // The folder was removed meanwhile: that is its end.
            Err(Errno::NOENT) => break,
            Err(_) => return None,
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn the_kernels_list_is_read_with_its_escapes() {
        let point = |line: &str| mount_point(line.as_bytes()).map(|path| path.as_os_str().as_bytes().to_owned());
        let line = r"36 35 98:0 /mnt1 /a\040b\011c\134d\012 rw,noatime master:1 - ext3 /dev/root rw";
        assert_eq!(point(line), Some(b"/a b\tc\\d\n".to_vec()));
        assert_eq!(point(r"1 2 3 / /\0 x"), Some(br"/\0".to_vec()));
        assert_eq!(point(""), None);
    }
}
