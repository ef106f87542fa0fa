//! git's own lock files that a killed git left behind.
//!
//! A lock file is removed only if it is proved that it has no owner: it is older than a limit, no process has it open, and
//! no git process works in this repository. Where the system does not show who has files open, nothing is ever proved.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use walkdir::WalkDir;

use crate::base::readable::is_gap;
use axiom_base::error::{Code, Error, Result};
use axiom_base::platform::{self, ExaminedProcess};
use axiom_base::{env, files};

use crate::repo::handles::LockFiles;

/// What to do about a lock that is in the way. True on systems too that do not show who has files open.
pub(crate) const LOCK_HINT: &str =
    "wait until the other git command has ended; 'git axiom recover' removes what a killed one left, or says what you can do";

/// How often the processes are examined before a lock counts as owned, and the time between.
const LOOKS: u32 = 4;
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// A lock file of git's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitLockFile {
    /// The path.
    pub path: PathBuf,
    /// How old the lock file is.
    pub age: Duration,
    /// Whether the lock makes commands wait or fail. A lock in the object store stops only maintenance, permanently and
    /// without a message.
    pub stops_commands: bool,
    inode: (u64, u64),
}

/// Whether a lock file has an owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GitLockOwner {
    /// It has no owner; this is proved.
    Dead,
    /// It may have an owner; the reason.
    Unclear(String),
}

impl LockFiles<'_> {
    /// git's lock files: of the index and HEAD of every worktree, of refs, packed refs, configuration, and of maintenance of
    /// the object store.
    pub fn git_locks(&self) -> Result<Vec<GitLockFile>> {
        let common = self.repo.common_dir();
        // Reflogs have no locks, and git axiom's own folder has none of git's. Folders with packs and loose objects are not
        // descended into.
        let walked = ["refs", "worktrees", "reftable", "info", "objects/info"].map(|name| WalkDir::new(common.join(name)));
        let flat = ["", "objects", "objects/pack"].map(|name| WalkDir::new(common.join(name)).max_depth(1));
        let mut locks = Vec::new();
        for entry in walked.into_iter().chain(flat).flatten() {
            let entry = match entry {
                Ok(entry) => entry,
                // It went, or is the entry of one worktree that cannot be read: no lock there is in the way of another.
                Err(e) if e.io_error().is_some_and(|e| e.kind() == std::io::ErrorKind::NotFound || is_gap(e)) => continue,
                Err(e) => return Err(Error::io("list", common, std::io::Error::other(e))),
            };
            if entry.file_type().is_file() && entry.file_name().as_bytes().ends_with(b".lock") {
                let stops_commands = !entry.path().starts_with(common.join("objects"));
                locks.extend(look(entry.path()).map(|lock| GitLockFile { stops_commands, ..lock }));
            }
        }
        locks.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(locks)
    }

    /// Whether any process may own a lock. Our own git children count.
    pub fn lock_owner(&self, lock: &GitLockFile, older_than: Duration) -> Result<GitLockOwner> {
        if lock.age < older_than {
            return Ok(GitLockOwner::Unclear(format!("it is only {} s old", lock.age.as_secs())));
        }
        let mut places = vec![self.repo.common_dir().to_owned()];
        let only_waits = |words: &[Vec<u8>]| self.only_waits_for_us(words);
        places.extend(self.repo.worktrees().list()?.into_iter().map(|entry| entry.worktree.path().to_owned()));
        let places: Vec<PathBuf> = places.iter().map(|place| place.canonicalize().unwrap_or_else(|_| place.clone())).collect();
        for _ in 1..LOOKS {
            let owner = find_owner(platform::examinable(), &lock.path, &places, &only_waits);
            if owner == GitLockOwner::Dead {
                return Ok(owner);
            }
            // A process that is just starting or ending shows little, and most git processes end soon.
            std::thread::sleep(LOOK_AGAIN);
        }
        Ok(find_owner(platform::examinable(), &lock.path, &places, &only_waits))
    }

    /// Whether a git process with these arguments only waits for a git axiom process: `git axiom …`, or an alias for it.
    fn only_waits_for_us(&self, words: &[Vec<u8>]) -> bool {
        let Some(command) = command_of(words) else { return false };
        if command == b"axiom" {
            return true;
        }
        let (Ok(gix), Ok(command)) = (self.repo.gix(), std::str::from_utf8(command)) else { return false };
        let alias = gix.config_snapshot().string(format!("alias.{command}").as_str());
        alias.is_some_and(|alias| alias.split(|byte| byte.is_ascii_whitespace()).next() == Some(b"axiom".as_slice()))
    }

    /// Removes a lock whose owner is proved dead. The proof is made again right before.
    pub fn remove_dead_lock(&self, lock: &GitLockFile, older_than: Duration) -> Result<()> {
        if let GitLockOwner::Unclear(why) = self.lock_owner(lock, older_than)? {
            let what = format!("'{}' may belong to a running git command", lock.path.display());
            return Err(Error::new(Code::GitLocked, what).why(why));
        }
        match look(&lock.path) {
            None => return Ok(()),
            Some(now) if now.inode == lock.inode => {}
            Some(_) => return Err(Error::new(Code::ChangedMeanwhile, format!("'{}' is a new lock", lock.path.display()))),
        }
        env::fault_point("git.before-dead-lock");
        files::remove_file(&lock.path)?;
        lock.path.parent().map_or(Ok(()), files::sync_dir)
    }
}

