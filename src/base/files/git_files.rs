//! Changing files of git or the user that git axiom does not own: they keep their mode and owner, so that everyone who could
//! read and write them still can. Also giving files that a copy shares with its original by hard links an inode of their
//! own.

#![allow(clippy::disallowed_methods)]

use std::fs::{File, Metadata, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{Gid, Uid, fchown};

use super::folder_entries::{parent, sync_dir};
use crate::env;
use crate::error::{Error, Result};
use crate::platform;

/// Replaces a file of git's by `bytes`, durably. Mode, group and owner are kept, as far as this user may set them; a new
/// file gets those of its folder. The file has the old or the new content, never a mixture. A crash may leave a file
/// `.tmp-…` next to it.
pub fn replace_keeping(path: &Path, bytes: &[u8]) -> Result<()> {
    replace_keeping_if(path, bytes, || Ok(true)).map(drop)
}

/// As [`replace_keeping`], if `is_as_before` says so when the new content is on disk. Returns whether the file was replaced.
pub fn replace_keeping_if(path: &Path, bytes: &[u8], is_as_before: impl FnOnce() -> Result<bool>) -> Result<bool> {
    let folder = parent(path)?;
    let temporary = folder.join(format!(".tmp-{}", env::fresh_id()));
    let outcome = write_like(&temporary, bytes, &model(path, folder)?).and_then(|()| {
        env::fault_point("files.before-replace");
        if !is_as_before()? {
            return Ok(false);
        }
        std::fs::rename(&temporary, path).map(|()| true).map_err(|e| Error::io("replace", path, e))
    });
    match outcome {
        Ok(true) => sync_dir(folder).map(|()| true),
        Ok(false) | Err(_) => {
            let _ = std::fs::remove_file(&temporary);
            outcome
        }
    }
}

/// Creates a file with the mode, group and owner of its folder, durably; what is there already is never replaced. Returns whether it
/// was created. The file is whole or not there. A crash may leave a file `.tmp-…` next to it.
pub fn create_keeping(path: &Path, bytes: &[u8]) -> Result<bool> {
    let folder = parent(path)?;
    let temporary = folder.join(format!(".tmp-{}", env::fresh_id()));
    let outcome = write_like(&temporary, bytes, &model(path, folder)?).and_then(|()| {
        env::fault_point("files.before-create");
        super::rename_no_replace(&temporary, path)
    });
    match outcome {
        Ok(true) => sync_dir(folder).map(|()| true),
        Ok(false) | Err(_) => {
            let _ = std::fs::remove_file(&temporary);
            outcome
        }
    }
}

/// Appends whole lines to a file of git's or the user's, durably. The file is written in place: its mode, owner, ACL and a
/// symbolic link to it are kept. A file with several hard links (in a copied repository), or without write permission, is
/// replaced instead. A crash may leave only the first part of `lines`.
pub fn append_keeping(path: &Path, lines: &[u8]) -> Result<()> {
    let failed = |e: std::io::Error| Error::io("append to", path, e);
    let mut file = match OpenOptions::new().read(true).append(true).open(path) {
        Ok(file) if file.metadata().map_err(failed)?.nlink() == 1 => file,
        Ok(_) => return replace_with_more(path, lines),
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied) => return replace_with_more(path, lines),
        Err(e) => return Err(failed(e)),
    };
    let before = file.metadata().map_err(failed)?.len();
    let text = [if ends_in_a_line(path)? { &b""[..] } else { b"\n" }, lines].concat();
    file.write_all(&text).and_then(|()| platform::sync_file(&file)).map_err(|e| {
        let _ = file.set_len(before);
        failed(e)
    })
}

fn ends_in_a_line(path: &Path) -> Result<bool> {
    let old = super::read(path, u64::MAX - 1)?;
    Ok(old.is_empty() || old.ends_with(b"\n"))
}

fn replace_with_more(path: &Path, lines: &[u8]) -> Result<()> {
    let mut content = super::read_optional(path, u64::MAX - 1)?.unwrap_or_default();
    if !content.is_empty() && !content.ends_with(b"\n") {
        content.push(b'\n');
    }
    content.extend_from_slice(lines);
    replace_keeping(path, &content)
}

/// Gives a regular file with several hard links an inode of its own at `path`, with the same content, mode and owner.
/// Returns whether that was needed: other files are not changed. A crash leaves the old file or the new one, and perhaps a
/// file `.tmp-…` next to it.
pub fn with_inode_of_its_own(path: &Path) -> Result<bool> {
    let Some(meta) = super::metadata(path)?.filter(|meta| meta.is_file() && meta.nlink() > 1) else { return Ok(false) };
    let folder = parent(path)?;
    let temporary = folder.join(format!(".tmp-{}", env::fresh_id()));
    let model = ModeAndOwner { mode: meta.mode() & 0o7777, uid: meta.uid(), gid: meta.gid() };
    let bytes = super::read(path, u64::MAX - 1)?;
    let outcome = write_like(&temporary, &bytes, &model)
        .and_then(|()| std::fs::rename(&temporary, path).map_err(|e| Error::io("replace", path, e)));
    if let Err(error) = outcome {
        let _ = std::fs::remove_file(&temporary);
        return Err(error);
    }
    sync_dir(folder).map(|()| true)
}

