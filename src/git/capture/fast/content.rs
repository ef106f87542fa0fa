//! Reads files into blobs, if their bytes are stored unchanged.

use std::io::Read;
use std::time::Instant;

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;

use crate::base::modes::SYMLINK;
use crate::base::path_inspection::{PathOccupant, WorktreeInspector};
use crate::base::readable::{is_caused_by_gap, is_gap};
use crate::capture::as_time_allows::{as_time_allows, size_of};
use crate::capture::coverage::CaptureCoverage;
use crate::capture::file_blob_cache::KnownContent;
use crate::capture::file_stat::SeenFile;
use crate::capture::gaps::CaptureGaps;
use crate::capture::round_trip::CaptureScope;
use crate::index::odd_names::is_odd;
use crate::index::path_patterns::PathPatterns;
use crate::objects::new_blobs::NewBlobs;
use crate::repo::repository::Repository;
use crate::repo::shortcuts::{Condition, FastWay};
use crate::repo::worktrees::Worktree;
use axiom_base::error::{Error, Result};
use axiom_base::files;
use axiom_base::own_process::threads;
use axiom_model::base::forms::line_ends::{EolAttribute, LineEnds, TextAttribute};
use axiom_model::base::names::RepoPath;
use axiom_model::checkpoint::reading_budget::ReadingPriority;

use super::live_index::LiveIndex;
use super::memory::{FEW, FileMemory};
use super::tree_edit::PathEdit;
use super::walk::UnsureEntry;

/// The largest file that is read into memory, in bytes; git reads larger ones in pieces.
const LARGE: u64 = 64 * 1024 * 1024;

/// The largest attributes file that is read, in bytes.
const ATTRIBUTES: u64 = 1024 * 1024;

/// The paths whose content is needed.
#[derive(Debug)]
pub(super) struct PathsToRead {
    /// Entries of the index that may have changed.
    pub unsure: Vec<UnsureEntry>,
    /// Entries of the index whose file is missing.
    pub gone: Vec<usize>,
    /// Untracked files to be added.
    pub untracked: Vec<RepoPath>,
}

/// What was found to differ from the index.
#[derive(Default)]
pub(super) struct ContentDifferences {
    pub edits: Vec<PathEdit>,
    /// Files whose line ends a checkout may write differently.
    pub doubtful: Vec<RepoPath>,
}

/// Reads files of a worktree.
pub(super) struct WorktreeReader<'a> {
    pub repository: &'a Repository,
    pub worktree: &'a Worktree,
    pub index: &'a LiveIndex,
    /// Untracked files over this many bytes are listed in the coverage instead.
    pub limit: u64,
    /// Until when files are read.
    pub until: Option<Instant>,
    /// What is about to be changed.
    pub named: PathPatterns,
    pub scope: CaptureScope,
}

/// What is at a path.
pub(super) enum PathContent {
    Gone,
    TooLarge,
    Present {
        mode: u32,
        bytes: Vec<u8>,
        /// Of a regular file, from before it was read.
        seen: Option<SeenFile>,
    },
    /// It cannot be read.
    Unread,
    /// Left to git.
    Odd,
}

