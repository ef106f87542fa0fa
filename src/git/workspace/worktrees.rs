//! Workspaces: linked worktrees that are made, moved to the trash, brought back, and repaired. Nothing is deleted here.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::base::names::{Oid, RefName, RepoPath};
use crate::env;
use crate::error::{Code, Error, Result};
use crate::files;

use crate::domain::operation::journaled::HeadState;
use crate::git::objects::durability::sync_file_system;
use crate::git::refs::edits::{Expected, RefEdit};
use crate::git::repo::handles::Workspaces;
use crate::git::repo::head::Head;
use crate::git::repo::ownership::Whose;
use crate::git::repo::program::{Output, joined};
use crate::git::repo::worktrees::{Worktree, WorktreeEntry};

/// The lock reason that git writes while it makes a worktree: a killed `worktree add` leaves it.
pub(in crate::git) const HALF_MADE: &str = "initializing";

/// The largest `info/exclude` that is read.
const EXCLUDE_LIMIT: u64 = 16 * 1024 * 1024;

/// What to check out in a new workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkspaceBranch {
    /// A new branch at this commit.
    New {
        /// Its full name.
        name: RefName,
        /// The commit where it starts.
        base: Oid,
    },
    /// A branch that exists.
    Existing(RefName),
    /// No branch: a detached HEAD at this commit.
    Detached(Oid),
}

/// A workspace in the trash: old and new paths of its folder and git directory. The caller journals it before the first
/// move.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Aside {
    /// The old path of its folder.
    pub path: PathBuf,
    /// The path of its folder in the trash.
    pub moved_to: PathBuf,
    /// The old path of its git directory.
    pub git_dir: PathBuf,
    /// The path of its git directory in the trash.
    pub git_dir_moved_to: PathBuf,
    /// Its HEAD before it was detached.
    pub head: Head,
}

/// How long git may take to make a workspace: filters and hooks of the user's run meanwhile, and large files may be fetched.
const MAKING: Duration = Duration::from_secs(600);

/// How a workspace is made.
#[derive(Debug, Default)]
pub struct Adding {
    /// Git is ended when this becomes true.
    pub given_up: Arc<AtomicBool>,
    /// A lock that git holds too, so that others know of it if this process dies. Its hooks and filters do not.
    pub lock: Option<OwnedFd>,
    /// Contents of Git LFS that are not here are not fetched: the files come from a capture.
    pub offline: bool,
}

/// What came of making a workspace.
#[derive(Debug)]
pub enum Added {
    /// It is there, on disk.
    Made(Worktree),
    /// It is not: what git said.
    NotMade(Box<Output>),
}

/// The result of [`Workspaces::repair_workspace`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repair {
    /// Nothing was wrong.
    Sound,
    /// The `.git` file or `gitdir` was missing or damaged, and was written again.
    Reconnected,
    /// Half-made, or unknown to git: the folder and the registration, if there was one, are in the trash.
    PutAside,
    /// There was only a registration; it is in the trash.
    Unregistered,
    /// There was neither a folder nor a registration.
    Nothing,
}

impl WorktreeEntry {
    /// Whether git is still making it, or was ended before it had.
    pub fn is_half_made(&self) -> bool {
        self.locked.as_deref() == Some(HALF_MADE)
    }
}

