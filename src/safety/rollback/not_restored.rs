//! What a rollback does not bring back: the checkpoint does not hold it, or the configuration excludes it now.

use std::collections::BTreeSet;
use std::path::Path;

use crate::checkpoint::CheckpointCaptures;
use crate::operation::differences::out_of_reach;
use axiom_base::error::Result;
use axiom_git::{CaptureExtras, PathPatterns, Repository, TreeChange, WorktreeCapture};
use axiom_model::base::names::{Oid, RepoPath};
use axiom_model::base::path_set::PathSet;
use axiom_model::checkpoint::coverage::{CaptureCoverage, INDEX, PathSample};

use super::preview::UnrestoredPathLine;
use crate::rollback::preview_lines::unrestored_reasons::{INDEX_UNREADABLE, NOT_IN_TIME, STAGED_LOST};

/// The changes that would bring back untracked files that the configuration excludes now. `changes` are the changes from the
/// current tree to that of the checkpoint; `index` is the index tree of the checkpoint.
pub(super) fn excluded_now(
    repo: &Repository,
    (now, exclude): (&WorktreeCapture, &PathPatterns),
    index: &Oid,
    changes: &[TreeChange],
) -> Result<Vec<TreeChange>> {
    let comes = |change: &&TreeChange| change.old.is_none() && exclude.covers(&change.path, false);
    let mut excluded = Vec::new();
    for change in changes.iter().filter(comes) {
        if !repo.trees().is_in_tree(index, &change.path)? && !repo.trees().is_in_tree(&now.index_tree, &change.path)? {
            excluded.push(change.clone());
        }
    }
    Ok(excluded)
}

/// The files that existed when the checkpoint was made, that it does not hold, and that are missing now; and the `excluded`
/// ones. Of long lists, only the paths that the coverage names are checked.
pub(super) fn not_restored(worktree: &str, coverage: Option<&CaptureCoverage>, excluded: &[RepoPath]) -> Vec<UnrestoredPathLine> {
    let mut lines: Vec<UnrestoredPathLine> = excluded.iter().map(|path| line(worktree, path, "excluded")).collect();
    let Some(coverage) = coverage else { return lines };
    let CaptureCoverage { ignored, nested_repositories, too_large, special, unreadable, refused_names, .. } = coverage;
    let CaptureCoverage { excluded: excluded_then, over_include_limit, encrypted, dirty_submodules, not_in_time, .. } = coverage;
    let CaptureCoverage { staged_not_held, .. } = coverage;
    let index = unreadable.paths.iter().filter(|path| path.as_bytes() == INDEX.as_bytes());
    lines.extend(index.map(|path| line(worktree, path, INDEX_UNREADABLE)));
    lines.extend(staged_not_held.paths.iter().map(|path| line(worktree, path, STAGED_LOST)));
    // One that is there stays as it is, and nothing else would tell of it.
    lines.extend(dirty_submodules.paths.iter().map(|path| line(worktree, path, "dirtySubmodules")));
    for (sample, why) in [
        (ignored, "ignored"),
        (excluded_then, "excluded"),
        (over_include_limit, "overIncludeLimit"),
        (too_large, "tooLarge"),
        (nested_repositories, "nestedRepositories"),
        (unreadable, "unreadable"),
        (not_in_time, NOT_IN_TIME),
        (refused_names, "refusedNames"),
        (encrypted, "encrypted"),
        (special, "special"),
    ] {
        lines.extend(gone(worktree, sample.paths.iter(), why));
    }
    lines
}

/// The places of which the checkpoint held nothing, since no file of the worktree was there (a socket, a fifo, a repository), and where files
/// are now that it would otherwise remove: they stay.
pub(super) fn other_kind_now(
    worktree: &str,
    coverage: Option<&CaptureCoverage>,
    changes: &[TreeChange],
) -> Vec<UnrestoredPathLine> {
    let Some(CaptureCoverage { special, nested_repositories, .. }) = coverage else { return Vec::new() };
    let goes: Vec<&RepoPath> = changes.iter().filter(|change| change.new.is_none()).map(|change| &change.path).collect();
    let is_now = |root: &&RepoPath| goes.iter().any(|path| path.within(root).is_some());
    let named = |sample: &'_ PathSample, why| {
        let places: Vec<RepoPath> = sample.paths.iter().filter(is_now).cloned().collect();
        places.into_iter().map(move |path| line(worktree, &path, why))
    };
    named(special, "special").chain(named(nested_repositories, "nestedRepositories")).collect()
}

/// What was not read, now or then, and stays as it is; without those that are `named` already. `coverage` is that of then.
pub(super) fn not_read(
    worktree: &str,
    (now, then): (&WorktreeCapture, &CaptureExtras),
    coverage: Option<&CaptureCoverage>,
    named: &[UnrestoredPathLine],
) -> Vec<UnrestoredPathLine> {
    let reach = out_of_reach(now, then);
    let root = Path::new(worktree);
    // Another worktree is told of by itself; the git directory is nobody's content.
    let is_told = |path: &RepoPath| {
        now.coverage.git_directories.paths.contains(path) || root.join(path.to_path()).join(".git").symlink_metadata().is_ok()
    };
    let is_new = |path: &&RepoPath| !named.iter().any(|one| one.path == **path) && !is_told(path);
    let why = |path: &RepoPath| match coverage {
        _ if now.coverage.encrypted.paths.contains(path) => "encrypted",
        Some(then) if then.is_late(path) => NOT_IN_TIME,
        Some(_) | None => "unreadable",
    };
    reach.iter().filter(is_new).map(|path| line(worktree, path, why(path))).collect()
}

/// The linked worktrees that cannot be captured now: nothing in them changes.
pub(super) fn not_captured(captured: &CheckpointCaptures, agents: &BTreeSet<&str>) -> Vec<UnrestoredPathLine> {
    let nothing = captured.not_captured();
    let all = nothing.iter().filter(|path| !agents.contains(path.as_str()));
    all.map(|path| line(path, &RepoPath::new(""), "notCaptured")).collect()
}

/// The missing files that a sparse checkout leaves out: they do not come back into it.
pub(super) fn left_out(now: &WorktreeCapture, worktree: &str, only: &PathSet) -> Vec<UnrestoredPathLine> {
    gone(worktree, now.extras.index.skip_worktree.iter().filter(|path| only.covers(path)), "sparse").collect()
}

fn gone<'p>(
    worktree: &str,
    paths: impl Iterator<Item = &'p RepoPath>,
    why: &'static str,
) -> impl Iterator<Item = UnrestoredPathLine> {
    let is_gone = move |path: &&RepoPath| Path::new(worktree).join(path.to_path()).symlink_metadata().is_err();
    paths.filter(is_gone).map(move |path| line(worktree, path, why))
}

fn line(worktree: &str, path: &RepoPath, why: &'static str) -> UnrestoredPathLine {
    UnrestoredPathLine { worktree: worktree.to_owned(), path: path.clone(), why }
}
