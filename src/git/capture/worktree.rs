//! Captures the files, index and HEAD of a worktree as commits, without touching any of them.

use std::collections::BTreeSet;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use axiom_base::error::{Code, Error, Result};
use axiom_base::{env, files};
use axiom_model::base::forms::shell_word::shell_word;
use axiom_model::base::names::{Oid, RepoPath};
use axiom_model::checkpoint::coverage::INDEX;

use super::coverage::{CaptureCoverage, UnreportedPaths, find_unmentioned};
use super::extras::CaptureExtras;
use super::gaps::CaptureGaps;
use super::ignored_held::{ExcludedPaths, SortedIgnoredPaths, sort_ignored};
use super::lost_contents::LostContents;
use super::named_ignored::NamedPaths;
use super::permissions::UsualPermissions;
use super::raw::RawFile;
use super::round_trip::{CaptureScope, RoundTripScan, UnchangedFile, stat_of};
use crate::base::head::Head;
use crate::capture::staged_paths::StagedPaths;
use crate::index::changed_paths::ChangedPaths;
use crate::index::conversions::is_of_no_encoding;
use crate::index::file::{IndexInfoInput, StatTrust, copy_index, in_folder, mark};
use crate::index::path_patterns::PathPatterns;
use crate::index::starting_index::{StartingIndex, copy_or_make};
use crate::index::status::{StatusEntry, StatusKind};
use crate::objects::database::{NewCommit, gix_id};
use crate::repo::handles::Captures;
use crate::repo::worktrees::Worktree;

/// How the message of a capture's index commit begins.
pub(super) const INDEX_OF: &str = "index of ";

/// What a capture holds, and what it leaves out.
#[derive(Debug, Clone, Default)]
pub struct CaptureOptions {
    /// Untracked files over this many bytes are listed in the coverage, not held.
    pub max_file_size: u64,
    /// Folders that are never content of this worktree: the root of the workspaces.
    pub excluded: Vec<RepoPath>,
    /// The folders of the repository's linked worktrees, wherever they are and whatever state they are in: none is content of
    /// another worktree.
    pub apart: BTreeSet<PathBuf>,
    /// Of `excluded`, what is not even looked at where something in it is tracked: `never_content` fills it in.
    pub never: Vec<RepoPath>,
    /// Ignored files that are held like untracked ones.
    pub include: PathPatterns,
    /// Untracked and ignored files that are listed in the coverage, not held.
    pub exclude: PathPatterns,
    /// Ignored files and folders that a command is about to change: held too, as far as they are small enough.
    pub named: NamedPaths,
    /// Until when files are read, where somebody waits: what does not fit is listed in the coverage.
    pub until: Option<Instant>,
}

/// The captured state of a worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorktreeCapture {
    /// HEAD at the time of the capture.
    pub head: Head,
    /// The tree of the files, tracked and untracked.
    pub tree: Oid,
    /// The tree of the index; for an unresolved conflict it has our side.
    pub index_tree: Oid,
    /// What the trees cannot hold: flags and conflicts of the index, the operation in progress, permissions, kept bytes.
    pub extras: CaptureExtras,
    /// What is not held.
    pub coverage: CaptureCoverage,
    /// The ignored files that are held; empty if only some paths were looked at.
    #[serde(default)]
    pub included: Vec<RepoPath>,
    /// The submodules that the index has, and repositories that git keeps as those of submodules though it has none there any more.
    #[serde(default)]
    pub submodules: Vec<RepoPath>,
}

/// The commits of a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaptureCommits {
    /// The commit of the files, in the shape of a stash: its parents are what was checked out, and `index`.
    pub commit: Oid,
    /// The commit of the index.
    pub index: Oid,
}

/// The files of a worktree as a tree.
struct FilesTree {
    tree: Oid,
    /// The bytes that are kept beside it.
    raw: Vec<RawFile>,
    /// Files that are left out, because only their plain text could be held: as much out of reach as what cannot be read.
    encrypted: Vec<RepoPath>,
}

