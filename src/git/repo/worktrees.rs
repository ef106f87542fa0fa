//! The worktrees of the repository, and checks that a folder still is one.

use crate::repo::handles::Worktrees;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_model::base::names::{Oid, RefName, RepoPath};

use super::ownership::{is_same_place, linked_to};
use super::repository::path_of;
use super::shortcuts::FastWay;
use crate::base::flat_name::flat_name;
use crate::base::head::Head;
use crate::base::readable::is_caused_by_gap;
use axiom_base::own_process::threads;

/// The largest content of git's small pointer files (`gitdir`, `.git`) that is read.
pub(crate) const POINTER_LIMIT: u64 = 64 * 1024;

/// How many worktrees are looked at in one thread.
pub const FEW_WORKTREES: usize = 64;

/// A worktree: its folder, and the git directory with its HEAD and index.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Worktree {
    path: PathBuf,
    git_dir: PathBuf,
    role: WorktreeRole,
    /// An index in the place of its own.
    index: Option<PathBuf>,
}

/// The role of a worktree for git axiom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum WorktreeRole {
    /// The main worktree, for git too.
    Main,
    /// The main worktree of a bare repository; for git it is a linked one.
    MainOfBare,
    /// Any other worktree.
    Linked,
    /// The worktree of a submodule, in its own repository.
    Submodule,
}

/// A worktree as git lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorktreeEntry {
    /// The worktree.
    pub worktree: Worktree,
    /// Its HEAD; `None` where git cannot read it (half-made).
    pub head: Option<Head>,
    /// The reason given with `git worktree lock`, perhaps empty; `None` if it is not locked.
    pub locked: Option<String>,
    /// Whether the folder exists, and its `.git` leads to the git directory.
    pub present: bool,
}

impl Worktree {
    pub(crate) fn main(path: PathBuf, git_dir: PathBuf) -> Self {
        Self { path, git_dir, role: WorktreeRole::Main, index: None }
    }

    pub(crate) fn main_of_bare(path: PathBuf, git_dir: PathBuf) -> Self {
        Self { path, git_dir, role: WorktreeRole::MainOfBare, index: None }
    }

    pub(crate) fn linked(path: PathBuf, git_dir: PathBuf) -> Self {
        Self { path, git_dir, role: WorktreeRole::Linked, index: None }
    }

    pub(crate) fn submodule(path: PathBuf, git_dir: PathBuf) -> Self {
        Self { path, git_dir, role: WorktreeRole::Submodule, index: None }
    }

    /// Whether it is the worktree of a submodule.
    pub fn is_submodule(&self) -> bool {
        self.role == WorktreeRole::Submodule
    }

    /// The folder with the files.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of the folder as text, as the log and checkpoints record it.
    pub fn path_text(&self) -> Result<String> {
        utf8(&self.path, if self.role == WorktreeRole::Main { "mv" } else { "git worktree move" }).map(str::to_owned)
    }

    /// What its part of a trash is called: another name for each worktree.
    pub fn name_in_trash(&self) -> Result<OsString> {
        match self.role {
            WorktreeRole::Main | WorktreeRole::MainOfBare => Ok("main".into()),
            WorktreeRole::Linked => Ok(self.git_dir.file_name().map_or_else(|| "main".into(), OsStr::to_os_string)),
            WorktreeRole::Submodule => {
                Ok(format!("submodule-{}", flat_name(&RepoPath::new(self.path.as_os_str().as_bytes()))?).into())
            }
        }
    }

    /// An index in the place of its own, if it is read with one.
    pub(crate) fn other_index(&self) -> Option<&Path> {
        self.index.as_deref()
    }

    /// The git directory of this worktree, which contains its HEAD and index.
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// Whether it is the main worktree.
    pub fn is_main(&self) -> bool {
        match self.role {
            WorktreeRole::Main | WorktreeRole::MainOfBare => true,
            WorktreeRole::Linked | WorktreeRole::Submodule => false,
        }
    }

