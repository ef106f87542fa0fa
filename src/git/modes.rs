//! Permissions that are narrower than usual, of which git keeps nothing: a secret must not come back readable by all.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::domain::names::RepoPath;
use crate::error::{Error, Result};
use crate::files;

use super::place::{Found, look};
use super::worktree_list::Worktree;

/// Reading by group and others.
const READ: u32 = 0o044;

/// A file or folder with permissions narrower than usual.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NarrowMode {
    /// Where.
    pub path: RepoPath,
    /// Its permissions.
    pub mode: u32,
}

/// What is usual in a worktree.
#[derive(Debug, Clone, Copy)]
pub(super) struct Usual {
    read: u32,
}

impl Usual {
    /// By the index, which git makes with the user's umask.
    pub fn of(worktree: &Worktree) -> Self {
        let mode = std::fs::metadata(worktree.index_file()).map_or(0o644, |meta| meta.permissions().mode());
        Self { read: mode & READ }
    }

    /// Whether fewer may read than usual.
    pub fn is_narrow(self, mode: u32) -> bool {
        mode & self.read != self.read
    }

    /// Those of the paths, and of the folders above them, that are narrower than usual.
    ///
    /// # Errors
    /// `IO_FAILED`.
    pub fn narrow_ones<'p>(self, root: &Path, paths: impl Iterator<Item = &'p RepoPath>) -> Result<Vec<NarrowMode>> {
        let mut all: BTreeSet<RepoPath> = BTreeSet::new();
        for path in paths {
            all.extend(path.folders_above());
            all.insert(path.clone());
        }
        let mut narrow = Vec::new();
        for path in all {
            let place = root.join(path.to_path());
            let Some(meta) = files::metadata(&place)? else { continue };
            let mode = meta.permissions().mode() & 0o777;
            if !meta.is_symlink() && self.is_narrow(mode) {
                narrow.push(NarrowMode { path, mode });
            }
        }
        Ok(narrow)
    }
}

/// The recorded permissions of a path; they are recorded in order.
pub(super) fn recorded(modes: &[NarrowMode], path: &RepoPath) -> Option<u32> {
    let place = modes.binary_search_by(|narrow| narrow.path.cmp(path)).ok()?;
    modes.get(place).map(|narrow| narrow.mode)
}

/// Lets nobody but the owner use `place` in a way that `mode` does not let them; nothing where nothing is there.
///
/// # Errors
/// `IO_FAILED`.
pub(super) fn narrow_to(place: &Path, mode: u32) -> Result<()> {
    let Some(meta) = files::metadata(place)? else { return Ok(()) };
    let now = meta.permissions().mode() & 0o777;
    // Who may not read may not do anything.
    let denied = [0o040, 0o004].iter().filter(|bit| mode & **bit == 0).map(|bit| bit | (bit >> 1) | (bit >> 2)).sum::<u32>();
    if meta.is_symlink() || now & denied == 0 { Ok(()) } else { files::set_mode(place, now & !denied) }
}

/// Lets those execute the file at `place` whom `mode` lets; a link stays as it is.
///
/// # Errors
/// `IO_FAILED`.
pub(super) fn execute_as(place: &Path, mode: u32) -> Result<()> {
    const EXECUTE: u32 = 0o111;
    let meta = std::fs::symlink_metadata(place).map_err(|e| Error::io("look at", place, e))?;
    let now = meta.permissions().mode() & 0o777;
    let wanted = (now & !EXECUTE) | (mode & EXECUTE);
    if meta.is_symlink() || now == wanted { Ok(()) } else { files::set_mode(place, wanted) }
}

/// Narrows what is there already as it was recorded; nothing is ever widened.
///
/// # Errors
/// `IO_FAILED`.
pub(super) fn narrow_all(root: &Path, modes: &[NarrowMode]) -> Result<()> {
    for narrow in modes {
        match look(root, &narrow.path)? {
            Found::File(_) | Found::Folder => narrow_to(&root.join(narrow.path.to_path()), narrow.mode)?,
            Found::Missing | Found::Below(_) | Found::Link(..) | Found::Special => {}
        }
    }
    Ok(())
}