/// Gives a new file the mode, group and owner of the file that it is going to replace, as far as this user may set them.
/// Does nothing where there is no such file. Not synced.
pub fn look_like(new: &Path, existing: &Path) -> Result<()> {
    let Some(wanted) = super::metadata(existing)?.filter(Metadata::is_file) else { return Ok(()) };
    let failed = |e| Error::io("set owner and permissions of", new, e);
    let is = std::fs::symlink_metadata(new).map_err(failed)?;
    if (is.uid(), is.gid()) != (wanted.uid(), wanted.gid()) {
        let file = File::open(new).map_err(failed)?;
        give(&file, &ModeAndOwner { mode: wanted.mode() & 0o7777, uid: wanted.uid(), gid: wanted.gid() });
    }
    if is.mode() & 0o7777 != wanted.mode() & 0o7777 {
        super::set_mode(new, wanted.mode() & 0o7777)?;
    }
    Ok(())
}

/// The mode and owner that a file is to have.
struct ModeAndOwner {
    mode: u32,
    uid: u32,
    gid: u32,
}

/// Those of the existing file; otherwise those of the folder, without the execute bits.
fn model(path: &Path, folder: &Path) -> Result<ModeAndOwner> {
    let of = |meta: &Metadata, mask: u32| ModeAndOwner { mode: meta.mode() & mask, uid: meta.uid(), gid: meta.gid() };
    match super::metadata(path)?.filter(Metadata::is_file) {
        Some(meta) => Ok(of(&meta, 0o7777)),
        None => std::fs::metadata(folder).map(|meta| of(&meta, 0o666)).map_err(|e| Error::io("access", folder, e)),
    }
}

fn write_like(path: &Path, bytes: &[u8], model: &ModeAndOwner) -> Result<()> {
    let failed = |e| Error::io("write", path, e);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(failed)?;
    give(&file, model);
    file.write_all(bytes)
        .and_then(|()| file.set_permissions(std::fs::Permissions::from_mode(model.mode)))
        .and_then(|()| platform::sync_file(&file))
        .map_err(failed)
}

/// Sets owner and group as in the model. Only root may change the owner; other users may only set a group that they are in.
/// As with git itself, the file then belongs to the user who wrote it.
fn give(file: &File, model: &ModeAndOwner) {
    let (uid, gid) = (Uid::from_raw(model.uid), Gid::from_raw(model.gid));
    if fchown(file, Some(uid), Some(gid)).is_err() {
        let _ = fchown(file, None, Some(gid));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(path: &Path) -> (u32, u32, u64) {
        let meta = std::fs::symlink_metadata(path).unwrap();
        (meta.mode() & 0o7777, meta.uid(), meta.ino())
    }

    fn made(path: &Path, mode: u32) {
        std::fs::write(path, b"one\n").unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn what_is_git_s_keeps_its_mode_whichever_way_it_is_changed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        for mode in [0o664, 0o644, 0o600, 0o666] {
            made(&path, mode);
            let before = look(&path);
            append_keeping(&path, b"two\n").unwrap();
            assert_eq!((std::fs::read(&path).unwrap(), look(&path)), (b"one\ntwo\n".to_vec(), before), "appended in place");
            replace_keeping(&path, b"three\n").unwrap();
            assert_eq!((std::fs::read(&path).unwrap(), look(&path).0), (b"three\n".to_vec(), mode));
            std::fs::remove_file(&path).unwrap();
        }
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o2775)).unwrap();
        append_keeping(&path, b"new\n").unwrap();
        assert_eq!(look(&path).0, 0o664, "as the folder lets its group write");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_was_built_looks_like_the_one_that_it_replaces() {
        let dir = tempfile::tempdir().unwrap();
        let (new, old) = (dir.path().join("new"), dir.path().join("old"));
        std::fs::write(&new, b"new").unwrap();
        look_like(&new, &old).unwrap();
        for mode in [0o660, 0o644, 0o600] {
            made(&old, mode);
            look_like(&new, &old).unwrap();
            assert_eq!(look(&new).0, mode);
        }
    }

    #[test]
    fn a_line_without_an_end_is_ended_first_and_a_link_is_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (path, link) = (dir.path().join("x"), dir.path().join("link"));
        std::fs::write(&path, b"one").unwrap();
        std::os::unix::fs::symlink("x", &link).unwrap();
        append_keeping(&link, b"two\n").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"one\ntwo\n");
        assert!(link.is_symlink());
    }

    #[test]
    fn a_file_with_a_second_name_is_never_written_to() {
        let dir = tempfile::tempdir().unwrap();
        let (path, other) = (dir.path().join("x"), dir.path().join("other"));
        made(&path, 0o640);
        std::fs::hard_link(&path, &other).unwrap();
        append_keeping(&path, b"two\n").unwrap();
        assert_eq!((std::fs::read(&path).unwrap(), look(&path).0), (b"one\ntwo\n".to_vec(), 0o640));
        assert_eq!(std::fs::read(&other).unwrap(), b"one\n");
        std::fs::remove_file(&path).unwrap();
        std::fs::hard_link(&other, &path).unwrap();
        assert!(with_inode_of_its_own(&path).unwrap());
        assert!(!with_inode_of_its_own(&path).unwrap());
        assert_ne!(look(&path).2, look(&other).2);
        assert_eq!((std::fs::read(&path).unwrap(), look(&path).0), (b"one\n".to_vec(), 0o640));
    }
}
