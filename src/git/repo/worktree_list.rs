//! The worktrees of the repository: listed, and found by their folders.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use axiom_base::error::{Code, Result};
use axiom_base::files;
use axiom_base::own_process::threads;
use axiom_model::base::names::{Oid, RefName};

use super::pointer_files::{POINTER_LIMIT, is_same_place, path_of, trimmed};
use super::shortcuts::FastWay;
use super::worktrees::{Worktree, utf8};
use crate::base::head::Head;
use crate::base::readable::is_caused_by_gap;
use crate::repo::handles::Worktrees;
use crate::repo::program::GitOutput;

/// How many worktrees are looked at in one thread.
pub const FEW_WORKTREES: usize = 64;

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
        threads::in_parts(&all, FEW_WORKTREES, |_, part| part.iter().map(|one| self.entry_in_files(one.clone())).collect())
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

    /// What git lists, with zeros at the ends of lines. Before git 2.36 they cannot be had, and a path with a line feed is not told from
    /// two lines.
    fn listing_by_git(&self) -> Result<GitOutput> {
        let output = self.repo.git().args(["worktree", "list", "--porcelain", "-z"]).run()?;
        /// What git exits with where it does not know an option.
        const USAGE: i32 = 129;
        if output.code != Some(USAGE) {
            return if output.ok() { Ok(output) } else { Err(output.error()) };
        }
        let mut lines = self.repo.git().args(["worktree", "list", "--porcelain"]).run_ok()?;
        lines.stdout.iter_mut().filter(|byte| **byte == b'\n').for_each(|byte| *byte = 0);
        Ok(lines)
    }

    pub(crate) fn list_by_git(&self, folders: &BTreeMap<PathBuf, PathBuf>) -> Result<Vec<WorktreeEntry>> {
        let output = self.listing_by_git()?;
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
