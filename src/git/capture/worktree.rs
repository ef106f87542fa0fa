//! Captures: the files, index and HEAD of a worktree as commits, without touching any of them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::domain::base::names::{Oid, RepoPath};
use crate::env;
use crate::error::{Code, Error, Result};
use crate::files;

use super::coverage::{Coverage, Unmentioned, find_unmentioned};
use super::extras::CaptureExtras;
use super::given_back::{Scope, Tracked, Unchanged, stat_of};
use super::ignored_held::{SortedIgnored, sort_ignored};
use super::permissions::Usual;
use crate::git::index::changed_paths::ChangedPaths;
use crate::git::index::file::{IndexInfo, copy_index, in_folder, index_facts, mark};
use crate::git::index::path_patterns::PathPatterns;
use crate::git::index::status::{StatusEntry, StatusKind};
use crate::git::objects::database::{NewCommit, gix_id};
use crate::git::repo::handles::Captures;
use crate::git::repo::head::Head;
use crate::git::repo::worktrees::Worktree;

/// What a capture leaves out.
#[derive(Debug, Clone, Default)]
pub struct CaptureOptions {
    /// Untracked files over this many bytes are named, not held.
    pub max_file_size: u64,
    /// Folders that are never content of this worktree: the root of the workspaces.
    pub excluded: Vec<RepoPath>,
    /// Whether what cannot be read is named and left out, in place of failing the capture.
    pub allow_unreadable: bool,
    /// Ignored files that are held like untracked ones.
    pub include: PathPatterns,
    /// Untracked and ignored files that are named, not held.
    pub exclude: PathPatterns,
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
    /// The ignored files that are held, where everything was looked at.
    #[serde(default)]
    pub included: Vec<RepoPath>,
}

/// The commits of a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaptureCommit {
    /// In the shape of a stash: the files; parents: what was checked out, and `index`.
    pub commit: Oid,
    /// The index.
    pub index: Oid,
}

/// What a worktree has that its index has not.
struct Content {
    /// What differs.
    changed: ChangedPaths,
    /// Files that fewer may read than usual, tracked or not.
    narrow: Vec<RepoPath>,
    /// Files with attributes.
    attributes: Vec<RepoPath>,
    /// Ignored files that are held.
    included: Vec<RepoPath>,
}

