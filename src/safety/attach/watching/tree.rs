//! The folders of a worktree that a watch looks after: watched by the system as far as it may, the others scanned. Ignored folders,
//! other repositories and what captures leave out are not among them.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use super::scan::{ChangedFolderEntry, ScannedFolder};
use axiom_base::error::Result;
use axiom_git::{Repository, Worktree};
use axiom_model::attach::watching::PendingWatchChanges;
use axiom_model::base::names::RepoPath;
use axiom_process::os::changes::{FolderChange, FolderWatcher, WatchedFolderId};

/// The folders of one worktree.
pub(super) struct WatchedFolders<'r> {
    repo: &'r Repository,
    worktree: &'r Worktree,
    changes: &'r FolderWatcher,
    /// Paths that captures leave out.
    excluded: Vec<RepoPath>,
    allowance: usize,
    watched: BTreeMap<WatchedFolderId, RepoPath>,
    scanned: BTreeMap<RepoPath, ScannedFolder>,
    /// Folders that came and were not looked into yet.
    new: Vec<RepoPath>,
    /// Whether rules of what is ignored changed, or changes were lost.
    is_stale: bool,
    is_gone: bool,
}

impl<'r> WatchedFolders<'r> {
    /// Looks after nothing yet; at most so many folders are watched.
    pub(super) fn new(
        (repo, worktree): (&'r Repository, &'r Worktree),
        changes: &'r FolderWatcher,
        excluded: Vec<RepoPath>,
        allowance: usize,
    ) -> Self {
        let (watched, scanned, new) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        Self { repo, worktree, changes, excluded, allowance, watched, scanned, new, is_stale: true, is_gone: false }
    }

    /// How many folders are watched, and how many scanned.
    pub(super) fn counts(&self) -> (u64, u64) {
        (self.watched.len() as u64, self.scanned.len() as u64)
    }

    /// Whether the worktree itself was deleted or moved.
    pub(super) fn is_gone(&self) -> bool {
        self.is_gone
    }

    /// What is ignored may have changed: everything is walked again before the next save.
    pub(super) fn make_stale(&mut self) {
        self.is_stale = true;
    }

    /// Looks after the folders that came since, or after all where that is not certain. What changed in them before has to be saved
    /// after this.
    pub(super) fn catch_up(&mut self) -> Result<()> {
        if self.is_stale {
            self.forget_below(&RepoPath::new(Vec::new()));
            self.walk(vec![RepoPath::new(Vec::new())])?;
            self.new.clear();
            self.is_stale = false;
        } else if !self.new.is_empty() {
            self.walk(self.new.clone())?;
            self.new.clear();
        }
        Ok(())
    }

    /// Takes in what the system told.
    pub(super) fn told(&mut self, change: FolderChange, pending: &mut PendingWatchChanges, now: Duration) {
        match change {
            FolderChange::There { folder, name, is_folder, is_new } => {
                let Some(folder) = self.watched.get(&folder).cloned() else { return };
                self.changed(&folder, &ChangedFolderEntry { name, is_folder, is_there: true }, is_new, pending, now);
            }
            FolderChange::Gone { folder, name, is_folder } => {
                let Some(folder) = self.watched.get(&folder).cloned() else { return };
                self.changed(&folder, &ChangedFolderEntry { name, is_folder, is_there: false }, false, pending, now);
            }
            // Of a folder within, the folder above has told.
            FolderChange::Ended(folder) => self.is_gone |= self.watched.remove(&folder).is_some_and(|path| is_top(&path)),
            FolderChange::Moved(folder) => self.is_gone |= self.watched.get(&folder).is_some_and(is_top),
            FolderChange::Lost => {
                self.is_stale = true;
                pending.everything(now);
            }
        }
    }

    /// Looks at the folders that are not watched.
    pub(super) fn scan(&mut self, pending: &mut PendingWatchChanges, now: Duration) {
        let folders: Vec<RepoPath> = self.scanned.keys().cloned().collect();
        for folder in folders {
            let seen = ScannedFolder::look(&self.worktree.path().join(folder.to_path()));
            let Some(before) = self.scanned.get_mut(&folder) else { continue };
            let changed = before.until(&seen);
            *before = seen;
            for one in changed {
                self.changed(&folder, &one, true, pending, now);
            }
        }
    }

