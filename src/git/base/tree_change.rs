//! What differs between two trees.

use std::sync::Mutex;

use crate::base::modes::{GITLINK, SYMLINK};
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::names::{Oid, RepoPath};
use axiom_model::operation::change_json::FileChange;

/// Mode and id of a file in a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileId {
    /// The mode, such as `0o100755`.
    pub mode: u32,
    /// The blob, or the commit of a submodule.
    pub oid: Oid,
}

impl FileId {
    /// Whether it is a regular file, executable or not.
    pub fn is_regular(&self) -> bool {
        self.mode & 0o170_000 == 0o100_000
    }

    /// Whether it is a symbolic link.
    pub fn is_link(&self) -> bool {
        self.mode == SYMLINK
    }

    /// Whether it is the commit of a submodule.
    pub fn is_submodule(&self) -> bool {
        self.mode == GITLINK
    }
}

/// The tree differences that were computed last.
pub(crate) type TreeDiffCache = Mutex<Vec<((Oid, Oid), Vec<TreeChange>)>>;

/// A path in which two trees differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeChange {
    /// The path.
    pub path: RepoPath,
    /// The file in the first tree.
    pub old: Option<FileId>,
    /// The file in the second tree.
    pub new: Option<FileId>,
}

impl TreeChange {
    /// The change in the opposite direction.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self { path: self.path, old: self.new, new: self.old }
    }

    /// Whether the file is added, changed or deleted.
    pub fn what(&self) -> FileChange {
        fn side(file: &Option<FileId>) -> Option<(u32, &Oid)> {
            file.as_ref().map(|file| (file.mode, &file.oid))
        }
        FileChange::between(side(&self.old), side(&self.new))
    }

    /// Whether the change adds, changes or deletes a file in a worktree. A submodule entry does not: the files of a
    /// submodule or nested repository stay as they are when its commit in the tree changes.
    pub fn changes_a_file(&self) -> bool {
        let is_file = |side: &Option<FileId>| side.as_ref().is_some_and(|file| !file.is_submodule());
        is_file(&self.old) || is_file(&self.new)
    }
}

/// Parses the output of `--raw -z`.
pub(crate) fn parse_raw(bytes: &[u8]) -> Result<Vec<TreeChange>> {
    let unclear = || Error::new(Code::GitFailed, "cannot make sense of a list of changes that git printed");
    let mut changes = Vec::new();
    let mut fields = bytes.split(|b| *b == 0);
    while let Some(meta) = fields.next().filter(|field| !field.is_empty()) {
        let path = RepoPath::new(fields.next().ok_or_else(unclear)?);
        let meta = std::str::from_utf8(meta).ok().and_then(|m| m.strip_prefix(':')).ok_or_else(unclear)?;
        let parts: Vec<&str> = meta.split(' ').collect();
        let [old_mode, new_mode, old_oid, new_oid, _] = parts[..] else { return Err(unclear()) };
        let side = |mode: &str, oid: &str| -> Result<Option<FileId>> {
            let mode = u32::from_str_radix(mode, 8).map_err(|_| unclear())?;
            if mode == 0 { Ok(None) } else { Ok(Some(FileId { mode, oid: Oid::new(oid)? })) }
        };
        changes.push(TreeChange { path, old: side(old_mode, old_oid)?, new: side(new_mode, new_oid)? });
    }
    Ok(changes)
}
