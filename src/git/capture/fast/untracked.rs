//! The blobs of untracked files.

use crate::base::path_inspection::WorktreeInspector;
use crate::capture::as_time_allows::as_time_allows;
use crate::capture::coverage::CaptureCoverage;
use crate::capture::file_blob_cache::KnownContent;
use crate::capture::file_stat::{SeenFile, git_mode};
use crate::capture::gaps::CaptureGaps;
use crate::objects::new_blobs::NewBlobs;
use axiom_base::error::Result;
use axiom_base::own_process::threads;
use axiom_model::base::names::RepoPath;
use axiom_model::checkpoint::reading_budget::ReadingPriority;

use super::content::{ContentDifferences, LineEndConversion, PathContent, WorktreeReader};
use super::memory::{FEW, FileMemory};
use super::tree_edit::PathEdit;

/// A file and its size in bytes.
type PathAndSize = (RepoPath, u64);

/// A file or link that is held.
pub(super) struct UntrackedBlob {
    path: RepoPath,
    mode: u32,
    content: KnownContent,
    /// As in [`PathEdit`].
    permissions: Option<u32>,
}

impl ContentDifferences {
    /// Untracked files that are held.
    pub fn of_untracked(held: Vec<UntrackedBlob>, conversion: LineEndConversion) -> Self {
        let doubtful = held.iter().filter(|held| conversion.doubts(held.mode, held.content)).map(|held| held.path.clone());
        let doubtful = doubtful.collect();
        let edits = held.into_iter().map(|UntrackedBlob { path, mode, content, permissions }| {
            let new = Some((mode, content.blob));
            PathEdit { path, new, permissions }
        });
        Self { edits: edits.collect(), doubtful }
    }
}