impl Workspaces<'_> {
    /// Makes a workspace with `git worktree add`. The user's post-checkout hook runs. A crash leaves a half-made workspace
    /// that [`Workspaces::repair_workspace`] clears.
    ///
    /// # Errors
    /// `WORKSPACE_IN_THE_WAY` where the folder exists; `BRANCH_IN_USE`; `CHANGED_MEANWHILE` where a new branch exists;
    /// `DISK_CHECKOUT_FAILED` or `DISK_FULL` where the files cannot be written: what was made is moved to `trash`.
    pub fn create_workspace(&self, path: &Path, branch: &WorkspaceBranch, trash: &Path) -> Result<Worktree> {
        self.created(path, branch, trash, Adding::default())
    }

    /// As [`Workspaces::create_workspace`], for a workspace that gets its files from a capture afterwards: nothing is downloaded for it.
    ///
    /// # Errors
    /// As [`Workspaces::create_workspace`].
    pub fn create_workspace_again(&self, path: &Path, branch: &WorkspaceBranch, trash: &Path) -> Result<Worktree> {
        self.created(path, branch, trash, Adding { offline: true, ..Adding::default() })
    }

    fn created(&self, path: &Path, branch: &WorkspaceBranch, trash: &Path, adding: Adding) -> Result<Worktree> {
        self.prepare_workspace(path, branch)?;
        match self.add_workspace(path, branch, adding)? {
            Added::Made(made) => Ok(made),
            Added::NotMade(output) => Err(self.not_made(path, branch, trash, &output)),
        }
    }

    /// Before [`Workspaces::add_workspace`]: looks whether anything is in the way, and repairs what would stop git. The caller holds the
    /// operation lock.
    ///
    /// # Errors
    /// `WORKSPACE_IN_THE_WAY`; those of repairing.
    pub fn prepare_workspace(&self, path: &Path, branch: &WorkspaceBranch) -> Result<()> {
        if path.symlink_metadata().is_ok() && !is_empty_folder(path) {
            return Err(in_the_way(path));
        }
        if let Some(parent) = path.parent() {
            files::create_dir_all(parent)?;
        }
        self.mend_what_stops_git()?;
        let base = match branch {
            WorkspaceBranch::New { base, .. } | WorkspaceBranch::Detached(base) => Some(base.clone()),
            WorkspaceBranch::Existing(name) => self.repo.refs().read_ref(name)?,
        };
        base.iter().try_for_each(|base| self.is_not_locked(base))
    }

    /// Makes a prepared workspace: filters and the post-checkout hook run meanwhile, so this needs no lock but that of the workspace. What
    /// was given up on is left marked as half-made, as a killed git leaves it.
    ///
    /// # Errors
    /// Those of starting git, and of what is looked at afterwards.
    pub fn add_workspace(&self, path: &Path, branch: &WorkspaceBranch, adding: Adding) -> Result<Added> {
        env::fault_point("git.before-worktree-add");
        let git =
            self.repo.git().writing().config("checkout.workers=2").args(["worktree", "add", "--quiet", "--no-guess-remote"]);
        let git = match branch {
            WorkspaceBranch::New { name, base } => {
                git.args(["--no-track", "-b", name.short(), "--"]).arg(path).arg(base.as_str())
            }
            WorkspaceBranch::Existing(name) => git.arg("--").arg(path).arg(name.short()),
            WorkspaceBranch::Detached(commit) => git.args(["--detach", "--"]).arg(path).arg(commit.as_str()),
        };
        let Adding { given_up, lock, offline } = adding;
        // Contents of Git LFS that are not here would be fetched, and fail all where they cannot be.
        let git = if offline { git.env("GIT_LFS_SKIP_SMUDGE", "1") } else { git };
        let git = self.with_crypt_keys(git).limited(MAKING).ended_by(Arc::clone(&given_up)).holding(lock);
        let output = git.run()?;
        let entry = || Ok::<_, Error>(self.repo.worktrees().worktree_at(path)?.filter(|entry| entry.present));
        if given_up.load(Ordering::SeqCst) && !output.ok() {
            // Its hook may have run half: whoever needs the workspace makes it anew.
            if let Some(entry) = entry()? {
                files::write_scratch(&entry.worktree.git_dir().join("locked"), HALF_MADE.as_bytes())?;
            }
            return Ok(Added::NotMade(Box::new(output)));
        }
        // A post-checkout hook that fails sets git's exit status too, although the worktree was made. git removes a worktree
        // that it could not finish, and unlocks a finished one.
        if !output.ok() && entry()?.is_none_or(|entry| entry.locked.is_some()) {
            return Ok(Added::NotMade(Box::new(output)));
        }
        env::fault_point("git.after-worktree-add");
        sync_file_system(self.repo.common_dir())?;
        sync_file_system(path)?;
        let made = entry()?.map(|entry| entry.worktree).ok_or_else(|| {
            Error::new(Code::WorkspaceBroken, format!("'{}' was made, but git does not list it", path.display()))
        })?;
        self.link_crypt_keys(&made)?;
        Ok(Added::Made(made))
    }

    /// Why a workspace was not made; what there is of it goes to `trash`. The caller holds the operation lock.
    pub fn not_made(&self, path: &Path, branch: &WorkspaceBranch, trash: &Path, output: &Output) -> Error {
        let words = output.stderr.as_str();
        let error = output.error();
        if words.contains("already used by worktree") || words.contains("already checked out") {
            return Error::new(Code::BranchInUse, "the branch is checked out elsewhere").why(words.trim().replace('\n', "; "));
        }
        if words.contains("a branch named") && words.contains("already exists") {
            return Error::new(Code::ChangedMeanwhile, "the branch exists already").why(words.trim().replace('\n', "; "));
        }
        if error.code() == Code::GitLocked {
            return error;
        }
        let cleaned = self.repair_workspace(path, trash).and_then(|_| match branch {
            WorkspaceBranch::New { name, base } if self.repo.refs().read_ref(name)?.as_ref() == Some(base) => {
                let edit = RefEdit { name: name.clone(), expected: Expected::Value(base.clone()), new: None };
                self.repo.refs().update_refs(&[edit], "git axiom: workspace not made")
            }
            WorkspaceBranch::New { .. } | WorkspaceBranch::Existing(_) | WorkspaceBranch::Detached(_) => Ok(()),
        });
        if let Err(cleanup) = cleaned {
            tracing::warn!(error = %cleanup, "what was half-made could not be cleared");
        }
        if error.code() == Code::FilterFailed {
            return error;
        }
        let code = if error.code() == Code::DiskFull { Code::DiskFull } else { Code::DiskCheckoutFailed };
        Error::new(code, format!("the workspace '{}' could not be written", path.display()))
            .why(words.trim().replace('\n', "; "))
            .hint("free some disk space, or read git's message")
    }

    /// The paths for moving a workspace to the trash: its folder to `moved_to`, which must not exist and must be on the same
    /// file system.
    ///
    /// # Errors
    /// As `Refs::head`.
    pub fn plan_aside(&self, workspace: &Worktree, moved_to: &Path) -> Result<Aside> {
        let head = self.repo.refs().head(workspace)?;
        let name = moved_to.file_name().unwrap_or_default();
        let git_dir_moved_to = self.repo.common_dir().join("axiom/trash").join(joined(&format!("{}-", env::fresh_id()), name));
        let (path, git_dir) = (workspace.path().to_owned(), workspace.git_dir().to_owned());
        Ok(Aside { path, moved_to: moved_to.to_owned(), git_dir, git_dir_moved_to, head })
    }

    /// Moves a workspace to the trash: detaches HEAD, then moves the folder with all files, ignored ones included, then the
    /// registration. Its commits and contents must be referenced elsewhere before. After a crash a second call finishes it.
    ///
    /// # Errors
    /// `IO_FAILED`, `CHANGED_MEANWHILE`.
    pub fn put_aside(&self, aside: &Aside) -> Result<()> {
        let workspace = Worktree::linked(aside.path.clone(), aside.git_dir.clone());
        // A workspace that git cannot read is moved without detaching HEAD.
        let works = || Ok::<_, Error>(self.damage_of(&aside.git_dir)?.is_none());
        if aside.git_dir.is_dir() && workspace.verify().is_ok() && works()? {
            let now = self.repo.refs().head(&workspace)?;
            if let (Head::Branch { .. }, Some(commit)) = (&now, now.commit()) {
                self.repo.refs().set_head(&workspace, &now, &HeadState::Detached(commit.clone()), "git axiom: put aside")?;
            }
        }
        env::fault_point("git.aside-detached");
        // A folder whose `.git` names another repository belongs to that one and is not moved, even if it is recorded here.
        if !matches!(self.repo.worktrees().whose(&aside.path)?, Whose::Others(_)) {
            move_once(&aside.path, &aside.moved_to)?;
        }
        env::fault_point("git.aside-moved");
        move_once(&aside.git_dir, &aside.git_dir_moved_to)
    }

    /// Brings a workspace back from the trash. HEAD is put on its branch again if that is not checked out elsewhere and has
    /// not moved. After a crash a second call finishes it.
    ///
    /// # Errors
    /// `WORKSPACE_IN_THE_WAY` where its old path is taken; `IO_FAILED`.
    pub fn bring_back(&self, aside: &Aside) -> Result<Worktree> {
        for (from, to) in [(&aside.git_dir_moved_to, &aside.git_dir), (&aside.moved_to, &aside.path)] {
            if from.symlink_metadata().is_ok() && to.symlink_metadata().is_ok() {
                return Err(in_the_way(to));
            }
        }
        move_once(&aside.git_dir_moved_to, &aside.git_dir)?;
        env::fault_point("git.back-registered");
        move_once(&aside.moved_to, &aside.path)?;
        env::fault_point("git.back-moved");
        let workspace = Worktree::linked(aside.path.clone(), aside.git_dir.clone());
        // The repository may have been moved or copied since then: folder and registration name each other's old paths.
        if workspace.verify().is_err() && aside.path.is_dir() && aside.git_dir.is_dir() {
            self.repo.worktrees().connect(&aside.path, &aside.git_dir)?;
        }
        workspace.verify()?;
        if let Some(branch) = aside.head.branch() {
            let elsewhere = |entry: &WorktreeEntry| {
                entry.worktree.path() != aside.path && entry.head.as_ref().and_then(Head::branch) == Some(branch)
            };
            let now = self.repo.refs().head(&workspace)?;
            // Only if the branch is still at the workspace's commit: index and files belong to that commit.
            let unmoved = self.repo.refs().read_ref(branch)?.as_ref() == now.commit();
            if now.branch() != Some(branch) && unmoved && !self.repo.worktrees().list()?.iter().any(elsewhere) {
                self.repo.refs().set_head(&workspace, &now, &HeadState::Branch(branch.clone()), "git axiom: brought back")?;
            }
        }
        Ok(workspace)
    }

    /// Brings back what was left of a workspace that was damaged before it went to the trash: its folder was missing, or the
    /// folder's `.git` was. The damage is not mended. Nothing that is at its old paths now is replaced, and the registration
    /// stays in the trash if its branch is checked out elsewhere. After a crash a second call finishes it.
    ///
    /// # Errors
    /// `IO_FAILED`, `GIT_FAILED`.
    pub fn bring_back_lost(&self, aside: &Aside) -> Result<()> {
        let has_branch = |entry: &WorktreeEntry| {
            aside.head.branch().is_some() && entry.head.as_ref().and_then(Head::branch) == aside.head.branch()
        };
        let is_free = |place: &Path| place.symlink_metadata().is_err();
        if is_free(&aside.git_dir) && !self.repo.worktrees().list()?.iter().any(has_branch) {
            move_once(&aside.git_dir_moved_to, &aside.git_dir)?;
        }
        env::fault_point("git.back-lost");
        if is_free(&aside.path) { move_once(&aside.moved_to, &aside.path) } else { Ok(()) }
    }

    /// Finds out what is wrong with the workspace at `path` and repairs it. If git still has its registration, folder and
    /// registration are connected again. If it is half-made, or one of the two is missing, the folder is moved to `trash` (a
    /// fresh path next to the workspaces), and the registration to the repository's trash.
    ///
    /// # Errors
    /// `WORKSPACE_NOT_OURS` where the folder is another repository's; `IO_FAILED`, `GIT_FAILED`.
    pub fn repair_workspace(&self, path: &Path, trash: &Path) -> Result<Repair> {
        self.repo.worktrees().not_others(path)?;
        let folder = path.symlink_metadata().is_ok();
        let registered = self.repo.worktrees().worktree_at(path)?.filter(|entry| !entry.worktree.is_main());
        let Some(entry) = registered else {
            if !folder {
                return Ok(Repair::Nothing);
            }
            // git does not list one whose `gitdir` is lost.
            self.put_in_trash(path, trash)?;
            return Ok(Repair::PutAside);
        };
        let half_made = entry.is_half_made();
        if entry.present && !half_made {
            return Ok(Repair::Sound);
        }
        if folder && !half_made {
            // The folder lost its `.git`, which is written again from the registration.
            let place = path.join(".git");
            if place.symlink_metadata().is_ok() {
                // A repository that the user made there, or a damaged `.git` file: it is kept in the trash.
                move_once(&place, &trash.join("dot-git"))?;
            }
            self.repo.worktrees().connect(path, entry.worktree.git_dir())?;
            return Ok(Repair::Reconnected);
        }
        if folder {
            move_once(path, &trash.join("folder"))?;
            env::fault_point("git.repair-folder-moved");
        }
        let registration = self.repo.common_dir().join("axiom/trash").join(env::fresh_id());
        move_once(entry.worktree.git_dir(), &registration)?;
        Ok(if folder { Repair::PutAside } else { Repair::Unregistered })
    }

    /// Moves a folder away, durably and as a whole; does nothing where it is not there. After a crash a second call finishes it.
    ///
    /// # Errors
    /// `WORKSPACE_IN_THE_WAY` where `to` exists; `HOLDS_MOUNT`, `DISK_FULL`, `IO_FAILED`.
    pub fn move_away(&self, from: &Path, to: &Path) -> Result<()> {
        move_once(from, to)
    }

    /// Takes these lines out of `info/exclude`; all others stay as they are. Safe to repeat.
    ///
    /// # Errors
    /// `IO_FAILED`, `DISK_FULL`.
    pub fn exclude_no_longer(&self, lines: &[String]) -> Result<()> {
        let file = self.repo.common_dir().join("info/exclude");
        let Some(content) = files::read_optional(&file, EXCLUDE_LIMIT)? else { return Ok(()) };
        let is_ours = |line: &&[u8]| lines.iter().any(|ours| line.strip_suffix(b"\n").unwrap_or(line) == ours.as_bytes());
        let rest: Vec<u8> = content.split_inclusive(|b| *b == b'\n').filter(|line| !is_ours(line)).flatten().copied().collect();
        if rest == content { Ok(()) } else { files::replace_keeping(&file, &rest) }
    }

    /// Makes sure that `info/exclude` contains a folder of the main worktree, so that git does not list workspaces as
    /// untracked. Returns whether it had to be added.
    ///
    /// # Errors
    /// `IO_FAILED`.
    pub fn exclude_folder(&self, folder: &RepoPath) -> Result<bool> {
        self.exclude(&[b"/", folder.as_bytes(), b"/"].concat())
    }

    /// As [`Workspaces::exclude_folder`], for one file.
    ///
    /// # Errors
    /// `IO_FAILED`.
    pub fn exclude_file(&self, file: &RepoPath) -> Result<bool> {
        self.exclude(&[b"/", file.as_bytes()].concat())
    }

    fn exclude(&self, line: &[u8]) -> Result<bool> {
        let file = self.repo.common_dir().join("info/exclude");
        let content = files::read_optional(&file, EXCLUDE_LIMIT)?.unwrap_or_default();
        if content.split(|b| *b == b'\n').any(|present| present == line) {
            return Ok(false);
        }
        let info = self.repo.common_dir().join("info");
        if !info.is_dir() {
            files::create_public_dir(&info)?;
            files::sync_dir(self.repo.common_dir())?;
        }
        files::append_keeping(&file, &[line, b"\n"].concat())?;
        Ok(true)
    }
}

