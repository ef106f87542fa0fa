//! Files that git would not give back as they are: what a conversion (line ends, keywords, a filter, an encoding) makes of
//! a file on its way into an object and out again may differ from the file. Then its bytes are kept beside the tree.
//!
//! Only trying it tells, so a changed file with a filter is smudged once in a folder of our own. The way around that would be
//! to keep the bytes of each such file a second time, and those with filters are the large ones.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::domain::base::line_ends::LineEnds;
use crate::domain::base::names::{Oid, RepoPath};
use crate::error::{Code, Error, Result};
use crate::files;

use super::coverage::Coverage;
use super::differing::{HeldFiles, bytes_of};
use crate::git::history::questions::{FileId, TreeChange};
use crate::git::index::changed_paths::ChangedPaths;
use crate::git::index::conversions::Asked;
use crate::git::index::file::{in_folder, nul_list};
use crate::git::repo::handles::Captures;
use crate::git::repo::worktrees::Worktree;
use crate::git::restore::prepared::quoted_lines;
use crate::git::restore::present_files::hash_here;

/// The largest file of which the bytes are kept: a restore holds them in memory.
pub(in crate::git) const RAW_LIMIT: u64 = 256 * 1024 * 1024;

/// So many paths are named as arguments at most.
const FEW: usize = 100;

/// A file whose bytes are kept beside what the tree says of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawFile {
    /// Where.
    pub path: RepoPath,
    /// What the tree has there.
    pub held_as: Oid,
    /// Its bytes, as a blob.
    pub oid: Oid,
}

/// Those of the kept bytes that belong to what a restore writes, ordered by path.
pub(in crate::git) fn wanted_bytes(raw: &[RawFile], changes: &[TreeChange]) -> Vec<RawFile> {
    let new: BTreeMap<&RepoPath, &Oid> = match raw {
        [] => BTreeMap::new(),
        [..] => changes.iter().filter_map(|change| Some((&change.path, &change.new.as_ref()?.oid))).collect(),
    };
    raw.iter().filter(|one| new.get(&one.path) == Some(&&one.held_as)).cloned().collect()
}

