//! Captures: the files, index and HEAD of a worktree as commits, without touching any of them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::domain::names::{Oid, RepoPath};
use crate::env;
use crate::error::{Code, Error, Result};
use crate::files;

use super::capture_extras::CaptureExtras;
use super::changed_paths::ChangedPaths;
use super::coverage::{Coverage, Unmentioned, find_unmentioned};
use super::head::Head;
use super::index_file::{IndexInfo, copy_index, in_folder, index_facts, mark};
use super::modes::Usual;
use super::objects::{NewCommit, gix_id};
use super::repository::Repository;
use super::status::{StatusEntry, StatusKind};
use super::worktree_list::Worktree;

/// What a capture leaves out.
#[derive(Debug, Clone)]
pub struct CaptureOptions {
    /// Untracked files over this many bytes are named, not held.
    pub max_file_size: u64,
    /// Folders that are never content of this worktree: the root of the workspaces.
    pub excluded: Vec<RepoPath>,
    /// Whether what cannot be read is named and left out, in place of failing the capture.
    pub allow_unreadable: bool,
}

/// What was in a worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorktreeCapture {
    /// HEAD as it was.
    pub head: Head,
    /// The files, tracked and untracked.
    pub tree: Oid,
    /// The index; of an unsettled conflict our side.
    pub index_tree: Oid,
    /// What the index says beside its tree, and the operation in progress.
    pub extras: CaptureExtras,
    /// What is not held.
    pub coverage: Coverage,
}

/// The commits of a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaptureCommit {
    /// In the shape of a stash: the files; parents: what was checked out, and `index`.
    pub commit: Oid,
    /// The index.
    pub index: Oid,
}

impl Repository {
    /// Captures a worktree into objects. Neither its files nor its index are touched; nothing refers to the objects yet, and
    /// they are on disk only after [`Repository::sync_objects`], which every change of a ref does first.
    /// A crash leaves unreferenced objects and a scratch folder.
    ///
    /// # Errors
    /// `FILE_UNREADABLE` where anything cannot be read, so that nothing is missing unsaid; `WORKSPACE_BROKEN`;
    /// `DISK_FULL`; `GIT_FAILED` (a failing filter, for example).
    pub fn capture_worktree(&self, worktree: &Worktree, options: &CaptureOptions) -> Result<WorktreeCapture> {
        worktree.verify()?;
        match self.quick_capture(worktree, options)? {
            Some(capture) => Ok(capture),
            None => self.capture_by_git(worktree, options),
        }
    }

