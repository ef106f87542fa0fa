//! A worktree whose registration is damaged: where it is, what is wrong, and what a human can do.

use std::path::{Path, PathBuf};

use axiom_base::shell_word::shell_word;
use axiom_model::base::names::Oid;
use axiom_model::recovery::torn::is_torn;

/// What git always writes into `commondir`, without the line's end.
pub(crate) const COMMON_DIR: &[u8] = b"../..";

/// Whether a file has no content, as after a power loss: it is empty, or contains only zeros and white space.
pub(super) fn is_blank(content: &[u8]) -> bool {
    content.iter().all(|byte| *byte == 0 || byte.is_ascii_whitespace())
}

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
            (Some(folder), false) => format!("git worktree repair {}", shell_word(&folder.display().to_string())),
        }
    }
}

/// One of the files that connect a worktree and its repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RegistrationFile {
    /// `commondir`: the path of the repository. Always the same.
    CommonDir,
    /// `gitdir`: the path of the worktree's `.git` file.
    GitDir,
    /// `HEAD`: the branch or commit that is checked out.
    Head,
    /// `.git` in the folder: the path of the registration.
    Pointer,
    /// The file of the branch that HEAD is on.
    Branch,
    /// The index.
    Index,
}

impl RegistrationFile {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::CommonDir => "commondir",
            Self::GitDir => "gitdir",
            Self::Head => "HEAD",
            Self::Pointer => ".git",
            Self::Branch => "the branch",
            Self::Index => "index",
        }
    }

    /// Whether the content is valid for git.
    pub(super) fn is_sound(self, content: &[u8]) -> bool {
        let text = content.trim_ascii();
        let is_path = |path: &[u8]| !path.is_empty() && !path.contains(&0);
        match self {
            Self::CommonDir => is_path(text) && !is_torn(content, COMMON_DIR),
            // git always writes the path of a `.git`: anything else is the beginning of one.
            Self::GitDir => is_path(text) && (text == b".git" || text.ends_with(b"/.git")),
            Self::Head => match text.strip_prefix(b"ref:") {
                Some(name) => is_path(text) && name.trim_ascii().starts_with(b"refs/"),
                None => std::str::from_utf8(text).is_ok_and(|hex| Oid::new(hex).is_ok()),
            },
            Self::Pointer | Self::Branch => !is_blank(content),
            Self::Index => content.starts_with(b"DIRC"),
        }
    }
}
