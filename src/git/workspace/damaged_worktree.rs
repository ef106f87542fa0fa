//! A worktree whose registration is damaged: where it is, what is wrong, and what a human can do.

use std::path::{Path, PathBuf};

use super::registration::RegistrationFile;

/// A linked worktree whose files git cannot read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedWorktree {
    pub(crate) registration: PathBuf,
    pub(crate) folder: Option<PathBuf>,
    pub(crate) parts: Vec<RegistrationFile>,
    pub(crate) half_made: bool,
    /// Why its files could not even be looked at.
    pub(crate) unread: Option<String>,
}

impl DamagedWorktree {
    /// The folder of the worktree; its registration if the folder is not known.
    pub fn place(&self) -> &Path {
        self.folder.as_deref().unwrap_or(&self.registration)
    }

    /// The folder, if it is known.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Whether this is the worktree's git directory.
    pub fn is_at(&self, git_dir: &Path) -> bool {
        git_dir == self.registration
    }

    /// Whether nothing but its index is damaged: its files can still be captured.
    pub fn lacks_only_its_index(&self) -> bool {
        self.unread.is_none() && !self.half_made && self.parts == [RegistrationFile::Index]
    }

    /// What is wrong, for error messages.
    pub fn why(&self) -> String {
        if let Some(unread) = &self.unread {
            return unread.clone();
        }
        let names: Vec<&str> = self.parts.iter().map(|part| part.name()).collect();
        let (names, verb) = (names.join(" and "), if names.len() == 1 { "is" } else { "are" });
        match self.parts[..] {
            [RegistrationFile::Pointer] => format!("its .git is empty or torn, and belongs to '{}'", self.registration.display()),
            [RegistrationFile::Branch] => "the branch that it is on has no content".to_owned(),
            [RegistrationFile::Branch, RegistrationFile::Index] => {
                "the branch that it is on has no content, nor has its index".to_owned()
            }
            _ => format!("{names} in '{}' {verb} empty, torn or gone", self.registration.display()),
        }
    }

    /// The git commands with which the user can mend it.
    pub fn by_hand(&self) -> String {
        let registration = self.registration.display();
        if self.unread.is_some() {
            return format!("ls -ld '{}' '{registration}'    shows whose it is: make it readable", self.place().display());
        }
        if self.half_made {
            return "git worktree list; git worktree remove -f -f PATH    removes what was never finished".to_owned();
        }
        if self.parts.contains(&RegistrationFile::Branch) {
            return "git fsck --lost-found    lists commits; git branch -f NAME COMMIT    sets a branch".to_owned();
        }
        match (&self.folder, self.parts.contains(&RegistrationFile::Head)) {
            (None, _) => "git worktree repair PATH    with the path of its folder".to_owned(),
            (Some(_), true) => format!("echo 'ref: refs/heads/BRANCH' > '{registration}/HEAD'    with the branch it was on"),
            (Some(folder), false) => format!("git worktree repair '{}'", folder.display()),
        }
    }
}