    /// The capture of any worktree, with git's help.
    ///
    /// # Errors
    /// As [`Repository::capture_worktree`].
    pub(super) fn capture_by_git(&self, worktree: &Worktree, options: &CaptureOptions) -> Result<WorktreeCapture> {
        let folder = self.scratch_folder()?;
        let staged = in_folder(&folder, "staged");
        let head = self.head(worktree)?;
        copy_index(&worktree.index_file(), &staged)?;
        let facts = index_facts(self, worktree, &staged)?;
        // A file that is there although it is marked as not to be there is content like any other; and where nothing
        // is sparse, one that is not there was deleted like any other.
        let sparse = !facts.skip_worktree.is_empty() && self.is_sparse(worktree)?;
        let there = |path: &&RepoPath| !sparse || std::fs::symlink_metadata(worktree.path().join(path.to_path())).is_ok();
        let present: Vec<RepoPath> = facts.skip_worktree.iter().filter(there).cloned().collect();
        // From the first copy, so that all show the same moment.
        let another = |name: &str| -> Result<PathBuf> {
            let index = in_folder(&folder, name);
            copy_index(&staged, &index)?;
            mark(self, worktree, &index, "--no-assume-unchanged", &facts.assume_unchanged)?;
            mark(self, worktree, &index, "--no-skip-worktree", &present)?;
            Ok(index)
        };
        let as_is = facts.assume_unchanged.is_empty() && present.is_empty();
        let looked_at = if as_is { staged.clone() } else { another("index")? };
        let mut coverage = Coverage::default();
        let (mut entries, unreadable) = self.status_and_unreadable(worktree, Some(&looked_at))?;
        if !unreadable.is_empty() && !options.allow_unreadable {
            return Err(unreadable_error(worktree, &unreadable));
        }
        unreadable.into_iter().for_each(|path| coverage.unreadable.add(path));
        // What is tracked there is the user's like anything else.
        entries.retain(|entry| {
            let tracked = match entry.kind {
                StatusKind::Tracked { .. } | StatusKind::Unmerged => true,
                StatusKind::Untracked | StatusKind::NestedRepository | StatusKind::Ignored => false,
            };
            tracked || !options.excluded.iter().any(|root| is_below(&entry.path, root))
        });
        let changed = self.content_of(worktree, entries, &facts.gitlinks, options, &mut coverage)?;
        env::fault_point("git.capture-before-objects");
        let known = facts.tree.clone();
        let settled = facts.unmerged.is_empty();
        // Where nothing differs from the index, its tree says it all; and git keeps that in the index itself.
        let (files, raw) = if changed.is_empty() && settled {
            (None, Vec::new())
        } else {
            let index = if as_is { another("index")? } else { looked_at };
            let tree = self.files_tree(worktree, &index, &changed, &mut coverage)?;
            let raw = self.raw_files(worktree, &index, &changed, &mut coverage)?;
            (Some(tree), raw)
        };
        let mut extras = CaptureExtras::read(self, worktree, facts)?;
        extras.raw = raw;
        if sparse {
            (extras.index.sparse, extras.index.present) = (true, present);
        }
        extras.modes = Usual::of(worktree).narrow_ones(worktree.path(), changed.there())?;
        let index_tree = match known.filter(|tree| settled && self.has_object(tree)) {
            Some(tree) => tree,
            None => self.staged_tree(worktree, &staged, &extras)?,
        };
        let tree = files.unwrap_or_else(|| index_tree.clone());
        Ok(WorktreeCapture { head, tree, index_tree, extras, coverage })
    }

    /// Sorts what differs into paths to be read and what is only named.
    fn content_of(
        &self,
        worktree: &Worktree,
        entries: Vec<StatusEntry>,
        submodules: &[RepoPath],
        options: &CaptureOptions,
        coverage: &mut Coverage,
    ) -> Result<ChangedPaths> {
        let mut skipped: BTreeSet<RepoPath> = options.excluded.iter().cloned().collect();
        let mut changed = Vec::new();
        for StatusEntry { path, kind } in entries {
            match kind {
                StatusKind::Ignored => {
                    skipped.insert(path.clone());
                    coverage.ignored.add(path);
                }
                StatusKind::NestedRepository => {
                    skipped.insert(path.clone());
                    coverage.nested_repositories.add(path);
                }
                StatusKind::Untracked => {
                    let place = worktree.path().join(path.to_path());
                    match files::metadata(&place)? {
                        Some(meta) if meta.is_file() && meta.len() > options.max_file_size => coverage.too_large.add(path),
                        Some(_) => changed.push(path),
                        // Gone since.
                        None => {}
                    }
                }
                StatusKind::Unmerged => changed.push(path),
                StatusKind::Tracked { worktree: letter, dirty_submodule, .. } => {
                    if dirty_submodule {
                        coverage.dirty_submodules.add(path.clone());
                    }
                    if letter != b'.' {
                        changed.push(path);
                    }
                }
            }
        }
        let Unmentioned { special, with_git } =
            find_unmentioned(worktree.path(), &skipped, &mut *coverage, options.allow_unreadable)?;
        name_repositories(with_git, submodules, &changed, coverage);
        if options.allow_unreadable {
            changed.retain(|path| {
                let readable = is_readable(&worktree.path().join(path.to_path()));
                if !readable {
                    coverage.unreadable.add(path.clone());
                }
                readable
            });
        }
        let sorted = ChangedPaths::sort(worktree, changed)?;
        special.into_iter().for_each(|path| coverage.special.add(path));
        Ok(sorted)
    }

