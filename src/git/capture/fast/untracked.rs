//! The blobs of untracked files. Where there are many, those that are as they were at the last capture are not read again
//! (`file_blob_cache`).

use std::collections::HashSet;

use crate::base::path_inspection::{PathOccupant, WorktreeInspector};
use crate::capture::as_time_allows::as_time_allows;
use crate::capture::coverage::CaptureCoverage;
use crate::capture::file_stat::FileStat;
use crate::capture::gaps::CaptureGaps;
use crate::capture::round_trip::CaptureScope;
use crate::capture::file_blob_cache::FileBlobCache;
use crate::index::odd_names::is_odd;
use crate::objects::new_blobs::NewBlobs;
use axiom_base::error::Result;
use axiom_base::own_process::threads;
use axiom_model::base::names::RepoPath;
use axiom_model::checkpoint::reading_budget::ReadingPriority;

use super::content::FEW;
use super::content::{ContentDifferences, LineEndConversion, PathContent, WorktreeReader, mode_of};
use super::tree_edit::PathEdit;

/// A file and its size in bytes.
type PathAndSize = (RepoPath, u64);

/// So are few with fewer bytes than this.
const LIGHT: u64 = 8 * 1024 * 1024;

/// A file or link that is held.
struct UntrackedBlob {
    path: RepoPath,
    mode: u32,
    blob: gix::ObjectId,
    /// Of a regular file.
    stat: Option<FileStat>,
}