impl Captures<'_> {
    /// The bytes of those changed files that a checkout of `index`, which has the tree of the files, would not give back. What
    /// cannot be kept is named in the coverage. Runs no filter where none is asked for.
    ///
    /// # Errors
    /// `GIT_FAILED`, `IO_FAILED`, `DISK_FULL`.
    pub(in crate::git) fn raw_files(
        &self,
        worktree: &Worktree,
        index: &Path,
        changed: &ChangedPaths,
        coverage: &mut Coverage,
    ) -> Result<Vec<RawFile>> {
        let differing = self.not_given_back(worktree, index, changed)?;
        let small = |path: &&RepoPath| size(worktree, path).is_some_and(|size| size <= RAW_LIMIT);
        let (kept, named): (Vec<RepoPath>, Vec<RepoPath>) = differing.into_iter().partition(|path| small(&path));
        named.into_iter().for_each(|path| coverage.converted.add(path));
        if kept.is_empty() {
            return Ok(Vec::new());
        }
        let wanted = self.blobs(worktree, index, &kept)?;
        let ids = self.write_raw(worktree, &kept)?;
        // Whoever edits at this moment: these bytes have to be those that the tree was made of.
        let all: Vec<&RepoPath> = kept.iter().collect();
        let converted = hash_here(self.repo, worktree, &all).ok();
        let mut raw = Vec::new();
        for ((place, path), held_as) in kept.into_iter().enumerate().zip(wanted) {
            let converted = converted.as_ref().and_then(|hashes| hashes.get(place)?.as_ref());
            match (held_as, ids.get(place)) {
                (Some(held_as), Some(oid)) if converted == Some(&held_as) => {
                    raw.push(RawFile { path, held_as, oid: oid.clone() });
                }
                // Gone since.
                (None, _) => {}
                (Some(_), _) => coverage.converted.add(path),
            }
        }
        raw.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(raw)
    }

    /// The bytes of files that a restore replaces or removes, that its first tree has and would not give back; with those that
    /// are known. Ordered by path. Where only bytes are replaced, they are known, or a checkout writes them.
    ///
    /// # Errors
    /// `GIT_FAILED`, `IO_FAILED`, `DISK_FULL`.
    pub fn with_bytes_replaced(
        &self,
        worktree: &Worktree,
        (old, replaced): (HeldFiles<'_>, &[TreeChange]),
    ) -> Result<Vec<RawFile>> {
        let HeldFiles { tree: from, raw: known } = old;
        let is_file = |change: &&TreeChange| change.old.as_ref().is_some_and(FileId::is_regular);
        let replaced = replaced.iter().filter(|change| !change.is_of_bytes_alone());
        let paths = replaced.filter(is_file).map(|change| change.path.clone());
        let paths: Vec<RepoPath> =
            paths.filter(|path| size(worktree, path).is_some() && bytes_of(known, path).is_none()).collect();
        if paths.is_empty() || self.repo.conversions().plain(from, paths.iter()).is_some() {
            return Ok(known.to_vec());
        }
        let scratch = self.repo.scratch_folder()?;
        let index = in_folder(&scratch, "index");
        let git = self.repo.git_in(worktree).index(&index).config("core.sparseCheckout=false").config("core.splitIndex=false");
        git.args(["read-tree", from.as_str()]).run_ok()?;
        // What cannot be kept is too large, or somebody edits it at this moment, which the restore finds.
        let changed = ChangedPaths::sort(worktree, paths)?;
        let mut raw = self.raw_files(worktree, &index, &changed, &mut Coverage::default())?;
        raw.extend_from_slice(known);
        raw.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(raw)
    }

    /// Whether a checkout may put carriage returns into one of these files.
    ///
    /// # Errors
    /// `GIT_FAILED`.
    pub(in crate::git) fn may_add_returns(&self, worktree: &Worktree, paths: &[&RepoPath]) -> Result<bool> {
        Ok(self.repo.conversions().asked(worktree, paths)?.iter().any(|asked| match asked {
            Asked::LineEnds(line_ends) => line_ends.may_put_in(),
            Asked::More => true,
        }))
    }

    /// Those of the files that a checkout writes otherwise, by trying it in a folder of our own.
    fn not_given_back(&self, worktree: &Worktree, index: &Path, changed: &ChangedPaths) -> Result<Vec<RepoPath>> {
        let files: Vec<&RepoPath> = changed.there().filter(|path| size(worktree, path).is_some()).collect();
        if files.is_empty() {
            return Ok(Vec::new());
        }
        let mut tried = Vec::new();
        for (path, asked) in files.iter().zip(self.repo.conversions().asked_both_ways(worktree, index, &files)?) {
            let try_it = match asked {
                (Asked::LineEnds(LineEnds::AsIs), Asked::LineEnds(LineEnds::AsIs)) => false,
                (Asked::LineEnds(_), Asked::LineEnds(written)) => {
                    written.may_put_in() || has_return(&worktree.path().join(path.to_path()))?
                }
                (Asked::More, _) | (_, Asked::More) => true,
            };
            if try_it {
                tried.push(*path);
            }
        }
        self.written_otherwise(worktree, index, &tried)
    }

    /// Those of the files that a checkout of `index` writes otherwise, by doing it in a folder of our own.
    ///
    /// # Errors
    /// `GIT_FAILED`, `IO_FAILED`, `DISK_FULL`.
    pub(in crate::git) fn written_otherwise(
        &self,
        worktree: &Worktree,
        index: &Path,
        tried: &[&RepoPath],
    ) -> Result<Vec<RepoPath>> {
        if tried.is_empty() {
            return Ok(Vec::new());
        }
        let scratch = self.repo.scratch_folder()?;
        let folder = scratch.path().join("given-back");
        files::create_dir_all(&folder)?;
        let there = worktree.with_files_in(&folder);
        let git = self.repo.git_in(&there).index(index).config("core.sparseCheckout=false");
        // Nothing is fetched to find out: Git LFS then gives what it has, and its pointer where it has nothing.
        let git = git.env("GIT_LFS_SKIP_SMUDGE", "1");
        // Where a filter fails, files are missing, and these are kept.
        git.args(["checkout-index", "-f", "-q", "-z", "--stdin"]).stdin(nul_list(tried.iter().copied())).run()?;
        let mut differing = Vec::new();
        for path in tried {
            let (ours, gits) = (worktree.path().join(path.to_path()), folder.join(path.to_path()));
            let comparable = gits.symlink_metadata().is_ok_and(|meta| meta.is_file());
            // Gone since, perhaps.
            if !comparable || !files::same_bytes(&ours, &gits).unwrap_or(false) {
                differing.push((*path).clone());
            }
        }
        Ok(differing)
    }

    /// The blobs of paths in an index of our own, in their order.
    ///
    /// # Errors
    /// `GIT_FAILED`.
    pub(in crate::git) fn blobs(&self, worktree: &Worktree, index: &Path, paths: &[RepoPath]) -> Result<Vec<Option<Oid>>> {
        let git = self.repo.git_in(worktree).index(index).arg("--literal-pathspecs").args(["ls-files", "-s", "-z", "--"]);
        // More than a few are no arguments: then the whole index is listed.
        let named = if paths.len() <= FEW { paths } else { &[] };
        let output = git.args(named.iter().map(RepoPath::to_path)).run_ok()?;
        let mut known = BTreeMap::new();
        for line in output.stdout.split(|byte| *byte == 0) {
            let Some(tab) = line.iter().position(|byte| *byte == b'\t') else { continue };
            let meta = String::from_utf8_lossy(&line[..tab]);
            if let Some(oid) = meta.split(' ').nth(1) {
                known.insert(RepoPath::new(&line[tab + 1..]), Oid::new(oid)?);
            }
        }
        Ok(paths.iter().map(|path| known.remove(path)).collect())
    }

    /// Writes files as they are; nothing where one of them cannot be read any more.
    fn write_raw(&self, worktree: &Worktree, paths: &[RepoPath]) -> Result<Vec<Oid>> {
        let input = quoted_lines(paths);
        let git = self.repo.git_in(worktree).making_objects();
        let output = git.args(["hash-object", "-w", "--no-filters", "--stdin-paths"]).stdin(input).run()?;
        if !output.ok() {
            let error = output.error();
            return if error.code() == Code::GitFailed { Ok(Vec::new()) } else { Err(error) };
        }
        output.text()?.lines().map(Oid::new).collect()
    }
}

/// The size of a regular file; `None` of anything else.
fn size(worktree: &Worktree, path: &RepoPath) -> Option<u64> {
    let meta = worktree.path().join(path.to_path()).symlink_metadata().ok()?;
    meta.is_file().then_some(meta.len())
}

/// Whether there is a carriage return in a file.
fn has_return(place: &Path) -> Result<bool> {
    let failed = |e| Error::io("read", place, e);
    let Some(file) = files::open_optional(place)? else { return Ok(false) };
    let mut reader = std::io::BufReader::with_capacity(64 * 1024, file);
    loop {
        let part = reader.fill_buf().map_err(failed)?;
        if part.is_empty() {
            return Ok(false);
        }
        if memchr::memchr(b'\r', part).is_some() {
            return Ok(true);
        }
        let length = part.len();
        reader.consume(length);
    }
}
