//! Files that git would not give back unchanged: after a conversion (line ends, keywords, a filter, an encoding) into an
//! object and back, a file may differ from the original. Then its bytes are kept in addition to the tree.
//!
//! Only a trial shows this, so a changed file with a filter is smudged once in a folder of ours. The alternative would be to
//! keep the bytes of every such file a second time, and files with filters are the large ones.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::Path;

use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_model::base::ciphertext;
use axiom_model::base::forms::line_ends::LineEnds;
use axiom_model::base::names::{Oid, RepoPath};

use super::coverage::CaptureCoverage;
use super::file_differences::{HeldFiles, bytes_of};
use super::raw_file::{RAW_LIMIT, RawFile};
use crate::base::quoted_paths::quoted_lines;
use crate::base::tree_change::{FileId, TreeChange};
use crate::capture::present_hashes::hash_here;
use crate::index::changed_paths::ChangedPaths;
use crate::index::conversions::RequestedConversion;
use crate::index::file::{in_folder, nul_list};
use crate::index::filter_memory::{hung_lately, note_hung};
use crate::index::filters::{FilesByFilter, FilterTimeBudget};
use crate::repo::handles::KeptBytes;
use crate::repo::worktrees::Worktree;

/// How many paths are passed as arguments at most.
const FEW: usize = 100;

/// Those of the kept bytes that belong to files that a restore writes, ordered by path.
pub(crate) fn wanted_bytes(raw: &[RawFile], changes: &[TreeChange]) -> Vec<RawFile> {
    let new: BTreeMap<&RepoPath, &Oid> = match raw {
        [] => BTreeMap::new(),
        [..] => changes.iter().filter_map(|change| Some((&change.path, &change.new.as_ref()?.oid))).collect(),
    };
    raw.iter().filter(|one| new.get(&one.path) == Some(&&one.held_as)).cloned().collect()
}