impl WorktreeReader<'_> {
    /// Reads untracked files; `None` if git has to do it.
    pub(super) fn untracked(
        &self,
        files: Vec<PathAndSize>,
        conversion: LineEndConversion,
        (blobs, memory): (&mut NewBlobs<'_>, &mut Option<FileMemory<'_>>),
        (held, coverage, gaps): (&mut Vec<UntrackedBlob>, &mut CaptureCoverage, &mut CaptureGaps),
    ) -> Result<Option<()>> {
        let mut looks = WorktreeInspector::below(self.worktree.path());
        let rank =
            |path: &RepoPath| if self.named.covers(path, false) { ReadingPriority::Named } else { ReadingPriority::Untracked };
        let place = |(path, size): &PathAndSize| (rank(path), *size);
        let late = as_time_allows((self.repository, self.until), files, place, |part| {
            for (path, _) in part {
                match self.content(&mut looks, &path, self.limit, conversion)? {
                    PathContent::Gone => {}
                    PathContent::TooLarge => coverage.too_large.add(path),
                    PathContent::Unread => gaps.add(path),
                    PathContent::Present { mode, bytes, seen } => {
                        let content = KnownContent::add(bytes, blobs)?;
                        if let (Some(memory), Some(seen)) = (memory.as_mut(), seen) {
                            memory.learn(&path, &seen, content);
                        }
                        held.push(UntrackedBlob { path, mode, content, permissions: None });
                    }
                    PathContent::Odd => return Ok(None),
                }
            }
            Ok(Some(()))
        })?;
        let Some(late) = late else { return Ok(None) };
        gaps.add_late(late.into_iter().map(|(path, _)| path));
        Ok(Some(()))
    }

    /// The files that are as they were and whose blobs exist; and those that have to be read. `None` if git has to read them.
    pub(super) fn recall_untracked(
        &self,
        files: Vec<PathAndSize>,
        conversion: LineEndConversion,
        memory: &mut Option<FileMemory<'_>>,
    ) -> Option<(Vec<UntrackedBlob>, Vec<PathAndSize>)> {
        let Some(memory) = memory else { return Some((Vec::new(), files)) };
        let (root, limit) = (self.worktree.path(), self.limit);
        let was = memory.was();
        // Its permissions, and the place of what is remembered of it.
        let known = |looks: &mut WorktreeInspector<'_>, path: &RepoPath, likely: usize| {
            // What cannot be looked at is found out when it is read.
            let seen = looks.file(path).as_ref().and_then(SeenFile::of_stat).filter(|seen| seen.size <= limit)?;
            Some((seen.mode, was.recall(path, &seen, likely)?))
        };
        let begin = memory.likely();
        let look = |first: usize, part: &[PathAndSize]| {
            let (mut looks, mut likely) = (WorktreeInspector::below(root), begin + first);
            let one = |(path, _): &PathAndSize| {
                let found = known(&mut looks, path, likely);
                likely = found.map_or(likely, |(_, place)| place + 1);
                found
            };
            part.iter().map(one).collect()
        };
        let found: Vec<Option<_>> = threads::in_parts(&files, FEW, look);
        let remembered = |(_, place): &(u32, usize)| was.file(*place);
        let blobs: Vec<_> = found.iter().flatten().filter_map(remembered).map(|file| file.content.blob).collect();
        let mut fresh = memory.fresh(&blobs).into_iter();
        let (mut held, mut others) = (Vec::with_capacity(blobs.len()), Vec::new());
        for ((path, size), known) in files.into_iter().zip(found) {
            let known = known.and_then(|(permissions, place)| Some((permissions, place, memory.was().file(place)?)));
            let Some((permissions, place, file)) = known else {
                others.push((path, size));
                continue;
            };
            if fresh.next() == Some(true) {
                let (mode, permissions) = (git_mode(permissions), file.permissions(permissions));
                held.push(UntrackedBlob { path, mode, content: file.content, permissions });
                memory.keep(place);
            } else {
                others.push((path, file.size()));
            }
        }
        (!held.iter().any(|held| conversion.forbids(held.content))).then_some((held, others))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::capture::capture_cache::CaptureCacheKind;
    use crate::capture::captured::CaptureOptions;
    use crate::capture::file_blob_cache::{FileBlobCache, RememberedFile};
    use crate::capture::stat_moment::StatMoment;
    use crate::repo::repository::Repository;
    use crate::repo::scratch::ScratchRepository;

    /// A repository with untracked files that are old enough to be remembered.
    fn many() -> ScratchRepository {
        let scratch = ScratchRepository::new(&[]);
        (0..=FEW).for_each(|number| scratch.write(&format!("new/{number}"), format!("file {number}").as_bytes()));
        std::thread::sleep(Duration::from_millis(250));
        scratch
    }

    /// What a capture has at a path.
    fn captured(scratch: &ScratchRepository, path: &str) -> String {
        let (repo, options) = (scratch.repo(), CaptureOptions { max_file_size: 1000, ..CaptureOptions::default() });
        let capture = repo.quick_captures().fast_capture(&scratch.main(), &options).unwrap().unwrap();
        repo.durability().sync_objects().unwrap();
        drop(repo);
        scratch.git(&["cat-file", "blob", &format!("{}:{path}", capture.tree)])
    }

    /// Has the memory say that each file has this blob.
    fn remember(scratch: &ScratchRepository, blob: &str) {
        let (repo, main, blob) = (scratch.repo(), scratch.main(), gix::ObjectId::from_hex(blob.as_bytes()).unwrap());
        let paths: Vec<_> = (0..=FEW).map(|number| RepoPath::new(format!("new/{number}").as_bytes())).collect();
        let seen = |path: &RepoPath| SeenFile::of(&main.path().join(path.to_path()).symlink_metadata().unwrap());
        let (content, since) = (KnownContent { blob, has_returns: false, has_feeds: true }, StatMoment::begin(&repo).unwrap());
        let files = paths.iter().map(|path| RememberedFile::of(path, &seen(path), content, &since).unwrap());
        FileBlobCache::of(files).write_unless(&FileBlobCache::default(), &repo, &main);
    }

    #[test]
    fn a_file_that_is_as_it_was_is_not_read_and_a_changed_one_is() {
        let scratch = many();
        assert_eq!(captured(&scratch, "new/2"), "file 2");
        assert!(CaptureCacheKind::FileBlobs.place(&scratch.repo(), &scratch.main()).exists());
        // What is remembered is believed: the only way to see that nothing was read.
        remember(&scratch, &scratch.git(&["rev-parse", "HEAD:a.txt"]));
        assert_eq!(captured(&scratch, "new/2"), scratch.git(&["cat-file", "blob", "HEAD:a.txt"]));
        scratch.write("new/2", b"FILE 2");
        assert_eq!(captured(&scratch, "new/2"), "FILE 2");
        assert_eq!(captured(&scratch, "new/3"), scratch.git(&["cat-file", "blob", "HEAD:a.txt"]));
        // Where line ends may be converted, bytes without any that are converted are the blob all the same.
        scratch.git(&["config", "core.autocrlf", "input"]);
        assert_eq!(captured(&scratch, "new/3"), scratch.git(&["cat-file", "blob", "HEAD:a.txt"]));
    }

    #[test]
    fn what_is_remembered_of_a_file_with_returns_counts_only_while_git_converts_nothing() {
        let scratch = many();
        scratch.write("new/2", b"one\r\ntwo\r\n");
        std::thread::sleep(Duration::from_millis(250));
        assert_eq!(captured(&scratch, "new/2"), "one\r\ntwo");
        let (repo, options) = (scratch.repo(), CaptureOptions { max_file_size: 1000, ..CaptureOptions::default() });
        let by_git = |repo: &Repository| repo.quick_captures().fast_capture(&scratch.main(), &options).unwrap().is_none();
        assert!(!by_git(&repo));
        scratch.write(".git/info/attributes", b"* text\n");
        assert!(by_git(&scratch.repo()), "git stores other bytes");
        scratch.write(".git/info/attributes", b"* filter=x\n");
        assert!(by_git(&scratch.repo()), "only the filter knows");
    }

    #[test]
    fn a_blob_that_is_gone_is_made_again() {
        let scratch = many();
        assert_eq!(captured(&scratch, "new/2"), "file 2");
        scratch.git(&["gc", "-q", "--prune=now"]);
        assert_eq!(captured(&scratch, "new/2"), "file 2");
        remember(&scratch, &"1".repeat(40));
        assert_eq!(captured(&scratch, "new/2"), "file 2");
    }

    #[test]
    fn a_file_as_young_as_the_capture_is_not_remembered() {
        let scratch = many();
        // Whatever takes how long, this one is younger.
        let soon = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(u32::MAX.into());
        std::fs::File::open(scratch.path().join("new/2")).unwrap().set_modified(soon).unwrap();
        assert_eq!(captured(&scratch, "new/2"), "file 2");
        let (repo, main) = (scratch.repo(), scratch.main());
        let memory = FileBlobCache::read(&repo, &main);
        let recalled = |name: &str| {
            let path = RepoPath::new(name.as_bytes());
            memory.recall(&path, &SeenFile::of(&main.path().join(path.to_path()).symlink_metadata().unwrap()), 0)
        };
        assert!(recalled("new/2").is_none() && recalled("new/3").is_some());
    }
}
