//! Removing whole folders, only ever our own: those in the system's temporary folder, and what had its time in the trash.

#![allow(clippy::disallowed_methods)]

use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::error::{Code, Error, Result};

/// How the names of our folders in the temporary folder begin.
pub const SCRATCH_PREFIX: &str = "axiom-";

/// Removes a folder of ours in the temporary folder with all that is in it, read-only folders too. Symbolic links are
/// removed, not followed. It is no error if there is none. A crash leaves a part of it.
///
/// # Errors
/// `INTERNAL` where the name is not one of ours; `IO_FAILED` with the path.
pub fn remove_scratch(path: &Path) -> Result<()> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if !name.starts_with(SCRATCH_PREFIX) || path.is_symlink() {
        return Err(Error::new(Code::Internal, format!("'{}' is no temporary folder of git axiom", path.display())));
    }
    remove_tree(path)
}

/// Removes an entry of a trash of ours for good, whatever it is, with all that is in it. Symbolic links are removed, not
/// followed. It is no error if there is none. A crash leaves a part of it.
///
/// # Errors
/// `INTERNAL` where the name does not end with the sixteen digits that each of our names there ends with; `IO_FAILED` with
/// the path.
pub fn remove_trashed(path: &Path) -> Result<()> {
    if !path.file_name().is_some_and(|name| is_trashed_name(name.as_encoded_bytes())) {
        return Err(Error::new(Code::Internal, format!("'{}' is nothing that git axiom put into its trash", path.display())));
    }
    if path.is_symlink() || path.is_file() {
        return super::remove_file(path);
    }
    remove_tree(path)
}

/// Whether a name is one of ours in a trash: it ends with a [`crate::env::fresh_id`].
pub fn is_trashed_name(name: &[u8]) -> bool {
    let digits = name.len().checked_sub(16).and_then(|from| name.get(from..));
    digits.is_some_and(|digits| digits.iter().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte)))
}

fn remove_tree(path: &Path) -> Result<()> {
    match std::fs::remove_dir_all(path) {
        Ok(()) => return Ok(()),
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
        Err(_) => {}
    }
    // Something in it may be read-only (module caches are), or somebody was just writing: once more, opened up.
    for entry in walkdir::WalkDir::new(path).into_iter().flatten().filter(|entry| entry.file_type().is_dir()) {
        let _ = std::fs::set_permissions(entry.path(), std::fs::Permissions::from_mode(0o700));
    }
    match std::fs::remove_dir_all(path) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(Error::io("remove the folder", path, e)),
        _ => Ok(()),
    }
}

/// Makes an empty file (or a link to nowhere) in a scratch folder, its folders too: something for git to look at. Not
/// durable.
///
/// # Errors
/// `IO_FAILED`, `DISK_FULL` with the path.
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
        let (ours, other) = (dir.path().join("axiom-1"), dir.path().join("other"));
        std::fs::create_dir_all(ours.join("deep")).unwrap();
        std::fs::create_dir(&other).unwrap();
        std::os::unix::fs::symlink(&other, ours.join("link")).unwrap();
        std::os::unix::fs::symlink(&other, dir.path().join("axiom-2")).unwrap();
        remove_scratch(&ours).unwrap();
        remove_scratch(&ours).unwrap();
        assert!(!ours.exists() && other.exists());
        assert!(remove_scratch(&other).is_err());
        assert!(remove_scratch(&dir.path().join("axiom-2")).is_err());
    }
}
