//! Folders on macOS: flags of files, and the list of mounts.

use std::io;
use std::os::darwin::fs::MetadataExt;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use super::of_kernel;
use crate::platform::portable::folders as portable;
pub use crate::platform::portable::folders::{LONGEST_PATH, give_owner_access, is_same_mount, open_below, read_folder};
use crate::platform::unix::folders::{MoveConstraints, StatThroughLink};

/// Where an administrator's settings for Claude Code are.
pub const ADMINISTRATORS_SETTINGS: &str = "/Library/Application Support/ClaudeCode";

/// What decides whether a file or folder can be moved; `None` where there is nothing. The Finder's "Locked" is a flag.
pub fn constraints(path: &Path, links: StatThroughLink) -> io::Result<Option<MoveConstraints>> {
    let Some(found) = portable::constraints(path, links)? else { return Ok(None) };
    let meta = match links {
        StatThroughLink::AsLinks => std::fs::symlink_metadata(path)?,
        StatThroughLink::Followed => std::fs::metadata(path)?,
    };
    let has = |flags: u32| meta.st_flags() & flags != 0;
    let (immutable, append_only) = (libc::UF_IMMUTABLE | libc::SF_IMMUTABLE, libc::UF_APPEND | libc::SF_APPEND);
    Ok(Some(MoveConstraints { immutable: has(immutable), append_only: has(append_only), ..found }))
}

/// All mount points; where the kernel does not list them, those of other file systems at or below `place`.
pub fn mount_points(place: &Path) -> io::Result<Vec<PathBuf>> {
    match of_kernel::mount_points() {
        Some(names) => Ok(names.into_iter().map(|name| PathBuf::from(std::ffi::OsString::from_vec(name))).collect()),
        None => portable::mount_points(place),
    }
}
