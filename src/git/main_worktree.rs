//! Where the main worktree is, and the one in which we were called.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Stdio;

use crate::env;
use crate::error::{Code, Error, Result};
use crate::process::command::command_with_callers_repository;

use super::program::run_captured;
use super::repository::{Repository, path_of};
use super::worktree_list::Worktree;

impl Repository {
    /// The main worktree.
    ///
    /// # Errors
    /// `BARE_REPOSITORY` where there is none; `REPOSITORY_UNSUPPORTED` where git keeps no record of where it is (a
    /// separate git directory seen from a linked worktree).
    pub fn main_worktree(&self) -> Result<Worktree> {
        if let Some(path) = self.main.get() {
            return Ok(Worktree::main(path.clone(), self.common_dir.clone()));
        }
        let path = self.find_main()?;
        Ok(Worktree::main(self.main.get_or_init(|| path).clone(), self.common_dir.clone()))
    }

    fn find_main(&self) -> Result<PathBuf> {
        if self.git_dir == self.common_dir
            && let Some(top) = &self.top
        {
            return Ok(top.clone());
        }
        if self.git_dir == self.common_dir
            && !self.bare
            && self.config.is_empty()
            && env::var("GIT_WORK_TREE").is_none()
            && self.common_dir.file_name() == Some(OsStr::new(".git"))
            && let (Ok(gix), Some(above)) = (self.gix(), self.common_dir.parent())
            && gix.config_snapshot().string("core.worktree").is_none()
            && !gix.config_snapshot().boolean("extensions.worktreeConfig").unwrap_or(false)
        {
            return Ok(above.to_owned());
        }
        if self.git_dir == self.common_dir
            && !self.bare
            && let Some(path) = self.top_level()?
        {
            return Ok(path);
        }
        let output = self.git().args(["config", "--null", "--get-regexp", r"^core\.(bare|worktree)$"]).run()?;
        for entry in output.stdout.split(|b| *b == 0) {
            let mut parts = entry.splitn(2, |b| *b == b'\n');
            let value = |part: Option<&[u8]>| part.unwrap_or(b"true").to_owned();
            match parts.next() {
                Some(b"core.worktree") => {
                    let path = self.common_dir.join(path_of(&value(parts.next())));
                    return path.canonicalize().map_err(|e| Error::io("find the worktree", &path, e));
                }
                Some(b"core.bare") if [&b"true"[..], b"yes", b"on", b"1"].contains(&&value(parts.next())[..]) => {
                    return Err(Error::new(
                        Code::BareRepository,
                        format!("'{}' has no main worktree", self.common_dir.display()),
                    )
                    .hint("work in a clone that is not bare"));
                }
                Some(_) | None => {}
            }
        }
        match self.common_dir.parent() {
            Some(above) if self.common_dir.file_name() == Some(OsStr::new(".git")) => Ok(above.to_owned()),
            Some(_) | None => {
                let what = format!("git does not say where the main worktree of '{}' is", self.common_dir.display());
                Err(Error::new(Code::RepositoryUnsupported, what).hint("run the command in the main worktree"))
            }
        }
    }

    fn top_level(&self) -> Result<Option<PathBuf>> {
        if let Some(top) = &self.top {
            return Ok(Some(top.clone()));
        }
        let mut command = command_with_callers_repository("git");
        command.current_dir(&self.cwd).env("LC_ALL", "C").stdin(Stdio::null());
        command.args(["rev-parse", "--path-format=absolute", "--show-toplevel"]);
        let output = run_captured(&mut command, None, "'git rev-parse'".to_owned())?;
        Ok(output.ok().then(|| path_of(output.stdout.strip_suffix(b"\n").unwrap_or(&output.stdout))))
    }

    /// The worktree in which we were called; the main one when called from inside the git directory.
    ///
    /// # Errors
    /// As [`Repository::main_worktree`].
    pub fn current_worktree(&self) -> Result<Worktree> {
        if self.git_dir == self.common_dir {
            return self.main_worktree();
        }
        match self.top_level()? {
            Some(path) => Ok(Worktree::linked(path, self.git_dir.clone())),
            None => self.main_worktree(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::scratch::{Scratch, git_at};
    use super::*;

    #[test]
    fn the_main_worktree_is_found_from_everywhere() {
        let scratch = Scratch::new(&[]);
        let linked = scratch.path().with_file_name("linked");
        scratch.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
        for from in [scratch.path(), scratch.path().join("sub"), scratch.path().join(".git"), linked.clone()] {
            let repo = Repository::discover(&from).unwrap();
            assert_eq!(repo.main_worktree().unwrap().path(), scratch.path(), "{}", from.display());
            assert_eq!(repo.common_dir(), scratch.path().join(".git"));
        }
        let repo = Repository::discover(&linked).unwrap();
        assert_eq!(repo.current_worktree().unwrap().path(), linked);
        assert_eq!(repo.worktrees().unwrap().len(), 2);
    }

    #[test]
    fn a_bare_repository_and_no_repository_have_their_own_errors() {
        let dir = tempfile::tempdir().unwrap();
        let error = Repository::discover(dir.path()).unwrap_err();
        assert_eq!(error.code(), Code::NotARepository);
        git_at(dir.path(), &["init", "-q", "--bare", "b"]);
        let repo = Repository::discover(&dir.path().join("b")).unwrap().isolated();
        assert!(repo.is_bare());
        assert_eq!(repo.main_worktree().unwrap_err().code(), Code::BareRepository);
    }

    #[test]
    fn a_bare_repository_asked_from_a_linked_worktree_has_no_main_worktree() {
        let scratch = Scratch::new(&[]);
        let dir = tempfile::tempdir().unwrap();
        let bare = dir.path().join("b.git");
        scratch.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
        git_at(&bare, &["worktree", "add", "-q", "../w", "main"]);
        let repo = Repository::discover(&dir.path().join("w")).unwrap().isolated();
        assert_eq!(repo.main_worktree().unwrap_err().code(), Code::BareRepository);
        let entries = repo.worktrees().unwrap();
        assert_eq!(entries.len(), 1);
        assert!(entries[0].present && !entries[0].worktree.is_main());
    }
}