/// How a worktree differs from its index.
struct IndexDifference {
    /// The paths that differ.
    changed: ChangedPaths,
    /// Those of them that git does not track.
    untracked: BTreeSet<RepoPath>,
    /// Files that fewer users may read than usual, tracked or not.
    narrow: Vec<RepoPath>,
    /// The `.gitattributes` files.
    attributes: Vec<RepoPath>,
    /// Ignored files that are held.
    included: Vec<RepoPath>,
}

impl Captures<'_> {
    /// Captures a worktree into objects. Neither its files nor its index are touched. What cannot be read is a gap: see
    /// [`gaps`](super::gaps). No ref refers to the objects yet, and they are on disk only after `Durability::sync_objects`,
    /// which every change of a ref calls first. A crash leaves unreferenced objects and a scratch folder.
    pub fn capture_worktree(&self, worktree: &Worktree, options: &CaptureOptions) -> Result<WorktreeCapture> {
        worktree.verify()?;
        self.nothing_waits(worktree)?;
        let never = self.never_content(worktree, options);
        let wider = never.leaving_out(options);
        let options = wider.as_ref().unwrap_or(options);
        let mut capture = match self.fast_capture(worktree, options)? {
            Some(capture) => capture,
            None => self.capture_by_git(worktree, options)?,
        };
        let lost = self.lost_in(worktree, &capture)?;
        if !lost.is_empty() {
            capture = self.capture_without(worktree, options, (&lost, StatTrust::Less))?;
            self.none_is_damaged(worktree, &capture, &lost)?;
        }
        Ok(never.named_in(capture))
    }

    /// Checks that none of the files that git reads for every worktree is one at which it waits for ever.
    fn nothing_waits(&self, worktree: &Worktree) -> Result<()> {
        let info = self.repo.common_dir().join("info");
        let read = [info.join("attributes"), info.join("exclude")];
        let read = read.into_iter().chain([".gitattributes", ".gitignore"].map(|name| worktree.path().join(name)));
        let is_fifo = |place: &PathBuf| std::fs::metadata(place).is_ok_and(|meta| meta.file_type().is_fifo());
        match read.into_iter().find(is_fifo) {
            None => Ok(()),
            Some(place) => {
                let what = format!("'{}' is a fifo, and git waits for ever for what it reads there", place.display());
                let remove = shell_word(&place.display().to_string());
                Err(Error::new(Code::InTheWay, what).hint(format!("rm {remove}    removes it")))
            }
        }
    }

    /// Captures a worktree as if all its files were gone: that of a submodule whose folder was deleted.
    pub fn capture_without_files(&self, worktree: &Worktree, options: &CaptureOptions) -> Result<WorktreeCapture> {
        let scratch = self.repo.scratch_folder()?;
        // The scratch folder itself has the mark of its owner.
        let nothing = in_folder(&scratch, "nothing");
        files::create_dirs_unsynced(&nothing)?;
        self.capture_by_git(&worktree.with_files_in(&nothing), options)
    }

    /// Captures any worktree, with the help of git.
    pub(crate) fn capture_by_git(&self, worktree: &Worktree, options: &CaptureOptions) -> Result<WorktreeCapture> {
        match self.capture_without(worktree, options, (&BTreeSet::new(), StatTrust::AsGit)) {
            Err(error) if error.code() == Code::GitFailed => {
                let lost = self.lost_of_index(worktree)?;
                let is_mended = !lost.is_empty() || is_of_no_encoding(&error.to_string());
                if is_mended { self.capture_without(worktree, options, (&lost, StatTrust::Less)) } else { Err(error) }
            }
            taken => taken,
        }
    }

    /// As [`Captures::capture_by_git`], without the contents that the index names at the paths in `lost`.
    fn capture_without(
        &self,
        worktree: &Worktree,
        options: &CaptureOptions,
        (lost, belief): (&BTreeSet<RepoPath>, StatTrust),
    ) -> Result<WorktreeCapture> {
        let folder = self.repo.scratch_folder()?;
        let staged = in_folder(&folder, "staged");
        let head = self.repo.refs().head(worktree)?;
        let StartingIndex { mut facts, with_head } = copy_or_make(self.repo, worktree, &head, (&folder, &staged), belief)?;
        let worktree = with_head.as_ref().unwrap_or(worktree);
        let lost = LostContents::take_out(self.repo, (worktree, &staged), &mut facts, lost)?;
        // A file that exists in spite of its 'skip-worktree' flag is content like any other. Without a sparse checkout, a
        // missing file with this flag was deleted like any other.
        let sparse = !facts.skip_worktree.is_empty() && self.repo.index(worktree).is_sparse()?;
        let there = |path: &&RepoPath| !sparse || std::fs::symlink_metadata(worktree.path().join(path.to_path())).is_ok();
        let present: Vec<RepoPath> = facts.skip_worktree.iter().filter(there).cloned().collect();
        // Made from the first copy, so that all copies show the same moment.
        let another = |name: &str| -> Result<PathBuf> {
            let index = in_folder(&folder, name);
            copy_index(self.repo.hash(), &staged, &index)?;
            mark(self.repo, worktree, &index, "--no-assume-unchanged", &facts.assume_unchanged)?;
            mark(self.repo, worktree, &index, "--no-skip-worktree", &present)?;
            Ok(index)
        };
        let as_is = facts.assume_unchanged.is_empty() && present.is_empty();
        let looked_at = if as_is { staged.clone() } else { another("index")? };
        let (mut coverage, mut gaps) = (CaptureCoverage::default(), CaptureGaps::default());
        if with_head.is_some() {
            coverage.unreadable.add(RepoPath::new(INDEX));
        }
        let closed = self.closed_to_git(&folder, options)?;
        let (mut entries, mut unread) = self.repo.index(worktree).status_and_unread(Some(&looked_at), closed.as_deref())?;
        entries.extend(self.repo.index(worktree).hidden_by_case(&looked_at, &entries)?);
        entries.retain(|entry| may_be_content(entry, options));
        let usual = UsualPermissions::of(worktree);
        let excluded = self.take_excluded(worktree, (&staged, options), &mut entries, &mut unread)?;
        unread.into_iter().for_each(|path| gaps.add(path));
        let mut submodules = facts.gitlinks.clone();
        let found = (entries, excluded, facts.gitlinks.as_slice());
        let named = (&mut coverage, &mut gaps);
        let IndexDifference { mut changed, untracked, narrow, attributes, included } =
            self.content_of(worktree, found, options, named)?;
        let narrow = self.tracked_ones(worktree, &staged, narrow)?;
        gaps.add_closed(worktree.path(), &narrow);
        submodules.extend(self.kept_as_modules(worktree, &coverage));
        env::fault_point("git.capture-before-objects");
        let (known, settled) = (facts.tree.clone(), facts.unmerged.is_empty());
        // If nothing differs from the index, its tree is also the tree of the files; and git caches that tree in the index
        // itself.
        let (files, mut raw, encrypted, index) = if changed.is_empty() && settled {
            (None, Vec::new(), Vec::new(), staged.clone())
        } else {
            let index = if as_is { another("index")? } else { looked_at };
            let staged = self.stage_read((worktree, &index), options, (&mut changed, &untracked), &mut gaps)?;
            let FilesTree { tree, raw, encrypted } = self.files_tree(worktree, &index, (&changed, staged), &mut coverage)?;
            (Some(tree), raw, encrypted, index)
        };
        let hidden = facts.skip_worktree.iter().chain(changed.gone()).filter(|path| path.file_name() == b".gitattributes");
        let attributes: BTreeSet<RepoPath> = attributes.into_iter().chain(hidden.cloned()).collect();
        let at = RoundTripScan { worktree, index: &index, attributes: &attributes, scope: CaptureScope::Whole };
        if let Some(known) = self.known_conversions(&at)? {
            let tracked = self.unchanged_files(worktree, &index, (&changed, &gaps))?;
            raw.extend(self.raw_unchanged(&at, known, tracked, &mut coverage)?);
        }
        raw.sort_by(|one, other| one.path.cmp(&other.path));
        let mut extras = CaptureExtras::read(self.repo, worktree, facts, &mut coverage)?;
        extras.raw = raw;
        if sparse {
            (extras.index.sparse, extras.index.present) = (true, present);
        }
        extras.modes = usual.unusual_ones(self.repo, worktree.path(), changed.there().chain(&narrow))?;
        self.name_private(&extras.modes, |path| untracked.contains(path) && !gaps.has(path), &mut coverage);
        extras.gaps = gaps.name(&mut coverage);
        extras.gaps.extend(encrypted);
        let index_tree = match known.filter(|tree| settled && self.repo.objects().has_object(tree)) {
            Some(tree) => tree,
            None => self.staged_tree(worktree, &staged, (&head, &lost, &extras), &mut coverage)?,
        };
        let tree = files.unwrap_or_else(|| index_tree.clone());
        Ok(WorktreeCapture { head, tree, index_tree, extras, coverage, included, submodules })
    }

    /// The nested repositories that git keeps as those of submodules.
    fn kept_as_modules(&self, worktree: &Worktree, coverage: &CaptureCoverage) -> Vec<RepoPath> {
        let is_kept = |path: &&RepoPath| self.repo.worktrees().keeps_as_module(worktree, &worktree.path().join(path.to_path()));
        coverage.nested_repositories.paths.iter().filter(is_kept).cloned().collect()
    }

    /// Sorts the status entries into paths to be read and paths that are only listed.
    fn content_of(
        &self,
        worktree: &Worktree,
        (entries, mut excluded, submodules): (Vec<StatusEntry>, ExcludedPaths, &[RepoPath]),
        options: &CaptureOptions,
        (coverage, gaps): (&mut CaptureCoverage, &mut CaptureGaps),
    ) -> Result<IndexDifference> {
        let mut skipped: BTreeSet<RepoPath> = options.excluded.iter().cloned().collect();
        let (mut changed, mut untracked, mut ignored) = (Vec::new(), Vec::new(), Vec::new());
        for StatusEntry { path, kind } in entries {
            match kind {
                StatusKind::Ignored => ignored.push(path),
                StatusKind::NestedRepository => {
                    skipped.insert(path.clone());
                    coverage.nested_repositories.add(path);
                }
                StatusKind::Untracked => untracked.push(path),
                StatusKind::Unmerged => changed.push(path),
                StatusKind::Tracked { worktree: letter, dirty_submodule, .. } => {
                    if dirty_submodule {
                        coverage.dirty_submodules.add(path.clone());
                    }
                    if letter != b'.' {
                        changed.push(path);
                    }
                }
            }
        }
        let SortedIgnoredPaths { held, rest, excluded: more, over_limit, special: _, unread } =
            sort_ignored(worktree.path(), ignored, options);
        unread.into_iter().for_each(|path| gaps.add(path));
        excluded.paths.extend(more);
        skipped.extend(excluded.paths.iter().chain(&rest).cloned());
        rest.into_iter().for_each(|path| coverage.ignored.add(path));
        over_limit.into_iter().for_each(|path| coverage.over_include_limit.add(path));
        let tracked = changed.len();
        changed.extend(not_too_large(worktree, untracked, options, (coverage, gaps)));
        let included = not_too_large(worktree, held, options, (coverage, gaps));
        changed.extend(included.iter().cloned());
        let untracked = changed[tracked..].iter().cloned().collect();
        let closes = |folder: &RepoPath| excluded.closes(options, folder);
        let UnreportedPaths { special, with_git, narrow, attributes, closed } =
            find_unmentioned(worktree, &skipped, closes, gaps);
        excluded.paths.extend(closed);
        excluded.paths.into_iter().for_each(|path| coverage.excluded.add(path));
        name_repositories(with_git, submodules, &changed, coverage);
        gaps.sieve(worktree.path(), &mut changed);
        let sorted = ChangedPaths::sort(worktree, changed)?;
        special.into_iter().for_each(|path| coverage.special.add(path));
        let there: BTreeSet<&RepoPath> = sorted.there().collect();
        let included: Vec<RepoPath> = included.into_iter().filter(|path| there.contains(path)).collect();
        included.iter().for_each(|path| coverage.included.add(path.clone()));
        Ok(IndexDifference { changed: sorted, untracked, narrow, attributes, included })
    }

    /// The regular files of an index that are not among the changed ones, nor among those that were not read.
    fn unchanged_files(
        &self,
        worktree: &Worktree,
        index: &Path,
        (changed, gaps): (&ChangedPaths, &CaptureGaps),
    ) -> Result<Vec<UnchangedFile>> {
        let is_changed: BTreeSet<&RepoPath> = changed.there().collect();
        let output = self.repo.git_in(worktree).index(index).args(["ls-files", "-s", "-z"]).run_ok()?;
        let mut files = Vec::new();
        for line in output.stdout.split(|byte| *byte == 0) {
            let Some((meta, path)) = memchr::memchr(b'\t', line).map(|tab| (&line[..tab], RepoPath::new(&line[tab + 1..])))
            else {
                continue;
            };
            let mut meta = meta.split(|byte| *byte == b' ');
            let (Some(b"100644" | b"100755"), Some(oid), Some(b"0")) = (meta.next(), meta.next(), meta.next()) else { continue };
            if !(is_changed.contains(&path) || gaps.has(&path))
                && let (Some(stat), Ok(oid)) = (stat_of(worktree, &path), gix::ObjectId::from_hex(oid))
            {
                files.push(UnchangedFile { path, oid, stat });
            }
        }
        Ok(files)
    }

    /// Those of the paths that are in an index.
    fn tracked_ones(&self, worktree: &Worktree, index: &Path, paths: Vec<RepoPath>) -> Result<BTreeSet<RepoPath>> {
        if paths.is_empty() {
            return Ok(BTreeSet::new());
        }
        let output = self.repo.git_in(worktree).index(index).args(["ls-files", "-z"]).run_ok()?;
        let paths: BTreeSet<RepoPath> = paths.into_iter().collect();
        let tracked = output.stdout.split(|byte| *byte == 0).map(RepoPath::new);
        Ok(tracked.filter(|path| paths.contains(path)).collect())
    }

    /// The tree of the files, and the bytes that are held beside it.
    fn files_tree(
        &self,
        worktree: &Worktree,
        index: &Path,
        (changed, staged): (&ChangedPaths, StagedPaths),
        coverage: &mut CaptureCoverage,
    ) -> Result<FilesTree> {
        let StagedPaths { refused, unfiltered, encrypted, lfs } = staged;
        refused.into_iter().for_each(|path| coverage.refused_names.add(path));
        let tree = self.write_tree(worktree, index)?;
        encrypted.iter().for_each(|path| coverage.encrypted.add(path.clone()));
        let held: Vec<RawFile> = held_as_they_are(unfiltered, coverage).chain(lfs).collect();
        let decided = held.iter().map(|one| &one.path).chain(&encrypted).cloned().collect();
        let mut raw = self.raw_files(worktree, index, &changed.without(&decided), coverage)?;
        raw.extend(held);
        Ok(FilesTree { tree, raw, encrypted })
    }

    /// The tree of the index, with our side of conflicts, and what stands in the place of lost contents.
    fn staged_tree(
        &self,
        worktree: &Worktree,
        staged: &Path,
        (head, lost, extras): (&Head, &LostContents, &CaptureExtras),
        coverage: &mut CaptureCoverage,
    ) -> Result<Oid> {
        let mut info = IndexInfoInput::default();
        lost.put_in_place((self.repo, worktree), head, &mut info, coverage)?;
        for stage in &extras.index.unmerged {
            info.remove(&stage.path, &stage.oid);
        }
        for stage in extras.index.unmerged.iter().filter(|stage| stage.stage == 2) {
            info.set(&stage.path, stage.mode, &stage.oid, 0);
        }
        info.apply(self.repo, worktree, staged)?;
        self.write_tree(worktree, staged)
    }

    /// The tree of a private index. In a partial clone a remote may have what is not here: nothing is fetched for a capture.
    fn write_tree(&self, worktree: &Worktree, index: &Path) -> Result<Oid> {
        let git = self.repo.git_in(worktree).index(index).config("core.splitIndex=false").making_objects();
        let git = git.fetching_nothing().arg("write-tree");
        Oid::new(if self.repo.objects().is_partial() { git.arg("--missing-ok") } else { git }.text()?)
    }

    /// Writes the commits of a capture, in the shape of a stash. The index commit gets the `further` parents, to keep them
    /// alive. Nothing refers to the commits yet.
    pub fn commit_capture(&self, capture: &WorktreeCapture, message: &str, further: &[Oid]) -> Result<CaptureCommits> {
        let who = self.repo.objects().signature()?;
        // git may have written these objects, and perhaps nothing else refers to the checked-out commit.
        for oid in [&capture.tree, &capture.index_tree].into_iter().chain(capture.head.commit()) {
            self.repo.durability().note_written(gix_id(oid)?);
        }
        let base = match capture.head.commit() {
            Some(commit) => commit.clone(),
            None => self.repo.objects().root_commit()?,
        };
        let mut parents = vec![base.clone()];
        parents.extend(capture.extras.commit(self.repo, &who)?);
        parents.extend(further.iter().cloned());
        let note = format!("{INDEX_OF}{message}");
        let index =
            self.repo.objects().write_commit(&NewCommit { tree: &capture.index_tree, parents, who: &who, message: &note })?;
        let parents = vec![base, index.clone()];
        let commit = self.repo.objects().write_commit(&NewCommit { tree: &capture.tree, parents, who: &who, message })?;
        Ok(CaptureCommits { commit, index })
    }
}

