//! Workspaces: linked worktrees that are made, moved to the trash, brought back, and repaired. Nothing is deleted here.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use axiom_base::error::{Code, Error, Result};
use axiom_base::{env, files};
use axiom_model::base::names::RepoPath;

use crate::base::head::Head;
use crate::repo::handles::Workspaces;
use crate::repo::ownership::WorktreeOwner;
use crate::repo::program::joined;
use crate::repo::worktree_list::WorktreeEntry;
use crate::repo::worktrees::Worktree;
use axiom_model::journal::journaled_changes::HeadState;

/// The lock reason that git writes while it makes a worktree: a killed `worktree add` leaves it.
pub(crate) const HALF_MADE: &str = "initializing";

/// The largest `info/exclude` that is read.
const EXCLUDE_LIMIT: u64 = 16 * 1024 * 1024;

/// A workspace in the trash: old and new paths of its folder and git directory. The caller journals it before the first
/// move.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrashedWorkspace {
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

/// The result of [`Workspaces::repair_workspace`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorktreeRepair {
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
    /// The paths for moving a workspace to the trash: its folder to `moved_to`, which must not exist and must be on the same
    /// file system.
    pub fn plan_aside(&self, workspace: &Worktree, moved_to: &Path) -> Result<TrashedWorkspace> {
        let head = self.repo.refs().head(workspace)?;
        let name = moved_to.file_name().unwrap_or_default();
        let git_dir_moved_to = self.repo.common_dir().join("axiom/trash").join(joined(&format!("{}-", env::fresh_id()), name));
        let (path, git_dir) = (workspace.path().to_owned(), workspace.git_dir().to_owned());
        Ok(TrashedWorkspace { path, moved_to: moved_to.to_owned(), git_dir, git_dir_moved_to, head })
    }

    /// Moves a workspace to the trash: detaches HEAD, then moves the folder with all files, ignored ones included, then the
    /// registration. Its commits and contents must be referenced elsewhere before. After a crash a second call finishes it.
    pub fn put_aside(&self, aside: &TrashedWorkspace) -> Result<()> {
        let workspace = Worktree::linked(aside.path.clone(), aside.git_dir.clone());
        // A workspace that git cannot read is moved without detaching HEAD.
        let works = || Ok::<_, Error>(self.repo.registrations().damage_of(&aside.git_dir)?.is_none());
        if aside.git_dir.is_dir() && workspace.verify().is_ok() && works()? {
            let now = self.repo.refs().head(&workspace)?;
            if let (Head::Branch { .. }, Some(commit)) = (&now, now.commit()) {
                self.repo.refs().set_head(&workspace, &now, &HeadState::Detached(commit.clone()), "git axiom: put aside")?;
            }
        }
        env::fault_point("git.aside-detached");
        // A folder whose `.git` names another repository belongs to that one and is not moved, even if it is recorded here.
        if !matches!(self.repo.worktree_owners().whose(&aside.path)?, WorktreeOwner::Others(_)) {
            move_once(&aside.path, &aside.moved_to)?;
        }
        env::fault_point("git.aside-moved");
        move_once(&aside.git_dir, &aside.git_dir_moved_to)
    }

    /// Brings a workspace back from the trash. HEAD is put on its branch again if that is not checked out elsewhere and has
    /// not moved. After a crash a second call finishes it.
    pub fn bring_back(&self, aside: &TrashedWorkspace) -> Result<Worktree> {
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
            self.repo.worktree_owners().connect(&aside.path, &aside.git_dir)?;
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
    pub fn bring_back_lost(&self, aside: &TrashedWorkspace) -> Result<()> {
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
    pub fn repair_workspace(&self, path: &Path, trash: &Path) -> Result<WorktreeRepair> {
        self.repo.worktree_owners().not_others(path)?;
        let folder = path.symlink_metadata().is_ok();
        let registered = self.repo.worktrees().worktree_at(path)?.filter(|entry| !entry.worktree.is_main());
        let Some(entry) = registered else {
            if !folder {
                return Ok(WorktreeRepair::Nothing);
            }
            // git does not list one whose `gitdir` is lost.
            self.repo.workspaces().put_in_trash(path, trash)?;
            return Ok(WorktreeRepair::PutAside);
        };
        let half_made = entry.is_half_made();
        if entry.present && !half_made {
            return Ok(WorktreeRepair::Sound);
        }
        if folder && !half_made {
            // The folder lost its `.git`, which is written again from the registration.
            let place = path.join(".git");
            if place.symlink_metadata().is_ok() {
                // A repository that the user made there, or a damaged `.git` file: it is kept in the trash.
                move_once(&place, &trash.join("dot-git"))?;
            }
            self.repo.worktree_owners().connect(path, entry.worktree.git_dir())?;
            return Ok(WorktreeRepair::Reconnected);
        }
        if folder {
            move_once(path, &trash.join("folder"))?;
            env::fault_point("git.repair-folder-moved");
        }
        let registration = self.repo.common_dir().join("axiom/trash").join(env::fresh_id());
        move_once(entry.worktree.git_dir(), &registration)?;
        Ok(if folder { WorktreeRepair::PutAside } else { WorktreeRepair::Unregistered })
    }

    /// Moves a folder away, durably and as a whole; does nothing where it is not there. After a crash a second call finishes it.
    pub fn move_away(&self, from: &Path, to: &Path) -> Result<()> {
        move_once(from, to)
    }

    /// Takes these lines out of `info/exclude`; all others stay as they are. Safe to repeat.
    pub fn exclude_no_longer(&self, lines: &[String]) -> Result<()> {
        let file = self.repo.common_dir().join("info/exclude");
        let Some(content) = files::read_optional(&file, EXCLUDE_LIMIT)? else { return Ok(()) };
        let is_ours = |line: &&[u8]| lines.iter().any(|ours| line.strip_suffix(b"\n").unwrap_or(line) == ours.as_bytes());
        let rest: Vec<u8> = content.split_inclusive(|b| *b == b'\n').filter(|line| !is_ours(line)).flatten().copied().collect();
        if rest == content { Ok(()) } else { files::replace_keeping(&file, &rest) }
    }

    /// Makes sure that `info/exclude` contains a folder of the main worktree, so that git does not list workspaces as
    /// untracked. Returns whether it had to be added.
    pub fn exclude_folder(&self, folder: &RepoPath) -> Result<bool> {
        self.exclude(&[b"/", folder.as_bytes(), b"/"].concat())
    }

    /// As [`Workspaces::exclude_folder`], for one file.
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
pub(crate) fn move_once(from: &Path, to: &Path) -> Result<()> {
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

pub(super) fn in_the_way(path: &Path) -> Error {
    Error::new(Code::WorkspaceInTheWay, format!("'{}' exists already", path.display())).hint("move it away, and try again")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use super::*;
    use crate::WorkspaceBranch;
    use crate::repo::repository::Repository;
    use crate::repo::scratch::{ScratchRepository, crash_child_of, git_at};
    use axiom_model::base::names::{Oid, RefName};

    fn place(scratch: &ScratchRepository) -> (PathBuf, PathBuf) {
        (scratch.path().join(".worktrees/ed-001-t1"), scratch.path().join(".worktrees/trash/x"))
    }

    fn fresh(scratch: &ScratchRepository) -> WorkspaceBranch {
        let base = Oid::new(scratch.git(&["rev-parse", "HEAD"])).unwrap();
        WorkspaceBranch::New { name: RefName::branch("axiom/t1"), base }
    }

    #[test]
    fn a_workspace_is_made_put_aside_and_brought_back_with_ignored_files() {
        for kind in [&[][..], &["--ref-format=reftable"]] {
            let scratch = ScratchRepository::new(kind);
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
        let scratch = ScratchRepository::new(&[]);
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
        // One that gets its files from a capture is made all the same.
        scratch.repo().workspaces().create_workspace_again(&other, &fresh(&scratch), &trash).unwrap();
        assert_eq!(std::fs::read(other.join("a.txt")).unwrap(), std::fs::read(scratch.path().join("a.txt")).unwrap());
    }

    #[test]
    fn half_made_and_half_removed_workspaces_are_repaired() {
        let scratch = ScratchRepository::new(&[]);
        let repo = scratch.repo();
        let (path, trash) = place(&scratch);
        let make = |branch| repo.workspaces().create_workspace(&path, &branch, &trash).unwrap();
        let repair = |n: u32| repo.workspaces().repair_workspace(&path, &trash.join(n.to_string())).unwrap();
        assert_eq!(repair(0), WorktreeRepair::Nothing);
        let made = make(fresh(&scratch));
        assert_eq!(repair(1), WorktreeRepair::Sound);
        std::fs::write(path.join("work"), b"w").unwrap();
        std::fs::remove_file(path.join(".git")).unwrap();
        assert_eq!(repair(2), WorktreeRepair::Reconnected);
        assert_eq!(git_at(&path, &["status", "--porcelain"]), "?? work");
        // The state that a killed `worktree add` leaves.
        std::fs::write(made.git_dir().join("locked"), b"initializing").unwrap();
        assert_eq!(repair(3), WorktreeRepair::PutAside);
        assert!(!path.exists() && trash.join("3/folder/work").exists());
        make(WorkspaceBranch::Existing(RefName::branch("axiom/t1")));
        std::fs::remove_dir_all(&path).unwrap();
        assert_eq!(repair(4), WorktreeRepair::Unregistered);
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join("left"), b"").unwrap();
        assert_eq!(repair(5), WorktreeRepair::PutAside);
        make(WorkspaceBranch::Existing(RefName::branch("axiom/t1")));
    }

    /// Runs in its own process in the crash test; does nothing otherwise.
    #[test]
    fn crash_child() {
        let Some(text) = axiom_base::env::var("AXIOM_TEST_ASIDE").and_then(|text| text.into_string().ok()) else { return };
        let (root, json) = text.split_once('|').unwrap();
        let repo = Repository::discover(Path::new(root)).unwrap().isolated();
        let aside: TrashedWorkspace = serde_json::from_str(json).unwrap();
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
                let scratch = ScratchRepository::new(&[]);
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