impl<'a> WorktreeReader<'a> {
    /// What differs from the index, ordered by path, and what can be remembered of it; `None` if git has to read the files.
    pub fn read(
        &self,
        sorted: PathsToRead,
        attributes: &[RepoPath],
        (coverage, gaps): (&mut CaptureCoverage, &mut CaptureGaps),
    ) -> Result<Option<(Vec<PathEdit>, Option<FileMemory<'a>>)>> {
        let mut edits: Vec<PathEdit> =
            sorted.gone.iter().map(|entry| PathEdit::gone(RepoPath::new(self.index.path(*entry)))).collect();
        if sorted.unsure.is_empty() && sorted.untracked.is_empty() {
            edits.sort_by(|a, b| a.path.cmp(&b.path));
            return Ok(Some((edits, None)));
        }
        if edits.iter().any(|edit| edit.path.as_bytes().ends_with(b".gitattributes")) {
            return Ok(None);
        }
        if sorted.untracked.iter().any(is_odd) {
            return Ok(None);
        }
        // Of many, only those need a look that are not remembered.
        let count = sorted.unsure.len() + sorted.untracked.len();
        let without = |paths: Vec<RepoPath>| paths.into_iter().map(|path| (path, 0)).collect();
        let untracked = if count < FEW { self.with_sizes(sorted.untracked) } else { without(sorted.untracked) };
        let sizes = sorted.unsure.iter().map(UnsureEntry::size).chain(untracked.iter().map(|(_, size)| *size));
        let mut memory = FileMemory::of(self.repository, self.worktree, self.scope, (count, sizes.sum()));
        let Some(conversion) = self.conversion(attributes)? else { return Ok(None) };
        let Some((mut tracked, unsure)) = self.recall_tracked(sorted.unsure, conversion, &mut memory) else { return Ok(None) };
        let Some((mut held, untracked)) = self.recall_untracked(untracked, conversion, &mut memory) else { return Ok(None) };
        let untracked = match self.until {
            Some(_) if count >= FEW => self.with_sizes(untracked.into_iter().map(|(path, _)| path).collect()),
            Some(_) | None => untracked,
        };
        // Found out only after much was read, it would be read twice in the same time.
        let mut sizes = unsure.iter().map(UnsureEntry::size).chain(untracked.iter().map(|(_, size)| *size));
        if self.until.is_some() && sizes.any(|size| size > LARGE) {
            return Ok(None);
        }
        if let Some(memory) = memory.as_mut().filter(|_| !(unsure.is_empty() && untracked.is_empty())) {
            memory.begin_to_read()?;
        }
        // Files whose line ends a checkout may write differently.
        let mut doubtful = Vec::new();
        let mut blobs = NewBlobs::of(self.repository);
        let is_read = self.tracked(unsure, conversion, (&mut blobs, &mut memory), (&mut tracked, &mut *gaps))?.is_some()
            && self.untracked(untracked, conversion, (&mut blobs, &mut memory), (&mut held, coverage, gaps))?.is_some();
        if !is_read {
            return Ok(None);
        }
        let untracked = ContentDifferences::of_untracked(held, conversion);
        blobs.finish()?;
        for ContentDifferences { edits: more, doubtful: too } in [tracked, untracked] {
            edits.extend(more);
            doubtful.extend(too);
        }
        let doubtful: Vec<&RepoPath> = doubtful.iter().collect();
        if !doubtful.is_empty() && self.repository.kept_bytes().may_add_returns(self.worktree, &doubtful)? {
            return Ok(None);
        }
        edits.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Some((edits, memory)))
    }

    /// Reads tracked files that may have changed; `None` if git has to do it.
    fn tracked(
        &self,
        entries: Vec<UnsureEntry>,
        conversion: LineEndConversion,
        (blobs, memory): (&mut NewBlobs<'_>, &mut Option<FileMemory<'_>>),
        (found, gaps): (&mut ContentDifferences, &mut CaptureGaps),
    ) -> Result<Option<()>> {
        let mut looks = WorktreeInspector::below(self.worktree.path());
        let place = |one: &UnsureEntry| (ReadingPriority::Tracked, one.size());
        let late = as_time_allows((self.repository, self.until), entries, place, |part| {
            for UnsureEntry { entry, .. } in part {
                let path = RepoPath::new(self.index.path(entry));
                match self.content(&mut looks, &path, u64::MAX, conversion)? {
                    PathContent::Gone => found.edits.push(PathEdit::gone(path)),
                    PathContent::Present { mode: SYMLINK, .. } if is_odd(&path) => return Ok(None),
                    PathContent::Present { mode, bytes, seen } => {
                        let content = KnownContent::add(bytes, blobs)?;
                        if let (Some(memory), Some(seen)) = (memory.as_mut(), seen) {
                            memory.learn(&path, &seen, content);
                        }
                        self.compare(entry, path, (mode, content, None), conversion, found);
                    }
                    // The index keeps its blob.
                    PathContent::Unread => gaps.add(path),
                    PathContent::TooLarge | PathContent::Odd => return Ok(None),
                }
            }
            Ok(Some(()))
        })?;
        let Some(late) = late else { return Ok(None) };
        gaps.add_late(late.into_iter().map(|one| RepoPath::new(self.index.path(one.entry))));
        Ok(Some(()))
    }

    /// Adds the file of an entry to what was found if it differs.
    pub(super) fn compare(
        &self,
        entry: usize,
        path: RepoPath,
        (mode, content, permissions): (u32, KnownContent, Option<u32>),
        conversion: LineEndConversion,
        found: &mut ContentDifferences,
    ) {
        if mode != self.index.mode(entry) || *self.index.id(entry) != *content.blob {
            found.doubtful.extend(conversion.doubts(mode, content).then(|| path.clone()));
            found.edits.push(PathEdit { path, new: Some((mode, content.blob)), permissions });
        }
    }

    /// Untracked files with what is to be read of each: of those over the limit nothing is.
    fn with_sizes(&self, paths: Vec<RepoPath>) -> Vec<(RepoPath, u64)> {
        let sizes = threads::in_parts(&paths, FEW, |_, part| part.iter().map(|path| size_of(self.worktree, path)).collect());
        paths.into_iter().zip(sizes.into_iter().map(|size| if size > self.limit { 0 } else { size })).collect()
    }

    /// Reads what is at a path.
    pub(super) fn content(
        &self,
        looks: &mut WorktreeInspector<'_>,
        path: &RepoPath,
        limit: u64,
        conversion: LineEndConversion,
    ) -> Result<PathContent> {
        let place = self.worktree.path().join(path.to_path());
        let found = match looks.look(path) {
            Err(error) if is_caused_by_gap(&error) => return Ok(PathContent::Unread),
            found => found?,
        };
        match found {
            PathOccupant::Missing | PathOccupant::Below(_) => return Ok(PathContent::Gone),
            PathOccupant::Folder | PathOccupant::Special => return Ok(PathContent::Odd),
            PathOccupant::Link(_, target) => return Ok(PathContent::Present { mode: SYMLINK, bytes: target, seen: None }),
            PathOccupant::File(_) => {}
        }
        // Does not follow a link, and does not block if the file is a fifo by now.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mut file = match axiom_base::files::open_at(CWD, &place, flags, Mode::empty()) {
            Ok(file) => std::fs::File::from(file),
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(PathContent::Gone),
            Err(errno) if is_gap(&errno.into()) && !matches!(errno, Errno::LOOP | Errno::MLINK | Errno::NXIO) => {
                return Ok(PathContent::Unread);
            }
            Err(_) => return Ok(PathContent::Odd),
        };
        let meta = file.metadata().map_err(|e| Error::io("access", &place, e))?;
        if meta.is_file() && meta.len() > limit {
            return Ok(PathContent::TooLarge);
        }
        if !meta.is_file() || meta.len() > LARGE {
            return Ok(PathContent::Odd);
        }
        let mut bytes = Vec::with_capacity(meta.len() as usize + 1);
        match (&mut file).take(LARGE + 1).read_to_end(&mut bytes) {
            Err(error) if is_gap(&error) => return Ok(PathContent::Unread),
            Ok(_) if bytes.len() as u64 <= LARGE => {}
            Ok(_) | Err(_) => return Ok(PathContent::Odd),
        }
        if conversion != LineEndConversion::None && memchr::memchr(b'\r', &bytes).is_some() {
            return Ok(PathContent::Odd);
        }
        let seen = SeenFile::of(&meta);
        Ok(PathContent::Present { mode: seen.git_mode(), bytes, seen: Some(seen) })
    }

    /// What git may do to content; `None` if it may be more than converting line ends.
    fn conversion(&self, attributes: &[RepoPath]) -> Result<Option<LineEndConversion>> {
        let Some(mut files) = self.repository.conversions().attribute_files() else { return Ok(None) };
        files.extend(attributes.iter().map(|path| self.worktree.path().join(path.to_path())));
        let settings = self.repository.conversions().line_end_settings(self.worktree)?;
        let configured =
            LineEnds::of((TextAttribute::Unspecified, TextAttribute::Unspecified, EolAttribute::Unspecified), settings);
        let mut adds = configured.may_put_in() || settings.eol_is_crlf;
        let mut conversion = if configured == LineEnds::AsIs { LineEndConversion::None } else { LineEndConversion::Inwards };
        for file in files {
            let Some(text) = files::read_optional(&file, ATTRIBUTES).ok() else { return Ok(None) };
            let Some(text) = text.filter(|text| !text.trim_ascii().is_empty()) else { continue };
            conversion = LineEndConversion::Inwards;
            adds |= memchr::memmem::find(&text, b"crlf").is_some();
            let beyond: [&[u8]; 3] = [b"filter", b"ident", b"encoding"];
            let is_beyond = beyond.iter().any(|word| memchr::memmem::find(&text, word).is_some());
            if is_beyond && Condition::ConvertingAttributes.forbids(FastWay::ConvertContents) {
                return Ok(None);
            }
        }
        if conversion != LineEndConversion::None && !self.repository.shortcuts().allow(FastWay::ConvertContents) {
            return Ok(None);
        }
        Ok(Some(if adds && conversion == LineEndConversion::Inwards { LineEndConversion::BothWays } else { conversion }))
    }
}

/// What git does to content on its way into an object and out again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineEndConversion {
    None,
    /// Only when storing: content without carriage returns stays unchanged.
    Inwards,
    /// A checkout may add carriage returns.
    BothWays,
}

impl LineEndConversion {
    /// Whether a checkout may write content differently.
    pub(super) fn doubts(self, mode: u32, content: KnownContent) -> bool {
        self == Self::BothWays && mode != SYMLINK && content.has_feeds
    }

    /// Whether git may store other bytes than these: then it has to.
    pub(super) fn forbids(self, content: KnownContent) -> bool {
        self != Self::None && content.has_returns
    }
}