    fn files_tree(&self, worktree: &Worktree, index: &Path, changed: &ChangedPaths, coverage: &mut Coverage) -> Result<Oid> {
        let refused = changed.stage(self, worktree, Some(index))?;
        refused.into_iter().for_each(|path| coverage.refused_names.add(path));
        let git = self.git_in(worktree).index(index).config("core.splitIndex=false").config("core.fsync=none");
        Oid::new(git.arg("write-tree").text()?)
    }

    fn staged_tree(&self, worktree: &Worktree, staged: &Path, extras: &CaptureExtras) -> Result<Oid> {
        let mut info = IndexInfo::default();
        for stage in &extras.index.unmerged {
            info.remove(&stage.path, &stage.oid);
        }
        for stage in extras.index.unmerged.iter().filter(|stage| stage.stage == 2) {
            info.set(&stage.path, stage.mode, &stage.oid, 0);
        }
        info.apply(self, worktree, staged)?;
        let git = self.git_in(worktree).index(staged).config("core.splitIndex=false").config("core.fsync=none");
        Oid::new(git.arg("write-tree").text()?)
    }

    /// Makes the commits of a capture: in the shape of a stash, the index commit having `further` parents that keep
    /// more alive. Nothing refers to them yet.
    ///
    /// # Errors
    /// `IDENTITY_MISSING`, `DISK_FULL`, `GIT_FAILED`.
    pub fn commit_capture(&self, capture: &WorktreeCapture, message: &str, further: &[Oid]) -> Result<CaptureCommit> {
        let who = self.signature()?;
        // git may have written these.
        for tree in [&capture.tree, &capture.index_tree] {
            self.note_written(gix_id(tree)?);
        }
        let base = match capture.head.commit() {
            Some(commit) => commit.clone(),
            None => self.root_commit()?,
        };
        let mut parents = vec![base.clone()];
        parents.extend(capture.extras.commit(self, &who)?);
        parents.extend(further.iter().cloned());
        let note = format!("index of {message}");
        let index = self.write_commit(&NewCommit { tree: &capture.index_tree, parents, who: &who, message: &note })?;
        let parents = vec![base, index.clone()];
        let commit = self.write_commit(&NewCommit { tree: &capture.tree, parents, who: &who, message })?;
        Ok(CaptureCommit { commit, index })
    }
}

/// Names the repositories of which git says nothing because it tracks, or tracked, what is in their place.
fn name_repositories(with_git: Vec<RepoPath>, submodules: &[RepoPath], changed: &[RepoPath], coverage: &mut Coverage) {
    let mut whole: Vec<RepoPath> = Vec::new();
    for folder in with_git {
        if submodules.iter().chain(&whole).any(|above| is_below(&folder, above)) {
            continue;
        }
        // In place of a tracked file nothing of it is held; else git looked into it as into any folder.
        if changed.contains(&folder) {
            coverage.nested_repositories.add(folder.clone());
            whole.push(folder);
        } else {
            coverage.nested_repositories.add(RepoPath::new([folder.as_bytes(), b"/.git"].concat()));
        }
    }
}

/// Whether a file can be read; what is gone, or no regular file, is left to others to find.
fn is_readable(place: &Path) -> bool {
    match std::fs::symlink_metadata(place) {
        Ok(meta) if meta.is_file() => {
            !std::fs::File::open(place).is_err_and(|e| e.kind() == std::io::ErrorKind::PermissionDenied)
        }
        Ok(_) | Err(_) => true,
    }
}

fn unreadable_error(worktree: &Worktree, paths: &[RepoPath]) -> Error {
    let shown: Vec<String> = paths.iter().take(10).map(|p| worktree.path().join(p.to_path()).display().to_string()).collect();
    Error::new(Code::FileUnreadable, "a folder or file of the worktree cannot be read")
        .why(shown.join(", "))
        .hint("make it readable, or add it to .gitignore")
}

/// Whether `path` is `root` or below it.
pub(super) fn is_below(path: &RepoPath, root: &RepoPath) -> bool {
    match path.as_bytes().strip_prefix(root.as_bytes()) {
        Some(rest) => rest.is_empty() || rest.starts_with(b"/"),
        None => false,
    }
}
