//! Finds what would keep a restore from moving files, before the first one moves.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use axiom_base::error::{Code, Error, Result, some_of};
use axiom_base::files;
use axiom_base::files::MoveConstraints;
use axiom_model::base::names::RepoPath;

use super::prepared::PreparedFiles;
use super::types::WorktreeRestore;
use crate::base::tree_change::TreeChange;
use crate::repo::handles::Restores;
use crate::restore::changes::without_submodules;

/// How many places an error names.
const NAMED: usize = 10;

/// Why something cannot be moved.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum ObstacleReason {
    /// `chattr +i`.
    Immutable,
    /// `chattr +a`.
    AppendOnly,
    /// It is on another file system or mount than the worktree, or is itself a mount.
    Elsewhere,
    /// This user may not move it, or the file system is read-only; the system's message.
    Refused(String),
    /// It is closed by its mode, and this user's.
    Closed(String),
}

/// What becomes of a folder that is closed to changes by its mode alone, and this user's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClosedFolderRule {
    /// The restore opens it: it knows the permissions that everything had.
    IsOpened,
    /// It is in the way.
    IsInTheWay,
}

impl ObstacleReason {
    fn words(&self) -> String {
        match self {
            Self::Immutable => "immutable: chattr -i lets it change".to_owned(),
            Self::AppendOnly => "append-only: chattr -a lets it change".to_owned(),
            Self::Elsewhere => "on another file system or mount: umount it".to_owned(),
            Self::Refused(words) => words.clone(),
            Self::Closed(words) => format!("{words}: chmod u+w lets it change"),
        }
    }
}

/// What keeps names in a folder from being created and removed.
fn of_folder(folder: &MoveConstraints, root: &MoveConstraints, refusal: Option<ObstacleReason>) -> Option<ObstacleReason> {
    if folder.mount != root.mount {
        return Some(ObstacleReason::Elsewhere);
    }
    match of_thing(folder, folder) {
        Some(why) => Some(why),
        None => refusal,
    }
}

/// What keeps a file or folder from being moved out of its folder.
fn of_thing(thing: &MoveConstraints, folder: &MoveConstraints) -> Option<ObstacleReason> {
    if thing.immutable {
        Some(ObstacleReason::Immutable)
    } else if thing.append_only {
        Some(ObstacleReason::AppendOnly)
    } else if thing.mount.1 != folder.mount.1 || thing.is_folder && thing.mount != folder.mount {
        Some(ObstacleReason::Elsewhere)
    } else {
        None
    }
}

