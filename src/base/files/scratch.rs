//! Temporary files: git axiom's folders in the system's temporary folder, names in a trash, stand-ins.

#![allow(clippy::disallowed_methods)]

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;

use crate::env;
use crate::error::{Code, Error, Result};

use super::DeletionFolder;

/// The prefix of the names of git axiom's folders in the temporary folder.
pub const SCRATCH_PREFIX: &str = "axiom-";

/// Removes a folder of git axiom in the temporary folder with all its contents, including read-only folders. Links are not
/// followed, and mounts are not entered. It is no error if there is none. A crash leaves a part of it.
pub fn remove_scratch(path: &Path) -> Result<()> {
    let name = path.file_name().unwrap_or_default();
    if !name.as_encoded_bytes().starts_with(SCRATCH_PREFIX.as_bytes()) || !is_trashed_name(name.as_encoded_bytes()) {
        return Err(Error::new(Code::Internal, format!("'{}' is not a temporary folder of git axiom", path.display())));
    }
    remove_tree(path)
}

/// Removes a file or folder with a name that git axiom gave in a trash, with all its contents. Links are not followed, and
/// mounts are not entered. It is no error if there is none. A crash leaves a part of it.
pub fn remove_trashed(path: &Path) -> Result<()> {
    if !path.file_name().is_some_and(|name| is_trashed_name(name.as_encoded_bytes())) {
        return Err(Error::new(Code::Internal, format!("'{}' has no name that git axiom gave", path.display())));
    }
    remove_tree(path)
}

/// As [`remove_trashed`], for a folder whose entry `last` goes after all others, so that what a crash leaves of it can still be told.
pub fn remove_trashed_but(path: &Path, last: &str) -> Result<()> {
    if let Some(folder) = path
        .parent()
        .zip(path.file_name())
        .map(|(above, name)| DeletionFolder::open(above, Path::new(name)))
        .transpose()?
        .flatten()
    {
        // Checked before anything is removed.
        super::holds_no_mount(path)?;
        for name in folder.names()?.iter().filter(|name| name.as_os_str() != last) {
            folder.remove_own(name)?;
        }
    }
    remove_trashed(path)
}

fn remove_tree(path: &Path) -> Result<()> {
    let Some(name) = path.file_name() else { return Ok(()) };
    match path.parent().map(DeletionFolder::at).transpose()?.flatten() {
        Some(above) => above.remove(name),
        None => Ok(()),
    }
}

/// The temporary files that git axiom writes next to files before it replaces them, in a folder of the user's: those that are at
/// least so old belong to nobody any more. No link is followed.
pub fn temporaries_in(folder: &Path, age: Duration) -> Result<Vec<PathBuf>> {
    if !folder.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
        return Ok(Vec::new());
    }
    let is_ours = |name: &[u8]| name.strip_prefix(b".tmp-").is_some_and(|id| id.len() == 16 && is_trashed_name(id));
    let is_old = |meta: &Metadata| {
        let made = meta.modified().ok().and_then(|time| Timestamp::try_from(time).ok());
        meta.is_file()
            && made.is_some_and(|made| i128::from(env::now().duration_since(made).as_secs()) >= i128::from(age.as_secs()))
    };
    let entries = super::list(folder)?.into_iter().filter(|entry| is_ours(entry.file_name().as_encoded_bytes()));
    Ok(entries.filter(|entry| entry.metadata().is_ok_and(|meta| is_old(&meta))).map(|entry| entry.path()).collect())
}

/// Whether git axiom gave this name in a trash: it ends with a [`crate::env::fresh_id`], or is the id of a transaction.
pub fn is_trashed_name(name: &[u8]) -> bool {
    let digits = name.len().checked_sub(16).and_then(|from| name.get(from..));
    digits.is_some_and(|digits| digits.iter().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte)))
}

/// Makes a folder in a scratch folder, with those above it. Not synced.
pub fn make_scratch_folder(path: &Path) -> Result<()> {
    std::fs::create_dir_all(path).map_err(|e| Error::io("make", path, e))
}

/// Creates a link in a scratch folder, with the folder above it. Not synced.
pub fn link_in_scratch(to: &Path, link: &Path) -> Result<()> {
    let failed = |e: std::io::Error| Error::io("make", link, e);
    link.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(failed)?;
    std::os::unix::fs::symlink(to, link).map_err(failed)
}

/// Creates an empty file (or a dangling link) in a scratch folder, with its parent folders, as a stand-in that git can read.
/// Not synced.
pub fn write_stand_in(path: &Path, link: bool, executable: bool) -> Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    let failed = |e: std::io::Error| Error::io("make", path, e);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    if link {
        return std::os::unix::fs::symlink("nowhere", path).map_err(failed);
    }
    let mode = if executable { 0o755 } else { 0o644 };
    std::fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(path).map(drop).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_of_ours_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let (ours, other) = (dir.path().join("axiom-0123456789abcdef"), dir.path().join("axiom-project"));
        let link = dir.path().join("axiom-fedcba9876543210");
        std::fs::create_dir_all(ours.join("deep")).unwrap();
        std::fs::create_dir(&other).unwrap();
        std::os::unix::fs::symlink(&other, ours.join("link")).unwrap();
        std::os::unix::fs::symlink(&other, &link).unwrap();
        remove_scratch(&ours).unwrap();
        remove_scratch(&ours).unwrap();
        assert!(!ours.exists() && other.exists());
        assert!(remove_scratch(&other).is_err());
        remove_scratch(&link).unwrap();
        assert!(!link.is_symlink() && other.exists());
    }
}
