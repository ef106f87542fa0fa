//! Brings the files of a worktree from one captured tree to another without destroying anything.
//!
//! All new contents are prepared and synced before the first file moves. A present file is never overwritten: it is moved to
//! the trash, and only if it is the file of the first tree. Then the new file takes its place, if that is free. A path that
//! already matches the second tree is done. So a restore that a crash interrupts is finished by running it again, or
//! reversed by running it with the trees swapped.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use axiom_base::error::Result;
use axiom_base::{env, files};
use axiom_model::base::names::RepoPath;

use super::changes::{wanted_folders, without_submodules};
use super::meanwhile::{changed_meanwhile, vanished};
use super::moves::RestoreMoves;
use super::nested_repositories::NestedRepositories;
use super::plan::{PresentState, RestoreStep, decide};
use super::prepared::{PreparedFiles, RecordedTree};
use super::present_files::executable;
use super::types::{ChangeAttempt, LINK_LIMIT, PlannedPath, RestoreReport, WorktreeRestore};
use crate::base::path_inspection::{FileTouchStamp, PathOccupant, WorktreeInspector, look_at};
use crate::base::tree_change::{FileId, TreeChange};
use crate::capture::permissions::{RecordedPermissions, ResolvedPermissions};
use crate::capture::raw::wanted_bytes;
use crate::index::placed_file::PlacedFile;
use crate::objects::durability::sync_file_system;
use crate::repo::file_system::FileSystemSupport;
use crate::repo::handles::Restores;
use crate::restore::trash_folder::Trash;

