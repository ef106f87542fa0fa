//! One step down into a folder, over no link and into no mount.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// How often the kernel may say that something was moved in this very moment.
#[cfg(target_os = "linux")]
const AGAIN: u32 = 1000;

/// How a step is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// The kernel sees to it; where it cannot, or a sandbox forbids it, as below.
    Kernel,
    /// It is looked at after it was taken.
    #[cfg_attr(not(test), allow(dead_code))]
    Looking,
    /// Over no link, but into whatever is mounted.
    IntoMounts,
}

/// Opens the folder `name` in `above`.
///
/// # Errors
/// `LOOP` for a link, `XDEV` for a mount, `NOTDIR` for what is no folder either; those of opening it.
pub(super) fn enter(way: Way, above: BorrowedFd<'_>, name: &CStr, access: OFlags) -> Result<OwnedFd, Errno> {
    let flags = access | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = match way {
        Way::Kernel => by_kernel(above, name, flags).unwrap_or_else(|| by_looking(above, name, flags)),
        Way::Looking => by_looking(above, name, flags),
        Way::IntoMounts => rustix::fs::openat(above, name, flags, Mode::empty()),
    };
    match opened {
        // What it says of a link that shall be a folder differs between systems.
        Err(Errno::NOTDIR | Errno::LOOP) if is_link(above, name) => Err(Errno::LOOP),
        opened => opened,
    }
}

/// As [`enter`], to read it; a folder whose permissions forbid that is opened up first.
///
/// # Errors
/// As [`enter`].
pub(super) fn enter_opened_up(way: Way, above: BorrowedFd<'_>, name: &CStr) -> Result<OwnedFd, Errno> {
    match enter(way, above, name, OFlags::RDONLY) {
        Err(Errno::ACCESS) if open_up(way, above, name).is_ok() => enter(way, above, name, OFlags::RDONLY),
        opened => opened,
    }
}

/// Lets the owner into a folder. Its permissions are changed by what was opened, never by its name.
#[cfg(target_os = "linux")]
fn open_up(way: Way, above: BorrowedFd<'_>, name: &CStr) -> Result<(), Errno> {
    use std::os::fd::AsRawFd;
    let folder = enter(way, above, name, OFlags::PATH)?;
    rustix::fs::chmod(format!("/proc/self/fd/{}", folder.as_raw_fd()), Mode::RWXU)
}

#[cfg(not(target_os = "linux"))]
fn open_up(_: Way, above: BorrowedFd<'_>, name: &CStr) -> Result<(), Errno> {
    rustix::fs::chmodat(above, name, Mode::RWXU, rustix::fs::AtFlags::SYMLINK_NOFOLLOW)
}

fn is_link(above: BorrowedFd<'_>, name: &CStr) -> bool {
    rustix::fs::readlinkat(above, name, Vec::new()).is_ok()
}

/// `None` where the kernel does not know how, or a sandbox forbids it.
#[cfg(target_os = "linux")]
fn by_kernel(above: BorrowedFd<'_>, name: &CStr, flags: OFlags) -> Option<Result<OwnedFd, Errno>> {
    use rustix::fs::ResolveFlags;
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

#[cfg(not(target_os = "linux"))]
fn by_kernel(_: BorrowedFd<'_>, _: &CStr, _: OFlags) -> Option<Result<OwnedFd, Errno>> {
    None
}

fn by_looking(above: BorrowedFd<'_>, name: &CStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    let folder = rustix::fs::openat(above, name, flags, Mode::empty())?;
    if is_same_mount(above, folder.as_fd())? { Ok(folder) } else { Err(Errno::XDEV) }
}

/// By the number of the mount. A kernel before 5.8 does not tell it: then by the device.
#[cfg(target_os = "linux")]
fn is_same_mount(one: BorrowedFd<'_>, other: BorrowedFd<'_>) -> Result<bool, Errno> {
    use rustix::fs::{AtFlags, StatxFlags, statx};
    let number = |folder: BorrowedFd<'_>| match statx(folder, c"", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID) {
        Ok(found) if found.stx_mask & StatxFlags::MNT_ID.bits() != 0 => Ok(Some(found.stx_mnt_id)),
        Ok(_) | Err(Errno::NOSYS | Errno::PERM) => Ok(None),
        Err(e) => Err(e),
    };
    match (number(one)?, number(other)?) {
        (Some(one), Some(other)) => Ok(one == other),
        (_, _) => is_same_device(one, other),
    }
}

#[cfg(not(target_os = "linux"))]
fn is_same_mount(one: BorrowedFd<'_>, other: BorrowedFd<'_>) -> Result<bool, Errno> {
    is_same_device(one, other)
}

fn is_same_device(one: BorrowedFd<'_>, other: BorrowedFd<'_>) -> Result<bool, Errno> {
    Ok(rustix::fs::fstat(one)?.st_dev == rustix::fs::fstat(other)?.st_dev)
}
