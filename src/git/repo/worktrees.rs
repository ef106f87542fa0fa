//! Worktrees, and the check that a folder still is one.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_model::base::names::RepoPath;

use super::pointer_files::{POINTER_LIMIT, is_same_place, linked_to, path_of, trimmed};
use crate::base::flat_name::flat_name;

/// A worktree: its folder, and the git directory with its HEAD and index.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Worktree {
    path: PathBuf,
    git_dir: PathBuf,
    role: WorktreeRole,
    /// An index in the place of its own.
    index: Option<PathBuf>,
}

/// The role of a worktree for git axiom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum WorktreeRole {
    /// The main worktree, for git too.
    Main,
    /// The main worktree of a bare repository; for git it is a linked one.
    MainOfBare,
    /// Any other worktree.
    Linked,
    /// The worktree of a submodule, in its own repository.
    Submodule,
}

impl Worktree {
    pub(crate) fn main(path: PathBuf, git_dir: PathBuf) -> Self {
        Self { path, git_dir, role: WorktreeRole::Main, index: None }
    }

    pub(crate) fn main_of_bare(path: PathBuf, git_dir: PathBuf) -> Self {
        Self { path, git_dir, role: WorktreeRole::MainOfBare, index: None }
    }

    pub(crate) fn linked(path: PathBuf, git_dir: PathBuf) -> Self {
        Self { path, git_dir, role: WorktreeRole::Linked, index: None }
    }

    pub(crate) fn submodule(path: PathBuf, git_dir: PathBuf) -> Self {
        Self { path, git_dir, role: WorktreeRole::Submodule, index: None }
    }

    /// Whether it is the worktree of a submodule.
    pub fn is_submodule(&self) -> bool {
        self.role == WorktreeRole::Submodule
    }

    /// The folder with the files.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of the folder as text, as the log and checkpoints record it.
    pub fn path_text(&self) -> Result<String> {
        utf8(&self.path, if self.role == WorktreeRole::Main { "mv" } else { "git worktree move" }).map(str::to_owned)
    }

    /// What its part of a trash is called: another name for each worktree.
    pub fn name_in_trash(&self) -> Result<OsString> {
        match self.role {
            WorktreeRole::Main | WorktreeRole::MainOfBare => Ok("main".into()),
            WorktreeRole::Linked => Ok(self.git_dir.file_name().map_or_else(|| "main".into(), OsStr::to_os_string)),
            WorktreeRole::Submodule => {
                Ok(format!("submodule-{}", flat_name(&RepoPath::new(self.path.as_os_str().as_bytes()))?).into())
            }
        }
    }

    /// An index in the place of its own, if it is read with one.
    pub(crate) fn other_index(&self) -> Option<&Path> {
        self.index.as_deref()
    }

    /// The git directory of this worktree, which contains its HEAD and index.
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// Whether it is the main worktree.
    pub fn is_main(&self) -> bool {
        match self.role {
            WorktreeRole::Main | WorktreeRole::MainOfBare => true,
            WorktreeRole::Linked | WorktreeRole::Submodule => false,
        }
    }

    /// Whether git has an entry for it among the linked worktrees.
    pub(crate) fn is_registered(&self) -> bool {
        match self.role {
            WorktreeRole::Main | WorktreeRole::Submodule => false,
            WorktreeRole::MainOfBare | WorktreeRole::Linked => true,
        }
    }

    /// The index file that its calls of git use.
    pub fn index_file(&self) -> PathBuf {
        self.index.clone().unwrap_or_else(|| self.git_dir.join("index"))
    }

    /// Why it is locked, if it is and can be.
    pub(super) fn reason_of_lock(&self) -> Option<String> {
        if !self.is_registered() {
            return None;
        }
        let reason = files::read_optional(&self.git_dir.join("locked"), POINTER_LIMIT).ok().flatten()?;
        Some(String::from_utf8_lossy(&reason).trim().to_owned())
    }

    /// The same git directory with another folder for its files, in which contents are prepared.
    pub(crate) fn with_files_in(&self, folder: &Path) -> Self {
        Self { path: folder.to_owned(), git_dir: self.git_dir.clone(), role: WorktreeRole::Main, index: self.index.clone() }
    }

    /// The same worktree, read with an index in the place of its own.
    pub(crate) fn with_index(&self, index: &Path) -> Self {
        Self { index: Some(index.to_owned()), ..self.clone() }
    }

    /// Checks that the folder is still a worktree of this git directory. Call it before every write.
    pub fn verify(&self) -> Result<()> {
        let broken = |why: &str| {
            Err(Error::new(
                Code::WorkspaceBroken,
                format!("'{}' is no longer a worktree of this repository", self.path.display()),
            )
            .why(why.to_owned())
            .hint("run 'git worktree repair', or 'git axiom recover'"))
        };
        if !self.path.is_dir() {
            return broken("the folder is gone");
        }
        if self.role == WorktreeRole::Submodule {
            let dot = self.path.join(".git");
            let is_gone = matches!(std::fs::symlink_metadata(&dot), Err(e) if files::says_nothing_is_there(&e));
            // Whoever made this value has seen that the git directory names the folder.
            if is_gone || is_same_place(&dot, &self.git_dir) {
                return Ok(());
            }
        }
        if !self.is_registered() && self.role != WorktreeRole::Submodule {
            return Ok(());
        }
        let pointer = self.path.join(".git");
        if linked_to(&pointer).is_some_and(|target| is_same_place(&self.path.join(target), &self.git_dir)) {
            return Ok(());
        }
        let content = match files::read_small(&pointer, POINTER_LIMIT)? {
            files::SmallFile::Content(content) => content,
            files::SmallFile::Nothing => return broken("its .git file is gone"),
            files::SmallFile::Odd(what) => return broken(&format!("its .git is {what}")),
        };
        let Some(target) = content.strip_prefix(b"gitdir: ") else { return broken("its .git file is damaged") };
        let target = self.path.join(path_of(trimmed(target)));
        if is_same_place(&target, &self.git_dir) { Ok(()) } else { broken("its .git file points elsewhere") }
    }
}

/// A path as text; `moves` is the command with which the user can move the folder.
pub(super) fn utf8<'p>(path: &'p Path, moves: &str) -> Result<&'p str> {
    path.to_str().ok_or_else(|| {
        Error::new(Code::RepositoryUnsupported, format!("the path '{}' is not UTF-8", path.display()))
            .why("git axiom could not restore checkpoints there, so it makes none")
            .hint(format!("{moves} '{}' to a place with a plain name", path.display()))
    })
}
