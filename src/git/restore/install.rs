//! Installs a worktree's index: the entries of a tree, what a tree cannot hold, and the stat data of files that did not
//! change. Also restores the files and refs of an operation in progress.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use axiom_base::error::{Code, Error, Result};
use axiom_base::{env, files};
use axiom_model::base::names::{Oid, RepoPath};

use crate::base::limits;
use crate::base::modes::SYMLINK;
use crate::base::tree_change::TreeChange;
use crate::capture::coverage::CaptureCoverage;
use crate::capture::extras::{CaptureExtras, OPERATION};
use crate::capture::file_differences::TreeEntryCache;
use crate::capture::worktree::is_below;
use crate::index::conversions::is_of_no_encoding;
use crate::index::file::{IndexExtras, IndexInfoInput, StatTrust, copy_index_believing, index_facts, mark, nul_list};
use crate::index::filters::{FILTER_LIMIT, is_of_a_filter};
use crate::index::lock::IndexLock;
use crate::index::placed_file::PlacedFile;
use crate::index::user_entries::UserIndexEntries;
use crate::repo::handles::IndexEdits;
use crate::repo::program::GitOutput;
use crate::restore::trash_folder::Trash;

/// The lock that git takes when it writes an index of ours.
fn lock_of(index: &Path) -> PathBuf {
    let mut name = index.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

/// Makes an index, and makes it again where git fails at an attribute of a file that it would not have to look at.
fn believing(make: impl Fn(StatTrust) -> Result<()>) -> Result<()> {
    match make(StatTrust::AsGit) {
        Err(error) if is_of_no_encoding(&error.to_string()) => make(StatTrust::Less),
        made => made,
    }
}

impl IndexEdits<'_> {
    /// Makes a worktree's index hold `tree` and `extras`. Entries that stay keep their stat data, so unchanged files are not
    /// read again. Files are not touched. Repeating it changes nothing more.
    pub fn install_index(&self, tree: &Oid, extras: &IndexExtras, lock: &IndexLock) -> Result<()> {
        self.install(tree, extras, lock, (UserIndexEntries::new(), &[]))
    }

    /// As [`IndexEdits::install_index`], after the files in `placed` were put into place. If the index is a plain tree now, only
    /// the entries that differ are replaced, and no other file is looked at.
    pub fn install_index_after(&self, tree: &Oid, extras: &IndexExtras, lock: &IndexLock, placed: &[PlacedFile]) -> Result<()> {
        if *extras == IndexExtras::default() && self.edit_whole_index(tree, lock, placed)? {
            return Ok(());
        }
        self.install(tree, extras, lock, (UserIndexEntries::new(), placed))
    }

    /// As [`IndexEdits::install_index`], for reversing an operation that was to bring the index from `tree` to `given_up`, after
    /// the files in `placed` were put into place. Entries that match neither tree are the user's and stay.
    pub fn take_index_back(
        &self,
        (given_up, tree): (&Oid, &Oid),
        extras: &IndexExtras,
        lock: &IndexLock,
        placed: &[PlacedFile],
    ) -> Result<()> {
        let users = self.repo.index(self.worktree).users_entries(&self.worktree.index_file(), given_up, tree)?;
        self.install(tree, extras, lock, (users, placed))
    }

    fn install(
        &self,
        tree: &Oid,
        extras: &IndexExtras,
        lock: &IndexLock,
        (users, placed): (UserIndexEntries, &[PlacedFile]),
    ) -> Result<()> {
        believing(|belief| self.install_by(tree, extras, (lock, belief), (&users, placed)))
    }

    fn install_by(
        &self,
        tree: &Oid,
        extras: &IndexExtras,
        (lock, belief): (&IndexLock, StatTrust),
        (users, placed): (&UserIndexEntries, &[PlacedFile]),
    ) -> Result<()> {
        let index = self.start_index(lock, belief)?;
        // git refuses to replace an entry with one of these flags if its file has changed, so the flags are cleared first.
        let now = index_facts(self.repo, self.worktree, index)?;
        mark(self.repo, self.worktree, index, "--no-assume-unchanged", &now.assume_unchanged)?;
        mark(self.repo, self.worktree, index, "--no-skip-worktree", &now.skip_worktree)?;
        let git =
            self.repo.git_in(self.worktree).index(index).config("core.splitIndex=false").config("core.sparseCheckout=false");
        git.args(["read-tree", "--reset", tree.as_str()]).run_ok()?;
        let mut info = IndexInfoInput::default();
        // If the size in an entry differs from the file's, git takes the file for changed and does not compare it. A new
        // entry has no size yet.
        let mut folders = TreeEntryCache::default();
        for PlacedFile { path, file, .. } in placed {
            if folders.file_at(self.repo, tree, path)?.as_ref() == Some(file) {
                info.set(path, file.mode, &file.oid, 0);
            }
        }
        for stage in &extras.unmerged {
            info.remove(&stage.path, &stage.oid);
        }
        for stage in &extras.unmerged {
            info.set(&stage.path, stage.mode, &stage.oid, stage.stage);
        }
        for (path, entry) in users {
            match entry {
                Some(file) => info.set(path, file.mode, &file.oid, 0),
                None => info.remove(path, tree),
            }
        }
        info.apply(self.repo, self.worktree, index)?;
        self.announce(index, extras)?;
        self.refresh(index)?;
        mark(self.repo, self.worktree, index, "--assume-unchanged", &extras.assume_unchanged)?;
        mark(self.repo, self.worktree, index, "--skip-worktree", &extras.skip_worktree)?;
        lock.install()
    }

    /// Replaces the entries of a worktree's index that differ between two trees. All other entries stay.
    pub(crate) fn replace_entries(
        &self,
        changes: &[TreeChange],
        trees: (&Oid, &Oid),
        lock: &IndexLock,
        placed: &[PlacedFile],
    ) -> Result<()> {
        if self.edit_index(changes, trees, lock, placed)? {
            return Ok(());
        }
        believing(|belief| self.replace_by_git(changes, lock, belief))
    }

    fn replace_by_git(&self, changes: &[TreeChange], lock: &IndexLock, belief: StatTrust) -> Result<()> {
        let index = self.start_index(lock, belief)?;
        let facts = index_facts(self.repo, self.worktree, index)?;
        let mut info = IndexInfoInput::default();
        for change in changes {
            match (&change.new, &change.old) {
                (Some(new), _) => info.set(&change.path, new.mode, &new.oid, 0),
                (None, Some(old)) => info.remove(&change.path, &old.oid),
                (None, None) => {}
            }
        }
        info.apply(self.repo, self.worktree, index)?;
        self.refresh(index)?;
        // A replaced entry loses its flags, so the user's flags are set again.
        let there: BTreeSet<&RepoPath> = changes.iter().filter(|c| c.new.is_some()).map(|c| &c.path).collect();
        let marked = |paths: Vec<RepoPath>| paths.into_iter().filter(|path| there.contains(path)).collect::<Vec<_>>();
        mark(self.repo, self.worktree, index, "--assume-unchanged", &marked(facts.assume_unchanged))?;
        mark(self.repo, self.worktree, index, "--skip-worktree", &marked(facts.skip_worktree))?;
        lock.install()
    }

    fn start_index<'l>(&self, lock: &'l IndexLock, belief: StatTrust) -> Result<&'l Path> {
        self.worktree.verify()?;
        lock.clear_new_index()?;
        copy_index_believing(belief, self.repo.hash(), &self.worktree.index_file(), lock.new_index())?;
        Ok(lock.new_index())
    }

    /// Does `git add -N` for paths, also if they are missing or are something else now: git gets stand-in files to look at.
    fn announce(&self, index: &Path, extras: &IndexExtras) -> Result<()> {
        let paths = &extras.intent_to_add;
        if paths.is_empty() {
            return Ok(());
        }
        let scratch = self.repo.scratch_folders().make()?;
        let root = scratch.path().join("announced");
        for (place, path) in paths.iter().enumerate() {
            let mode = extras.intent_modes.get(place).copied().unwrap_or(0o100_644);
            files::write_stand_in(&root.join(path.to_path()), mode == SYMLINK, mode & 0o111 != 0)?;
        }
        let stand_ins = self.worktree.with_files_in(&root);
        let git = self.repo.git_in(&stand_ins).index(index).config("core.splitIndex=false").config("core.fileMode=true");
        let git =
            git.config("core.symlinks=true").arg("--literal-pathspecs").args(["add", "--intent-to-add", "--force", "--sparse"]);
        let git = git.args(["--pathspec-from-file=-", "--pathspec-file-nul"]);
        git.stdin(nul_list(paths)).run_ok().map(drop)
    }

    /// Updates the stat data of entries whose files are unchanged. Exit code 1 means that some files have changed. Where a filter
    /// fails or does not answer, or git does not know an encoding, files are left to the next `git status`.
    ///
    /// No submodule is looked into: its configuration may be torn, and its entry has no stat data that count.
    fn refresh(&self, index: &Path) -> Result<()> {
        let git = || {
            let git = self.repo.git_in(self.worktree).index(index).config("core.splitIndex=false").writing();
            git.args(["update-index", "-q", "--unmerged", "--ignore-submodules", "--refresh"])
        };
        let filters = self.repo.conversions().filters(self.worktree)?;
        let is_done = |output: &GitOutput| matches!(output.code, Some(0 | 1));
        let output = if filters.is_empty() { git().run()? } else { git().with_filters().limited(FILTER_LIMIT).run()? };
        let output = if is_done(&output) {
            output
        } else if output.is_over_limit() || is_of_a_filter(&output.stderr) {
            files::remove_file(&lock_of(index))?;
            git().run()?
        } else if is_of_no_encoding(&output.stderr) {
            git().with_attributes_of(&self.repo.trees().empty_tree()?).run()?
        } else {
            output
        };
        if is_done(&output) { Ok(()) } else { Err(output.error()) }
    }

    /// Restores the files and refs of an operation in progress (a merge, a rebase). The files of the present operation go to
    /// the trash first. Repeating it changes nothing more.
    pub fn restore_operation(&self, extras: &CaptureExtras, trash: &Path) -> Result<()> {
        let present = CaptureExtras::read(self.repo, self.worktree, Default::default(), &mut CaptureCoverage::default())?;
        if present.operation == extras.operation {
            return Ok(());
        }
        let trash = Trash::open(trash, self.worktree.git_dir())?;
        for name in OPERATION {
            env::fault_point("git.before-operation-trash");
            trash.take(self.worktree.git_dir(), &RepoPath::new(name.as_bytes()))?;
        }
        for file in self.repo.git_operations().restore_operation_refs(self.worktree, &extras.operation)? {
            let climbs = file.path.as_bytes().split(|b| *b == b'/').any(|part| part == b"..");
            if climbs || !OPERATION.iter().any(|name| is_below(&file.path, &RepoPath::new(name.as_bytes()))) {
                return Err(Error::new(Code::InvalidInput, format!("'{}' is not a file of a git operation", file.path)));
            }
            let place = self.worktree.git_dir().join(file.path.to_path());
            if let Some(folder) = place.parent() {
                files::create_public_dir(folder)?;
            }
            env::fault_point("git.before-operation-file");
            // In a repository that a group shares, others must be able to read git's files.
            files::replace_keeping(&place, &self.repo.objects().read_blob(&file.oid, limits::EXTRAS)?)?;
        }
        files::sync_dir(self.worktree.git_dir())
    }
}