fn look(path: &Path) -> Option<GitLockFile> {
    let meta = path.symlink_metadata().ok()?;
    let age = env::now().as_second().saturating_sub(meta.mtime()).max(0).unsigned_abs();
    Some(GitLockFile {
        path: path.to_owned(),
        age: Duration::from_secs(age),
        stops_commands: true,
        inode: (meta.dev(), meta.ino()),
    })
}

/// Examines all processes. A process that cannot be examined, and is called git, may be the owner.
fn find_owner(
    processes: Option<Vec<ExaminedProcess>>,
    lock: &Path,
    places: &[PathBuf],
    only_waits: &dyn Fn(&[Vec<u8>]) -> bool,
) -> GitLockOwner {
    let Some(processes) = processes else {
        let why = "this system does not show who has files open: if no git runs here, remove the file yourself";
        return GitLockOwner::Unclear(why.to_owned());
    };
    for process in processes {
        let pid = process.pid;
        let name = process.name();
        // Helpers such as `git-remote-https` count too; git axiom itself does not.
        let is_git = name.starts_with(b"git") && !name.starts_with(b"git-axiom") && !name.starts_with(b"git_axiom");
        let open = process.open_files();
        if open.as_ref().is_ok_and(|open| open.iter().any(|file| file == lock)) {
            return GitLockOwner::Unclear(format!("process {pid} has it open"));
        }
        if !is_git || process.is_zombie() || only_waits(&process.words()) {
            continue;
        }
        let inside = |path: &Path| places.iter().any(|place| path.starts_with(place));
        let works_here = match (process.working_folder(), &open) {
            (Ok(cwd), Ok(open)) => inside(&cwd) || open.iter().any(|file| inside(file)) || names_one(&process, places),
            // It is ending.
            (Err(e), _) if e.kind() == std::io::ErrorKind::NotFound => false,
            // The process has ended, or belongs to another user: only one that has ended cannot be the owner.
            (_, _) => process.is_there(),
        };
        if works_here {
            return GitLockOwner::Unclear(format!("git process {pid} works in this repository"));
        }
    }
    GitLockOwner::Dead
}

/// The command in the arguments of a git process: the first one that is neither an option nor an option's value.
fn command_of(words: &[Vec<u8>]) -> Option<&[u8]> {
    const WITH_VALUE: [&[u8]; 9] = [
        b"-C",
        b"-c",
        b"--git-dir",
        b"--work-tree",
        b"--namespace",
        b"--config-env",
        b"--exec-path",
        b"--super-prefix",
        b"--attr-source",
    ];
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        // `--exec-path` without a value prints and exits: the next argument is no command either.
        if WITH_VALUE.contains(&word.as_slice()) {
            words.next();
        } else if !word.starts_with(b"-") {
            return Some(word);
        }
    }
    None
}