impl WorktreeReader<'_> {
    /// Reads untracked files, if they are not remembered; `None` if git has to do it.
    pub(super) fn untracked(
        &self,
        files: Vec<PathAndSize>,
        conversion: LineEndConversion,
        blobs: &mut NewBlobs<'_>,
        (coverage, gaps): (&mut CaptureCoverage, &mut CaptureGaps),
    ) -> Result<Option<ContentDifferences>> {
        if files.iter().any(|(path, _)| is_odd(path)) {
            return Ok(None);
        }
        // What is remembered are the files' own bytes; a capture of some paths would forget the others.
        let many = files.len() >= FEW || files.iter().map(|(_, size)| size).sum::<u64>() >= LIGHT;
        let remembers = many && conversion == LineEndConversion::None && self.scope == CaptureScope::Whole;
        let was = remembers.then(|| FileBlobCache::read(self.repository, self.worktree));
        let begun = remembers.then(|| self.repository.kept_bytes().now_on_disk()).transpose()?;
        let (mut held, files) = match &was {
            Some(was) => self.recall(was, files)?,
            None => (Vec::new(), files),
        };
        let mut looks = WorktreeInspector::below(self.worktree.path());
        let mut doubtful = Vec::new();
        let rank =
            |path: &RepoPath| if self.named.covers(path, false) { ReadingPriority::Named } else { ReadingPriority::Untracked };
        let place = |(path, size): &PathAndSize| (rank(path), *size);
        let late = as_time_allows((self.repository, self.until), files, place, |part| {
            for (path, _) in part {
                match self.content(&mut looks, &path, self.limit, conversion)? {
                    PathContent::Gone => {}
                    PathContent::TooLarge => coverage.too_large.add(path),
                    PathContent::Unread => gaps.add(path),
                    PathContent::Present { mode, bytes, stat } => {
                        doubtful.extend(conversion.doubts(mode, &bytes).then(|| path.clone()));
                        held.push(UntrackedBlob { path, mode, blob: blobs.add(bytes)?, stat });
                    }
                    PathContent::Odd => return Ok(None),
                }
            }
            Ok(Some(()))
        })?;
        let Some(late) = late else { return Ok(None) };
        gaps.add_late(late.into_iter().map(|(path, _)| path));
        if let (Some(was), Some(begun)) = (was, begun) {
            let old = |held: &&UntrackedBlob| held.stat.filter(|stat| stat.is_older_than(begun));
            let files = held.iter().filter_map(|held| Some((&held.path, old(&held)?, held.blob)));
            FileBlobCache::of(files).write_unless(&was, self.repository, self.worktree);
        }
        let edits = held.into_iter().map(|held| PathEdit { path: held.path, new: Some((held.mode, held.blob)) });
        Ok(Some(ContentDifferences { edits: edits.collect(), doubtful }))
    }

    /// The files that are as they were and whose blobs exist; and the paths that have to be read.
    fn recall(&self, was: &FileBlobCache, files: Vec<PathAndSize>) -> Result<(Vec<UntrackedBlob>, Vec<PathAndSize>)> {
        let (root, limit) = (self.worktree.path(), self.limit);
        // What cannot be looked at is found out when it is read.
        let known = |looks: &mut WorktreeInspector<'_>, path: &RepoPath| match looks.look(path).unwrap_or(PathOccupant::Missing) {
            PathOccupant::File(meta) if meta.len() <= limit => {
                let stat = FileStat::of(&meta);
                Ok(was.recall(path, &stat).map(|blob| (mode_of(&meta), blob, stat)))
            }
            PathOccupant::File(_)
            | PathOccupant::Link(..)
            | PathOccupant::Missing
            | PathOccupant::Below(_)
            | PathOccupant::Folder
            | PathOccupant::Special => Ok(None),
        };
        let look = |part: &[PathAndSize]| {
            let mut looks = WorktreeInspector::below(root);
            part.iter().map(|(path, _)| known(&mut looks, path)).collect()
        };
        let found: Vec<Result<_>> = threads::in_parts(&files, FEW, look);
        let (mut held, mut others) = (Vec::with_capacity(files.len()), Vec::new());
        for ((path, size), known) in files.into_iter().zip(found) {
            match known? {
                Some((mode, blob, stat)) => held.push(UntrackedBlob { path, mode, blob, stat: Some(stat) }),
                None => others.push((path, size)),
            }
        }
        let durability = self.repository.durability();
        let fresh = durability.freshen_all(&held.iter().map(|held| held.blob).collect::<HashSet<_>>());
        fresh.iter().for_each(|id| durability.note_written(*id));
        let (held, gone): (Vec<_>, Vec<_>) = held.into_iter().partition(|held| fresh.contains(&held.blob));
        others.extend(gone.into_iter().map(|held| (held.path, held.stat.map_or(0, |stat| stat.size.into()))));
        Ok((held, others))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::capture::capture_cache::CaptureCacheKind;
    use crate::capture::worktree::CaptureOptions;
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
        let stat = |path: &RepoPath| FileStat::of(&main.path().join(path.to_path()).symlink_metadata().unwrap());
        let files = paths.iter().map(|path| (path, stat(path), blob));
        FileBlobCache::of(files).write_unless(&FileBlobCache::of(std::iter::empty()), &repo, &main);
    }

    #[test]
    fn a_file_that_is_as_it_was_is_not_read_and_a_changed_one_is() {
        let scratch = many();
        assert_eq!(captured(&scratch, "new/7"), "file 7");
        assert!(CaptureCacheKind::FileBlobs.place(&scratch.repo(), &scratch.main()).exists());
        // What is remembered is believed: the only way to see that nothing was read.
        remember(&scratch, &scratch.git(&["rev-parse", "HEAD:a.txt"]));
        assert_eq!(captured(&scratch, "new/7"), scratch.git(&["cat-file", "blob", "HEAD:a.txt"]));
        scratch.write("new/7", b"FILE 7");
        assert_eq!(captured(&scratch, "new/7"), "FILE 7");
        assert_eq!(captured(&scratch, "new/8"), scratch.git(&["cat-file", "blob", "HEAD:a.txt"]));
        // Now line ends may be converted: the memory says nothing about that.
        scratch.git(&["config", "core.autocrlf", "input"]);
        assert_eq!(captured(&scratch, "new/8"), "file 8");
    }

    #[test]
    fn a_blob_that_is_gone_is_made_again() {
        let scratch = many();
        assert_eq!(captured(&scratch, "new/7"), "file 7");
        scratch.git(&["gc", "-q", "--prune=now"]);
        assert_eq!(captured(&scratch, "new/7"), "file 7");
        remember(&scratch, &"1".repeat(40));
        assert_eq!(captured(&scratch, "new/7"), "file 7");
    }

    #[test]
    fn a_file_as_young_as_the_capture_is_not_remembered() {
        let scratch = many();
        // Whatever takes how long, this one is younger.
        let soon = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(u32::MAX.into());
        std::fs::File::open(scratch.path().join("new/7")).unwrap().set_modified(soon).unwrap();
        assert_eq!(captured(&scratch, "new/7"), "file 7");
        let (repo, main) = (scratch.repo(), scratch.main());
        let memory = FileBlobCache::read(&repo, &main);
        let recalled = |name: &str| {
            let path = RepoPath::new(name.as_bytes());
            memory.recall(&path, &FileStat::of(&main.path().join(path.to_path()).symlink_metadata().unwrap()))
        };
        assert!(recalled("new/7").is_none() && recalled("new/8").is_some());
    }
}