    /// Whether git has an entry for it among the linked worktrees.
    pub(crate) fn is_registered(&self) -> bool {
        match self.role {
            WorktreeRole::Main | WorktreeRole::Submodule => false,
            WorktreeRole::MainOfBare | WorktreeRole::Linked => true,
        }
    }

    /// The index file that its calls of git use.
    pub fn index_file(&self) -> PathBuf {
        self.index.clone().unwrap_or_else(|| self.git_dir.join("index"))
    }

    /// Why it is locked, if it is and can be.
    fn reason_of_lock(&self) -> Option<String> {
        if !self.is_registered() {
            return None;
        }
        let reason = files::read_optional(&self.git_dir.join("locked"), POINTER_LIMIT).ok().flatten()?;
        Some(String::from_utf8_lossy(&reason).trim().to_owned())
    }

    /// The same git directory with another folder for its files, in which contents are prepared.
    pub(crate) fn with_files_in(&self, folder: &Path) -> Self {
        Self { path: folder.to_owned(), git_dir: self.git_dir.clone(), role: WorktreeRole::Main, index: self.index.clone() }
    }

    /// The same worktree, read with an index in the place of its own.
    pub(crate) fn with_index(&self, index: &Path) -> Self {
        Self { index: Some(index.to_owned()), ..self.clone() }
    }

    /// Checks that the folder is still a worktree of this git directory. Call it before every write.
    pub fn verify(&self) -> Result<()> {
        let broken = |why: &str| {
            Err(Error::new(
                Code::WorkspaceBroken,
                format!("'{}' is no longer a worktree of this repository", self.path.display()),
            )
            .why(why.to_owned())
            .hint("run 'git worktree repair', or 'git axiom recover'"))
        };
        if !self.path.is_dir() {
            return broken("the folder is gone");
        }
        if self.role == WorktreeRole::Submodule {
            let dot = self.path.join(".git");
            let is_gone = matches!(std::fs::symlink_metadata(&dot), Err(e) if files::says_nothing_is_there(&e));
            // Whoever made this value has seen that the git directory names the folder.
            if is_gone || is_same_place(&dot, &self.git_dir) {
                return Ok(());
            }
        }
        if !self.is_registered() && self.role != WorktreeRole::Submodule {
            return Ok(());
        }
        let pointer = self.path.join(".git");
        if linked_to(&pointer).is_some_and(|target| is_same_place(&self.path.join(target), &self.git_dir)) {
            return Ok(());
        }
        let content = match files::read_small(&pointer, POINTER_LIMIT)? {
            files::SmallFile::Content(content) => content,
            files::SmallFile::Nothing => return broken("its .git file is gone"),
            files::SmallFile::Odd(what) => return broken(&format!("its .git is {what}")),
        };
        let Some(target) = content.strip_prefix(b"gitdir: ") else { return broken("its .git file is damaged") };
        let target = self.path.join(path_of(trimmed(target)));
        if is_same_place(&target, &self.git_dir) { Ok(()) } else { broken("its .git file points elsewhere") }
    }
}

/// A path as text; `moves` is the command with which the user can move the folder.
fn utf8<'p>(path: &'p Path, moves: &str) -> Result<&'p str> {
    path.to_str().ok_or_else(|| {
        Error::new(Code::RepositoryUnsupported, format!("the path '{}' is not UTF-8", path.display()))
            .why("git axiom could not restore checkpoints there, so it makes none")
            .hint(format!("{moves} '{}' to a place with a plain name", path.display()))
    })
}

pub(crate) fn trimmed(bytes: &[u8]) -> &[u8] {
    bytes.strip_suffix(b"\n").unwrap_or(bytes)
}

