//! A worktree's `index.lock`, taken in a way that proves after a crash that the lock is ours.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use axiom_base::error::{Code, Error, Result};
use axiom_base::{env, files};

use crate::repo::stale_locks::LOCK_HINT;
use crate::repo::worktrees::Worktree;

/// How often taking a lock is tried again, and the pause between two attempts.
const TRIES: u32 = 40;
const PAUSE: Duration = Duration::from_millis(50);

/// The largest lock file that can be ours, in bytes.
const MARK_LIMIT: u64 = 4096;

fn held(lock: &Path) -> Error {
    Error::new(Code::GitLocked, format!("'{}' is held by another git command", lock.display())).hint(LOCK_HINT)
}

/// The held `index.lock` of a worktree. While it is held, git changes neither index nor files there.
///
/// The lock file is a hard link to a file of ours that has a tag (a transaction's id) in its name. If the file system has no
/// hard links, the lock file has the same content as that file. To find out later whose lock it is, the two files are
/// compared. Dropping the value releases the lock.
#[derive(Debug)]
pub struct IndexLock {
    lock: PathBuf,
    own: PathBuf,
    index: PathBuf,
    new_index: PathBuf,
}

impl IndexLock {
    /// Takes the lock. A lock that the same tag left behind in a crash is taken over. A crash leaves `index.lock` and the
    /// file that proves that it is ours.
    pub fn take(worktree: &Worktree, tag: &str) -> Result<Self> {
        worktree.verify()?;
        let this = Self::named(worktree, tag);
        let mark = format!("git axiom {tag}\n");
        if !this.own.exists() {
            files::create_new(&this.own, mark.as_bytes())?;
        }
        env::fault_point("git.before-index-lock");
        let taken = match files::hard_link(&this.own, &this.lock)? {
            Some(taken) => taken,
            // There are no hard links here: the content of the lock proves that it is ours. A lock file of git contains an
            // index.
            None => files::create_if_free(&this.lock, mark.as_bytes())?,
        };
        if taken || this.is_ours() {
            env::fault_point("git.index-locked");
            return Ok(this);
        }
        files::remove_file(&this.own)?;
        let error = held(&this.lock);
        std::mem::forget(this);
        Err(error)
    }

    /// As [`IndexLock::take`], but waits up to two seconds for another git command to end.
    pub fn take_patiently(worktree: &Worktree, tag: &str) -> Result<Self> {
        for _ in 0..TRIES {
            match Self::take(worktree, tag) {
                Err(error) if error.code() == Code::GitLocked => std::thread::sleep(PAUSE),
                outcome => return outcome,
            }
        }
        Self::take(worktree, tag)
    }

    /// Checks that there is no `index.lock`; changes nothing.
    pub fn check_free(worktree: &Worktree) -> Result<()> {
        let lock = worktree.git_dir().join("index.lock");
        if lock.symlink_metadata().is_ok() { Err(held(&lock)) } else { Ok(()) }
    }

    /// Removes a lock that `tag` left behind, and returns whether there was one. Any other lock stays.
    pub fn remove_if_ours_stale(worktree: &Worktree, tag: &str) -> Result<bool> {
        let this = Self::named(worktree, tag);
        let ours = this.is_ours();
        drop(this);
        Ok(ours)
    }

    fn named(worktree: &Worktree, tag: &str) -> Self {
        let own = |what: &str| worktree.git_dir().join(format!("axiom-{what}-{tag}"));
        let lock = worktree.git_dir().join("index.lock");
        Self { lock, own: own("index-lock"), index: worktree.index_file(), new_index: own("index-new") }
    }

    fn is_ours(&self) -> bool {
        let inode = |path: &Path| std::fs::symlink_metadata(path).map(|meta| (meta.dev(), meta.ino())).ok();
        let content = |path: &Path| files::read_optional(path, MARK_LIMIT).ok().flatten().filter(|bytes| !bytes.is_empty());
        inode(&self.own).is_some_and(|own| inode(&self.lock) == Some(own))
            || content(&self.own).is_some_and(|own| content(&self.lock) == Some(own))
    }

    /// Where the next index is built: in the folder of the index, so that one rename installs it.
    pub(crate) fn new_index(&self) -> &Path {
        &self.new_index
    }

    /// Removes what an earlier attempt left where the next index is built.
    pub(crate) fn clear_new_index(&self) -> Result<()> {
        files::remove_file(&self.new_index)?;
        let mut lock = self.new_index.clone().into_os_string();
        lock.push(".lock");
        files::remove_file(Path::new(&lock))
    }

    /// Makes these bytes the worktree's index, with the time of the present one: only then git goes on reading what changed in the
    /// moment in which that was written.
    pub(crate) fn install_bytes(&self, bytes: &[u8], present: &std::fs::Metadata) -> Result<()> {
        self.clear_new_index()?;
        files::write_scratch(&self.new_index, bytes)?;
        let stamped =
            present.modified().and_then(|time| std::fs::File::options().write(true).open(&self.new_index)?.set_modified(time));
        stamped.map_err(|e| Error::io("set the time of", &self.new_index, e))?;
        self.install()
    }

    /// Makes the built index the worktree's index. It is durable when this returns. A crash leaves the old or the new index.
    pub(crate) fn install(&self) -> Result<()> {
        files::look_like(&self.new_index, &self.index)?;
        files::sync_file(&self.new_index)?;
        env::fault_point("git.before-index");
        files::rename(&self.new_index, &self.index)?;
        env::fault_point("git.after-index");
        Ok(())
    }

    /// Releases the lock. Unlike dropping the value, this returns an error.
    pub fn release(self) -> Result<()> {
        let outcome = self.give_back();
        std::mem::forget(self);
        outcome
    }

    fn give_back(&self) -> Result<()> {
        self.clear_new_index()?;
        if self.is_ours() {
            files::remove_file(&self.lock)?;
        }
        env::fault_point("git.index-unlocked");
        files::remove_file(&self.own)
    }
}

impl Drop for IndexLock {
    fn drop(&mut self) {
        if let Err(error) = self.give_back() {
            tracing::warn!(%error, "an index lock could not be given back");
        }
    }
}