/// Whether the arguments or the environment of a process contain one of the places (`git --git-dir=…` from elsewhere).
fn names_one(process: &ExaminedProcess, places: &[PathBuf]) -> bool {
    process.words_and_environment().iter().any(|text| {
        places.iter().any(|place| {
            let place = place.as_os_str().as_bytes();
            text.windows(place.len()).any(|window| window == place)
        })
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use super::*;
    use crate::repo::scratch::ScratchRepository;

    #[test]
    fn only_a_lock_that_nobody_owns_is_removed() {
        let scratch = ScratchRepository::new(&[]);
        let repo = scratch.repo();
        scratch.write(".git/index.lock", b"");
        scratch.write(".git/refs/heads/x.lock", b"");
        let locks = repo.lock_files().git_locks().unwrap();
        assert_eq!(locks.len(), 2);
        let now = Duration::ZERO;
        let long = Duration::from_secs(3600);
        assert_eq!(repo.lock_files().remove_dead_lock(&locks[0], long).unwrap_err().code(), Code::GitLocked);
        let open = std::fs::File::open(&locks[0].path).unwrap();
        assert!(
            matches!(repo.lock_files().lock_owner(&locks[0], now).unwrap(), GitLockOwner::Unclear(why) if why.contains("has it open"))
        );
        drop(open);
        // A git process that works here, but was started elsewhere.
        let mut git = std::process::Command::new("git")
            .args(["cat-file", "--batch"])
            .current_dir("/")
            .env("GIT_DIR", scratch.path().join(".git"))
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(200));
        assert!(
            matches!(repo.lock_files().lock_owner(&locks[0], now).unwrap(), GitLockOwner::Unclear(why) if why.contains("git process"))
        );
        drop(git.stdin.take());
        // A process that has ended but was not yet waited for owns nothing.
        std::thread::sleep(Duration::from_millis(200));
        assert_eq!(repo.lock_files().lock_owner(&locks[0], now).unwrap(), GitLockOwner::Dead);
        git.wait().unwrap();
        for lock in &locks {
            repo.lock_files().remove_dead_lock(lock, now).unwrap();
        }
        assert!(repo.lock_files().git_locks().unwrap().is_empty());
    }

    #[test]
    fn upkeep_that_died_is_found_too() {
        let scratch = ScratchRepository::new(&[]);
        let repo = scratch.repo();
        for lock in [
            "objects/maintenance.lock",
            "objects/info/commit-graphs/commit-graph-chain.lock",
            "objects/pack/multi-pack-index.lock",
        ] {
            scratch.write(&format!(".git/{lock}"), b"");
        }
        let locks = repo.lock_files().git_locks().unwrap();
        assert_eq!(locks.len(), 3);
        assert!(locks.iter().all(|lock| !lock.stops_commands));
        for lock in &locks {
            repo.lock_files().remove_dead_lock(lock, Duration::ZERO).unwrap();
        }
        assert!(repo.lock_files().git_locks().unwrap().is_empty());
    }

    #[test]
    fn a_git_that_waits_for_us_owns_nothing() {
        let scratch = ScratchRepository::new(&[]);
        scratch.git(&["config", "alias.ax", "axiom --json"]);
        scratch.git(&["config", "alias.st", "status"]);
        let repo = scratch.repo();
        let waits = |line: &str| {
            let words: Vec<Vec<u8>> = line.split(' ').map(|word| word.as_bytes().to_vec()).collect();
            repo.lock_files().only_waits_for_us(&words)
        };
        for line in [
            "git axiom recover",
            "git -C axiom -c a.b=c --no-pager axiom run",
            "/usr/bin/git --git-dir x axiom",
            "git ax recover",
        ] {
            assert!(waits(line), "{line}");
        }
        for line in ["git commit -m axiom", "git -C axiom gc", "git", "git st", "git --git-dir=axiom add axiom", "git axiomatic"]
        {
            assert!(!waits(line), "{line}");
        }
    }

    #[test]
    fn where_processes_are_not_shown_nothing_is_proved() {
        assert!(matches!(find_owner(None, Path::new("/x"), &[], &|_| false), GitLockOwner::Unclear(_)));
    }
}
