//! What decides whether something can be moved: its mount, the attributes that forbid changes, and what this user may do.

use std::path::Path;

use crate::error::{Error, Result};

/// What decides whether something can be moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// The file system and, where the system tells, the mount: a rename leaves neither.
    pub mount: (u64, u64),
    /// Whether it is a folder. On an overlay only folders are on its device: files are on their layer's.
    pub is_folder: bool,
    /// Nobody can change it, or anything in it (`chattr +i`).
    pub immutable: bool,
    /// Nothing can be taken from it (`chattr +a`).
    pub append_only: bool,
}

/// How something stands, a link itself and not what it points to; `None` where nothing is.
///
/// # Errors
/// `IO_FAILED` with the path.
#[cfg(target_os = "linux")]
pub fn standing(path: &Path) -> Result<Option<Standing>> {
    use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags, makedev, statx};
    use rustix::io::Errno;
    match statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT, StatxFlags::BASIC_STATS | StatxFlags::MNT_ID) {
        Ok(found) => {
            let has = |attribute| found.stx_attributes.contains(attribute);
            let mount = if found.stx_mask & StatxFlags::MNT_ID.bits() == 0 { 0 } else { found.stx_mnt_id };
            let (immutable, append_only) = (has(StatxAttributes::IMMUTABLE), has(StatxAttributes::APPEND));
            let device = makedev(found.stx_dev_major, found.stx_dev_minor);
            let is_folder = rustix::fs::FileType::from_raw_mode(found.stx_mode.into()).is_dir();
            Ok(Some(Standing { mount: (device, mount), is_folder, immutable, append_only }))
        }
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
        // An old kernel, or a sandbox that knows no statx.
        Err(Errno::NOSYS | Errno::PERM) => by_stat(path),
        Err(e) => Err(Error::io("look at", path, e)),
    }
}

/// How something stands, a link itself and not what it points to; `None` where nothing is.
///
/// # Errors
/// `IO_FAILED` with the path.
#[cfg(not(target_os = "linux"))]
pub fn standing(path: &Path) -> Result<Option<Standing>> {
    by_stat(path)
}

fn by_stat(path: &Path) -> Result<Option<Standing>> {
    use std::os::unix::fs::MetadataExt;
    let found = super::metadata(path)?;
    Ok(found.map(|meta| Standing { mount: (meta.dev(), 0), is_folder: meta.is_dir(), immutable: false, append_only: false }))
}

/// The mount and file system of what is at a path, or will be made there: that of the lowest folder above it that is there. A
/// link on the way is followed.
///
/// # Errors
/// `IO_FAILED` with the path.
pub fn mount_of(path: &Path) -> Result<Option<(u64, u64)>> {
    for above in path.ancestors() {
        if let Ok(above) = above.canonicalize() {
            return Ok(standing(&above)?.map(|standing| standing.mount));
        }
    }
    Ok(None)
}

/// Why this user cannot make and remove names in a folder; `None` where that can be.
pub fn refuses_changes(folder: &Path) -> Option<std::io::Error> {
    use rustix::fs::{Access, AtFlags, CWD, accessat};
    accessat(CWD, folder, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS).err().map(Into::into)
}
