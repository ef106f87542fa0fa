//! The moves of one restore: what is replaced goes to the trash, what is new takes its place. What is to be moved was decided
//! before; only what somebody does at this very moment is found here.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::domain::names::RepoPath;
use crate::env;
use crate::error::Result;
use crate::files;

use super::aside::is_repository;
use super::file_system::Keeps;
use super::foreign::Foreign;
use super::modes::{NarrowMode, execute_as, narrow_to, recorded};
use super::place::{Found, Stamp, Trash, look};
use super::restore::{Attempt, MovedAside, Placed, Planned, RestoreReport, Submodule, changed_meanwhile};
use super::restore_plan::Step;
use super::staging::Staged;

/// The moves of one restore.
pub(super) struct Work<'a> {
    pub root: &'a Path,
    pub trash: Trash<'a>,
    pub staged: &'a Staged,
    pub foreign: Foreign,
    /// The permissions that the target has.
    pub modes: &'a [NarrowMode],
    pub keeps: Keeps,
    pub attempt: Attempt,
    pub report: RestoreReport,
}

impl Work<'_> {
    /// Moves away what the target lacks, then folders that became empty.
    pub fn remove_all(&mut self, plan: &[Planned<'_>]) -> Result<()> {
        let mut folders = BTreeSet::new();
        if self.attempt != Attempt::First {
            // What a crash came before: a file is gone, and its folder is not.
            let gone = plan.iter().filter(|planned| planned.step == Step::Done && planned.stamp.is_none());
            folders.extend(gone.flat_map(|planned| planned.path.folders_above()));
        }
        for planned in plan.iter().filter(|planned| planned.step == Step::Remove) {
            if !self.take_away(planned)? {
                self.somebody_was_here(planned.path)?;
                continue;
            }
            self.report.removed.push(planned.path.clone());
            folders.extend(planned.path.folders_above());
        }
        // Deepest first.
        for folder in folders.iter().rev() {
            if matches!(look(self.root, folder)?, Found::Folder) {
                files::remove_empty_dir(&self.root.join(folder.to_path()))?;
            }
        }
        Ok(())
    }

    /// Puts the new files into their places.
    pub fn place_all(&mut self, plan: &[Planned<'_>]) -> Result<()> {
        for planned in plan {
            let clear = match planned.step {
                Step::Swap => {
                    self.keep_mode(&self.root.join(planned.path.to_path()), planned.path)?;
                    self.take_away(planned)?
                }
                Step::Place => {
                    // An earlier try moved away what is replaced.
                    if let Some(moved) = self.trash.find(planned.path)? {
                        self.keep_mode(&moved, planned.path)?;
                    }
                    self.clear_the_way(planned.path)?
                }
                Step::Done | Step::Remove | Step::Conflict | Step::Leave => continue,
            };
            if let Some(mode) = recorded(self.modes, planned.path).filter(|_| clear) {
                narrow_to(&self.staged.place(planned.path), mode)?;
            }
            let stamp = if clear { Some(Stamp::at(&self.staged.place(planned.path))?) } else { None };
            if !clear || !self.place(planned.path)? {
                self.somebody_was_here(planned.path)?;
                continue;
            }
            if let (Some(file), Some(stamp)) = (planned.new, stamp) {
                self.report.placed.push(Placed { path: planned.path.clone(), file: file.clone(), stamp });
            }
            env::fault_point("git.restore-placed");
            self.report.written.push(planned.path.clone());
        }
        Ok(())
    }

    /// What replaces a file is no more open than that is; and where git looks at no execute bits, it has that file's.
    fn keep_mode(&self, replaced: &Path, path: &RepoPath) -> Result<()> {
        let Some(meta) = files::metadata(replaced)?.filter(std::fs::Metadata::is_file) else { return Ok(()) };
        let (ready, mode) = (self.staged.place(path), meta.permissions().mode());
        if !self.keeps.modes {
            execute_as(&ready, mode)?;
        }
        narrow_to(&ready, mode)
    }

    /// Puts a new file into its place; says whether that was free.
    fn place(&self, path: &RepoPath) -> Result<bool> {
        self.make_folders(path)?;
        files::rename_no_replace(&self.staged.place(path), &self.root.join(path.to_path()))
    }

    /// A path changed between look and move: that stops everything, unless an attempt is taken back.
    fn somebody_was_here(&mut self, path: &RepoPath) -> Result<()> {
        match self.attempt {
            Attempt::First | Attempt::Again => Err(changed_meanwhile(self.root, &[path.to_string()])),
            Attempt::Back => {
                self.report.left.push(path.clone());
                Ok(())
            }
        }
    }

    /// Moves a file that was recognised to the trash, and back if it turns out to be another one by now; says whether it
    /// was the right one.
    fn take_away(&mut self, planned: &Planned<'_>) -> Result<bool> {
        env::fault_point("git.restore-before-trash");
        let Some(moved) = self.trash.take(self.root, planned.path)? else { return Ok(false) };
        env::fault_point("git.restore-in-trash");
        if Some(Stamp::at(&moved)?) == planned.stamp {
            return Ok(true);
        }
        if !files::rename_no_replace(&moved, &self.root.join(planned.path.to_path()))? {
            self.report.moved_aside.push(MovedAside { path: planned.path.clone(), now_at: moved });
        }
        Ok(false)
    }

    /// Moves what no capture holds out of the way of a new file; says whether the way is clear.
    fn clear_the_way(&mut self, path: &RepoPath) -> Result<bool> {
        let foreign = self.foreign.above(path).filter(|folder| is_repository(&self.root.join(folder.to_path())));
        let blocker = match (foreign, look(self.root, path)?) {
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

    /// An empty folder stands for a submodule that is not there: it comes and goes with its entry, as in a checkout.
    pub fn make_way_for_submodules(&self) -> Result<()> {
        for Submodule { path, comes, goes } in &self.report.submodules {
            match look(self.root, path)? {
                Found::Folder if *goes => drop(files::remove_empty_dir(&self.root.join(path.to_path()))?),
                Found::Missing if *comes => {
                    self.make_folders(path)?;
                    files::create_users_dir(&self.root.join(path.to_path()))?;
                }
                Found::Missing | Found::Below(_) | Found::File(_) | Found::Link(..) | Found::Folder | Found::Special => {}
            }
        }
        Ok(())
    }

    fn make_folders(&self, path: &RepoPath) -> Result<()> {
        for folder in path.folders_above() {
            let place = self.root.join(folder.to_path());
            files::create_users_dir(&place)?;
            if let Some(mode) = recorded(self.modes, &folder) {
                narrow_to(&place, mode)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use crate::error::Code;

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
        let staged = Staged::empty(dir.path());
        let path = RepoPath::new(&b"x"[..]);
        let report = RestoreReport::default();
        let foreign = Foreign::default();
        let modes = &[][..];
        let keeps = Keeps { links: true, modes: true };
        let mut work = Work { root: &root, trash, staged: &staged, foreign, modes, keeps, attempt: Attempt::First, report };
        let error = work.place_all(&[Planned { path: &path, step: Step::Swap, stamp, new: None }]).unwrap_err();
        assert_eq!(error.code(), Code::ChangedMeanwhile);
        work.attempt = Attempt::Back;
        work.place_all(&[Planned { path: &path, step: Step::Swap, stamp, new: None }]).unwrap();
        assert_eq!(work.report.left, [path]);
        assert_eq!(std::fs::read(root.join("x")).unwrap(), b"edited since");
    }
}