impl Restores<'_> {
    /// Checks that everything that a restore moves can be moved; changes nothing. It looks at each path that changes, and at
    /// each folder above them.
    pub fn check_obstacles(&self, restore: &WorktreeRestore<'_>) -> Result<()> {
        let changes = self.repo.restore().changes_of(restore)?;
        let closed = if restore.beside.is_some() { ClosedFolderRule::IsOpened } else { ClosedFolderRule::IsInTheWay };
        self.check_obstacles_of(restore.worktree.path(), &changes, closed)
    }

    /// As [`Restores::check_obstacles`], for some changes below `root`.
    pub(crate) fn check_obstacles_of(&self, root: &Path, changes: &[TreeChange], closed: ClosedFolderRule) -> Result<()> {
        let Some(top) = files::standing(root)? else { return Ok(()) };
        let changes = without_submodules(changes, &mut Vec::new());
        let mut folders: BTreeMap<PathBuf, Option<MoveConstraints>> = BTreeMap::new();
        let mut refusals: BTreeMap<PathBuf, Option<ObstacleReason>> = BTreeMap::new();
        let mut found: BTreeSet<(PathBuf, ObstacleReason)> = BTreeSet::new();
        for change in &changes {
            let (folder, standing) = lowest_folder(root, &top, &change.path, &mut folders)?;
            let look = || {
                let words = files::refuses_changes(&folder)?.to_string();
                match (files::may_open(&folder), closed) {
                    (true, ClosedFolderRule::IsOpened) if folder != root => None,
                    (true, _) => Some(ObstacleReason::Closed(words)),
                    (false, _) => Some(ObstacleReason::Refused(words)),
                }
            };
            let refusal = refusals.entry(folder.clone()).or_insert_with(look).clone();
            if let Some(why) = of_folder(&standing, &top, refusal) {
                found.insert((folder, why));
                continue;
            }
            let place = root.join(change.path.to_path());
            // The path's own folder is missing, or is a file or link: then nothing that is to be moved is at the path.
            if place.parent() != Some(&folder) {
                continue;
            }
            if let Some(why) = files::standing(&place)?.and_then(|thing| of_thing(&thing, &standing)) {
                found.insert((place, why));
            }
        }
        if found.is_empty() {
            return Ok(());
        }
        let named: Vec<String> = found.iter().map(|(place, why)| format!("'{}' ({})", place.display(), why.words())).collect();
        Err(Error::new(Code::InTheWay, format!("what would be replaced in '{}' cannot be changed", root.display()))
            .why(some_of(&named, NAMED))
            .hint("make it changeable as shown, and try again; nothing was changed"))
    }

    /// Prepares all contents of a restore in its trash, so that after the first change nothing is left to do that could fail
    /// (a filter, a missing object, a full disk). A crash leaves the contents there.
    pub fn prepare_restore(&self, restore: &WorktreeRestore<'_>) -> Result<PreparedFiles> {
        let changes = self.repo.restore().changes_of(restore)?;
        self.prepare_changes(restore, &changes)
    }

    /// Checks that no filter keeps a restore from writing its contents; changes nothing. If no filter can run, only trees
    /// are read, and missing blobs are not found.
    pub fn check_contents(&self, restore: &WorktreeRestore<'_>) -> Result<()> {
        let changes = self.repo.restore().changes_of(restore)?;
        let wanted = changes.iter().filter(|change| change.new.is_some());
        if self.repo.conversions().plain(restore.to, wanted.map(|change| &change.path)).is_some() {
            return Ok(());
        }
        let scratch = self.repo.scratch_folders().make()?;
        self.write_prepared(restore, &changes, scratch.path()).map(drop)
    }
}

/// The lowest existing folder above a path, and what decides whether it can be changed.
fn lowest_folder(
    root: &Path,
    top: &MoveConstraints,
    path: &RepoPath,
    known: &mut BTreeMap<PathBuf, Option<MoveConstraints>>,
) -> Result<(PathBuf, MoveConstraints)> {
    let mut lowest = (root.to_owned(), *top);
    for above in path.folders_above() {
        let place = root.join(above.to_path());
        let standing = match known.get(&place) {
            Some(standing) => *standing,
            None => {
                // A file or link where a folder shall be is moved away: whether it can be depends on its own folder.
                let standing = files::standing(&place)?.filter(|standing| standing.is_folder);
                known.insert(place.clone(), standing);
                standing
            }
        };
        match standing {
            Some(standing) => lowest = (place, standing),
            None => break,
        }
    }
    Ok(lowest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_moved_is_told_by_mount_attributes_and_rights() {
        let plain = MoveConstraints { mount: (1, 1), is_folder: true, immutable: false, append_only: false };
        let of_a_layer = MoveConstraints { mount: (2, 1), is_folder: false, ..plain };
        let immutable = MoveConstraints { immutable: true, ..plain };
        let append_only = MoveConstraints { append_only: true, ..plain };
        let bound = MoveConstraints { mount: (1, 2), ..plain };
        assert_eq!(of_folder(&plain, &plain, None), None);
        assert_eq!(of_folder(&immutable, &plain, None), Some(ObstacleReason::Immutable));
        assert_eq!(of_folder(&append_only, &plain, None), Some(ObstacleReason::AppendOnly));
        assert_eq!(of_folder(&bound, &plain, None), Some(ObstacleReason::Elsewhere));
        assert_eq!(
            of_folder(&plain, &plain, Some(ObstacleReason::Refused("no".into()))),
            Some(ObstacleReason::Refused("no".into()))
        );
        assert_eq!(of_thing(&bound, &plain), Some(ObstacleReason::Elsewhere));
        assert_eq!(of_thing(&of_a_layer, &plain), None);
        assert_eq!(of_thing(&MoveConstraints { is_folder: true, ..of_a_layer }, &plain), Some(ObstacleReason::Elsewhere));
        // What is below a mount is in its own folder all the same: that one is told.
        assert_eq!(of_thing(&bound, &bound), None);
    }
}
