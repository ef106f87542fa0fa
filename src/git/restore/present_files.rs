//! Whether the files on disk are what a capture holds: by their kept bytes, by git's hash, or by what a checkout writes.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::PermissionsExt;

use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_model::base::names::{Oid, RepoPath};

use super::prepared::{PreparedFiles, RecordedTree};
use crate::base::quoted_paths::quoted_lines;
use crate::base::tree_change::{FileId, TreeChange};
use crate::capture::file_differences::bytes_of;
use crate::capture::lfs_store::LfsStore;
use crate::capture::raw_file::RawFile;
use crate::index::filter_memory::hung_lately;
use crate::index::filters::{FilesByFilter, FilterTimeBudget, is_of_a_filter};
use crate::repo::program::Git;
use crate::repo::repository::Repository;
use crate::repo::worktrees::Worktree;

/// The blob ids that regular files of a worktree would get, in the order of `paths`, with filters by the attributes of
/// `tree`.
pub(crate) fn hash_files(r: &Repository, worktree: &Worktree, tree: &Oid, paths: &[&RepoPath]) -> Result<Vec<Oid>> {
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    if let Some(hashes) = r.conversions().hash_plain(worktree, tree, paths) {
        return Ok(hashes);
    }
    // The attributes on disk may differ from the tree's by now, if an earlier attempt already replaced a .gitattributes.
    let git = || r.git_in(worktree).with_attributes_of(tree);
    let filters = r.conversions().filters(worktree)?;
    let FilesByFilter { plain, filtered } = r.conversions().by_filter(&filters, git().arg("check-attr"), paths)?;
    let mut known = BTreeMap::new();
    match if plain.is_empty() { Ok(Vec::new()) } else { hashes(git(), &[], &plain) } {
        Err(error) if error.code() == Code::GitFailed => {
            let encoded = r.conversions().encoded(git().arg("check-attr"), &plain.iter().collect::<Vec<_>>())?;
            if encoded.is_empty() {
                return Err(error);
            }
            let (encoded, others): (Vec<_>, Vec<_>) = plain.into_iter().partition(|path| encoded.contains(path));
            known.extend(hashes(git(), &[], &others)?);
            known.extend(hashes(git(), &["--no-filters"], &encoded)?);
        }
        hashed => known.extend(hashed?),
    }
    let time = FilterTimeBudget::begin();
    for (name, paths) in filtered {
        let asked = filters.get(&name).filter(|filter| !hung_lately(r, &name, filter));
        let hashed = match asked.map(|_| hashes(git().limited(time.of_next()), &[], &paths)) {
            // Such files are held as they are.
            None => hashes(git(), &["--no-filters"], &paths)?,
            Some(Err(error)) if matches!(error.code(), Code::FilterFailed | Code::GitFailed) => {
                hashes(git(), &["--no-filters"], &paths)?
            }
            Some(hashed) => hashed?,
        };
        known.extend(hashed);
    }
    let gone = || Error::new(Code::ChangedMeanwhile, "a file was removed meanwhile");
    paths.iter().map(|path| known.remove(*path).ok_or_else(gone)).collect()
}

/// Whether the file at a path is, byte for byte, what was kept of `file`. `None` if nothing was kept of it, or if no regular
/// file is there: then another comparison has to decide. Needs no filter. A file that cannot be read counts as different.
pub(crate) fn is_what_is_held(
    r: &Repository,
    worktree: &Worktree,
    raw: &[RawFile],
    (path, file): (&RepoPath, &FileId),
) -> Option<bool> {
    let held = bytes_of(raw, path).filter(|held| held.held_as == file.oid)?;
    let place = worktree.path().join(path.to_path());
    let meta = place.symlink_metadata().ok().filter(Metadata::is_file)?;
    if let Some(pointer) = &held.lfs {
        return Some(LfsStore::of(r).is_content_of(pointer, &place));
    }
    let limit = held.largest();
    let same = || Some(meta.len() <= limit && r.objects().read_blob(&held.oid, limit).ok()? == std::fs::read(&place).ok()?);
    Some(same().unwrap_or(false))
}

