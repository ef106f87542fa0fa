//! System calls that a signal may interrupt on slow or remote disks, made again until they are done. The standard library does so
//! itself; rustix does not.

#![allow(clippy::disallowed_methods)]

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};
use rustix::path::Arg;

/// Opens the file `name` in a folder.
pub fn open_at(folder: impl AsFd, name: impl Arg + Copy, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    retry_on_intr(|| rustix::fs::openat(folder.as_fd(), name, flags, mode))
}
