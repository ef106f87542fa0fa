//! What decides whether a file or folder can be moved: its mount, the attributes that forbid changes, and this user's
//! permissions.

use std::path::Path;

use crate::error::{Error, Result};

/// The properties that decide whether a file or folder can be moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MoveConstraints {
    /// The device and, if the system shows it, the mount. A rename cannot leave either.
    pub mount: (u64, u64),
    /// Whether it is a folder. On an overlay, only folders have its device number: files have that of their layer.
    pub is_folder: bool,
    /// It and its entries cannot be changed (`chattr +i`).
    pub immutable: bool,
    /// Entries cannot be removed from it (`chattr +a`).
    pub append_only: bool,
}

/// The properties of a file or folder, without following a link; `None` where there is nothing.
pub fn standing(path: &Path) -> Result<Option<MoveConstraints>> {
    look(path, StatThroughLink::AsLinks)
}

/// What a link is looked at as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StatThroughLink {
    AsLinks,
    Followed,
}

#[cfg(target_os = "linux")]
fn look(path: &Path, links: StatThroughLink) -> Result<Option<MoveConstraints>> {
    use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags, makedev, statx};
    use rustix::io::Errno;
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
            let is_folder = rustix::fs::FileType::from_raw_mode(found.stx_mode.into()).is_dir();
            Ok(Some(MoveConstraints { mount: (device, mount), is_folder, immutable, append_only }))
        }
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
        // An old kernel, or a sandbox without statx.
        Err(Errno::NOSYS | Errno::PERM) => by_stat(path, links),
        Err(e) => Err(Error::io("access", path, e)),
    }
}

#[cfg(not(target_os = "linux"))]
fn look(path: &Path, links: StatThroughLink) -> Result<Option<MoveConstraints>> {
    by_stat(path, links)
}

fn by_stat(path: &Path, links: StatThroughLink) -> Result<Option<MoveConstraints>> {
    use std::os::unix::fs::MetadataExt;
    let found = match links {
        StatThroughLink::AsLinks => crate::files::metadata(path)?,
        StatThroughLink::Followed => std::fs::metadata(path).ok(),
    };
    Ok(found.map(|meta| MoveConstraints {
        mount: (meta.dev(), 0),
        is_folder: meta.is_dir(),
        immutable: false,
        append_only: false,
    }))
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
