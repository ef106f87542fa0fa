//! One step down into a folder, without following a link or entering a mount.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::files::retry_interrupted::open_at;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// How often to retry when the kernel reports a concurrent rename.
#[cfg(target_os = "linux")]
const AGAIN: u32 = 1000;

/// How a step is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::files) enum DescentMethod {
    /// With `openat2`, which checks for links and mounts. If the kernel does not have it, or a sandbox forbids it, as
    /// `Looking`.
    Kernel,
    /// With `openat`, and a check of the opened folder afterwards.
    #[cfg_attr(not(test), allow(dead_code))]
    Looking,
    /// Without following links, but entering mounts.
    IntoMounts,
}

/// Opens the folder `name` in `above`.
pub(in crate::files) fn enter(way: DescentMethod, above: BorrowedFd<'_>, name: &CStr, access: OFlags) -> Result<OwnedFd, Errno> {
    let flags = access | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = match way {
        DescentMethod::Kernel => by_kernel(above, name, flags).unwrap_or_else(|| by_looking(above, name, flags)),
        DescentMethod::Looking => by_looking(above, name, flags),
        DescentMethod::IntoMounts => open_at(above, name, flags, Mode::empty()),
    };
    match opened {
        // The error for a link that should be a folder differs between systems.
        Err(Errno::NOTDIR | Errno::LOOP) if is_link(above, name) => Err(Errno::LOOP),
        opened => opened,
    }
}

/// As [`enter`], for reading the folder. If its permissions forbid that, they are changed first.
pub(in crate::files) fn enter_opened_up(way: DescentMethod, above: BorrowedFd<'_>, name: &CStr) -> Result<OwnedFd, Errno> {
    match enter(way, above, name, OFlags::RDONLY) {
        Err(Errno::ACCESS) if open_up(way, above, name).is_ok() => enter(way, above, name, OFlags::RDONLY),
        opened => opened,
    }
}

/// Gives the owner full permissions on a folder. They are changed through the opened folder, never by its name.
#[cfg(target_os = "linux")]
fn open_up(way: DescentMethod, above: BorrowedFd<'_>, name: &CStr) -> Result<(), Errno> {
    use std::os::fd::AsRawFd;
    let folder = enter(way, above, name, OFlags::PATH)?;
    rustix::fs::chmod(format!("/proc/self/fd/{}", folder.as_raw_fd()), Mode::RWXU)
}

#[cfg(not(target_os = "linux"))]
fn open_up(_: DescentMethod, above: BorrowedFd<'_>, name: &CStr) -> Result<(), Errno> {
    rustix::fs::chmodat(above, name, Mode::RWXU, rustix::fs::AtFlags::SYMLINK_NOFOLLOW)
}

fn is_link(above: BorrowedFd<'_>, name: &CStr) -> bool {
    rustix::fs::readlinkat(above, name, Vec::new()).is_ok()
}

/// `None` where the kernel does not support it, or a sandbox forbids it.
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
    let folder = open_at(above, name, flags, Mode::empty())?;
    if is_same_mount(above, folder.as_fd())? { Ok(folder) } else { Err(Errno::XDEV) }
}

/// Compares the mount numbers. A kernel before 5.8 does not provide them: then the devices.
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
