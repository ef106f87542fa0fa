//! Carries out the moves of one restore: what is replaced goes to the trash, what is new takes its place. The plan was made
//! before; only what another process changes at this moment is detected here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use axiom_base::error::{Code, Error, Result};
use axiom_base::{env, files};
use axiom_model::base::names::RepoPath;

use super::nested_repositories::NestedRepositories;
use super::plan::RestoreStep;
use super::prepared::PreparedFiles;
use super::types::{
    ChangeAttempt, DifferingSubmodule, MovedObstacle, PlannedPath, RestoreReport, UnrestoredPath, WorktreeRestore,
};
use crate::base::path_inspection::{FileTouchStamp, PathOccupant, look};
use crate::capture::permissions::ResolvedPermissions;
use crate::index::placed_file::PlacedFile;
use crate::repo::file_system::FileSystemSupport;
use crate::repo::nested::is_repository;
use crate::restore::meanwhile::{changed_meanwhile, vanished};
use crate::restore::prepared_permissions::{PermissionSource, PreparedPermissions};
use crate::restore::trash_folder::{Trash, TrashSet};

/// One restore while its moves are made.
pub(crate) struct RestoreMoves<'a> {
    pub root: &'a Path,
    pub trash: Trash<'a>,
    pub prepared: &'a PreparedFiles,
    pub nested: NestedRepositories,
    /// The permissions that are recorded for the target.
    pub wanted: BTreeMap<RepoPath, ResolvedPermissions>,
    pub keeps: FileSystemSupport,
    pub attempt: ChangeAttempt,
    /// What prepared files were given, where they were not given it when they were prepared.
    pub dressed: BTreeMap<RepoPath, PreparedPermissions>,
    /// Why contents that are missing in the trash could not be made again.
    pub not_made: Option<String>,
    pub report: RestoreReport,
}

/// A file that waits to be moved into its place.
enum IncomingFile {
    /// Written for this restore.
    Prepared(PathBuf),
    /// The original file, in the trash.
    Kept(PathBuf),
}

impl IncomingFile {
    fn place(&self) -> &Path {
        match self {
            Self::Prepared(place) | Self::Kept(place) => place,
        }
    }
}