/// What becomes of files that can only be compared by running filters, where a filter fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailedFilterPolicy {
    /// Each is compared by itself: the failure of one costs no other.
    CostsItsFile,
    /// All count as different: for what is only told, a filter that fails or hangs is not run again for each file.
    CostsAll,
}

/// Whether regular files of a worktree are, byte for byte, what files of a tree were when it was captured.
pub(crate) fn are_as_they_were(
    r: &Repository,
    worktree: &Worktree,
    had: RecordedTree<'_>,
    (changes, failing): (&[TreeChange], FailedFilterPolicy),
) -> Result<Vec<bool>> {
    let (mut same, mut unknown) = (vec![false; changes.len()], Vec::new());
    for (place, change) in changes.iter().enumerate() {
        let Some(file) = change.new.as_ref().filter(|new| new.is_regular()) else { continue };
        match is_what_is_held(r, worktree, had.raw, (&change.path, file)) {
            Some(is_it) => same[place] = is_it,
            None => unknown.push((place, change.path.clone())),
        }
    }
    let paths: Vec<RepoPath> = unknown.iter().map(|(_, path)| path.clone()).collect();
    let told = match written_the_same(r, worktree, had, &paths) {
        Err(error) if !error.passes() && paths.len() > 1 && failing == FailedFilterPolicy::CostsItsFile => {
            let each = paths.iter().map(|path| written_the_same(r, worktree, had, std::slice::from_ref(path)).map(|one| one[0]));
            each.map(|one| one.or_else(|error| if error.passes() { Err(error) } else { Ok(false) })).collect::<Result<_>>()?
        }
        Err(error) if !error.passes() => vec![false; paths.len()],
        told => told?,
    };
    for ((place, _), is_it) in unknown.into_iter().zip(told) {
        same[place] = is_it;
    }
    Ok(same)
}

/// Whether files are what a checkout of the tree writes.
fn written_the_same(r: &Repository, worktree: &Worktree, had: RecordedTree<'_>, paths: &[RepoPath]) -> Result<Vec<bool>> {
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let scratch = r.scratch_folders().make()?;
    let prepared = PreparedFiles::write(r, worktree, RecordedTree { raw: &[], ..had }, paths, scratch.path())?;
    let same = |path: &RepoPath| {
        let (place, written) = (worktree.path().join(path.to_path()), prepared.place(path)?);
        let are_files = [&place, &written].iter().all(|at| at.symlink_metadata().is_ok_and(|meta| meta.is_file()));
        Ok(are_files && files::same_bytes(&place, &written).unwrap_or(false))
    };
    paths.iter().map(same).collect()
}

fn hashes(git: Git<'_>, how: &[&str], paths: &[RepoPath]) -> Result<Vec<(RepoPath, Oid)>> {
    let output = git.arg("hash-object").args(how).arg("--stdin-paths").stdin(quoted_lines(paths)).run()?;
    if !output.ok() {
        let words = output.stderr.as_str();
        // The file was removed after it was looked at.
        let vanished = words.contains("could not open '") && words.contains("No such file or directory");
        return Err(if vanished {
            Error::new(Code::ChangedMeanwhile, "a file was removed meanwhile").why(words.trim().replace('\n', "; "))
        } else if is_of_a_filter(words) {
            Error::new(Code::FilterFailed, "a filter fails").why(words.trim().replace('\n', "; "))
        } else {
            output.error()
        });
    }
    let ids: Vec<Oid> = output.text()?.lines().map(Oid::new).collect::<Result<_>>()?;
    Ok(paths.iter().cloned().zip(ids).collect())
}

pub(super) fn executable(meta: &std::fs::Metadata) -> bool {
    meta.permissions().mode() & 0o100 != 0
}
