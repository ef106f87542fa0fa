//! The change lock of a repository in its git children: they hold it too, so that it is free only when they have ended.

use std::process::{Command, Stdio};

use command_fds::{CommandFdExt, FdMapping};

use super::repository::Repository;
use axiom_base::error::{Error, Result};
use axiom_base::files::FileLock;
use axiom_process::os::command::IN_OPERATION;

/// The descriptor number of the change lock in a git child that reads its standard input.
const LOCK_IN_CHILD: i32 = 9;

/// While this value lives, git children hold the change lock too.
#[derive(Debug)]
pub struct InheritedLockGuard<'r> {
    repository: &'r Repository,
}

impl Drop for InheritedLockGuard<'_> {
    fn drop(&mut self) {
        *self.repository.shared.lock() = None;
    }
}

impl Repository {
    /// Until the result is dropped, our git children hold `lock` too: if this process is killed, the lock is released only
    /// when they have ended. Other programs never get the lock.
    pub fn hold_lock_in_children(&self, lock: &FileLock) -> Result<InheritedLockGuard<'_>> {
        let copy = lock.descriptor().try_clone_to_owned().map_err(|e| Error::io("copy the lock of", self.common_dir(), e))?;
        *self.shared.lock() = Some(copy);
        Ok(InheritedLockGuard { repository: self })
    }

    /// Sets up a git child's standard input and passes it the lock. If the child needs no input, the (empty) lock file is
    /// its standard input, which git passes to no hook and no daemon. The child and its hooks can see from the variable
    /// [`IN_OPERATION`] that they are part of an operation.
    pub(crate) fn lend_lock(&self, command: &mut Command, needs_stdin: bool) -> Result<()> {
        let held = self.shared.lock();
        let Some(lock) = held.as_ref() else {
            command.stdin(Stdio::null());
            return Ok(());
        };
        command.env(IN_OPERATION, "1");
        let failed = |e: std::io::Error| Error::io("copy the lock of", self.common_dir(), e);
        let copy = lock.try_clone().map_err(failed)?;
        if needs_stdin {
            let mapping = FdMapping { parent_fd: copy, child_fd: LOCK_IN_CHILD };
            command.fd_mappings(vec![mapping]).map_err(|e| failed(std::io::Error::other(e.to_string())))?;
        } else {
            command.stdin(Stdio::from(copy));
        }
        Ok(())
    }

    /// Lets a git child, and its hooks, see that they are part of an operation, without the lock.
    pub(crate) fn say_if_in_operation(&self, command: &mut Command) {
        if self.shared.lock().is_some() {
            command.env(IN_OPERATION, "1");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::scratch::ScratchRepository;
    use axiom_base::files::{LockAttempt, is_locked};

    #[test]
    fn git_children_keep_the_lock_that_their_parent_lost() {
        let scratch = ScratchRepository::new(&[]);
        let path = scratch.path().join(".git/op.lock");
        for with_input in [false, true] {
            let LockAttempt::Taken(lock) = FileLock::try_take(&path).unwrap() else { panic!("held") };
            let repo = scratch.repo();
            let guard = repo.hold_lock_in_children(&lock).unwrap();
            // A git alias that still runs after the lock was dropped here.
            let git = repo.git().config("alias.slow=!sleep 1").arg("slow");
            let git = if with_input { git.stdin("x") } else { git };
            std::thread::scope(|scope| {
                let child = scope.spawn(move || git.run().unwrap());
                std::thread::sleep(std::time::Duration::from_millis(400));
                drop(guard);
                drop(lock);
                assert!(is_locked(&path).unwrap(), "input: {with_input}");
                assert!(child.join().unwrap().ok());
            });
            // A child of another test has a copy of the lock between its fork and its exec.
            let free = (0..100).any(|_| {
                std::thread::sleep(std::time::Duration::from_millis(10));
                !is_locked(&path).unwrap()
            });
            assert!(free, "input: {with_input}");
        }
    }
}
