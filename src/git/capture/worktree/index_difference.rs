//! How a worktree differs from its index: what is read, and what is only listed in the coverage.

use std::collections::BTreeSet;
use std::path::Path;

use super::super::captured::CaptureOptions;
use super::super::coverage::{CaptureCoverage, UnreportedPaths, find_unmentioned};
use super::super::gaps::CaptureGaps;
use super::super::ignored_held::{ExcludedPaths, sort_ignored};
use super::super::round_trip::{UnchangedFile, stat_of};
use super::super::sorted_ignored::SortedIgnoredPaths;
use super::is_below;
use crate::index::changed_paths::ChangedPaths;
use crate::index::status::{StatusEntry, StatusKind};
use crate::repo::handles::Captures;
use crate::repo::worktrees::Worktree;
use axiom_base::error::Result;
use axiom_base::files;
use axiom_model::base::names::RepoPath;

/// How a worktree differs from its index.
pub(super) struct IndexDifference {
    /// The paths that differ.
    pub(super) changed: ChangedPaths,
    /// Those of them that git does not track.
    pub(super) untracked: BTreeSet<RepoPath>,
    /// Files that fewer users may read than usual, tracked or not.
    pub(super) narrow: Vec<RepoPath>,
    /// The `.gitattributes` files.
    pub(super) attributes: Vec<RepoPath>,
    /// Ignored files that are held.
    pub(super) included: Vec<RepoPath>,
}

impl Captures<'_> {
    /// The nested repositories that git keeps as those of submodules.
    pub(super) fn kept_as_modules(&self, worktree: &Worktree, coverage: &CaptureCoverage) -> Vec<RepoPath> {
        let is_kept = |path: &&RepoPath| self.repo.worktrees().keeps_as_module(worktree, &worktree.path().join(path.to_path()));
        coverage.nested_repositories.paths.iter().filter(is_kept).cloned().collect()
    }

    /// Sorts the status entries into paths to be read and paths that are only listed.
    pub(super) fn content_of(
        &self,
        worktree: &Worktree,
        (entries, mut excluded, submodules): (Vec<StatusEntry>, ExcludedPaths, &[RepoPath]),
        options: &CaptureOptions,
        (coverage, gaps): (&mut CaptureCoverage, &mut CaptureGaps),
    ) -> Result<IndexDifference> {
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
        let SortedIgnoredPaths { held, rest, excluded: more, over_limit, special: _, unread } =
            sort_ignored(worktree.path(), ignored, options);
        unread.into_iter().for_each(|path| gaps.add(path));
        excluded.paths.extend(more);
        skipped.extend(excluded.paths.iter().chain(&rest).cloned());
        rest.into_iter().for_each(|path| coverage.ignored.add(path));
        over_limit.into_iter().for_each(|path| coverage.over_include_limit.add(path));
        let tracked = changed.len();
        changed.extend(not_too_large(worktree, untracked, options, (coverage, gaps)));
        let included = not_too_large(worktree, held, options, (coverage, gaps));
        changed.extend(included.iter().cloned());
        let untracked = changed[tracked..].iter().cloned().collect();
        let closes = |folder: &RepoPath| excluded.closes(options, folder);
        let UnreportedPaths { special, with_git, narrow, attributes, closed } =
            find_unmentioned(worktree, &skipped, closes, gaps);
        excluded.paths.extend(closed);
        excluded.paths.into_iter().for_each(|path| coverage.excluded.add(path));
        name_repositories(with_git, submodules, &changed, coverage);
        gaps.sieve(worktree.path(), &mut changed);
        let sorted = ChangedPaths::sort(worktree, changed)?;
        special.into_iter().for_each(|path| coverage.special.add(path));
        let there: BTreeSet<&RepoPath> = sorted.there().collect();
        let included: Vec<RepoPath> = included.into_iter().filter(|path| there.contains(path)).collect();
        included.iter().for_each(|path| coverage.included.add(path.clone()));
        Ok(IndexDifference { changed: sorted, untracked, narrow, attributes, included })
    }

    /// The regular files of an index that are not among the changed ones, nor among those that were not read.
    pub(super) fn unchanged_files(
        &self,
        worktree: &Worktree,
        index: &Path,
        (changed, gaps): (&ChangedPaths, &CaptureGaps),
    ) -> Result<Vec<UnchangedFile>> {
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
            if !(is_changed.contains(&path) || gaps.has(&path))
                && let (Some(stat), Ok(oid)) = (stat_of(worktree, &path), gix::ObjectId::from_hex(oid))
            {
                files.push(UnchangedFile { path, oid, stat });
            }
        }
        Ok(files)
    }

    /// Those of the paths that are in an index.
    pub(super) fn tracked_ones(&self, worktree: &Worktree, index: &Path, paths: Vec<RepoPath>) -> Result<BTreeSet<RepoPath>> {
        if paths.is_empty() {
            return Ok(BTreeSet::new());
        }
        let output = self.repo.git_in(worktree).index(index).args(["ls-files", "-z"]).run_ok()?;
        let paths: BTreeSet<RepoPath> = paths.into_iter().collect();
        let tracked = output.stdout.split(|byte| *byte == 0).map(RepoPath::new);
        Ok(tracked.filter(|path| paths.contains(path)).collect())
    }
}

/// Whether an entry is no git directory and in no folder of ours. Tracked files in an excluded folder are content like any other.
pub(super) fn may_be_content(entry: &StatusEntry, options: &CaptureOptions) -> bool {
    let tracked = match entry.kind {
        StatusKind::Tracked { .. } | StatusKind::Unmerged => true,
        StatusKind::Untracked | StatusKind::NestedRepository | StatusKind::Ignored => false,
    };
    let is_below = |root: &RepoPath| is_below(&entry.path, root);
    !options.never.iter().any(is_below) && (tracked || !options.excluded.iter().any(is_below))
}

/// The files that exist and are not over the limit; files over it are listed in the coverage.
fn not_too_large(
    worktree: &Worktree,
    paths: Vec<RepoPath>,
    options: &CaptureOptions,
    (coverage, gaps): (&mut CaptureCoverage, &mut CaptureGaps),
) -> Vec<RepoPath> {
    let mut kept = Vec::with_capacity(paths.len());
    for path in paths {
        match files::metadata(&worktree.path().join(path.to_path())) {
            Ok(Some(meta)) if meta.is_file() && meta.len() > options.max_file_size => coverage.too_large.add(path),
            Ok(Some(_)) => kept.push(path),
            // It vanished since.
            Ok(None) => {}
            Err(_) => gaps.add(path),
        }
    }
    kept
}

/// Lists the nested repositories that git does not report because it tracks, or tracked, something in their place.
fn name_repositories(with_git: Vec<RepoPath>, submodules: &[RepoPath], changed: &[RepoPath], coverage: &mut CaptureCoverage) {
    let mut whole: Vec<RepoPath> = Vec::new();
    for folder in with_git {
        if submodules.iter().chain(&whole).any(|above| is_below(&folder, above)) {
            continue;
        }
        // If it took the place of a tracked file, nothing of it is held. Otherwise git looked into it as into any folder,
        // and only its `.git` is not held.
        if changed.contains(&folder) {
            coverage.nested_repositories.add(folder.clone());
            whole.push(folder);
        } else {
            coverage.nested_repositories.add(RepoPath::new([folder.as_bytes(), b"/.git"].concat()));
        }
    }
}
