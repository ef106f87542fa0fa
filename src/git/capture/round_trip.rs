//! Keeps the bytes of files that git takes for unchanged but that a checkout would write differently: line ends were
//! converted when they were stored, a filter left something out, or there are keywords. A capture keeps these bytes like
//! those of changed files.
//!
//! If nothing asks for conversions, no file is looked at. Otherwise each file is decided once: the decision is remembered by
//! stat data and blob, as long as configuration and attributes stay the same (`round_trip_cache`).
//!
//! Line ends are decided by sizes alone: git says that the file, converted, is the blob, so the two differ only in carriage
//! returns. All other conversions are tried, up to a limit for each capture; the remaining files are listed in the coverage,
//! and tried next time.

use std::collections::BTreeSet;
use std::path::Path;

use axiom_base::error::Result;
use axiom_base::files;
use axiom_model::base::lfs_pointer::{LONGEST, LfsPointer};
use axiom_model::base::names::{Oid, RepoPath};

use super::coverage::CaptureCoverage;
use super::file_stat::FileStat;
use super::lfs_store::{LFS, LfsStore};
use super::raw_file::{RAW_LIMIT, RawFile};
use super::round_trip_cache::{RoundTripCache, RoundTripKey};
use super::stat_moment::StatMoment;
use crate::index::conversions::RequestedConversion;
use crate::objects::database::gix_id;
use crate::repo::handles::KeptBytes;
use crate::repo::worktrees::Worktree;

/// How many bytes of files, and how many files, one capture tries.
const TRIED: (u64, usize) = (RAW_LIMIT, 1000);

/// The largest blob that is read for its line ends, in bytes.
const READ: u64 = 64 * 1024 * 1024;

/// A regular file that git tracks and takes for unchanged.
#[derive(Debug, Clone)]
pub(crate) struct UnchangedFile {
    pub path: RepoPath,
    pub oid: gix::ObjectId,
    pub stat: FileStat,
}

/// Which unchanged files are looked at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RoundTripScan<'a> {
    pub worktree: &'a Worktree,
    /// The index that contains the files, and the attributes that a checkout would use.
    pub index: &'a Path,
    /// The `.gitattributes` files.
    pub attributes: &'a BTreeSet<RepoPath>,
    /// How much of the worktree is looked at.
    pub scope: CaptureScope,
}

/// How much of a worktree is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CaptureScope {
    /// Everything: decisions are remembered.
    Whole,
    /// Some paths: nothing is remembered.
    Part,
}

/// What is known before any file is looked at.
#[derive(Debug)]
pub(crate) struct RoundTripContext {
    /// A digest of everything that decides about conversions.
    rules: String,
    memory: RoundTripCache,
}

/// A file that is not decided yet, with its key.
struct UndecidedFile {
    file: UnchangedFile,
    key: RoundTripKey,
}

/// Whether a checkout gives a file back.
enum RoundTripVerdict {
    GivenBack,
    Differing,
    /// It is a file of Git LFS: its blob, a pointer, says what its bytes are.
    Lfs,
    /// Not known yet.
    NotTried,
}

