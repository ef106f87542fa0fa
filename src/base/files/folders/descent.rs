//! One step down into a folder, without following a link or entering a mount.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::files::retry_interrupted::open_at;
use crate::platform;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// How a step is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::files) enum DescentMethod {
    /// In one step that checks for links and mounts. If the system does not have it, or a sandbox forbids it, as `Looking`.
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
        DescentMethod::Kernel => platform::open_below(above, name, flags).unwrap_or_else(|| by_looking(above, name, flags)),
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

/// Gives the owner full permissions on a folder.
fn open_up(way: DescentMethod, above: BorrowedFd<'_>, name: &CStr) -> Result<(), Errno> {
    platform::give_owner_access(above, name, |access| enter(way, above, name, access))
}

fn is_link(above: BorrowedFd<'_>, name: &CStr) -> bool {
    rustix::fs::readlinkat(above, name, Vec::new()).is_ok()
}

fn by_looking(above: BorrowedFd<'_>, name: &CStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    let folder = open_at(above, name, flags, Mode::empty())?;
    if platform::is_same_mount(above, folder.as_fd())? { Ok(folder) } else { Err(Errno::XDEV) }
}
