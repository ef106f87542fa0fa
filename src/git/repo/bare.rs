//! Bare repositories that people use through linked worktrees. git axiom treats one of these worktrees as the main one.
//!
//! The first command that sets up git axiom (such as `git axiom init`) chooses the worktree in which it is called. The choice
//! is recorded as the name of git's entry for the worktree (`worktrees/<name>`), which does not change when the worktree is
//! moved. The caller that reads this record calls [`BareRepositories::choose_main`].

use crate::repo::handles::BareRepositories;
use axiom_base::shell_word::shell_word;
use axiom_model::base::own_names::BRANCHES;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use axiom_base::env;
use axiom_base::error::{Code, Error, Result, some_of};

use super::ownership::folder_of;
use super::worktrees::Worktree;

/// At most this many worktrees are listed in an error message.
const NAMED: usize = 10;

impl BareRepositories<'_> {
    /// Sets the worktree of this entry as the main worktree of a bare repository. Call it before the main worktree is first
    /// looked up.
    pub fn choose_main(&self, entry: &str) {
        // The first choice stays, so that there are never two main worktrees in one run.
        let _ = self.repo.main.chosen.set(entry.to_owned());
    }

    /// The entry of the main worktree if the repository is bare, to be recorded.
    pub fn main_entry(&self) -> Option<String> {
        // A repository that was found without git is not bare.
        if self.repo.place.top.is_some() {
            return None;
        }
        let main = self.repo.worktrees().main_worktree().ok().filter(Worktree::is_registered)?;
        main.git_dir().file_name().and_then(OsStr::to_str).map(str::to_owned)
    }

    /// The error that no worktree is recorded as the main one, with a list of the worktrees.
    pub fn none_is_chosen(&self) -> Result<Error> {
        let what = format!("'{}' became bare after git axiom was set up in it", self.repo.common_dir().display());
        let error = Error::new(Code::BareRepository, what).why("none of its worktrees is the main one");
        Ok(self.with_worktrees(error)?.hint("git config core.bare false    if it was not meant to be bare"))
    }

    /// Checks that we were not called in the bare repository itself, where there are no files to work with.
    pub fn not_in_a_bare_one(&self) -> Result<()> {
        if !self.repo.is_bare() {
            return Ok(());
        }
        let error = Error::new(Code::BareRepository, format!("'{}' is bare", self.repo.common_dir().display()))
            .why("it has no working files");
        Err(match self.repo.worktrees().main_worktree() {
            Ok(main) => error.hint(format!("cd {}    its main worktree", shell_word(&main.path().display().to_string()))),
            Err(_) => self.with_worktrees(error)?,
        })
    }

    /// Checks that the caller's GIT_WORK_TREE does not set another main worktree for a bare repository that has linked ones.
    /// That worktree would be taken for the chosen one at a new path, and the next call in the chosen one for a move back.
    pub(crate) fn keeps_its_own_worktrees(&self) -> Result<()> {
        if self.repo.git_dir() != self.repo.common_dir()
            || env::var("GIT_WORK_TREE").is_none()
            || self.repo.worktree_owners().linked()?.is_empty()
        {
            return Ok(());
        }
        let says = self.repo.git().args(["config", "--type=bool", "--get", "core.bare"]).run()?;
        if says.stdout.strip_suffix(b"\n") != Some(b"true") {
            return Ok(());
        }
        let what = format!("'{}' is bare and has worktrees of its own", self.repo.common_dir().display());
        Err(self.with_worktrees(Error::new(Code::BareRepository, what).why("GIT_WORK_TREE names another worktree for it"))?)
    }

    /// The chosen main worktree; if none was chosen, the one in which we were called.
    pub(crate) fn main_of_bare(&self) -> Result<Worktree> {
        let is_here = self.repo.git_dir() != self.repo.common_dir();
        let git_dir = match self.repo.main.chosen.get() {
            Some(entry) => self.repo.common_dir().join("worktrees").join(entry),
            None if is_here => self.repo.git_dir().to_owned(),
            None => {
                let what = format!("'{}' is bare, and none of its worktrees is the main one", self.repo.common_dir().display());
                return Err(self.with_worktrees(Error::new(Code::BareRepository, what))?);
            }
        };
        // git's entry may still contain the old path of a worktree that was moved.
        let folder = if git_dir == self.repo.git_dir() { self.repo.worktrees().top_level()? } else { place_of(&git_dir)? };
        let main = folder.clone().map(|folder| Worktree::main_of_bare(folder, git_dir.clone()));
        match main.filter(|main| main.verify().is_ok()) {
            Some(main) => Ok(main),
            None => Err(self.main_is_gone(&git_dir, folder.as_deref())?),
        }
    }

    fn main_is_gone(&self, git_dir: &Path, folder: Option<&Path>) -> Result<Error> {
        let name = git_dir.file_name().unwrap_or_default().to_string_lossy();
        let what = format!("the main worktree '{name}' of the bare '{}' is gone", self.repo.common_dir().display());
        let error = Error::new(Code::BareRepository, what);
        let error = match folder {
            Some(folder) => error
                .why(format!("'{}' is not a worktree of it any more", folder.display()))
                .hint("git worktree repair PATH    if it was moved without git; then it is found again"),
            None => error.why("git has no entry for it any more"),
        };
        self.with_worktrees(error)
    }

    /// Adds a list of the worktrees, without those of tasks, and how to make one of them the main one.
    fn with_worktrees(&self, error: Error) -> Result<Error> {
        let mut places = Vec::new();
        for (git_dir, folder) in self.repo.worktree_owners().linked()? {
            let is_of_a_task =
                self.repo.registrations().branch_in(&git_dir)?.is_some_and(|branch| branch.as_str().starts_with(BRANCHES));
            if !is_of_a_task && Worktree::linked(folder.clone(), git_dir).verify().is_ok() {
                places.push(format!("'{}'", folder.display()));
            }
        }
        places.sort();
        if places.is_empty() {
            return Ok(error.hint("git worktree add PATH BRANCH    makes a worktree; then call git axiom in it"));
        }
        Ok(error
            .hint(format!("call git axiom in one of its worktrees: {}", some_of(&places, NAMED)))
            .hint("git axiom init    in one of them makes that one the main worktree"))
    }
}

/// The folder that an entry names, as a canonical path if the entry has a relative one.
fn place_of(git_dir: &Path) -> Result<Option<PathBuf>> {
    let folder = folder_of(git_dir)?;
    Ok(folder.map(|folder| if folder.starts_with(git_dir) { folder.canonicalize().unwrap_or(folder) } else { folder }))
}
