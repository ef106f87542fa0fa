//! Carries out the moves of one restore: what is replaced goes to the trash, what is new takes its place. The plan was made
//! before; only what another process changes at this moment is detected here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::domain::base::names::RepoPath;
use crate::env;
use crate::error::{Code, Error, Result};
use crate::files;

use super::nested_repositories::NestedRepositories;
use super::permissions::{Dressed, Given};
use super::place::{Found, Set, Stamp, Trash, look};
use super::plan::Step;
use super::prepared::Prepared;
use super::run::{changed_meanwhile, vanished};
use super::types::{Attempt, MovedAside, NotPutBack, Placed, Planned, Restore, RestoreReport, Submodule};
use crate::git::capture::permissions::Known;
use crate::git::repo::file_system::Keeps;
use crate::git::repo::nested::is_repository;

/// One restore while its moves are made.
pub(in crate::git) struct Work<'a> {
    pub root: &'a Path,
    pub trash: Trash<'a>,
    pub prepared: &'a Prepared,
    pub nested: NestedRepositories,
    /// The permissions that are recorded for the target.
    pub wanted: BTreeMap<RepoPath, Known>,
    pub keeps: Keeps,
    pub attempt: Attempt,
    /// What prepared files were given, where they were not given it when they were prepared.
    pub dressed: BTreeMap<RepoPath, Dressed>,
    /// Why contents that are missing in the trash could not be made again.
    pub not_made: Option<String>,
    pub report: RestoreReport,
}

/// A file that waits to be moved into its place.
enum Ready {
    /// Written for this restore.
    Prepared(PathBuf),
    /// The original file, in the trash.
    Kept(PathBuf),
}

impl Ready {
    fn place(&self) -> &Path {
        match self {
            Self::Prepared(place) | Self::Kept(place) => place,
        }
    }
}

