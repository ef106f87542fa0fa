//! Captures an ordinary worktree with few calls of git.
//!
//! Everything here returns `None` when it meets something that only git handles correctly (what
//! [`crate::repo::shortcuts`] forbids, a sparse index, flags and conflicts, submodules, filters, folders that cannot be read,
//! nested repositories, odd names, a file system that changes meanwhile): then git makes the whole capture. git always decides
//! which paths are ignored, and which attributes a path has.
//!
//! | file | what lives there |
//! | --- | --- |
//! | `live_index` | the index at one moment, and whether stat data prove a file unchanged |
//! | `walk` | one look at every folder with tracked files, by several threads |
//! | `sort_untracked` | untracked paths: ignored or content |
//! | `ignore_hints` | of which paths git need not be asked whether it ignores them |
//! | `named` | captures of known paths, with the rest from an earlier capture |
//! | `content` | files read into blobs |
//! | `memory` | which files need not be read, since they are as they were at the last capture |
//! | `recall_tracked` | what differs of the tracked files that are remembered |
//! | `untracked` | untracked files, remembered ones and others |
//! | `clean` | whether all is as the checked-out commit has it |
//! | `untouched` | whether some paths are as a commit has them |
//! | `tree_edit` | the trees of the index and of the files; only trees that change are written |

mod clean;
mod content;
mod ignore_hints;
mod listing;
mod live_index;
mod memory;
mod named;
mod recall_tracked;
mod sort_untracked;
mod tree_edit;
mod untouched;
mod untracked;
mod walk;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use axiom_base::env;
use axiom_base::error::Result;
use axiom_model::base::names::{Oid, RepoPath};

use super::captured::{CaptureOptions, WorktreeCapture};
use super::coverage::CaptureCoverage;
use super::extras::CaptureExtras;
use super::gaps::CaptureGaps;
use super::permissions::UsualPermissions;
use super::raw_file::RawFile;
use super::round_trip::{CaptureScope, RoundTripScan, UnchangedFile};
use crate::base::modes::SYMLINK;
use crate::index::file::IndexFacts;
use crate::repo::handles::QuickCaptures;
use crate::repo::shortcuts::FastWay;
use crate::repo::worktrees::Worktree;

pub use named::EarlierCapture;

use content::{PathsToRead, WorktreeReader};
use live_index::LiveIndex;
use memory::FileMemory;
use sort_untracked::SortedUntracked;
use tree_edit::PathEdit;
use walk::{UnsureEntry, WalkFindings, WorktreeWalk};

/// What a capture looks at.
struct FastCaptureInput<'a> {
    worktree: &'a Worktree,
    index: &'a LiveIndex,
    options: &'a CaptureOptions,
    scope: CaptureScope,
}

/// What was found in a worktree.
struct FastCaptureFindings<'a> {
    /// What differs from the index, ordered by path.
    edits: Vec<PathEdit>,
    /// What is not held.
    coverage: CaptureCoverage,
    /// Ignored files that are held.
    included: Vec<RepoPath>,
    /// What cannot be read.
    gaps: CaptureGaps,
    /// What the next capture need not read.
    memory: Option<FileMemory<'a>>,
}