impl Worktrees<'_> {
    /// Checks that the repository's path can be recorded.
    pub fn require_plain_place(&self) -> Result<()> {
        utf8(self.repo.git_dir(), "mv").and_then(|_| utf8(self.repo.common_dir(), "mv")).map(drop)
    }

    /// The worktree at a folder, by its path; `None` where git knows none there.
    pub fn worktree_at(&self, path: &Path) -> Result<Option<WorktreeEntry>> {
        let is_named = |entry: &WorktreeEntry| entry.worktree.path() == path;
        // Most are registered by the name of their folder: then the others are not looked at.
        if let Some(name) = path.file_name()
            && self.repo.shortcuts().allow(FastWay::ListWorktrees)
        {
            let git_dir = self.repo.common_dir().join("worktrees").join(name);
            let main = self.main_worktree().ok();
            let is_main = main.as_ref().is_some_and(|main| main.git_dir() == git_dir || main.path() == path);
            if let Some(folder) = self.folder_of_entry(&git_dir)?.filter(|folder| folder == path && !is_main) {
                return Ok(Some(self.entry_in_files(Worktree::linked(folder, git_dir))));
            }
        }
        let all = self.list()?;
        let wanted = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let is_there = |entry: &WorktreeEntry| entry.worktree.path().canonicalize().is_ok_and(|here| here == wanted);
        let found = all.iter().position(is_named).or_else(|| all.iter().position(is_there));
        Ok(found.and_then(|place| all.into_iter().nth(place)))
    }

    /// The folder that an entry of a linked worktree names. One that was moved without git stands where we were called: git works
    /// on in it, and names the new place a day later.
    fn folder_of_entry(&self, git_dir: &Path) -> Result<Option<PathBuf>> {
        let Some(content) = files::read_optional(&git_dir.join("gitdir"), POINTER_LIMIT)? else { return Ok(None) };
        if trimmed(&content).is_empty() || content.contains(&0) {
            return Ok(None);
        }
        let pointer = git_dir.join(path_of(trimmed(&content)));
        let folder = pointer.parent().map(Path::to_owned).unwrap_or_default();
        let is_here = git_dir.file_name() == self.repo.git_dir().file_name() && is_same_place(git_dir, self.repo.git_dir());
        if is_here
            && folder.symlink_metadata().is_err()
            && let Some(here) = self.top_level()?
        {
            return Ok(Some(here));
        }
        // git writes relative paths if the user configured it: `…/worktrees/x/../../../x`.
        Ok(Some(if content.starts_with(b"/") { folder } else { folder.canonicalize().unwrap_or(folder) }))
    }

    /// All worktrees with their HEADs, half-made ones included. The main one is first; a bare repository whose main worktree
    /// is missing has none.
    pub fn list(&self) -> Result<Vec<WorktreeEntry>> {
        let folders = self.linked_git_dirs()?;
        if folders.is_empty()
            && let Ok(main) = self.main_worktree()
        {
            let head = self.repo.refs().head(&main).ok();
            return Ok(vec![WorktreeEntry { present: main.verify().is_ok(), head, locked: None, worktree: main }]);
        }
        if self.repo.shortcuts().allow(FastWay::ListWorktrees) || self.repo.registrations().is_git_s_list_stopped()? {
            return Ok(self.list_in_files(folders));
        }
        self.list_by_git(&folders)
    }

    /// The linked worktrees of [`Worktrees::list`], without a look at what each is on.
    pub fn list_linked(&self) -> Result<Vec<Worktree>> {
        let all = if self.repo.shortcuts().allow(FastWay::ListWorktrees) {
            self.worktrees_in_files(self.linked_git_dirs()?)
        } else {
            self.list()?.into_iter().map(|entry| entry.worktree).collect()
        };
        Ok(all.into_iter().filter(|worktree| !worktree.is_main()).collect())
    }

    /// As git lists them, from the files of each; a damaged one does not hide the others. `folders` are those of the linked ones.
    fn list_in_files(&self, folders: BTreeMap<PathBuf, PathBuf>) -> Vec<WorktreeEntry> {
        let all = self.worktrees_in_files(folders);
        threads::in_parts(&all, FEW_WORKTREES, |part| part.iter().map(|one| self.entry_in_files(one.clone())).collect())
    }

    /// The main one and these linked ones.
    fn worktrees_in_files(&self, folders: BTreeMap<PathBuf, PathBuf>) -> Vec<Worktree> {
        let main = self.main_worktree().ok();
        let is_main = |git_dir: &Path| main.as_ref().is_some_and(|main| main.git_dir() == git_dir);
        let linked = folders.into_iter().filter(|(_, git_dir)| !is_main(git_dir));
        let linked = linked.map(|(folder, git_dir)| Worktree::linked(folder, git_dir));
        main.clone().into_iter().chain(linked).collect()
    }

    fn entry_in_files(&self, worktree: Worktree) -> WorktreeEntry {
        WorktreeEntry {
            present: worktree.verify().is_ok(),
            head: self.repo.refs().head(&worktree).ok(),
            locked: worktree.reason_of_lock(),
            worktree,
        }
    }

    pub(crate) fn list_by_git(&self, folders: &BTreeMap<PathBuf, PathBuf>) -> Result<Vec<WorktreeEntry>> {
        let output = self.repo.git().args(["worktree", "list", "--porcelain", "-z"]).run_ok()?;
        let mut listed = Vec::new();
        let mut fields: Vec<&[u8]> = Vec::new();
        for field in output.stdout.split(|b| *b == 0) {
            if !field.is_empty() {
                fields.push(field);
            } else if !fields.is_empty() {
                listed.push(std::mem::take(&mut fields));
            }
        }
        let main = match self.main_worktree() {
            Ok(main) => Some(main),
            Err(e) if matches!(e.code(), Code::BareRepository | Code::RepositoryUnsupported) => None,
            Err(e) => return Err(e),
        };
        let mut entries = Vec::new();
        for (position, fields) in listed.into_iter().enumerate() {
            let path = path_of(fields.iter().find_map(|f| f.strip_prefix(b"worktree ")).unwrap_or_default());
            let worktree = if position == 0 {
                // A bare repository is not a worktree; its main worktree is among the linked ones.
                main.clone().filter(|main| !main.is_registered())
            } else {
                // A worktree may be unregistered between the two listings.
                folders.get(&path).map(|git_dir| match &main {
                    Some(main) if main.git_dir() == git_dir => main.clone(),
                    Some(_) | None => Worktree::linked(path, git_dir.clone()),
                })
            };
            let Some(worktree) = worktree else { continue };
            let present = worktree.verify().is_ok();
            entries.push(WorktreeEntry { head: head_of(&fields), locked: locked(&fields), present, worktree });
        }
        entries.sort_by_key(|entry| !entry.worktree.is_main());
        Ok(entries)
    }

    /// The git directories of the linked worktrees, by the folder that they name. The folder may not exist.
    pub(crate) fn linked_git_dirs(&self) -> Result<BTreeMap<PathBuf, PathBuf>> {
        let parent = self.repo.common_dir().join("worktrees");
        let mut found = BTreeMap::new();
        for entry in files::list(&parent)? {
            let git_dir = entry.path();
            match self.folder_of_entry(&git_dir) {
                Ok(Some(folder)) => drop(found.insert(folder, git_dir)),
                // `WorktreeRegistrations::damaged_worktrees` names an entry that cannot be read; it hides no other.
                Err(error) if !is_caused_by_gap(&error) => return Err(error),
                Ok(None) | Err(_) => {}
            }
        }
        Ok(found)
    }
}

fn head_of(fields: &[&[u8]]) -> Option<Head> {
    let commit = fields.iter().find_map(|f| f.strip_prefix(b"HEAD ")).and_then(|hex| std::str::from_utf8(hex).ok());
    let commit = commit.filter(|hex| hex.bytes().any(|b| b != b'0')).and_then(|hex| Oid::new(hex).ok());
    match fields.iter().find_map(|f| f.strip_prefix(b"branch ")) {
        Some(name) => Some(Head::Branch { name: RefName::of_git(name), commit }),
        None => commit.map(|commit| Head::Detached { commit }),
    }
}

fn locked(fields: &[&[u8]]) -> Option<String> {
    let field = fields.iter().find_map(|f| f.strip_prefix(b"locked"))?;
    Some(String::from_utf8_lossy(field).trim().to_owned())
}