    fn changed(
        &mut self,
        folder: &RepoPath,
        what: &ChangedFolderEntry,
        is_new: bool,
        pending: &mut PendingWatchChanges,
        now: Duration,
    ) {
        let path = below(folder, &what.name);
        if self.is_left_out(&path) {
            return;
        }
        if !what.is_there && what.is_folder {
            self.forget_below(&path);
        }
        if what.is_there && what.is_folder && is_new {
            self.new.push(path.clone());
        }
        self.is_stale |= path.file_name() == b".gitignore";
        // Not every name is text: then the folder is named.
        let text = |path: &RepoPath| std::str::from_utf8(path.as_bytes()).ok().map(str::to_owned);
        match text(&path).or_else(|| text(folder)).filter(|path| !path.is_empty()) {
            Some(path) => pending.path(path, now),
            None => pending.everything(now),
        }
    }

    /// Those of these folders, and below them, that are content are looked after from now on.
    fn walk(&mut self, from: Vec<RepoPath>) -> Result<()> {
        let index = self.repo.index(self.worktree);
        let tracked = index.tracked_folders()?;
        let mut level = from;
        while !level.is_empty() {
            // Git decides what is ignored, once for all folders of a level.
            let asked = level.iter().filter(|folder| !is_top(folder) && !tracked.contains(folder));
            let ignored = index.ignored(asked)?;
            let mut next = Vec::new();
            for folder in level.into_iter().filter(|folder| !ignored.contains(folder)) {
                // First it is watched, then listed: what comes between the two is told.
                self.look_after(folder.clone());
                next.extend(self.folders_in(&folder));
            }
            level = next;
        }
        Ok(())
    }

    fn look_after(&mut self, folder: RepoPath) {
        let place = self.worktree.path().join(folder.to_path());
        let may = self.watched.len() < self.allowance;
        match may.then(|| self.changes.watch(&place)).flatten() {
            Some(id) => {
                self.scanned.remove(&folder);
                self.watched.insert(id, folder);
            }
            None => drop(self.scanned.insert(folder, ScannedFolder::look(&place))),
        }
    }

    /// The folders in a folder that are no repositories of their own.
    fn folders_in(&self, folder: &RepoPath) -> Vec<RepoPath> {
        let place = self.worktree.path().join(folder.to_path());
        let Ok(entries) = std::fs::read_dir(&place) else { return Vec::new() };
        let folders = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        let own = folders.filter(|entry| std::fs::symlink_metadata(entry.path().join(".git")).is_err());
        own.map(|entry| below(folder, &entry.file_name())).filter(|path| !self.is_left_out(path)).collect()
    }

    fn is_left_out(&self, path: &RepoPath) -> bool {
        path.as_bytes().eq_ignore_ascii_case(b".git") || self.excluded.contains(path)
    }

    fn forget_below(&mut self, top: &RepoPath) {
        let (changes, is_below) = (self.changes, |path: &RepoPath| is_at_or_below(path, top));
        self.watched.retain(|id, path| {
            let goes = is_below(path);
            if goes {
                changes.forget(*id);
            }
            !goes
        });
        self.scanned.retain(|path, _| !is_below(path));
        self.new.retain(|path| !is_below(path));
    }
}

fn is_top(path: &RepoPath) -> bool {
    path.as_bytes().is_empty()
}

fn below(folder: &RepoPath, name: &OsStr) -> RepoPath {
    let separator: &[u8] = if is_top(folder) { b"" } else { b"/" };
    RepoPath::new([folder.as_bytes(), separator, name.as_bytes()].concat())
}

fn is_at_or_below(path: &RepoPath, top: &RepoPath) -> bool {
    let rest = path.as_bytes().strip_prefix(top.as_bytes());
    is_top(top) || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}