impl QuickCaptures<'_> {
    /// Captures a worktree; `None` if git has to do it. A crash leaves unreferenced objects.
    pub(crate) fn fast_capture(&self, worktree: &Worktree, options: &CaptureOptions) -> Result<Option<WorktreeCapture>> {
        if !self.repo.shortcuts().allow_in(FastWay::CaptureFiles, worktree) {
            return Ok(None);
        }
        let head = self.repo.refs().head(worktree)?;
        let Some(index) = LiveIndex::read(self.repo, worktree) else { return Ok(None) };
        let usual = UsualPermissions::of(worktree);
        let Some(mut seen) = WorktreeWalk::new(worktree.path(), &index, &options.excluded, usual).run() else { return Ok(None) };
        let unknown = std::mem::take(&mut seen.unknown);
        let Some(unknown) = self.sort_unknown(worktree, (unknown, &seen.ignores), options)? else { return Ok(None) };
        let narrow = seen.narrow.clone();
        let attributes = seen.attributes.iter().chain(&unknown.attributes).cloned().collect();
        let unsure = seen.unsure.clone();
        let look = FastCaptureInput { worktree, index: &index, options, scope: CaptureScope::Whole };
        let looked = self.differences(&look, seen, unknown)?;
        let Some(FastCaptureFindings { edits, mut coverage, included, gaps, memory }) = looked else { return Ok(None) };
        // Of what was not read, nothing beside the index is known.
        let unread: BTreeSet<usize> = gaps.iter().filter_map(|path| index.find(path.as_bytes())).collect();
        let all = (0..index.len()).filter(|entry| !unread.contains(entry));
        let Some(raw) = self.raw_here(&look, (all, &unsure), (&edits, &attributes), &mut coverage)? else {
            return Ok(None);
        };
        env::fault_point("git.capture-before-objects");
        let Some(index_tree) = index.tree(self.repo, &[])? else { return Ok(None) };
        let tree = if edits.is_empty() { Some(index_tree.clone()) } else { index.tree(self.repo, &edits)? };
        let Some(tree) = tree else { return Ok(None) };
        let mut extras = CaptureExtras::read(self.repo, worktree, IndexFacts::default(), &mut coverage)?;
        extras.raw = raw;
        extras.gaps = gaps.name(&mut coverage);
        let is_known = |edit: &&PathEdit| edit.permissions.is_some_and(|mode| usual.is_usual(mode, false));
        let (known, there): (Vec<&PathEdit>, Vec<&PathEdit>) = edits.iter().filter(|edit| edit.new.is_some()).partition(is_known);
        let (known, there) = (known.iter().map(|edit| &edit.path), there.iter().map(|edit| &edit.path).chain(&narrow));
        extras.modes = usual.unusual_ones_and_above(self.repo, worktree.path(), there, known)?;
        if let Some(memory) = memory {
            memory.write(&edits, &extras.modes);
        }
        let is_untracked = |path: &RepoPath| is_among(&edits, path) && index.find(path.as_bytes()).is_none();
        self.repo.captured_permissions().name_private(&extras.modes, is_untracked, &mut coverage);
        Ok(Some(WorktreeCapture { head, tree, index_tree, extras, coverage, included, submodules: Vec::new() }))
    }

    /// The bytes of unchanged files that a checkout would not give back, ordered by path. Only the entries `within` are
    /// looked at; of the `unsure` ones the index does not have the stat data. `None` if git has to look.
    fn raw_here(
        &self,
        look: &FastCaptureInput<'_>,
        (within, unsure): (impl IntoIterator<Item = usize>, &[UnsureEntry]),
        (edits, attributes): (&[PathEdit], &BTreeSet<RepoPath>),
        coverage: &mut CaptureCoverage,
    ) -> Result<Option<Vec<RawFile>>> {
        let FastCaptureInput { worktree, index, options: _, scope } = *look;
        let file = worktree.index_file();
        let at = RoundTripScan { worktree, index: &file, attributes, scope };
        let changes_attributes = edits.iter().any(|edit| edit.path.file_name() == b".gitattributes");
        let known = match self.repo.kept_bytes().known_conversions(&at)? {
            // Then a checkout of the capture does not use the attributes that the index has.
            _ if changes_attributes => return Ok(None),
            None => return Ok(Some(Vec::new())),
            Some(known) => known,
        };
        let tracked = within.into_iter().filter(|entry| index.mode(*entry) != SYMLINK).filter_map(|entry| {
            let path = RepoPath::new(index.path(entry));
            if edits.binary_search_by(|edit| edit.path.cmp(&path)).is_ok() {
                return None;
            }
            let stat = match unsure.binary_search_by_key(&entry, |one| one.entry) {
                Ok(at) => unsure[at].seen?.stat,
                Err(_) => index.stat(entry),
            };
            Some(UnchangedFile { path, oid: index.id(entry).to_owned(), stat })
        });
        let mut raw = self.repo.kept_bytes().raw_unchanged(&at, known, tracked, coverage)?;
        raw.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(Some(raw))
    }

    /// Reads the files that were seen; `None` if git has to do it.
    fn differences<'a>(
        &'a self,
        look: &FastCaptureInput<'a>,
        seen: WalkFindings,
        unknown: SortedUntracked,
    ) -> Result<Option<FastCaptureFindings<'a>>> {
        let FastCaptureInput { worktree, index, options, scope } = *look;
        let (mut coverage, mut gaps) = (CaptureCoverage::default(), CaptureGaps::default());
        unknown.unread.into_iter().for_each(|path| gaps.add(path));
        gaps.add_closed(worktree.path(), &seen.narrow);
        let attributes: Vec<RepoPath> = seen.attributes.into_iter().chain(unknown.attributes).collect();
        let sorted = PathsToRead { unsure: seen.unsure, gone: seen.gone, untracked: unknown.untracked };
        let (limit, until) = (options.max_file_size, options.until);
        let named = options.named.within(worktree.path());
        let reading = WorktreeReader { repository: self.repo, worktree, index, limit, until, named, scope };
        let Some((edits, memory)) = reading.read(sorted, &attributes, (&mut coverage, &mut gaps))? else { return Ok(None) };
        unknown.ignored.into_iter().for_each(|path| coverage.ignored.add(path));
        unknown.excluded.into_iter().for_each(|path| coverage.excluded.add(path));
        unknown.over_include_limit.into_iter().for_each(|path| coverage.over_include_limit.add(path));
        let is_held = |path: &RepoPath| is_among(&edits, path);
        let included: Vec<RepoPath> = unknown.included.into_iter().filter(is_held).collect();
        included.iter().for_each(|path| coverage.included.add(path.clone()));
        let mut special = seen.special;
        special.extend(unknown.special);
        special.sort();
        special.into_iter().for_each(|path| coverage.special.add(path));
        Ok(Some(FastCaptureFindings { edits, coverage, included, gaps, memory }))
    }
}

/// Whether there is an edit of a path.
fn is_among(edits: &[PathEdit], path: &RepoPath) -> bool {
    edits.binary_search_by(|edit| edit.path.cmp(path)).is_ok()
}

/// Converts an id of gix.
fn oid(id: &gix::oid) -> Result<Oid> {
    Oid::from_bytes(id.as_bytes())
}
