//! Untracked files that only their owner may read, held where others may read them: in a git directory that others may enter. They
//! are held as `git stash -u` holds them, and named.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::repo::handles::CapturedPermissions;
use crate::repo::shortcuts::Condition;
use axiom_model::base::names::RepoPath;

use super::coverage::CaptureCoverage;
use super::permissions::RecordedPermissions;

/// The bits of group and others.
const BEYOND_THE_OWNER: u32 = 0o077;

/// Who may go into a folder.
#[derive(Debug, Clone, Copy)]
struct FolderAccess {
    mode: u32,
    owner: u32,
    group: u32,
}

impl CapturedPermissions<'_> {
    /// Names those of these files that only their owner may read, where others may read what is held. `is_untracked` decides which are
    /// looked at; `modes` have all that are unusual.
    pub(super) fn name_private(
        &self,
        modes: &[RecordedPermissions],
        is_untracked: impl Fn(&RepoPath) -> bool,
        coverage: &mut CaptureCoverage,
    ) {
        let is_private = |one: &&RecordedPermissions| one.mode & BEYOND_THE_OWNER == 0 && is_untracked(&one.path);
        let private: BTreeSet<&RepoPath> = modes.iter().filter(is_private).map(|one| &one.path).collect();
        if !private.is_empty() && self.others_get_in() {
            private.into_iter().for_each(|path| coverage.others_may_read.add(path.clone()));
        }
    }

    /// Whether anybody but the owner can get to the objects.
    fn others_get_in(&self) -> bool {
        let Ok(objects) = self.repo.common_dir().join("objects").canonicalize() else { return false };
        let mut folders: Vec<&Path> = objects.ancestors().collect();
        folders.reverse();
        let door = |folder: &&Path| {
            let meta = std::fs::metadata(folder).ok()?;
            Some(FolderAccess { mode: meta.mode(), owner: meta.uid(), group: meta.gid() })
        };
        let doors: Option<Vec<FolderAccess>> = folders.iter().map(door).collect();
        doors.is_some_and(|doors| get_in(&doors, self.repo.shortcuts().holds(Condition::SharedRepository, None)))
    }
}

/// Whether everybody, or the group of the innermost folder, gets through all of these, which lie in one another, and may list the
/// innermost. A group with the number of its owner is that user alone, as most systems make them, unless the repository is meant to be
/// shared.
fn get_in(doors: &[FolderAccess], is_shared: bool) -> bool {
    let Some(last) = doors.last() else { return false };
    let everybody = doors.iter().all(|door| door.mode & 0o001 != 0) && last.mode & 0o004 != 0;
    let of_group = |door: &FolderAccess| if door.group == last.group { door.mode & 0o010 != 0 } else { door.mode & 0o001 != 0 };
    let is_a_group = is_shared || last.group != last.owner;
    everybody || (is_a_group && last.mode & 0o040 != 0 && doors.iter().all(of_group))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_get_in_where_no_door_is_closed_to_them() {
        let door = |mode: u32, owner: u32, group: u32| FolderAccess { mode, owner, group };
        let root = door(0o755, 0, 0);
        // What it shows; the doors between the root and the objects; whether others get in, and where the repository is shared.
        let table: &[(&str, &[FolderAccess], (bool, bool))] = &[
            ("all are open", &[door(0o755, 7, 7), door(0o755, 7, 7)], (true, true)),
            ("a home that is closed", &[door(0o700, 7, 7), door(0o755, 7, 7)], (false, false)),
            ("a home for the user's own group", &[door(0o750, 7, 7), door(0o755, 7, 7)], (false, true)),
            ("a home for all users of the machine", &[door(0o750, 7, 20), door(0o755, 7, 20)], (true, true)),
            ("a git directory that is closed", &[door(0o755, 7, 7), door(0o700, 7, 7)], (false, false)),
            ("a project's group", &[door(0o755, 7, 7), door(0o2770, 7, 30)], (true, true)),
            ("another group's folder above it", &[door(0o770, 7, 31), door(0o2770, 7, 30)], (false, false)),
            ("may go in and not list", &[door(0o755, 7, 7), door(0o711, 7, 7)], (false, false)),
        ];
        for (what, doors, expected) in table {
            let doors: Vec<FolderAccess> = std::iter::once(root).chain(doors.iter().copied()).collect();
            assert_eq!((get_in(&doors, false), get_in(&doors, true)), *expected, "{what}");
        }
    }
}