/// The kept bytes of files whose filter did not run. Where such bytes are kept, no filter runs when they are written either.
fn held_as_they_are(unfiltered: Vec<(RepoPath, Oid)>, coverage: &mut CaptureCoverage) -> impl Iterator<Item = RawFile> {
    unfiltered.iter().for_each(|(path, _)| coverage.unfiltered.add(path.clone()));
    unfiltered.into_iter().map(|(path, oid)| RawFile { path, held_as: oid.clone(), oid, lfs: None })
}

/// Whether an entry is no git directory and in no folder of ours. Tracked files in an excluded folder are content like any other.
fn may_be_content(entry: &StatusEntry, options: &CaptureOptions) -> bool {
    let tracked = match entry.kind {
        StatusKind::Tracked { .. } | StatusKind::Unmerged => true,
        StatusKind::Untracked | StatusKind::NestedRepository | StatusKind::Ignored => false,
    };
    let is_below = |root: &RepoPath| is_below(&entry.path, root);
    !options.never.iter().any(is_below) && (tracked || !options.excluded.iter().any(is_below))
}

/// The files that exist and are not over the limit; files over it are listed in the coverage.
fn not_too_large(
    worktree: &Worktree,
    paths: Vec<RepoPath>,
    options: &CaptureOptions,
    (coverage, gaps): (&mut CaptureCoverage, &mut CaptureGaps),
) -> Vec<RepoPath> {
    let mut kept = Vec::with_capacity(paths.len());
    for path in paths {
        match files::metadata(&worktree.path().join(path.to_path())) {
            Ok(Some(meta)) if meta.is_file() && meta.len() > options.max_file_size => coverage.too_large.add(path),
            Ok(Some(_)) => kept.push(path),
            // It vanished since.
            Ok(None) => {}
            Err(_) => gaps.add(path),
        }
    }
    kept
}

/// Lists the nested repositories that git does not report because it tracks, or tracked, something in their place.
fn name_repositories(with_git: Vec<RepoPath>, submodules: &[RepoPath], changed: &[RepoPath], coverage: &mut CaptureCoverage) {
    let mut whole: Vec<RepoPath> = Vec::new();
    for folder in with_git {
        if submodules.iter().chain(&whole).any(|above| is_below(&folder, above)) {
            continue;
        }
        // If it took the place of a tracked file, nothing of it is held. Otherwise git looked into it as into any folder,
        // and only its `.git` is not held.
        if changed.contains(&folder) {
            coverage.nested_repositories.add(folder.clone());
            whole.push(folder);
        } else {
            coverage.nested_repositories.add(RepoPath::new([folder.as_bytes(), b"/.git"].concat()));
        }
    }
}

/// Whether `path` is `root` or below it.
pub(crate) fn is_below(path: &RepoPath, root: &RepoPath) -> bool {
    match path.as_bytes().strip_prefix(root.as_bytes()) {
        Some(rest) => rest.is_empty() || rest.starts_with(b"/"),
        None => false,
    }
}
