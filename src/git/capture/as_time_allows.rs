//! Reads files part by part, as far as there is time: which come first and what fits is decided by `model::checkpoint::in_time`.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use crate::capture::staged_paths::StagedPaths;
use crate::index::changed_paths::ChangedPaths;
use crate::objects::durability::sync_file_system;
use crate::repo::handles::Captures;
use crate::repo::repository::Repository;
use crate::repo::worktrees::Worktree;
use axiom_base::error::{Code, Result};
use axiom_base::platform::SYNCS_WHOLE_FILE_SYSTEM;
use axiom_model::base::names::RepoPath;
use axiom_model::checkpoint::reading_budget::{ReadingPace, ReadingPriority, ordered};

use super::captured::CaptureOptions;
use super::gaps::CaptureGaps;
use crate::base::readable::reads_through;

/// From so many bytes on, what was read of a part is written out before the clock is looked at: else the time that the disk takes
/// would be seen only at the end, when all of it is synced.
const WRITTEN_OUT: u64 = 4 * 1024 * 1024;

/// Hands `files` to `read`, in parts and in order where there is a limit, all at once where there is none. Returns those for which there
/// was no time; `None` as soon as `read` gives up.
pub(crate) fn as_time_allows<T: Ord>(
    (repository, until): (&Repository, Option<Instant>),
    files: Vec<T>,
    place: impl Fn(&T) -> (ReadingPriority, u64),
    mut read: impl FnMut(Vec<T>) -> Result<Option<()>>,
) -> Result<Option<Vec<T>>> {
    let Some(until) = until else { return Ok(read(files)?.map(|()| Vec::new())) };
    let (mut pace, mut late) = (ReadingPace::default(), Vec::new());
    for rank in ordered(files, place) {
        let (mut files, mut sizes): (Vec<T>, Vec<u64>) = rank.into_iter().unzip();
        pace.begins();
        while !files.is_empty() {
            let begun = Instant::now();
            let next = pace.next(&sizes, until.saturating_duration_since(begun));
            if next == 0 {
                break;
            }
            let (later, rest) = (files.split_off(next), sizes.split_off(next));
            if read(std::mem::replace(&mut files, later))?.is_none() {
                return Ok(None);
            }
            let done = std::mem::replace(&mut sizes, rest);
            // Elsewhere a sync looks at each file anew.
            if SYNCS_WHOLE_FILE_SYSTEM && done.iter().sum::<u64>() >= WRITTEN_OUT {
                sync_file_system(&repository.common_dir().join("objects"))?;
            }
            pace.took(&done, begun.elapsed());
        }
        late.extend(files);
    }
    Ok(Some(late))
}

impl Captures<'_> {
    /// Puts changed paths into a private index, as far as they can be read and there is time. Those that were not are no longer among
    /// them. `untracked` are those that git does not track.
    pub(super) fn stage_read(
        &self,
        (worktree, index): (&Worktree, &Path),
        options: &CaptureOptions,
        (changed, untracked): (&mut ChangedPaths, &BTreeSet<RepoPath>),
        gaps: &mut CaptureGaps,
    ) -> Result<StagedPaths> {
        if options.until.is_none() {
            return self.stage_readable(worktree, index, changed, gaps);
        }
        let named = options.named.within(worktree.path());
        let place = |path: &RepoPath| {
            let rank = match untracked.contains(path) {
                false => ReadingPriority::Tracked,
                true if named.covers(path, false) => ReadingPriority::Named,
                true => ReadingPriority::Untracked,
            };
            (rank, size_of(worktree, path))
        };
        let mut staged = changed.with_only(Vec::new()).stage_held(self.repo, worktree, index)?;
        let there: Vec<RepoPath> = changed.there().cloned().collect();
        let late = as_time_allows((self.repo, options.until), there, place, |part| {
            staged.add(self.stage_readable(worktree, index, &mut ChangedPaths::of(part), gaps)?);
            Ok(Some(()))
        })?;
        gaps.add_late(late.into_iter().flatten());
        changed.keep(|path| !gaps.has(path));
        Ok(staged)
    }

    fn stage_readable(
        &self,
        worktree: &Worktree,
        index: &Path,
        changed: &mut ChangedPaths,
        gaps: &mut CaptureGaps,
    ) -> Result<StagedPaths> {
        match changed.stage_held(self.repo, worktree, index) {
            // A file that can be opened may fail in the middle. git says which one it met first; all are tried.
            Err(error) if error.code() == Code::FileUnreadable => {
                let before = changed.there().count();
                changed.keep(|path| {
                    let reads = reads_through(&worktree.path().join(path.to_path()));
                    if !reads {
                        gaps.add(path.clone());
                    }
                    reads
                });
                if changed.there().count() == before {
                    return Err(error);
                }
                changed.stage_held(self.repo, worktree, index)
            }
            staged => staged,
        }
    }
}

/// The bytes of a file; 0 of everything else.
pub(super) fn size_of(worktree: &Worktree, path: &RepoPath) -> u64 {
    let meta = std::fs::symlink_metadata(worktree.path().join(path.to_path()));
    meta.ok().filter(std::fs::Metadata::is_file).map_or(0, |meta| meta.len())
}
