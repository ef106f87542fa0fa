//! Owner and group: a file that replaces another one gets its owner and group, as far as this user may set them.

use std::fs::Metadata;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use crate::error::{Error, Result};

/// Whether this user may give one of their files to a group.
pub fn may_give_to_group(gid: u32) -> bool {
    let is_it = |group: &rustix::process::Gid| group.as_raw() == gid;
    rustix::process::geteuid().is_root()
        || is_it(&rustix::process::getegid())
        || rustix::process::getgroups().is_ok_and(|groups| groups.iter().any(is_it))
}

/// Gives the file at `place` (without following a link) the owner and group in `wanted`, as far as this user may set them.
/// Returns whether it has the group now. The owner can only be changed by root. Not synced.
pub fn hand_owner(place: &Path, wanted: &Metadata) -> Result<bool> {
    use std::os::unix::fs::lchown;
    let look = || std::fs::symlink_metadata(place).map_err(|e| Error::io("access", place, e));
    let now = look()?;
    if (now.uid(), now.gid()) == (wanted.uid(), wanted.gid()) {
        return Ok(true);
    }
    if lchown(place, Some(wanted.uid()), Some(wanted.gid())).is_err() {
        // Only root may change the owner; other users may set a group that they are in.
        let _ = lchown(place, None, Some(wanted.gid()));
    }
    Ok(look()?.gid() == wanted.gid())
}

/// Sets the group of a file if this user may do so. Not synced.
pub fn hand_group(place: &Path, gid: u32) -> Result<()> {
    let now = std::fs::symlink_metadata(place).map_err(|e| Error::io("access", place, e))?;
    if now.gid() == gid || !may_give_to_group(gid) {
        return Ok(());
    }
    let given = std::os::unix::fs::lchown(place, None, Some(gid));
    given.map_err(|e| Error::io("give to its group", place, e))
}

/// Whether a change of the group gives a file with this mode to more users: the new group may get permissions that only the
/// old one had, or the old one permissions that all others had.
pub fn opens_for_another_group(mode: u32) -> bool {
    (mode >> 3) & 0o7 != mode & 0o7
}

/// A mode in which the group and all others have only the permissions that both had.
pub(super) fn for_another_group(meta: &Metadata) -> u32 {
    let mode = meta.permissions().mode() & 0o777;
    let both = (mode >> 3) & mode & 0o7;
    (mode & 0o700) | (both << 3) | both
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_group_matters_where_group_and_others_may_do_different_things() {
        for (mode, opens) in
            [(0o644, false), (0o600, false), (0o640, true), (0o664, true), (0o604, true), (0o755, false), (0o750, true)]
        {
            assert_eq!(opens_for_another_group(mode), opens, "{mode:o}");
        }
    }
}