impl KeptBytes<'_> {
    /// The bytes of those changed files that a checkout of `index` would not give back; `index` holds the tree of the files.
    /// What cannot be kept is listed in the coverage. No filter runs if none is asked for.
    pub(crate) fn raw_files(
        &self,
        worktree: &Worktree,
        index: &Path,
        changed: &ChangedPaths,
        coverage: &mut CaptureCoverage,
    ) -> Result<Vec<RawFile>> {
        let differing = self.not_given_back(worktree, index, changed)?;
        let small = |path: &&RepoPath| size(worktree, path).is_some_and(|size| size <= RAW_LIMIT);
        let (kept, named): (Vec<RepoPath>, Vec<RepoPath>) = differing.into_iter().partition(|path| small(&path));
        named.into_iter().for_each(|path| coverage.converted.add(path));
        if kept.is_empty() {
            return Ok(Vec::new());
        }
        let wanted = self.blobs(worktree, index, &kept)?;
        // What a filter has encrypted must not be stored as plain text beside that.
        let is_plain =
            |(path, blob): &(RepoPath, Option<Oid>)| !blob.as_ref().is_some_and(|blob| self.is_encrypted(worktree, path, blob));
        let (kept, encrypted): (Vec<_>, Vec<_>) = kept.into_iter().zip(wanted).partition(is_plain);
        encrypted.into_iter().for_each(|(path, _)| coverage.converted.add(path));
        let (kept, wanted): (Vec<RepoPath>, Vec<Option<Oid>>) = kept.into_iter().unzip();
        if kept.is_empty() {
            return Ok(Vec::new());
        }
        let ids = self.write_raw(worktree, &kept)?;
        // A file may change at this moment: the bytes must be those that the tree was made of.
        let all: Vec<&RepoPath> = kept.iter().collect();
        let converted = hash_here(self.repo, worktree, &all).ok();
        let mut raw = Vec::new();
        for ((place, path), held_as) in kept.into_iter().enumerate().zip(wanted) {
            let converted = converted.as_ref().and_then(|hashes| hashes.get(place)?.as_ref());
            match (held_as, ids.get(place)) {
                (Some(held_as), Some(oid)) if converted == Some(&held_as) => {
                    raw.push(RawFile { path, held_as, oid: oid.clone(), lfs: None });
                }
                // Not in the index: it vanished, or git refused its name.
                (None, _) => {}
                (Some(_), _) => coverage.converted.add(path),
            }
        }
        raw.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(raw)
    }

    /// The kept bytes of `old`, completed by the bytes of files that a restore replaces or removes and that a checkout of
    /// the old tree would not give back. Ordered by path. If only bytes are replaced, they are already known, or a checkout
    /// writes them.
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
        let scratch = self.repo.scratch_folders().make()?;
        let index = in_folder(&scratch, "index");
        let git = self.repo.git_in(worktree).index(&index).config("core.sparseCheckout=false").config("core.splitIndex=false");
        git.args(["read-tree", from.as_str()]).run_ok()?;
        // A file that cannot be kept is too large, or changes at this moment, which the restore detects.
        let changed = ChangedPaths::sort(worktree, paths)?;
        let mut raw = self.raw_files(worktree, &index, &changed, &mut CaptureCoverage::default())?;
        raw.extend_from_slice(known);
        raw.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(raw)
    }

    /// Whether a checkout may add carriage returns to one of these files.
    pub(crate) fn may_add_returns(&self, worktree: &Worktree, paths: &[&RepoPath]) -> Result<bool> {
        Ok(self.repo.conversions().asked(worktree, paths)?.iter().any(|asked| match asked {
            RequestedConversion::LineEnds(line_ends) => line_ends.may_put_in(),
            RequestedConversion::More => true,
        }))
    }

    /// Those of the files that a checkout of `index` writes differently. Files that may differ are tried in a folder of
    /// ours.
    fn not_given_back(&self, worktree: &Worktree, index: &Path, changed: &ChangedPaths) -> Result<Vec<RepoPath>> {
        let files: Vec<&RepoPath> = changed.there().filter(|path| size(worktree, path).is_some()).collect();
        if files.is_empty() {
            return Ok(Vec::new());
        }
        let mut tried = Vec::new();
        for (path, asked) in files.iter().zip(self.repo.conversions().asked_both_ways(worktree, index, &files)?) {
            let try_it = match asked {
                (RequestedConversion::LineEnds(LineEnds::AsIs), RequestedConversion::LineEnds(LineEnds::AsIs)) => false,
                (RequestedConversion::LineEnds(_), RequestedConversion::LineEnds(written)) => {
                    written.may_put_in() || has_return(&worktree.path().join(path.to_path()))?
                }
                (RequestedConversion::More, _) | (_, RequestedConversion::More) => true,
            };
            if try_it {
                tried.push(*path);
            }
        }
        self.written_otherwise(worktree, index, &tried)
    }

    /// Those of the files that a checkout of `index` writes differently, found by doing it in a folder of ours.
    pub(crate) fn written_otherwise(&self, worktree: &Worktree, index: &Path, tried: &[&RepoPath]) -> Result<Vec<RepoPath>> {
        if tried.is_empty() {
            return Ok(Vec::new());
        }
        let scratch = self.repo.scratch_folders().make()?;
        let folder = scratch.path().join("given-back");
        files::create_dir_all(&folder)?;
        let there = worktree.with_files_in(&folder);
        let filters = self.repo.conversions().filters(worktree)?;
        let attributes = self.repo.git_in(worktree).index(index).args(["check-attr", "--cached"]);
        let FilesByFilter { plain, filtered } = self.repo.conversions().by_filter(&filters, attributes, tried)?;
        let time = FilterTimeBudget::begin();
        let plain = (!plain.is_empty()).then(|| (String::new(), plain));
        for (name, paths) in plain.into_iter().chain(filtered) {
            let filter = filters.get(&name).cloned().unwrap_or_default();
            let what = format!("smudge of {name}");
            if hung_lately(self.repo, &what, &filter) {
                continue;
            }
            let git = self.repo.git_in(&there).index(index).with_filters().fetching_nothing();
            let git = git.config("core.sparseCheckout=false");
            // Git LFS downloads nothing for this: it writes what it has, and its pointer if it has nothing.
            let git = git.env("GIT_LFS_SKIP_SMUDGE", "1").limited(time.of_next());
            // If a filter fails or does not answer, files are missing, and their bytes are kept.
            let hangs = git.args(["checkout-index", "-f", "-q", "-z", "--stdin"]).stdin(nul_list(&paths)).run()?.is_over_limit();
            if hangs {
                note_hung(self.repo, &what, &filter);
            }
        }
        let mut differing = Vec::new();
        for path in tried {
            let (ours, gits) = (worktree.path().join(path.to_path()), folder.join(path.to_path()));
            let comparable = gits.symlink_metadata().is_ok_and(|meta| meta.is_file());
            // The file may have vanished since.
            if !comparable || !files::same_bytes(&ours, &gits).unwrap_or(false) {
                differing.push((*path).clone());
            }
        }
        Ok(differing)
    }

    /// The blobs of paths in a private index, in the order of `paths`.
    pub(crate) fn blobs(&self, worktree: &Worktree, index: &Path, paths: &[RepoPath]) -> Result<Vec<Option<Oid>>> {
        Ok(self.entries(worktree, index, paths)?.into_iter().map(|entry| Some(entry?.1)).collect())
    }

    /// Whether the blob of a file is what a filter has encrypted: [`ciphertext`]. One that cannot be read is none.
    pub(crate) fn is_encrypted(&self, worktree: &Worktree, path: &RepoPath, blob: &Oid) -> bool {
        let Ok(stored) = self.repo.objects().read_blob(blob, RAW_LIMIT) else { return false };
        let plain = files::read_start(&worktree.path().join(path.to_path()), ciphertext::LOOKED_AT as u64)
            .ok()
            .flatten()
            .unwrap_or_default();
        ciphertext::is_encrypted(&stored, &plain)
    }

    /// The modes and blobs of paths in a private index, in the order of `paths`.
    pub(crate) fn entries(&self, worktree: &Worktree, index: &Path, paths: &[RepoPath]) -> Result<Vec<Option<(u32, Oid)>>> {
        let git = self.repo.git_in(worktree).index(index).arg("--literal-pathspecs").args(["ls-files", "-s", "-z", "--"]);
        // Too many paths are not passed as arguments: then the whole index is listed.
        let named = if paths.len() <= FEW { paths } else { &[] };
        let output = git.args(named.iter().map(RepoPath::to_path)).run_ok()?;
        let mut known = BTreeMap::new();
        for line in output.stdout.split(|byte| *byte == 0) {
            let Some(tab) = line.iter().position(|byte| *byte == b'\t') else { continue };
            let meta = String::from_utf8_lossy(&line[..tab]);
            let mut meta = meta.split(' ');
            if let (Some(mode), Some(oid)) = (meta.next().and_then(|mode| u32::from_str_radix(mode, 8).ok()), meta.next()) {
                known.insert(RepoPath::new(&line[tab + 1..]), (mode, Oid::new(oid)?));
            }
        }
        Ok(paths.iter().map(|path| known.remove(path)).collect())
    }

    /// Writes files as blobs, without conversion; returns nothing if one of them cannot be read any more.
    pub(crate) fn write_raw(&self, worktree: &Worktree, paths: &[RepoPath]) -> Result<Vec<Oid>> {
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

/// The size of a regular file in bytes; `None` for anything else.
fn size(worktree: &Worktree, path: &RepoPath) -> Option<u64> {
    let meta = worktree.path().join(path.to_path()).symlink_metadata().ok()?;
    meta.is_file().then_some(meta.len())
}

/// Whether a file contains a carriage return.
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