impl Work<'_> {
    /// Opens and creates what the moves need.
    pub fn begin(&self, plan: &[Planned<'_>], restore: &Restore<'_>) -> Result<()> {
        // Only where permissions are known they are put back.
        if restore.beside.is_some() {
            self.open_folders(plan)?;
        }
        self.make_room(plan)
    }

    /// Creates the folder of the trash into which files will be moved.
    fn make_room(&self, plan: &[Planned<'_>]) -> Result<()> {
        let goes = |planned: &Planned<'_>| match planned.step {
            Step::Remove | Step::Swap => true,
            Step::Place | Step::Done | Step::Conflict | Step::Leave => false,
        };
        if plan.iter().any(goes) { self.trash.make_room(self.set()) } else { Ok(()) }
    }

    /// The set of the trash into which files are moved away now.
    fn set(&self) -> Set {
        match self.attempt {
            Attempt::First | Attempt::Again => Set::Found,
            Attempt::Back => Set::PutThere,
        }
    }

    /// Moves away the files that the target does not have, then removes folders that became empty.
    pub fn remove_all(&mut self, plan: &[Planned<'_>]) -> Result<()> {
        let mut folders = BTreeSet::new();
        if self.attempt != Attempt::First {
            // After a crash, a file may be gone while its folder is still there.
            let gone = plan.iter().filter(|planned| planned.step == Step::Done && planned.stamp.is_none());
            folders.extend(gone.flat_map(|planned| planned.path.folders_above()));
        }
        for planned in plan.iter().filter(|planned| planned.step == Step::Remove) {
            match self.take_away(planned) {
                Ok(true) => {
                    self.report.removed.push(planned.path.clone());
                    folders.extend(planned.path.folders_above());
                }
                Ok(false) => self.somebody_was_here(planned.path)?,
                Err(error) => self.failed(planned.path, error)?,
            }
        }
        // Deepest first.
        for folder in folders.iter().rev() {
            if let Err(error) = self.remove_if_empty(folder) {
                self.failed(folder, error)?;
            }
        }
        Ok(())
    }

    fn remove_if_empty(&self, folder: &RepoPath) -> Result<()> {
        match look(self.root, folder)? {
            Found::Folder => files::remove_empty_dir(&self.root.join(folder.to_path())).map(drop),
            Found::Missing | Found::Below(_) | Found::File(_) | Found::Link(..) | Found::Special => Ok(()),
        }
    }

    /// Moves the new files into their places.
    pub fn place_all(&mut self, plan: &[Planned<'_>]) -> Result<()> {
        for planned in plan {
            match planned.step {
                Step::Swap | Step::Place => {}
                Step::Done | Step::Remove | Step::Conflict | Step::Leave => continue,
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
    fn place_one(&mut self, planned: &Planned<'_>) -> Result<bool> {
        let ready = self.ready(planned.path)?;
        let given = match &ready {
            Ready::Prepared(_) => self.still_ready(planned.path)?,
            // A file from the trash still has its permissions.
            Ready::Kept(_) => Given::Recorded,
        };
        let clear = match planned.step {
            Step::Swap => self.take_away(planned)?,
            Step::Place => self.clear_the_way(planned.path)?,
            Step::Done | Step::Remove | Step::Conflict | Step::Leave => return Ok(true),
        };
        if !clear {
            return Ok(false);
        }
        let stamp = Stamp::at(ready.place())?;
        match given {
            Given::New => self.as_made_there(planned.path)?,
            Given::Nothing | Given::Recorded | Given::Replaced => {}
        }
        if !self.put(ready.place(), planned.path)? {
            return Ok(false);
        }
        if let Some(file) = planned.new {
            self.report.placed.push(Placed { path: planned.path.clone(), file: file.clone(), stamp });
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
    fn ready(&self, path: &RepoPath) -> Result<Ready> {
        let prepared = || self.prepared.place(path).map(Ready::Prepared);
        match self.attempt {
            Attempt::First | Attempt::Again => prepared(),
            Attempt::Back => match (self.trash.find(path)?, &self.not_made) {
                (Some(kept), _) => Ok(Ready::Kept(kept)),
                (None, None) => prepared(),
                (None, Some(why)) => Err(Error::new(Code::GitFailed, "its content could not be rebuilt").why(why.clone())),
            },
        }
    }

    /// A path changed between look and move. This stops the restore, unless it reverses an attempt.
    fn somebody_was_here(&mut self, path: &RepoPath) -> Result<()> {
        match self.attempt {
            Attempt::First | Attempt::Again => Err(changed_meanwhile(self.root, &[path.to_string()])),
            Attempt::Back => {
                self.report.left.push(path.clone());
                Ok(())
            }
        }
    }

    /// Something could not be done to a path. This stops the restore, unless it reverses an attempt and waiting does not
    /// help.
    fn failed(&mut self, path: &RepoPath, error: Error) -> Result<()> {
        match self.attempt {
            Attempt::First | Attempt::Again => Err(vanished(error)),
            Attempt::Back if error.passes() => Err(error),
            Attempt::Back => {
                let now_at = self.trash.find(path).unwrap_or_default();
                self.report.failed.push(NotPutBack { path: path.clone(), why: error.to_string(), now_at });
                Ok(())
            }
        }
    }

    /// Moves a file that was recognised to the trash, and back if it turns out to be another file by now. Returns whether it
    /// was the expected file.
    fn take_away(&mut self, planned: &Planned<'_>) -> Result<bool> {
        env::fault_point("git.restore-before-trash");
        let Some(moved) = self.trash.take_to(self.set(), self.root, planned.path)? else { return Ok(false) };
        env::fault_point("git.restore-in-trash");
        if Some(Stamp::at(&moved)?) == planned.stamp {
            return Ok(true);
        }
        if !files::rename_no_replace(&moved, &self.root.join(planned.path.to_path()))? {
            // Its place is taken again: the file is kept in the trash, and can be put back when the place is free.
            if let Some(now_at) = self.trash.set_apart(&moved, planned.path)? {
                self.report.moved_aside.push(MovedAside { path: planned.path.clone(), now_at });
            }
        }
        Ok(false)
    }

    /// Moves what no capture holds out of the way of a new file. Returns whether the way is clear.
    fn clear_the_way(&mut self, path: &RepoPath) -> Result<bool> {
        let nested = self.nested.above(path).filter(|folder| is_repository(&self.root.join(folder.to_path())));
        let blocker = match (nested, look(self.root, path)?) {
            (Some(folder), _) => folder,
            (None, Found::Missing) => return Ok(true),
            (None, Found::Below(above)) => above,
            (None, Found::File(_) | Found::Link(..) | Found::Folder | Found::Special) => path.clone(),
        };
        match self.attempt {
            Attempt::First | Attempt::Again => {}
            Attempt::Back => return Ok(false),
        }
        env::fault_point("git.restore-before-aside");
        if let Some(now_at) = self.trash.take_aside(self.root, &blocker)? {
            self.report.moved_aside.push(MovedAside { path: blocker, now_at });
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

    fn make_way_for(&self, Submodule { path, comes, goes }: &Submodule) -> Result<()> {
        match look(self.root, path)? {
            Found::Folder if *goes => files::remove_empty_dir(&self.root.join(path.to_path())).map(drop),
            Found::Missing if *comes => {
                self.make_folders(path)?;
                files::create_users_dir(&self.root.join(path.to_path()))
            }
            Found::Missing | Found::Below(_) | Found::File(_) | Found::Link(..) | Found::Folder | Found::Special => Ok(()),
        }
    }

    pub(in crate::git) fn make_folders(&self, path: &RepoPath) -> Result<()> {
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
        let stamp = Some(Stamp::at(&root.join("x")).unwrap());
        std::fs::write(root.join("x"), b"edited since").unwrap();
        let folder = dir.path().join("trash");
        let trash = Trash::open(&folder, &root).unwrap();
        let prepared = Prepared::empty(dir.path());
        let path = RepoPath::new(&b"x"[..]);
        let report = RestoreReport::default();
        let nested = NestedRepositories::default();
        let keeps = Keeps { links: true, modes: true };
        let mut work = Work {
            root: &root,
            trash,
            prepared: &prepared,
            nested,
            wanted: BTreeMap::new(),
            keeps,
            attempt: Attempt::First,
            dressed: BTreeMap::new(),
            not_made: None,
            report,
        };
        let error = work.place_all(&[Planned { path: &path, step: Step::Swap, stamp, new: None }]).unwrap_err();
        assert_eq!(error.code(), Code::ChangedMeanwhile);
        work.attempt = Attempt::Back;
        work.place_all(&[Planned { path: &path, step: Step::Swap, stamp, new: None }]).unwrap();
        assert_eq!(work.report.left, [path]);
        assert_eq!(std::fs::read(root.join("x")).unwrap(), b"edited since");
    }
}
