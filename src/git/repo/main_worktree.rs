//! Finds the main worktree, and the worktree in which we were called.

use crate::repo::handles::Worktrees;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Stdio;

use axiom_base::error::{Code, Error, Result};
use axiom_process::os::command::command_with_callers_repository;

use super::program::run_captured;
use super::shortcuts::FastWay;
use super::worktrees::Worktree;
use crate::repo::pointer_files::path_of;

/// The result of the search for the main worktree.
enum FoundMainWorktree {
    /// The path of the main worktree.
    At(PathBuf),
    /// The repository is bare: it has no main worktree of its own.
    Bare,
}

impl Worktrees<'_> {
    /// The main worktree.
    pub fn main_worktree(&self) -> Result<Worktree> {
        if let Some(main) = self.repo.main.worktree.get() {
            return Ok(main.clone());
        }
        self.repo.bare().keeps_its_own_worktrees()?;
        let main = match self.find_main()? {
            FoundMainWorktree::At(path) => Worktree::main(path, self.repo.common_dir().to_owned()),
            FoundMainWorktree::Bare => self.repo.bare().main_of_bare()?,
        };
        Ok(self.repo.main.worktree.get_or_init(|| main).clone())
    }

    fn find_main(&self) -> Result<FoundMainWorktree> {
        if self.repo.place.is_at_common_dir()
            && let Some(top) = &self.repo.place.top
        {
            return Ok(FoundMainWorktree::At(top.clone()));
        }
        if self.repo.place.is_at_common_dir()
            && !self.repo.is_bare()
            && self.repo.common_dir().file_name() == Some(OsStr::new(".git"))
            && self.repo.shortcuts().allow(FastWay::FindMainWorktree)
            && let Some(above) = self.repo.common_dir().parent()
        {
            return Ok(FoundMainWorktree::At(above.to_owned()));
        }
        if self.repo.place.is_at_common_dir()
            && !self.repo.is_bare()
            && let Some(path) = self.top_level()?
        {
            return Ok(FoundMainWorktree::At(path));
        }
        let output = self.repo.git().args(["config", "--null", "--get-regexp", r"^core\.(bare|worktree)$"]).run()?;
        for entry in output.stdout.split(|b| *b == 0) {
            let mut parts = entry.splitn(2, |b| *b == b'\n');
            let value = |part: Option<&[u8]>| part.unwrap_or(b"true").to_owned();
            match parts.next() {
                Some(b"core.worktree") => {
                    let path = self.repo.common_dir().join(path_of(&value(parts.next())));
                    return path.canonicalize().map(FoundMainWorktree::At).map_err(|e| Error::io("find the worktree", &path, e));
                }
                Some(b"core.bare") if [&b"true"[..], b"yes", b"on", b"1"].contains(&&value(parts.next())[..]) => {
                    return Ok(FoundMainWorktree::Bare);
                }
                Some(_) | None => {}
            }
        }
        match self.repo.common_dir().parent() {
            Some(above) if self.repo.common_dir().file_name() == Some(OsStr::new(".git")) => {
                Ok(FoundMainWorktree::At(above.to_owned()))
            }
            Some(_) | None => {
                let what = format!("git does not say where the main worktree of '{}' is", self.repo.common_dir().display());
                Err(Error::new(Code::RepositoryUnsupported, what).hint("run the command in the main worktree"))
            }
        }
    }

    pub(crate) fn top_level(&self) -> Result<Option<PathBuf>> {
        if let Some(top) = &self.repo.place.top {
            return Ok(Some(top.clone()));
        }
        let mut command = command_with_callers_repository("git");
        command.current_dir(&self.repo.place.cwd).env("LC_ALL", "C").stdin(Stdio::null());
        command.args(["rev-parse", "--path-format=absolute", "--show-toplevel"]);
        let output = run_captured(&mut command, None, "'git rev-parse'".to_owned())?;
        Ok(output.ok().then(|| path_of(output.stdout.strip_suffix(b"\n").unwrap_or(&output.stdout))))
    }

    /// The worktree in which we were called; the main one when called from inside the git directory.
    pub fn current_worktree(&self) -> Result<Worktree> {
        if self.repo.place.is_at_common_dir() {
            return self.main_worktree();
        }
        match self.top_level()? {
            // A repository that was found without git is not bare.
            Some(path) if self.repo.place.top.is_some() => Ok(Worktree::linked(path, self.repo.git_dir().to_owned())),
            Some(path) => match self.main_worktree() {
                Ok(main) if main.git_dir() == self.repo.git_dir() => Ok(main),
                Ok(_) | Err(_) => Ok(Worktree::linked(path, self.repo.git_dir().to_owned())),
            },
            None => self.main_worktree(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::repository::Repository;
    use crate::repo::scratch::{ScratchRepository, git_at};

    #[test]
    fn the_main_worktree_is_found_from_everywhere() {
        let scratch = ScratchRepository::new(&[]);
        let linked = scratch.path().with_file_name("linked");
        scratch.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
        for from in [scratch.path(), scratch.path().join("sub"), scratch.path().join(".git"), linked.clone()] {
            let repo = Repository::discover(&from).unwrap();
            assert_eq!(repo.worktrees().main_worktree().unwrap().path(), scratch.path(), "{}", from.display());
            assert_eq!(repo.common_dir(), scratch.path().join(".git"));
        }
        let repo = Repository::discover(&linked).unwrap();
        assert_eq!(repo.worktrees().current_worktree().unwrap().path(), linked);
        assert_eq!(repo.worktrees().list().unwrap().len(), 2);
    }

    #[test]
    fn a_bare_repository_and_no_repository_have_their_own_errors() {
        let dir = tempfile::tempdir().unwrap();
        let error = Repository::discover(dir.path()).unwrap_err();
        assert_eq!(error.code(), Code::NotARepository);
        git_at(dir.path(), &["init", "-q", "--bare", "b"]);
        let repo = Repository::discover(&dir.path().join("b")).unwrap().isolated();
        assert!(repo.is_bare());
        assert_eq!(repo.worktrees().main_worktree().unwrap_err().code(), Code::BareRepository);
    }

    #[test]
    fn of_a_bare_repository_the_worktree_in_which_we_are_called_is_the_main_one() {
        let scratch = ScratchRepository::new(&[]);
        let dir = tempfile::tempdir().unwrap();
        let bare = dir.path().join("b.git");
        scratch.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
        git_at(&bare, &["worktree", "add", "-q", "../w", "main"]);
        let repo = Repository::discover(&dir.path().join("w")).unwrap().isolated();
        let entries = repo.worktrees().list().unwrap();
        assert_eq!(entries.len(), 1);
        assert!(entries[0].present && entries[0].worktree.is_main());
        let in_bare = Repository::discover(&bare).unwrap().isolated();
        assert_eq!(in_bare.worktrees().main_worktree().unwrap_err().code(), Code::BareRepository);
        assert!(!in_bare.worktrees().list().unwrap()[0].worktree.is_main());
    }
}