impl Captures<'_> {
    /// Captures a worktree into objects. Neither its files nor its index are touched; nothing refers to the objects yet, and
    /// they are on disk only after [`Durability::sync_objects`], which every change of a ref does first.
    /// A crash leaves unreferenced objects and a scratch folder.
    ///
    /// # Errors
    /// `FILE_UNREADABLE` where anything cannot be read, so that nothing is missing unsaid; `WORKSPACE_BROKEN`;
    /// `DISK_FULL`; `GIT_FAILED` (a failing filter, for example).
    pub fn capture_worktree(&self, worktree: &Worktree, options: &CaptureOptions) -> Result<WorktreeCapture> {
        worktree.verify()?;
        match self.fast_capture(worktree, options)? {
            Some(capture) => Ok(capture),
            None => self.capture_by_git(worktree, options),
        }
    }

    /// The capture of any worktree, with git's help.
    ///
    /// # Errors
    /// As [`Captures::capture_worktree`].
    pub(in crate::git) fn capture_by_git(&self, worktree: &Worktree, options: &CaptureOptions) -> Result<WorktreeCapture> {
        let folder = self.repo.scratch_folder()?;
        let staged = in_folder(&folder, "staged");
        let head = self.repo.refs().head(worktree)?;
        copy_index(&worktree.index_file(), &staged)?;
        let facts = index_facts(self.repo, worktree, &staged)?;
        // A file that is there although it is marked as not to be there is content like any other; and where nothing
        // is sparse, one that is not there was deleted like any other.
        let sparse = !facts.skip_worktree.is_empty() && self.repo.index(worktree).is_sparse()?;
        let there = |path: &&RepoPath| !sparse || std::fs::symlink_metadata(worktree.path().join(path.to_path())).is_ok();
        let present: Vec<RepoPath> = facts.skip_worktree.iter().filter(there).cloned().collect();
        // From the first copy, so that all show the same moment.
        let another = |name: &str| -> Result<PathBuf> {
            let index = in_folder(&folder, name);
            copy_index(&staged, &index)?;
            mark(self.repo, worktree, &index, "--no-assume-unchanged", &facts.assume_unchanged)?;
            mark(self.repo, worktree, &index, "--no-skip-worktree", &present)?;
            Ok(index)
        };
        let as_is = facts.assume_unchanged.is_empty() && present.is_empty();
        let looked_at = if as_is { staged.clone() } else { another("index")? };
        let mut coverage = Coverage::default();
        let (mut entries, unreadable) = self.repo.index(worktree).status_and_unreadable(Some(&looked_at))?;
        if !unreadable.is_empty() && !options.allow_unreadable {
            return Err(unreadable_error(worktree, &unreadable));
        }
        unreadable.into_iter().for_each(|path| coverage.unreadable.add(path));
        entries.extend(self.repo.index(worktree).hidden_by_case(&looked_at, &entries)?);
        // What is tracked there is the user's like anything else.
        entries.retain(|entry| {
            let tracked = match entry.kind {
                StatusKind::Tracked { .. } | StatusKind::Unmerged => true,
                StatusKind::Untracked | StatusKind::NestedRepository | StatusKind::Ignored => false,
            };
            tracked || !options.excluded.iter().any(|root| is_below(&entry.path, root))
        });
        let usual = Usual::of(worktree);
        let excluded = self.take_excluded(worktree, (&staged, options), &mut entries)?;
        let found = (entries, excluded, facts.gitlinks.as_slice());
        let Content { changed, narrow, attributes, included } = self.content_of(worktree, found, options, &mut coverage)?;
        env::fault_point("git.capture-before-objects");
        let known = facts.tree.clone();
        let settled = facts.unmerged.is_empty();
        // Where nothing differs from the index, its tree says it all; and git keeps that in the index itself.
        let (files, mut raw, index) = if changed.is_empty() && settled {
            (None, Vec::new(), staged.clone())
        } else {
            let index = if as_is { another("index")? } else { looked_at };
            let tree = self.files_tree(worktree, &index, &changed, &mut coverage)?;
            let raw = self.raw_files(worktree, &index, &changed, &mut coverage)?;
            (Some(tree), raw, index)
        };
        let hidden = facts.skip_worktree.iter().chain(changed.gone()).filter(|path| path.file_name() == b".gitattributes");
        let attributes: BTreeSet<RepoPath> = attributes.into_iter().chain(hidden.cloned()).collect();
        let at = Unchanged { worktree, index: &index, attributes: &attributes, scope: Scope::Whole };
        if let Some(known) = self.known_conversions(&at)? {
            let tracked = self.unchanged_files(worktree, &index, &changed)?;
            raw.extend(self.raw_unchanged(&at, known, tracked, &mut coverage)?);
        }
        raw.sort_by(|one, other| one.path.cmp(&other.path));
        let mut extras = CaptureExtras::read(self.repo, worktree, facts)?;
        extras.raw = raw;
        if sparse {
            (extras.index.sparse, extras.index.present) = (true, present);
        }
        let narrow = self.tracked_ones(worktree, &staged, narrow)?;
        extras.modes = usual.unusual_ones(self.repo, worktree.path(), changed.there().chain(&narrow))?;
        let index_tree = match known.filter(|tree| settled && self.repo.objects().has_object(tree)) {
            Some(tree) => tree,
            None => self.staged_tree(worktree, &staged, &extras)?,
        };
        let tree = files.unwrap_or_else(|| index_tree.clone());
        Ok(WorktreeCapture { head, tree, index_tree, extras, coverage, included })
    }

    /// Sorts what differs into paths to be read and what is only named.
    fn content_of(
        &self,
        worktree: &Worktree,
        (entries, mut excluded, submodules): (Vec<StatusEntry>, BTreeSet<RepoPath>, &[RepoPath]),
        options: &CaptureOptions,
        coverage: &mut Coverage,
    ) -> Result<Content> {
        let mut skipped: BTreeSet<RepoPath> = options.excluded.iter().cloned().collect();
        let (mut changed, mut untracked, mut ignored) = (Vec::new(), Vec::new(), Vec::new());
        for StatusEntry { path, kind } in entries {
            match kind {
                StatusKind::Ignored => ignored.push(path),
                StatusKind::NestedRepository => {
                    skipped.insert(path.clone());
                    coverage.nested_repositories.add(path);
                }
                StatusKind::Untracked => untracked.push(path),
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
        let SortedIgnored { held, rest, excluded: more, over_limit, special: _ } =
            sort_ignored(worktree.path(), ignored, options)?;
        excluded.extend(more);
        skipped.extend(excluded.iter().chain(&rest).cloned());
        excluded.into_iter().for_each(|path| coverage.excluded.add(path));
        rest.into_iter().for_each(|path| coverage.ignored.add(path));
        over_limit.into_iter().for_each(|path| coverage.over_include_limit.add(path));
        changed.extend(not_too_large(worktree, untracked, options, coverage)?);
        let included = not_too_large(worktree, held, options, coverage)?;
        changed.extend(included.iter().cloned());
        let Unmentioned { special, with_git, narrow, attributes } =
            find_unmentioned(worktree, &skipped, &mut *coverage, options.allow_unreadable)?;
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
        let there: BTreeSet<&RepoPath> = sorted.there().collect();
        let included: Vec<RepoPath> = included.into_iter().filter(|path| there.contains(path)).collect();
        included.iter().for_each(|path| coverage.included.add(path.clone()));
        Ok(Content { changed: sorted, narrow, attributes, included })
    }

    /// The regular files of an index that are not among the changed ones.
    fn unchanged_files(&self, worktree: &Worktree, index: &Path, changed: &ChangedPaths) -> Result<Vec<Tracked>> {
        let is_changed: BTreeSet<&RepoPath> = changed.there().collect();
        let output = self.repo.git_in(worktree).index(index).args(["ls-files", "-s", "-z"]).run_ok()?;
        let mut files = Vec::new();
        for line in output.stdout.split(|byte| *byte == 0) {
            let Some((meta, path)) = memchr::memchr(b'\t', line).map(|tab| (&line[..tab], RepoPath::new(&line[tab + 1..])))
            else {
                continue;
            };
            let mut meta = meta.split(|byte| *byte == b' ');
            let (Some(b"100644" | b"100755"), Some(oid), Some(b"0")) = (meta.next(), meta.next(), meta.next()) else { continue };
            if !is_changed.contains(&path)
                && let (Some(stat), Ok(oid)) = (stat_of(worktree, &path), gix::ObjectId::from_hex(oid))
            {
                files.push(Tracked { path, oid, stat });
            }
        }
        Ok(files)
    }

    /// Those of the paths that an index has.
    fn tracked_ones(&self, worktree: &Worktree, index: &Path, paths: Vec<RepoPath>) -> Result<BTreeSet<RepoPath>> {
        if paths.is_empty() {
            return Ok(BTreeSet::new());
        }
        let output = self.repo.git_in(worktree).index(index).args(["ls-files", "-z"]).run_ok()?;
        let paths: BTreeSet<RepoPath> = paths.into_iter().collect();
        let tracked = output.stdout.split(|byte| *byte == 0).map(RepoPath::new);
        Ok(tracked.filter(|path| paths.contains(path)).collect())
    }

    fn files_tree(&self, worktree: &Worktree, index: &Path, changed: &ChangedPaths, coverage: &mut Coverage) -> Result<Oid> {
        let refused = changed.stage(self.repo, worktree, Some(index))?;
        refused.into_iter().for_each(|path| coverage.refused_names.add(path));
        let git = self.repo.git_in(worktree).index(index).config("core.splitIndex=false").making_objects();
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
        info.apply(self.repo, worktree, staged)?;
        let git = self.repo.git_in(worktree).index(staged).config("core.splitIndex=false").making_objects();
        Oid::new(git.arg("write-tree").text()?)
    }

    /// Makes the commits of a capture: in the shape of a stash, the index commit having `further` parents that keep
    /// more alive. Nothing refers to them yet.
    ///
    /// # Errors
    /// `IDENTITY_MISSING`, `DISK_FULL`, `GIT_FAILED`.
    pub fn commit_capture(&self, capture: &WorktreeCapture, message: &str, further: &[Oid]) -> Result<CaptureCommit> {
        let who = self.repo.objects().signature()?;
        // git may have written these, and nothing else may refer to what is checked out.
        for oid in [&capture.tree, &capture.index_tree].into_iter().chain(capture.head.commit()) {
            self.repo.durability().note_written(gix_id(oid)?);
        }
        let base = match capture.head.commit() {
            Some(commit) => commit.clone(),
            None => self.repo.objects().root_commit()?,
        };
        let mut parents = vec![base.clone()];
        parents.extend(capture.extras.commit(self.repo, &who)?);
        parents.extend(further.iter().cloned());
        let note = format!("index of {message}");
        let index =
            self.repo.objects().write_commit(&NewCommit { tree: &capture.index_tree, parents, who: &who, message: &note })?;
        let parents = vec![base, index.clone()];
        let commit = self.repo.objects().write_commit(&NewCommit { tree: &capture.tree, parents, who: &who, message })?;
        Ok(CaptureCommit { commit, index })
    }
}

/// The files that are there and not over the limit; the others are named.
fn not_too_large(
    worktree: &Worktree,
    paths: Vec<RepoPath>,
    options: &CaptureOptions,
    coverage: &mut Coverage,
) -> Result<Vec<RepoPath>> {
    let mut kept = Vec::with_capacity(paths.len());
    for path in paths {
        match files::metadata(&worktree.path().join(path.to_path()))? {
            Some(meta) if meta.is_file() && meta.len() > options.max_file_size => coverage.too_large.add(path),
            Some(_) => kept.push(path),
            // Gone since.
            None => {}
        }
    }
    Ok(kept)
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
pub(in crate::git) fn is_below(path: &RepoPath, root: &RepoPath) -> bool {
    match path.as_bytes().strip_prefix(root.as_bytes()) {
        Some(rest) => rest.is_empty() || rest.starts_with(b"/"),
        None => false,
    }
}