impl RestoreMoves<'_> {
    /// Opens and creates what the moves need.
    pub fn begin(&self, plan: &[PlannedPath<'_>], restore: &WorktreeRestore<'_>) -> Result<()> {
        // Only where permissions are known they are put back.
        if restore.beside.is_some() {
            self.open_folders(plan)?;
        }
        self.make_room(plan)
    }

    /// Creates the folder of the trash into which files will be moved.
    fn make_room(&self, plan: &[PlannedPath<'_>]) -> Result<()> {
        let goes = |planned: &PlannedPath<'_>| match planned.step {
            RestoreStep::Remove | RestoreStep::Swap => true,
            RestoreStep::Place | RestoreStep::Done | RestoreStep::Conflict | RestoreStep::Leave => false,
        };
        if plan.iter().any(goes) { self.trash.make_room(self.set()) } else { Ok(()) }
    }

    /// The set of the trash into which files are moved away now.
    fn set(&self) -> TrashSet {
        match self.attempt {
            ChangeAttempt::First | ChangeAttempt::Again => TrashSet::Found,
            ChangeAttempt::Back => TrashSet::PutThere,
        }
    }

    /// Moves away the files that the target does not have, then removes folders that became empty; but none that new files go into,
    /// nor the one that we were called in: whoever stands there would stand nowhere (git keeps that one too).
    pub fn remove_all(&mut self, plan: &[PlannedPath<'_>]) -> Result<()> {
        let mut folders = BTreeSet::new();
        if self.attempt != ChangeAttempt::First {
            // After a crash, a file may be gone while its folder is still there.
            let gone = plan.iter().filter(|planned| planned.step == RestoreStep::Done && planned.stamp.is_none());
            folders.extend(gone.flat_map(|planned| planned.path.folders_above()));
        }
        for planned in plan.iter().filter(|planned| planned.step == RestoreStep::Remove) {
            match self.take_away(planned) {
                Ok(true) => {
                    self.report.removed.push(planned.path.clone());
                    folders.extend(planned.path.folders_above());
                }
                Ok(false) => self.somebody_was_here(planned.path)?,
                Err(error) => self.failed(planned.path, error)?,
            }
        }
        let new = plan.iter().filter(|planned| matches!(planned.step, RestoreStep::Place | RestoreStep::Swap));
        let new: BTreeSet<&RepoPath> = new.map(|planned| planned.path).collect();
        let is_needed = |folder: &RepoPath| {
            let first = RepoPath::new([folder.as_bytes(), b"/"].concat());
            new.range::<RepoPath, _>(&first..).next().is_some_and(|path| path.within(folder).is_some())
        };
        let (root, here) = (self.root, env::current_dir().ok());
        let is_ours = |folder: &RepoPath| here.as_ref().is_some_and(|here| here.starts_with(root.join(folder.to_path())));
        let goes = |folder: &&RepoPath| !is_needed(folder) && (!is_ours(folder) || new.contains(*folder));
        // Deepest first.
        for folder in folders.iter().rev().filter(goes) {
            if let Err(error) = self.remove_if_empty(folder) {
                self.failed(folder, error)?;
            }
        }
        Ok(())
    }

    fn remove_if_empty(&self, folder: &RepoPath) -> Result<()> {
        match look(self.root, folder)? {
            PathOccupant::Folder => files::remove_empty_dir(&self.root.join(folder.to_path())).map(drop),
            PathOccupant::Missing
            | PathOccupant::Below(_)
            | PathOccupant::File(_)
            | PathOccupant::Link(..)
            | PathOccupant::Special => Ok(()),
        }
    }

    /// Moves the new files into their places.
    pub fn place_all(&mut self, plan: &[PlannedPath<'_>]) -> Result<()> {
        for planned in plan {
            match planned.step {
                RestoreStep::Swap | RestoreStep::Place => {}
                RestoreStep::Done | RestoreStep::Remove | RestoreStep::Conflict | RestoreStep::Leave => continue,
            }
            match self.place_one(planned) {
                Ok(true) => self.report.written.push(planned.path.clone()),
                Ok(false) => self.somebody_was_here(planned.path)?,
                Err(error) => self.failed(planned.path, error)?,
            }
        }
        Ok(())
    }

    /// Moves one file into its place. Returns whether the place was free or held the expected file.
    fn place_one(&mut self, planned: &PlannedPath<'_>) -> Result<bool> {
        let ready = self.ready(planned.path)?;
        let given = match &ready {
            IncomingFile::Prepared(_) => self.still_ready(planned.path)?,
            // A file from the trash still has its permissions.
            IncomingFile::Kept(_) => PermissionSource::Recorded,
        };
        let clear = match planned.step {
            RestoreStep::Swap => self.take_away(planned)?,
            RestoreStep::Place => self.clear_the_way(planned.path)?,
            RestoreStep::Done | RestoreStep::Remove | RestoreStep::Conflict | RestoreStep::Leave => return Ok(true),
        };
        if !clear {
            return Ok(false);
        }
        let stamp = FileTouchStamp::at(ready.place())?;
        match given {
            PermissionSource::New => self.as_made_there(planned.path)?,
            PermissionSource::Nothing | PermissionSource::Recorded | PermissionSource::Replaced => {}
        }
        if !self.put(ready.place(), planned.path)? {
            return Ok(false);
        }
        if let Some(file) = planned.new {
            self.report.placed.push(PlacedFile { path: planned.path.clone(), file: file.clone(), stamp });
        }
        env::fault_point("git.restore-placed");
        Ok(true)
    }

    /// Moves a file that is ready to its path. Its folders are there as a rule, so they are made only if they are missing.
    fn put(&self, ready: &Path, path: &RepoPath) -> Result<bool> {
        let place = self.root.join(path.to_path());
        match files::rename_no_replace(ready, &place) {
            Err(error) if error.is_of_something_gone() => {
                self.make_folders(path)?;
                files::rename_no_replace(ready, &place)
            }
            moved => moved,
        }
    }

    /// The file that shall be at a path, ready to be moved there. When reversing, this is the original file, if the trash
    /// has it.
    fn ready(&self, path: &RepoPath) -> Result<IncomingFile> {
        let prepared = || self.prepared.place(path).map(IncomingFile::Prepared);
        match self.attempt {
            ChangeAttempt::First | ChangeAttempt::Again => prepared(),
            ChangeAttempt::Back => match (self.trash.find(path)?, &self.not_made) {
                (Some(kept), _) => Ok(IncomingFile::Kept(kept)),
                (None, None) => prepared(),
                (None, Some(why)) => Err(Error::new(Code::GitFailed, "its content could not be rebuilt").why(why.clone())),
            },
        }
    }

    /// A path changed between look and move. This stops the restore, unless it reverses an attempt.
    fn somebody_was_here(&mut self, path: &RepoPath) -> Result<()> {
        match self.attempt {
            ChangeAttempt::First | ChangeAttempt::Again => Err(changed_meanwhile(self.root, &[path.to_string()])),
            ChangeAttempt::Back => {
                self.report.left.push(path.clone());
                Ok(())
            }
        }
    }

    /// Something could not be done to a path. This stops the restore, unless it reverses an attempt and waiting does not
    /// help.
    fn failed(&mut self, path: &RepoPath, error: Error) -> Result<()> {
        match self.attempt {
            ChangeAttempt::First | ChangeAttempt::Again => Err(vanished(error)),
            ChangeAttempt::Back if error.passes() => Err(error),
            ChangeAttempt::Back => {
                let now_at = self.trash.find(path).unwrap_or_default();
                self.report.failed.push(UnrestoredPath { path: path.clone(), why: error.to_string(), now_at });
                Ok(())
            }
        }
    }

    /// Moves a file that was recognised to the trash, and back if it turns out to be another file by now. Returns whether it
    /// was the expected file.
    fn take_away(&mut self, planned: &PlannedPath<'_>) -> Result<bool> {
        env::fault_point("git.restore-before-trash");
        let Some(moved) = self.trash.take_to(self.set(), self.root, planned.path)? else { return Ok(false) };
        env::fault_point("git.restore-in-trash");
        if Some(FileTouchStamp::at(&moved)?) == planned.stamp {
            return Ok(true);
        }
        if !files::rename_no_replace(&moved, &self.root.join(planned.path.to_path()))? {
            // Its place is taken again: the file is kept in the trash, and can be put back when the place is free.
            if let Some(now_at) = self.trash.set_apart(&moved, planned.path)? {
                self.report.moved_aside.push(MovedObstacle { path: planned.path.clone(), now_at });
            }
        }
        Ok(false)
    }

    /// Moves what no capture holds out of the way of a new file. Returns whether the way is clear.
    fn clear_the_way(&mut self, path: &RepoPath) -> Result<bool> {
        let nested = self.nested.above(path).filter(|folder| is_repository(&self.root.join(folder.to_path())));
        let blocker = match (nested, look(self.root, path)?) {
            (Some(folder), _) => folder,
            (None, PathOccupant::Missing) => return Ok(true),
            (None, PathOccupant::Below(above)) => above,
            (None, PathOccupant::File(_) | PathOccupant::Link(..) | PathOccupant::Folder | PathOccupant::Special) => path.clone(),
        };
        match self.attempt {
            ChangeAttempt::First | ChangeAttempt::Again => {}
            ChangeAttempt::Back => return Ok(false),
        }
        env::fault_point("git.restore-before-aside");
        if let Some(now_at) = self.trash.take_aside(self.root, &blocker)? {
            self.report.moved_aside.push(MovedObstacle { path: blocker, now_at });
        }
        Ok(true)
    }

    /// An empty folder stands for a submodule that is not checked out: it is created and removed with the submodule's entry,
    /// as in a checkout.
    pub fn make_way_for_submodules(&mut self) -> Result<()> {
        for submodule in self.report.submodules.clone() {
            if let Err(error) = self.make_way_for(&submodule) {
                self.failed(&submodule.path, error)?;
            }
        }
        Ok(())
    }

    fn make_way_for(&self, DifferingSubmodule { path, comes, goes }: &DifferingSubmodule) -> Result<()> {
        match look(self.root, path)? {
            PathOccupant::Folder if *goes => files::remove_empty_dir(&self.root.join(path.to_path())).map(drop),
            PathOccupant::Missing if *comes => {
                self.make_folders(path)?;
                files::create_users_dir(&self.root.join(path.to_path()))
            }
            PathOccupant::Missing
            | PathOccupant::Below(_)
            | PathOccupant::File(_)
            | PathOccupant::Link(..)
            | PathOccupant::Folder
            | PathOccupant::Special => Ok(()),
        }
    }

    pub(crate) fn make_folders(&self, path: &RepoPath) -> Result<()> {
        path.folders_above().try_for_each(|folder| self.make_folder(&folder))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use super::*;

    #[test]
    fn a_file_that_was_edited_between_look_and_move_is_put_back() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("w");
        std::fs::create_dir(&root).unwrap();
        std::fs::write(root.join("x"), b"looked at").unwrap();
        let stamp = Some(FileTouchStamp::at(&root.join("x")).unwrap());
        std::fs::write(root.join("x"), b"edited since").unwrap();
        let folder = dir.path().join("trash");
        let trash = Trash::open(&folder, &root).unwrap();
        let prepared = PreparedFiles::empty(dir.path());
        let path = RepoPath::new(&b"x"[..]);
        let report = RestoreReport::default();
        let nested = NestedRepositories::default();
        let keeps = FileSystemSupport { links: true, modes: true };
        let mut work = RestoreMoves {
            root: &root,
            trash,
            prepared: &prepared,
            nested,
            wanted: BTreeMap::new(),
            keeps,
            attempt: ChangeAttempt::First,
            dressed: BTreeMap::new(),
            not_made: None,
            report,
        };
        let error = work.place_all(&[PlannedPath { path: &path, step: RestoreStep::Swap, stamp, new: None }]).unwrap_err();
        assert_eq!(error.code(), Code::ChangedMeanwhile);
        work.attempt = ChangeAttempt::Back;
        work.place_all(&[PlannedPath { path: &path, step: RestoreStep::Swap, stamp, new: None }]).unwrap();
        assert_eq!(work.report.left, [path]);
        assert_eq!(std::fs::read(root.join("x")).unwrap(), b"edited since");
    }
}
