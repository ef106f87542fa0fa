//! A small text that its user edits too, with an editor or a dotfile manager: it is replaced only if it still is what was read.
//! Calls of git axiom wait for each other by a lock on its folder, so no lock file is left among the user's files.

#![allow(clippy::disallowed_methods)]

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::folder_entries;
use super::git_files::{create_keeping, replace_keeping_if};
use super::lock::{FileLock, LockAttempt};
use super::optional_read::{SmallFile, metadata, read_small};
use super::{create_dir_all, create_users_dir, sync_dir};
use crate::error::{Code, Error, Result};

/// How often the lock is tried, and the pause between: five seconds together.
const TRIES: u32 = 500;
const PAUSE: Duration = Duration::from_millis(10);

/// What becomes of a symbolic link in place of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditThroughLink {
    /// What it points at is changed, and the link stays: dotfile managers make such links.
    Followed,
    /// It is refused, and so is a link in place of the folder.
    Refused,
}

/// The file, while no other call of git axiom changes it.
#[derive(Debug)]
pub struct EditedFile {
    path: PathBuf,
    limit: u64,
    _lock: Option<FileLock>,
}

impl EditedFile {
    /// Locks the file's folder, which is made if it is missing. The file itself need not exist. On a file system without such
    /// locks (some network file systems) there is none; then only [`EditedFile::replace`] notices another writer.
    pub fn open(path: &Path, links: EditThroughLink, limit: u64) -> Result<Self> {
        let path = match links {
            EditThroughLink::Followed => followed(path)?,
            EditThroughLink::Refused => path.to_owned(),
        };
        let folder = folder_entries::parent(&path)?;
        match links {
            EditThroughLink::Followed => create_dir_all(folder)?,
            EditThroughLink::Refused => match metadata(folder)? {
                Some(meta) if meta.is_dir() => {}
                Some(meta) => {
                    return Err(in_the_way(folder, if meta.is_symlink() { "a symbolic link" } else { "not a folder" }));
                }
                None => {
                    create_users_dir(folder)?;
                    sync_dir(folder_entries::parent(folder)?)?;
                }
            },
        }
        let lock = locked(folder)?;
        Ok(Self { path, limit, _lock: lock })
    }

    /// Where it is; for a link that is followed, what it points at.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its content; `None` where there is none.
    pub fn read(&self) -> Result<Option<Vec<u8>>> {
        match read_small(&self.path, self.limit)? {
            SmallFile::Nothing => Ok(None),
            SmallFile::Content(bytes) => Ok(Some(bytes)),
            SmallFile::Odd(what) => match metadata(&self.path)?.filter(|meta| meta.is_file()) {
                Some(_) => Err(self.too_large()),
                None => Err(in_the_way(&self.path, what)),
            },
        }
    }

    /// Replaces its content if that is still `before`. The file has the old or the new content, never a mixture, and the new one
    /// is on disk when this returns. Its mode and owner stay. A crash may leave a file `.tmp-…` next to it.
    pub fn replace(&self, before: Option<&[u8]>, bytes: &[u8]) -> Result<()> {
        if bytes.len() as u64 > self.limit {
            return Err(self.too_large());
        }
        match replace_keeping_if(&self.path, bytes, || Ok(self.read()?.as_deref() == before))? {
            true => Ok(()),
            false => Err(Error::new(Code::ChangedMeanwhile, format!("'{}' was changed by somebody else", self.path.display()))
                .hint("look at it, then run the command again")),
        }
    }

    /// Creates it with this content, on disk when this returns. Returns whether it was created: whatever is there, of any kind, stays.
    pub fn create(&self, bytes: &[u8]) -> Result<bool> {
        match metadata(&self.path)? {
            Some(_) => Ok(false),
            None => create_keeping(&self.path, bytes),
        }
    }

    fn too_large(&self) -> Error {
        Error::new(Code::TooLarge, format!("'{}' is larger than {} bytes", self.path.display(), self.limit))
    }
}

/// What a link points at, also through several.
fn followed(path: &Path) -> Result<PathBuf> {
    match metadata(path)? {
        Some(meta) if meta.is_symlink() => match path.canonicalize() {
            Ok(target) => Ok(target),
            Err(_) => Err(in_the_way(path, "a symbolic link that leads nowhere")),
        },
        Some(_) | None => Ok(path.to_owned()),
    }
}

fn locked(folder: &Path) -> Result<Option<FileLock>> {
    for _ in 0..TRIES {
        let open = File::open(folder).map_err(|e| Error::io("open", folder, e))?;
        match FileLock::try_on(open, folder) {
            Ok(LockAttempt::Taken(lock)) => return Ok(Some(lock)),
            Ok(LockAttempt::Held) => std::thread::sleep(PAUSE),
            Err(error) => {
                tracing::warn!(%error, "there are no locks on this file system");
                return Ok(None);
            }
        }
    }
    Err(Error::new(Code::Busy, format!("another process is changing the files in '{}'", folder.display()))
        .hint("wait until it has ended, then run the command again"))
}

fn in_the_way(path: &Path, what: &str) -> Error {
    Error::new(Code::InTheWay, format!("'{}' is {what}, so it is left alone", path.display()))
        .hint("look at it, and move it away or make it a regular file")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_what_was_read_is_replaced_and_a_link_stays_one() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("sub/file"), dir.path().join("link"));
        let open = |path: &Path, links| EditedFile::open(path, links, 10);
        let edited = open(&file, EditThroughLink::Followed).unwrap();
        assert_eq!(edited.read().unwrap(), None);
        edited.replace(None, b"one").unwrap();
        assert_eq!(edited.replace(None, b"two").unwrap_err().code(), Code::ChangedMeanwhile);
        assert_eq!(edited.replace(Some(b"two"), b"two").unwrap_err().code(), Code::ChangedMeanwhile);
        assert_eq!(edited.replace(Some(b"one"), &[b'x'; 11]).unwrap_err().code(), Code::TooLarge);
        drop(edited);
        symlink("sub/file", &link).unwrap();
        open(&link, EditThroughLink::Followed).unwrap().replace(Some(b"one"), b"two").unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read(&file).unwrap(), b"two");
        assert_eq!(open(&link, EditThroughLink::Refused).unwrap().read().unwrap_err().code(), Code::InTheWay);
        std::fs::remove_file(&file).unwrap();
        assert_eq!(open(&link, EditThroughLink::Followed).unwrap_err().code(), Code::InTheWay);
        symlink("sub", dir.path().join("linked")).unwrap();
        assert_eq!(open(&dir.path().join("linked/file"), EditThroughLink::Refused).unwrap_err().code(), Code::InTheWay);
        assert_eq!(std::fs::read_dir(dir.path().join("sub")).unwrap().count(), 0, "nothing temporary stays");
    }

    #[test]
    fn changes_at_the_same_time_come_one_after_the_other() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let add = || {
            let file = EditedFile::open(&path, EditThroughLink::Refused, 1000).unwrap();
            let before = file.read().unwrap();
            let more = [before.as_deref().unwrap_or_default(), b"x"].concat();
            file.replace(before.as_deref(), &more).unwrap();
        };
        std::thread::scope(|scope| (0..8).for_each(|_| drop(scope.spawn(|| (0..5).for_each(|_| add())))));
        assert_eq!(std::fs::read(&path).unwrap().len(), 40);
    }
}