impl Restores<'_> {
    /// Brings the files of a worktree from `from` to `to`; index and HEAD are not touched. When this returns, the files
    /// survive a power loss. After a crash, call it again with the same trees, or with the trees swapped.
    pub fn restore_files(&self, restore: &WorktreeRestore<'_>) -> Result<RestoreReport> {
        self.restore_prepared(restore, None)
    }

    /// As [`Restores::restore_files`], with the contents that [`Restores::prepare_restore`] prepared.
    pub fn restore_prepared(&self, restore: &WorktreeRestore<'_>, prepared: Option<&PreparedFiles>) -> Result<RestoreReport> {
        let changes = self.repo.restore().changes_of(restore)?;
        self.restore_changes(restore, &changes, prepared)
    }

    /// As [`Restores::restore_files`], for some of the changes between the two trees.
    pub(crate) fn restore_changes(
        &self,
        restore: &WorktreeRestore<'_>,
        changes: &[TreeChange],
        prepared: Option<&PreparedFiles>,
    ) -> Result<RestoreReport> {
        restore.worktree.verify()?;
        let mut report = RestoreReport::default();
        let changes = without_submodules(changes, &mut report.submodules);
        let (old_modes, new_modes) = match &restore.beside {
            Some(beside) => (&beside.old.modes[..], &beside.new.modes[..]),
            None => (&[][..], &[][..]),
        };
        if changes.is_empty() && report.submodules.is_empty() && old_modes == new_modes {
            return Ok(report);
        }
        let root = restore.worktree.path();
        let trash = Trash::open(restore.trash, root)?;
        match restore.attempt {
            ChangeAttempt::Again => trash.end_half_moved(root)?,
            // A first attempt has no such moves. When reversing, `put_back` handles them at the end.
            ChangeAttempt::First | ChangeAttempt::Back => {}
        }
        let nested = self.nested_repositories(restore, &changes)?;
        let mut not_made = None;
        let made;
        let has_permissions = prepared.is_some();
        let (prepared, plan) = match restore.attempt {
            ChangeAttempt::First | ChangeAttempt::Again => {
                let prepared = match prepared {
                    Some(prepared) => prepared,
                    None => {
                        made = self.write_prepared(restore, &changes, restore.trash)?;
                        &made
                    }
                };
                let plan = self.plan_restore(restore, &changes, prepared, &trash, &nested)?;
                (prepared, plan)
            }
            // The original files come back from the trash, with everything that no tree holds of them: no filter runs, no
            // object is read, no disk space is needed. Only files that are missing in the trash are made again.
            ChangeAttempt::Back => {
                let plan = self.repo.reversals().plan_back(restore, &changes, &trash)?;
                let mut gone = BTreeSet::new();
                for planned in plan.iter().filter(|planned| planned.is_placed()) {
                    if !trash.holds(planned.path)? {
                        gone.insert(planned.path);
                    }
                }
                let gone: Vec<TreeChange> = changes.iter().filter(|change| gone.contains(&change.path)).cloned().collect();
                made = match self.write_prepared(restore, &gone, restore.trash) {
                    Err(error) if !error.passes() => {
                        not_made = Some(error.to_string());
                        self.write_prepared(restore, &[], restore.trash)?
                    }
                    outcome => outcome?,
                };
                (&made, plan)
            }
        };
        report.placed = placed_before(&changes, &plan);
        report.left = plan.iter().filter(|p| p.step == RestoreStep::Leave).map(|p| p.path.clone()).collect();
        let (wanted, keeps) = (self.all_known(new_modes)?, self.repo.settings().keeps());
        let attempt = restore.attempt;
        let dressed = BTreeMap::new();
        let mut work = RestoreMoves { root, trash, prepared, nested, wanted, keeps, attempt, dressed, not_made, report };
        if !has_permissions {
            work.ready_all(plan.iter().filter(|one| one.is_placed()).map(|one| one.path)).map_err(vanished)?;
            prepared.sync()?;
        }
        env::fault_point("git.restore-begin");
        work.begin(&plan, restore).map_err(vanished)?;
        work.remove_all(&plan)?;
        work.make_way_for_submodules()?;
        work.place_all(&plan)?;
        work.settle_permissions(old_modes, new_modes).map_err(vanished)?;
        env::fault_point("git.restore-before-sync");
        // Covers the folders of the files and of the trash: they are on one file system.
        sync_file_system(root)?;
        Ok(work.report)
    }

    /// Prepares the contents that changes restore, in the trash of the restore, with the permissions that they will have.
    pub(crate) fn prepare_changes(&self, restore: &WorktreeRestore<'_>, changes: &[TreeChange]) -> Result<PreparedFiles> {
        let (root, trash) = (restore.worktree.path(), Trash::open(restore.trash, restore.worktree.path())?);
        let changes = without_submodules(changes, &mut Vec::new());
        let mut prepared = self.write_prepared(restore, &changes, restore.trash)?;
        let modes = restore.beside.map_or(&[][..], |beside| &beside.new.modes[..]);
        let (wanted, keeps, report) = (self.all_known(modes)?, self.repo.settings().keeps(), RestoreReport::default());
        let nested = NestedRepositories::default();
        let (attempt, dressed, not_made) = (restore.attempt, BTreeMap::new(), None);
        let mut work =
            RestoreMoves { root, trash, prepared: &prepared, nested, wanted, keeps, attempt, dressed, not_made, report };
        work.ready_all(changes.iter().filter(|change| change.new.is_some()).map(|change| &change.path))?;
        prepared.dressed = work.dressed;
        prepared.sync()?;
        Ok(prepared)
    }

    /// Writes the contents that changes restore into a folder below `parent`. Nothing is synced.
    pub(crate) fn write_prepared(
        &self,
        restore: &WorktreeRestore<'_>,
        changes: &[TreeChange],
        parent: &Path,
    ) -> Result<PreparedFiles> {
        let changes = without_submodules(changes, &mut Vec::new());
        let raw = wanted_bytes(restore.will_have().raw, &changes);
        let wanted: Vec<RepoPath> = changes.iter().filter(|c| c.new.is_some()).map(|c| c.path.clone()).collect();
        PreparedFiles::write(self.repo, restore.worktree, RecordedTree { raw: &raw, ..restore.will_have() }, &wanted, parent)
    }

    fn all_known(&self, modes: &[RecordedPermissions]) -> Result<BTreeMap<RepoPath, ResolvedPermissions>> {
        modes.iter().map(|one| Ok((one.path.clone(), self.repo.captured_permissions().known(one)?))).collect()
    }

    /// Looks at every path and decides what to do with it; nothing is changed.
    fn plan_restore<'c>(
        &self,
        restore: &WorktreeRestore<'_>,
        changes: &'c [TreeChange],
        prepared: &PreparedFiles,
        trash: &Trash<'_>,
        nested: &NestedRepositories,
    ) -> Result<Vec<PlannedPath<'c>>> {
        let root = restore.worktree.path();
        let keeps = self.repo.settings().keeps();
        let (mut seen, mut looks) = (Vec::with_capacity(changes.len()), WorktreeInspector::below(root));
        let mut to_hash = Vec::new();
        for change in changes {
            let found = match nested.above(&change.path) {
                Some(_) => PathOccupant::Missing,
                None => looks.look(&change.path)?,
            };
            let (now, stamp) = self.recognise(change, &found, (prepared, trash), restore, keeps)?;
            if now == PresentState::Unknown {
                to_hash.push(change);
            }
            seen.push((change, now, stamp));
        }
        let mut olds = self.are_old(restore, &to_hash)?.into_iter();
        let needed: BTreeSet<RepoPath> = wanted_folders(changes);
        let (mut plan, mut conflicts) = (Vec::new(), Vec::new());
        for (change, now, stamp) in seen {
            let now = if now == PresentState::Unknown {
                if olds.next() == Some(true) { PresentState::Old } else { PresentState::Other }
            } else {
                now
            };
            let now = if now == PresentState::Folder && needed.contains(&change.path) { PresentState::NeededFolder } else { now };
            match decide(change.old.is_some(), change.new.is_some(), now) {
                RestoreStep::Conflict => conflicts.push(change.path.to_string()),
                step
                @ (RestoreStep::Done | RestoreStep::Remove | RestoreStep::Swap | RestoreStep::Place | RestoreStep::Leave) => {
                    plan.push(PlannedPath { path: &change.path, step, stamp, new: change.new.as_ref() });
                }
            }
        }
        if conflicts.is_empty() { Ok(plan) } else { Err(changed_meanwhile(root, &conflicts)) }
    }

    /// Whether the regular files at the paths of changes are the files of the first tree.
    fn are_old(&self, restore: &WorktreeRestore<'_>, changes: &[&TreeChange]) -> Result<Vec<bool>> {
        // The files of the second tree were recognised before.
        let of_old: Vec<TreeChange> = changes.iter().map(|change| TreeChange { new: None, ..(*change).clone() }).collect();
        let files: Vec<(&TreeChange, bool)> = of_old.iter().map(|change| (change, false)).collect();
        Ok(self.repo.reversals().tell_by_blob(restore, &files)?.into_iter().map(|now| now == PresentState::Old).collect())
    }

    /// What is at a path, compared with the change; `Unknown` if only hashing can show it.
    fn recognise(
        &self,
        change: &TreeChange,
        found: &PathOccupant,
        (prepared, trash): (&PreparedFiles, &Trash<'_>),
        restore: &WorktreeRestore<'_>,
        keeps: FileSystemSupport,
    ) -> Result<(PresentState, Option<FileTouchStamp>)> {
        let is_link = |file: &Option<FileId>| file.as_ref().is_some_and(FileId::is_link);
        match found {
            PathOccupant::Missing | PathOccupant::Below(_) => {
                let now = if trash.holds(&change.path)? { PresentState::MissingButSaved } else { PresentState::Missing };
                Ok((now, None))
            }
            PathOccupant::Folder => Ok((PresentState::Folder, None)),
            PathOccupant::Special => Ok((PresentState::Other, None)),
            PathOccupant::Link(meta, target) => {
                let stamp = Some(FileTouchStamp::of(meta));
                if change.new.is_some()
                    && let PathOccupant::Link(_, ready) = look_at(&prepared.place(&change.path)?)?
                    && ready == *target
                {
                    return Ok((PresentState::New, stamp));
                }
                match &change.old {
                    Some(old) if is_link(&change.old) && self.repo.objects().read_blob(&old.oid, LINK_LIMIT)? == *target => {
                        Ok((PresentState::Old, stamp))
                    }
                    Some(_) | None => Ok((PresentState::Other, stamp)),
                }
            }
            PathOccupant::File(meta) => {
                let stamp = Some(FileTouchStamp::of(meta));
                if change.new.is_some()
                    && let place = prepared.place(&change.path)?
                    && let PathOccupant::File(ready) = look_at(&place)?
                    && ready.len() == meta.len()
                    && (!keeps.modes || executable(&ready) == executable(meta))
                    && files::same_bytes(&place, &restore.worktree.path().join(change.path.to_path()))?
                {
                    return Ok((PresentState::New, stamp));
                }
                let comparable = change.old.is_some() && (!keeps.links || !is_link(&change.old));
                Ok((if comparable { PresentState::Unknown } else { PresentState::Other }, stamp))
            }
        }
    }
}

/// The files that an earlier attempt put into place and that an index cannot distinguish from the old ones, because git's
/// conversions hide the difference.
fn placed_before(changes: &[TreeChange], plan: &[PlannedPath<'_>]) -> Vec<PlacedFile> {
    let done =
        changes.iter().zip(plan).filter(|(change, planned)| change.is_of_bytes_alone() && planned.step == RestoreStep::Done);
    let placed = done.filter_map(|(_, PlannedPath { path, stamp, new, .. })| {
        Some(PlacedFile { path: (*path).clone(), file: (*new)?.clone(), stamp: (*stamp)? })
    });
    placed.collect()
}