/// Moves `from` to `to`, durably; does nothing if `from` does not exist. A folder with a mount point in it is not moved
/// (`HOLDS_MOUNT`). If a crash interrupted a move from `to` to `from`, that move is undone first.
pub(in crate::git) fn move_once(from: &Path, to: &Path) -> Result<()> {
    files::turn_back(to, from)?;
    if from.symlink_metadata().is_err() {
        return Ok(());
    }
    let (Some(above), Some(before)) = (to.parent(), from.parent()) else { return Err(in_the_way(to)) };
    files::create_dir_all(above)?;
    if !files::move_whole(from, to)? {
        return Err(in_the_way(to));
    }
    files::sync_dir(above)?;
    files::sync_dir(before)
}

fn is_empty_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_dir())
        && std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

fn in_the_way(path: &Path) -> Error {
    Error::new(Code::WorkspaceInTheWay, format!("'{}' exists already", path.display())).hint("move it away, and try again")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use super::*;
    use crate::git::repo::repository::Repository;
    use crate::git::repo::scratch::{Scratch, crash_child_of, git_at};

    fn place(scratch: &Scratch) -> (PathBuf, PathBuf) {
        (scratch.path().join(".worktrees/ed-001-t1"), scratch.path().join(".worktrees/trash/x"))
    }

    fn fresh(scratch: &Scratch) -> WorkspaceBranch {
        let base = Oid::new(scratch.git(&["rev-parse", "HEAD"])).unwrap();
        WorkspaceBranch::New { name: RefName::branch("axiom/t1"), base }
    }

    #[test]
    fn a_workspace_is_made_put_aside_and_brought_back_with_ignored_files() {
        for kind in [&[][..], &["--ref-format=reftable"]] {
            let scratch = Scratch::new(kind);
            let repo = scratch.repo();
            let (path, trash) = place(&scratch);
            assert!(repo.workspaces().exclude_folder(&RepoPath::new(&b".worktrees"[..])).unwrap());
            assert!(!repo.workspaces().exclude_folder(&RepoPath::new(&b".worktrees"[..])).unwrap());
            let made = repo.workspaces().create_workspace(&path, &fresh(&scratch), &trash).unwrap();
            assert_eq!(scratch.git(&["status", "--porcelain", "-uall"]), "");
            std::fs::write(path.join(".env"), b"secret").unwrap();
            std::fs::write(path.join("a.txt"), b"staged\n").unwrap();
            git_at(&path, &["add", "a.txt"]);
            let before = git_at(&path, &["status", "--porcelain"]);
            let aside = repo.workspaces().plan_aside(&made, &trash).unwrap();
            repo.workspaces().put_aside(&aside).unwrap();
            repo.workspaces().put_aside(&aside).unwrap();
            assert_eq!(repo.worktrees().list().unwrap().len(), 1);
            assert_eq!(std::fs::read(trash.join(".env")).unwrap(), b"secret");
            repo.workspaces().bring_back(&aside).unwrap();
            let back = repo.workspaces().bring_back(&aside).unwrap();
            assert_eq!(git_at(&path, &["status", "--porcelain"]), before);
            assert_eq!(repo.refs().head(&back).unwrap(), aside.head);
            // A branch that is checked out elsewhere is not checked out here.
            repo.workspaces().put_aside(&aside).unwrap();
            scratch.git(&["switch", "-q", "axiom/t1"]);
            let back = repo.workspaces().bring_back(&aside).unwrap();
            assert!(repo.refs().head(&back).unwrap().branch().is_none());
        }
    }

    #[test]
    fn what_is_in_the_way_is_named() {
        let scratch = Scratch::new(&[]);
        let repo = scratch.repo();
        let (path, trash) = place(&scratch);
        scratch.write(".worktrees/ed-001-t1/file", b"");
        let code =
            |branch: &WorkspaceBranch, path: &Path| repo.workspaces().create_workspace(path, branch, &trash).unwrap_err().code();
        assert_eq!(code(&fresh(&scratch), &path), Code::WorkspaceInTheWay);
        let other = scratch.path().join(".worktrees/other");
        assert_eq!(code(&WorkspaceBranch::Existing(RefName::branch("main")), &other), Code::BranchInUse);
        let base = Oid::new(scratch.git(&["rev-parse", "HEAD"])).unwrap();
        let taken = WorkspaceBranch::New { name: RefName::branch("main"), base };
        assert_eq!(code(&taken, &other), Code::ChangedMeanwhile);
        // A checkout that fails half-way leaves no folder, no registration and no branch.
        scratch.write(".gitattributes", b"a.txt filter=broken\n");
        scratch.git(&["add", "."]);
        scratch.git(&["commit", "-qm", "filter"]);
        scratch.git(&["config", "filter.broken.smudge", "false"]);
        scratch.git(&["config", "filter.broken.required", "true"]);
        assert_eq!(code(&fresh(&scratch), &other), Code::DiskCheckoutFailed);
        assert!(!other.exists() && repo.worktrees().list().unwrap().len() == 1);
        assert_eq!(repo.refs().read_ref(&RefName::branch("axiom/t1")).unwrap(), None);
    }

    #[test]
    fn half_made_and_half_removed_workspaces_are_repaired() {
        let scratch = Scratch::new(&[]);
        let repo = scratch.repo();
        let (path, trash) = place(&scratch);
        let make = |branch| repo.workspaces().create_workspace(&path, &branch, &trash).unwrap();
        let repair = |n: u32| repo.workspaces().repair_workspace(&path, &trash.join(n.to_string())).unwrap();
        assert_eq!(repair(0), Repair::Nothing);
        let made = make(fresh(&scratch));
        assert_eq!(repair(1), Repair::Sound);
        std::fs::write(path.join("work"), b"w").unwrap();
        std::fs::remove_file(path.join(".git")).unwrap();
        assert_eq!(repair(2), Repair::Reconnected);
        assert_eq!(git_at(&path, &["status", "--porcelain"]), "?? work");
        // The state that a killed `worktree add` leaves.
        std::fs::write(made.git_dir().join("locked"), b"initializing").unwrap();
        assert_eq!(repair(3), Repair::PutAside);
        assert!(!path.exists() && trash.join("3/folder/work").exists());
        make(WorkspaceBranch::Existing(RefName::branch("axiom/t1")));
        std::fs::remove_dir_all(&path).unwrap();
        assert_eq!(repair(4), Repair::Unregistered);
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join("left"), b"").unwrap();
        assert_eq!(repair(5), Repair::PutAside);
        make(WorkspaceBranch::Existing(RefName::branch("axiom/t1")));
    }

    /// Runs in its own process in the crash test; does nothing otherwise.
    #[test]
    fn crash_child() {
        let Some(text) = crate::env::var("AXIOM_TEST_ASIDE").and_then(|text| text.into_string().ok()) else { return };
        let (root, json) = text.split_once('|').unwrap();
        let repo = Repository::discover(Path::new(root)).unwrap().isolated();
        let aside: Aside = serde_json::from_str(json).unwrap();
        repo.workspaces().put_aside(&aside).unwrap();
        repo.workspaces().bring_back(&aside).unwrap();
    }

    #[test]
    fn a_crash_while_putting_aside_or_bringing_back_is_finished_either_way() {
        for point in [
            "git.before-head",
            "git.after-head",
            "git.aside-detached",
            "git.aside-moved",
            "git.back-registered",
            "git.back-moved",
        ] {
            for away in [true, false] {
                let scratch = Scratch::new(&[]);
                let repo = scratch.repo();
                let (path, trash) = place(&scratch);
                let made = repo.workspaces().create_workspace(&path, &fresh(&scratch), &trash).unwrap();
                std::fs::write(path.join("a.txt"), b"edited\n").unwrap();
                let aside = repo.workspaces().plan_aside(&made, &trash).unwrap();
                let json = serde_json::to_string(&aside).unwrap();
                let child = std::process::Command::new(std::env::current_exe().unwrap())
                    .args(["--exact", &crash_child_of(module_path!()), "-q"])
                    .env("AXIOM_TEST_ASIDE", format!("{}|{json}", scratch.path().display()))
                    .env("AXIOM_TEST_FAULT", format!("{point}:1"))
                    .output()
                    .unwrap();
                assert!(!child.status.success(), "{point} was not reached");
                if away {
                    repo.workspaces().put_aside(&aside).unwrap();
                    assert!(!path.exists() && repo.worktrees().list().unwrap().len() == 1, "{point}");
                    assert_eq!(std::fs::read(trash.join("a.txt")).unwrap(), b"edited\n");
                }
                let back = repo.workspaces().bring_back(&aside).unwrap();
                assert_eq!(repo.refs().head(&back).unwrap(), aside.head, "{point}, away: {away}");
                assert_eq!(git_at(&path, &["status", "--porcelain"]), " M a.txt");
            }
        }
    }
}