impl KeptBytes<'_> {
    /// Reads what is known about conversions; `None` if unchanged files need not be looked at.
    pub(crate) fn known_conversions(&self, at: &RoundTripScan<'_>) -> Result<Option<RoundTripContext>> {
        let rules = self.repo.conversions().conversion_rules(at.worktree, at.attributes)?;
        let memory = match at.scope {
            CaptureScope::Whole => RoundTripCache::read(self.repo, at.worktree),
            CaptureScope::Part => None,
        };
        // Files that were converted by earlier rules may still be on disk as they were then.
        if rules.is_none() && memory.is_none() {
            return Ok(None);
        }
        let rules = self.rules_digest(rules.as_deref().unwrap_or_default())?;
        Ok(Some(RoundTripContext { rules, memory: memory.unwrap_or_default() }))
    }

    /// The bytes of those unchanged files that a checkout would not give back. Files whose bytes cannot be kept, or that are
    /// not decided yet, are listed in the coverage. A crash leaves unreferenced objects.
    pub(crate) fn raw_unchanged(
        &self,
        at: &RoundTripScan<'_>,
        RoundTripContext { rules, memory }: RoundTripContext,
        files: impl IntoIterator<Item = UnchangedFile>,
        coverage: &mut CaptureCoverage,
    ) -> Result<Vec<RawFile>> {
        let mut next = memory.successor(&rules);
        let (mut open, mut differing) = (Vec::new(), Vec::new());
        for file in files {
            let key = RoundTripKey::of(file.path.as_bytes(), &file.oid, &file.stat);
            match memory.recall(&rules, key) {
                Some(None) => next.given_back(key),
                Some(Some(raw)) => differing.push((UndecidedFile { file, key }, Some(raw.clone()))),
                None => open.push(UndecidedFile { file, key }),
            }
        }
        if !open.is_empty() {
            let begun = StatMoment::begin(self.repo)?;
            for (one, is) in self.decide(at, open)? {
                match is {
                    RoundTripVerdict::GivenBack if begun.is_past(&one.file.stat) => next.given_back(one.key),
                    RoundTripVerdict::GivenBack => {}
                    RoundTripVerdict::Differing => differing.push((one, None)),
                    RoundTripVerdict::Lfs => {
                        let pointer = Oid::from_bytes(one.file.oid.as_bytes())?;
                        differing.push((one, Some(pointer)));
                    }
                    RoundTripVerdict::NotTried => coverage.converted.add(one.file.path),
                }
            }
        }
        let mut raw = Vec::with_capacity(differing.len());
        let store = LfsStore::of(self.repo);
        for (UndecidedFile { file, key }, known) in differing {
            let held_as = Oid::from_bytes(file.oid.as_bytes())?;
            let is_lfs = known.as_ref() == Some(&held_as);
            let (known, lfs) =
                if is_lfs { self.named_by_pointer(at.worktree, &file, held_as.clone(), &store)? } else { (known, None) };
            match self.bytes_of(at.worktree, &file, known)? {
                Some(oid) => {
                    next.differs(key, oid.clone());
                    raw.push(RawFile { path: file.path, held_as, oid, lfs });
                }
                None => coverage.converted.add(file.path),
            }
        }
        store.sync_new()?;
        match at.scope {
            CaptureScope::Whole => next.write_unless(&memory, self.repo, at.worktree),
            CaptureScope::Part => {}
        }
        Ok(raw)
    }

    fn decide(&self, at: &RoundTripScan<'_>, open: Vec<UndecidedFile>) -> Result<Vec<(UndecidedFile, RoundTripVerdict)>> {
        let paths: Vec<&RepoPath> = open.iter().map(|one| &one.file.path).collect();
        let asked = self.repo.conversions().asked_both_ways(at.worktree, at.index, &paths)?;
        let gix = self.repo.gix()?;
        let mut decided = Vec::with_capacity(open.len());
        let of_lfs = if asked.iter().any(is_more) { self.lfs_files(at, &paths)? } else { BTreeSet::new() };
        let (mut tried, mut bytes) = (Vec::new(), 0);
        for (one, asked) in open.into_iter().zip(asked) {
            let length = match asked {
                (RequestedConversion::LineEnds(_), RequestedConversion::LineEnds(line_ends)) if line_ends.may_put_in() => {
                    let blob =
                        Oid::from_bytes(one.file.oid.as_bytes()).and_then(|oid| self.repo.objects().read_blob(&oid, READ)).ok();
                    blob.map(|blob| line_ends.length_checked_out(&blob) as u64)
                }
                (RequestedConversion::LineEnds(_), RequestedConversion::LineEnds(_)) => {
                    gix.find_header(one.file.oid).ok().map(|header| header.size())
                }
                (RequestedConversion::More, _) | (_, RequestedConversion::More)
                    if of_lfs.contains(&one.file.path) && self.pointer_in(&one.file).is_some() =>
                {
                    decided.push((one, RoundTripVerdict::Lfs));
                    continue;
                }
                (RequestedConversion::More, _) | (_, RequestedConversion::More) => {
                    bytes += u64::from(one.file.stat.size);
                    if bytes <= TRIED.0 && tried.len() < TRIED.1 {
                        tried.push(one)
                    } else {
                        decided.push((one, RoundTripVerdict::NotTried))
                    }
                    continue;
                }
            };
            // If the blob cannot be read, the bytes are kept, to be safe.
            let same = length.is_some_and(|length| FileStat::low_bits(length) == one.file.stat.size);
            decided.push((one, if same { RoundTripVerdict::GivenBack } else { RoundTripVerdict::Differing }));
        }
        let paths: Vec<&RepoPath> = tried.iter().map(|one| &one.file.path).collect();
        let differing = self.written_otherwise(at.worktree, at.index, &paths)?;
        for one in tried {
            let is = if differing.contains(&one.file.path) {
                RoundTripVerdict::Differing
            } else if stat_of(at.worktree, &one.file.path).as_ref() == Some(&one.file.stat) {
                RoundTripVerdict::GivenBack
            } else {
                // The file changed during the trial.
                RoundTripVerdict::NotTried
            };
            decided.push((one, is));
        }
        Ok(decided)
    }

    /// Those of the files that have the filter of Git LFS.
    fn lfs_files(&self, at: &RoundTripScan<'_>, paths: &[&RepoPath]) -> Result<BTreeSet<RepoPath>> {
        let filters = self.repo.conversions().filters(at.worktree)?;
        if filters.get(LFS).is_none() {
            return Ok(BTreeSet::new());
        }
        let attributes = self.repo.git_in(at.worktree).index(at.index).args(["check-attr", "--cached"]);
        let mut sorted = self.repo.conversions().by_filter(&filters, attributes, paths)?;
        Ok(sorted.filtered.remove(LFS).unwrap_or_default().into_iter().collect())
    }

    /// The pointer that the blob of a file is, if it is one.
    fn pointer_in(&self, file: &UnchangedFile) -> Option<LfsPointer> {
        let oid = Oid::from_bytes(file.oid.as_bytes()).ok()?;
        LfsPointer::parse(&self.repo.objects().read_blob(&oid, LONGEST).ok()?)
    }

    /// What holds the bytes of a file whose blob is a pointer: the blob itself, with the content that it names once that is in our
    /// store; nothing known yet where it is not there, nor in the file.
    fn named_by_pointer(
        &self,
        worktree: &Worktree,
        file: &UnchangedFile,
        blob: Oid,
        store: &LfsStore,
    ) -> Result<(Option<Oid>, Option<LfsPointer>)> {
        let Some(pointer) = self.pointer_in(file) else { return Ok((None, None)) };
        let is_size = |size: u64| FileStat::low_bits(size) == file.stat.size;
        // A file that was never fetched is the pointer.
        if is_size(pointer.text().len() as u64) && !is_size(pointer.size) {
            return Ok((Some(blob), None));
        }
        let kept = is_size(pointer.size) && store.keep(&pointer, &worktree.path().join(file.path.to_path()))?;
        Ok(if kept { (Some(blob), Some(pointer)) } else { (None, None) })
    }

    /// The blob with the bytes of a file; `None` if they cannot be kept.
    fn bytes_of(&self, worktree: &Worktree, file: &UnchangedFile, known: Option<Oid>) -> Result<Option<Oid>> {
        if let Some(oid) = known.filter(|oid| self.repo.objects().has_object(oid)) {
            self.repo.durability().note_written([gix_id(&oid)?]);
            return Ok(Some(oid));
        }
        if self.is_encrypted(worktree, &file.path, &Oid::from_bytes(file.oid.as_bytes())?) {
            return Ok(None);
        }
        let place = worktree.path().join(file.path.to_path());
        let is_it = || stat_of(worktree, &file.path).as_ref() == Some(&file.stat);
        if !is_it() {
            return Ok(None);
        }
        match files::read(&place, RAW_LIMIT) {
            // The file may change at this moment: the bytes must be those that git takes for unchanged.
            Ok(bytes) => {
                let oid = self.repo.objects().write_blob(&bytes)?;
                Ok(is_it().then_some(oid))
            }
            Err(_) => Ok(None),
        }
    }
}

fn is_more((stored, written): &(RequestedConversion, RequestedConversion)) -> bool {
    matches!((stored, written), (RequestedConversion::More, _) | (_, RequestedConversion::More))
}

/// The stat data of a regular file; `None` for anything else.
pub(crate) fn stat_of(worktree: &Worktree, path: &RepoPath) -> Option<FileStat> {
    let meta = worktree.path().join(path.to_path()).symlink_metadata().ok()?;
    meta.is_file().then(|| FileStat::of(&meta))
}
