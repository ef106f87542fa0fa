//! What decides whether a file or folder can be moved: its mount, the attributes that forbid changes, and this user's
//! permissions.

use std::path::Path;

use crate::error::{Error, Result};
use crate::platform::{self, StatThroughLink};

pub use crate::platform::MoveConstraints;

/// The properties of a file or folder, without following a link; `None` where there is nothing.
pub fn standing(path: &Path) -> Result<Option<MoveConstraints>> {
    look(path, StatThroughLink::AsLinks)
}

fn look(path: &Path, links: StatThroughLink) -> Result<Option<MoveConstraints>> {
    platform::constraints(path, links).map_err(|e| Error::io("access", path, e))
}

/// The device and mount of a path that exists or will be created: for the latter, those of its nearest existing parent.
/// Links are followed; what cannot be looked at counts as what does not exist.
pub fn mount_of(path: &Path) -> Option<(u64, u64)> {
    path.ancestors().find_map(|above| look(above, StatThroughLink::Followed).ok().flatten()).map(|standing| standing.mount)
}

/// Whether a folder is this user's, and closed to changes by nothing but its mode: its owner may open it.
pub fn may_open(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let is_closed = |meta: &std::fs::Metadata| meta.is_dir() && meta.mode() & 0o300 == 0o100;
    let is_ours = |meta: &std::fs::Metadata| meta.uid() == rustix::process::geteuid().as_raw();
    std::fs::symlink_metadata(folder).is_ok_and(|meta| is_closed(&meta) && is_ours(&meta))
}

/// The error because of which this user cannot add and remove entries in a folder; `None` where it is allowed.
pub fn refuses_changes(folder: &Path) -> Option<std::io::Error> {
    use rustix::fs::{Access, AtFlags, CWD, accessat};
    accessat(CWD, folder, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS).err().map(Into::into)
}
