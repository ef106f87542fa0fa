//! Captures in which only known paths are looked at; everything else is taken from an earlier capture.
//!
//! Paths at which the index differs from the earlier one were staged, committed, switched or merged since: they are looked
//! at too. So a path is taken over only if git would call it untouched, or if it was changed at the time of the earlier
//! capture and is not named.

use std::collections::BTreeSet;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{AtFlags, CWD, FileType};
use rustix::io::Errno;

use crate::base::tree_change::TreeChange;
use crate::capture::captured::{CaptureOptions, WorktreeCapture};
use crate::capture::extras::CaptureExtras;
use crate::capture::file_stat::SeenFile;
use crate::capture::permissions::{RecordedPermissions, UsualPermissions};
use crate::capture::round_trip::CaptureScope;
use crate::capture::worktree::is_below;
use crate::objects::database::gix_id;
use crate::repo::handles::QuickCaptures;
use crate::repo::shortcuts::FastWay;
use crate::repo::worktrees::Worktree;
use axiom_base::error::{Error, Result};
use axiom_base::files;
use axiom_model::base::ids::CheckpointName;
use axiom_model::base::names::{Oid, RepoPath};
use axiom_model::base::path_set::PathSet;
use axiom_model::checkpoint::coverage::CaptureCoverage;
use axiom_model::checkpoint::known_scope::KnownPathsScope;
use axiom_model::queries::known_paths::{held_else, together};

use super::live_index::LiveIndex;
use super::sort_untracked::{NamedUntracked, NamedUntrackedKind};
use super::tree_edit::PathEdit;
use super::walk::{UnsureEntry, WalkFindings, WorktreeWalk};
use super::{FastCaptureFindings, FastCaptureInput};

/// With more paths than this, looking at everything is not slower.
const MANY: usize = 1000;

/// The earlier capture, from which the rest is taken.
#[derive(Debug, Clone, Copy)]
pub struct EarlierCapture<'a> {
    /// The checkpoint that it belongs to.
    pub checkpoint: &'a CheckpointName,
    /// The commit that this checkpoint's ref names: the capture of the main worktree.
    pub main: &'a Oid,
    /// The commit of the earlier capture.
    pub capture: &'a Oid,
    /// What the earlier capture does not hold.
    pub coverage: &'a CaptureCoverage,
}

/// The content of the earlier capture.
struct EarlierCaptureContent {
    tree: Oid,
    index_tree: Oid,
    extras: CaptureExtras,
}

/// What was found at the named paths.
struct NamedPathFindings {
    paths: PathSet,
    seen: WalkFindings,
    named: Vec<NamedUntracked>,
    folders: Vec<(RepoPath, Range<usize>)>,
}

impl QuickCaptures<'_> {
    /// Captures a worktree, looking only at `paths` with everything below them, and at paths whose index entry differs from
    /// the earlier capture's. HEAD, the index and an operation in progress are always the present ones. The coverage records
    /// what was looked at. `None` if everything has to be looked at.
    pub fn capture_named(
        &self,
        worktree: &Worktree,
        options: &CaptureOptions,
        earlier: EarlierCapture<'_>,
        paths: &[RepoPath],
    ) -> Result<Option<WorktreeCapture>> {
        worktree.verify()?;
        let never = self.repo.captures().never_content(worktree, options);
        let wider = never.leaving_out(options);
        let capture = self.capture_only(worktree, wider.as_ref().unwrap_or(options), earlier, paths)?;
        let Some(capture) = capture else { return Ok(None) };
        let is_whole = self.repo.captures().lost_in(worktree, &capture)?.is_empty();
        Ok(is_whole.then(|| never.named_in(capture)))
    }

    fn capture_only(
        &self,
        worktree: &Worktree,
        options: &CaptureOptions,
        earlier: EarlierCapture<'_>,
        paths: &[RepoPath],
    ) -> Result<Option<WorktreeCapture>> {
        if !self.repo.shortcuts().allow_in(FastWay::CaptureFiles, worktree) {
            return Ok(None);
        }
        // Ignored files that a command named are of that moment alone.
        if earlier.coverage.included.paths.iter().any(|path| !options.include.covers(path, false)) {
            return Ok(None);
        }
        let head = self.repo.refs().head(worktree)?;
        let Some(index) = LiveIndex::read(self.repo, worktree) else { return Ok(None) };
        let Some(index_tree) = index.tree(self.repo, &[])? else { return Ok(None) };
        // If the earlier capture cannot be read, everything has to be looked at.
        let Ok(then) = self.then(earlier) else { return Ok(None) };
        let changes = |old, new| self.repo.history().diff_trees(old, new);
        let Ok(staged) = changes(&then.index_tree, &index_tree) else { return Ok(None) };
        let Ok(dirty) = changes(&index_tree, &then.tree) else { return Ok(None) };
        let Some(paths) = to_look_at(worktree, paths, staged, &then)? else { return Ok(None) };
        let usual = UsualPermissions::of(worktree);
        let Some(mut places) = NamedPathFindings::look(worktree, &index, paths, options, usual)? else { return Ok(None) };
        if earlier.hides_tracked(&index, &places.paths) {
            return Ok(None);
        }
        let walk = WorktreeWalk::new(worktree.path(), &index, &options.excluded, usual);
        let Some(more) = walk.run_in(std::mem::take(&mut places.folders)) else { return Ok(None) };
        let narrow: Vec<RepoPath> = places.seen.narrow.iter().chain(&more.narrow).cloned().collect();
        places.seen.add(more);
        let is_tracked = |folder: &RepoPath| !index.below(folder.as_bytes()).is_empty();
        let unknown = std::mem::take(&mut places.seen.unknown);
        let named = std::mem::take(&mut places.named);
        let unknown = (unknown, places.seen.ignores.as_slice());
        let sorted = self.sort_named(worktree, unknown, named, is_tracked, options)?;
        let Some(unknown) = sorted else { return Ok(None) };
        // If ignored files are included, more of them may be held than those that were named.
        if !unknown.included.is_empty() || !unknown.over_include_limit.is_empty() {
            return Ok(None);
        }
        let look = FastCaptureInput { worktree, index: &index, options, scope: CaptureScope::Part };
        let attributes = places.seen.attributes.iter().chain(&unknown.attributes).cloned().collect();
        places.seen.unsure.sort_unstable();
        let unsure = places.seen.unsure.clone();
        let looked = self.differences(&look, places.seen, unknown)?;
        let Some(FastCaptureFindings { edits, mut coverage, included: _, gaps, memory: _ }) = looked else { return Ok(None) };
        let looked_at = places.paths;
        let within =
            looked_at.iter().flat_map(|path| index.find(path.as_bytes()).into_iter().chain(index.below(path.as_bytes())));
        let raw = self.raw_here(&look, (within, &unsure), (&edits, &attributes), &mut coverage)?;
        let Some(raw) = raw else { return Ok(None) };
        let Some(then_edits) = as_edits(dirty)? else { return Ok(None) };
        let there: Vec<RepoPath> = edits.iter().filter(|edit| edit.new.is_some()).map(|edit| edit.path.clone()).collect();
        let edits = together(then_edits, &looked_at, edits, |edit| &edit.path);
        // The earlier capture holds an untracked file that is excluded now.
        let is_untracked = |path: &RepoPath| index.find(path.as_bytes()).is_none();
        if edits.iter().any(|edit| is_untracked(&edit.path) && options.exclude.covers(&edit.path, false)) {
            return Ok(None);
        }
        axiom_base::env::fault_point("git.capture-before-objects");
        let tree = if edits.is_empty() { Some(index_tree.clone()) } else { index.tree(self.repo, &edits)? };
        let Some(tree) = tree else { return Ok(None) };
        let mut extras = CaptureExtras::read(self.repo, worktree, Default::default(), &mut coverage)?;
        if extras.line_ends != then.extras.line_ends {
            return Ok(None);
        }
        extras.raw = together(then.extras.raw, &looked_at, raw, |raw| &raw.path);
        extras.gaps = together(then.extras.gaps, &looked_at, gaps.name(&mut coverage), |path| path);
        let fresh = usual.unusual_ones(self.repo, worktree.path(), there.iter().chain(&narrow))?;
        let is_new = |path: &RepoPath| there.contains(path) && index.find(path.as_bytes()).is_none();
        self.repo.captured_permissions().name_private(&fresh, is_new, &mut coverage);
        let differing = edits.iter().filter(|edit| edit.new.is_some()).map(|edit| &edit.path);
        extras.modes = modes(&then.extras.modes, fresh, &looked_at, differing, &index);
        let is_there = |path: &RepoPath| std::fs::symlink_metadata(worktree.path().join(path.to_path())).is_ok();
        let mut coverage = held_else(earlier.coverage, &looked_at, coverage, is_there);
        let paths = looked_at.iter().cloned().collect();
        coverage.only = Some(earlier.with(paths));
        Ok(Some(WorktreeCapture { head, tree, index_tree, extras, coverage, included: Vec::new(), submodules: Vec::new() }))
    }

    /// Takes the capture of a worktree over from an earlier checkpoint. Only HEAD was looked at, and it has not changed.
    pub fn capture_again(&self, head: crate::Head, earlier: EarlierCapture<'_>) -> Result<WorktreeCapture> {
        let EarlierCaptureContent { tree, index_tree, extras } = self.then(earlier)?;
        let only = Some(earlier.with(Vec::new()));
        let coverage = CaptureCoverage { only, ..earlier.coverage.clone() };
        Ok(WorktreeCapture { head, tree, index_tree, extras, coverage, included: Vec::new(), submodules: Vec::new() })
    }

    fn then(&self, earlier: EarlierCapture<'_>) -> Result<EarlierCaptureContent> {
        let commit = self.repo.objects().read_commit(earlier.capture)?;
        let extras = CaptureExtras::of_capture(self.repo, earlier.capture)?;
        let index = commit.parents.get(1).map(|index| self.repo.objects().read_commit(index)).transpose()?;
        let no_capture =
            || Error::new(axiom_base::error::Code::CheckpointDamaged, format!("{} is not a capture", earlier.capture.short()));
        Ok(EarlierCaptureContent { tree: commit.tree, index_tree: index.ok_or_else(no_capture)?.tree, extras })
    }
}

impl EarlierCapture<'_> {
    /// What the coverage records if only `paths` were looked at.
    fn with(&self, paths: Vec<RepoPath>) -> KnownPathsScope {
        KnownPathsScope { paths, all_else_as_of: self.checkpoint.clone(), all_else_capture: self.main.clone() }
    }

    /// Whether something is tracked now in a folder of which the earlier capture held nothing: then the files next to it
    /// have to be looked at.
    fn hides_tracked(&self, index: &LiveIndex, looked_at: &PathSet) -> bool {
        let CaptureCoverage { ignored, nested_repositories, unreadable, excluded, .. } = self.coverage;
        let hidden = [ignored, nested_repositories, unreadable, excluded].into_iter().flat_map(|sample| &sample.paths);
        hidden.into_iter().any(|path| looked_at.has_below(path) && !index.below(path.as_bytes()).is_empty())
    }
}

/// The paths to look at, none of them below another. If a folder above a path is missing or is not a folder, the topmost
/// such folder's path is looked at instead. `None` if everything has to be looked at.
fn to_look_at(
    worktree: &Worktree,
    named: &[RepoPath],
    staged: Vec<TreeChange>,
    then: &EarlierCaptureContent,
) -> Result<Option<PathSet>> {
    let index = &then.extras.index;
    if index.sparse {
        return Ok(None);
    }
    let unmerged = index.unmerged.iter().map(|stage| &stage.path);
    let marked = index.intent_to_add.iter().chain(&index.skip_worktree).chain(&index.assume_unchanged);
    let mut all: BTreeSet<RepoPath> = named.iter().chain(unmerged).chain(marked).cloned().collect();
    all.extend(staged.into_iter().map(|change| change.path));
    // These files decide how other files are handled.
    let rules = |path: &RepoPath| {
        let name = path.as_bytes().rsplit(|byte| *byte == b'/').next();
        matches!(name, Some(b".gitignore" | b".gitattributes"))
    };
    if all.len() > MANY || all.iter().any(|path| rules(path) || path.as_bytes().is_empty()) {
        return Ok(None);
    }
    let mut paths = Vec::with_capacity(all.len());
    let mut folders: BTreeSet<RepoPath> = BTreeSet::new();
    for path in all {
        let mut place = path.clone();
        for folder in path.folders_above() {
            if folders.contains(&folder) {
                continue;
            }
            if !files::metadata(&worktree.path().join(folder.to_path()))?.is_some_and(|meta| meta.is_dir()) {
                place = folder;
                break;
            }
            folders.insert(folder);
        }
        paths.push(place);
    }
    Ok(Some(PathSet::new(paths)))
}

impl NamedPathFindings {
    /// Looks at each path; `None` if git has to look at everything.
    fn look(
        worktree: &Worktree,
        index: &LiveIndex,
        paths: PathSet,
        options: &CaptureOptions,
        usual: UsualPermissions,
    ) -> Result<Option<Self>> {
        let mut seen = WalkFindings::default();
        let folders: BTreeSet<RepoPath> = paths.iter().flat_map(RepoPath::folders_above).collect();
        let top = std::iter::once(RepoPath::new(Vec::new()));
        for folder in top.chain(folders) {
            if !surroundings(worktree, index, &folder, &mut seen) {
                return Ok(None);
            }
        }
        let mut places = Self { paths: PathSet::default(), seen, named: Vec::new(), folders: Vec::new() };
        for path in paths.iter() {
            if !places.look_at(worktree, index, path, options, usual)? {
                return Ok(None);
            }
        }
        // Nothing was looked at below paths that captures leave out.
        let is_left_out = |path: &&RepoPath| options.excluded.iter().any(|root| is_below(path, root));
        places.paths = PathSet::new(paths.iter().filter(|path| !is_left_out(path)).cloned());
        Ok(Some(places))
    }

    fn look_at(
        &mut self,
        worktree: &Worktree,
        index: &LiveIndex,
        path: &RepoPath,
        options: &CaptureOptions,
        usual: UsualPermissions,
    ) -> Result<bool> {
        let (exact, below) = (index.find(path.as_bytes()), index.below(path.as_bytes()));
        if options.excluded.iter().any(|root| is_below(path, root)) {
            return Ok(exact.is_none() && below.is_empty());
        }
        let place = worktree.path().join(path.to_path());
        let stat = match rustix::fs::statat(CWD, &place, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT | Errno::NOTDIR) => {
                self.seen.gone.extend(exact.into_iter().chain(below));
                return Ok(true);
            }
            Err(_) => return Ok(false),
        };
        let mut name = |kind| self.named.push(NamedUntracked { path: path.clone(), kind });
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile | FileType::Symlink => {
                self.seen.gone.extend(below);
                match exact {
                    Some(entry) => {
                        if usual.is_narrow(axiom_base::platform::mode_of(&stat)) {
                            self.seen.narrow.push(path.clone());
                        }
                        if !index.is_unchanged(entry, &stat) {
                            self.seen.unsure.push(UnsureEntry { entry, seen: SeenFile::of_stat(&stat) });
                        }
                    }
                    None => name(NamedUntrackedKind::File),
                }
            }
            FileType::Directory => {
                if std::fs::symlink_metadata(place.join(".git")).is_ok() {
                    return Ok(false);
                }
                self.seen.gone.extend(exact);
                if below.is_empty() { name(NamedUntrackedKind::Folder) } else { self.folders.push((path.clone(), below)) }
            }
            FileType::Fifo | FileType::Socket | FileType::CharacterDevice | FileType::BlockDevice => {
                name(NamedUntrackedKind::Special);
                self.seen.gone.extend(exact.into_iter().chain(below));
            }
            FileType::Unknown => return Ok(false),
        }
        Ok(true)
    }
}

/// Looks at what in a folder affects everything below it. Returns whether this module can handle it.
fn surroundings(worktree: &Worktree, index: &LiveIndex, folder: &RepoPath, seen: &mut WalkFindings) -> bool {
    let inside = |name: &[u8]| match folder.as_bytes() {
        b"" => RepoPath::new(name),
        above => RepoPath::new([above, b"/", name].concat()),
    };
    let meta = |name: &[u8]| std::fs::symlink_metadata(worktree.path().join(inside(name).to_path()));
    let is_nested = !folder.as_bytes().is_empty() && meta(b".git").is_ok();
    if is_nested || folder.to_path().file_name().is_some_and(|name| name.as_bytes().eq_ignore_ascii_case(b".git")) {
        return false;
    }
    match meta(b".gitignore") {
        // git does not follow it.
        Ok(meta) if meta.is_symlink() => return false,
        Ok(_) => seen.ignores.push(inside(b".gitignore")),
        Err(_) => {}
    }
    match meta(b".gitattributes") {
        Ok(meta) if meta.is_file() => {
            seen.attributes.push(inside(b".gitattributes"));
            true
        }
        Ok(_) => false,
        // git then reads it from the index.
        Err(_) => index.find(inside(b".gitattributes").as_bytes()).is_none(),
    }
}

/// Differences from the index as edits of it; `None` if one is a submodule.
fn as_edits(changes: Vec<TreeChange>) -> Result<Option<Vec<PathEdit>>> {
    let mut edits = Vec::with_capacity(changes.len());
    for TreeChange { path, new, .. } in changes {
        let new = match new {
            Some(file) if file.is_submodule() => return Ok(None),
            Some(file) => Some((file.mode, gix_id(&file.oid)?)),
            None => None,
        };
        edits.push(PathEdit { path, new, permissions: None });
    }
    Ok(Some(edits))
}

/// Merges permissions: the present ones of paths that were looked at, and those of the earlier capture for other paths, as
/// far as a capture records them: for paths that differ from the index, for tracked files with narrow permissions, and for
/// the folders above both.
fn modes<'p>(
    then: &'p [RecordedPermissions],
    fresh: Vec<RecordedPermissions>,
    looked_at: &PathSet,
    differing: impl Iterator<Item = &'p RepoPath>,
    index: &LiveIndex,
) -> Vec<RecordedPermissions> {
    let seen: BTreeSet<RepoPath> = fresh.iter().map(|narrow| narrow.path.clone()).collect();
    let kept = || then.iter().filter(|narrow| !looked_at.covers(&narrow.path) && !seen.contains(&narrow.path));
    let tracked = kept().map(|narrow| &narrow.path).filter(|path| index.find(path.as_bytes()).is_some());
    let mut told: BTreeSet<RepoPath> = BTreeSet::new();
    for path in differing.chain(tracked) {
        told.extend(path.folders_above());
        told.insert(path.clone());
    }
    let mut modes: Vec<RecordedPermissions> = kept().filter(|narrow| told.contains(&narrow.path)).cloned().collect();
    modes.extend(fresh);
    modes.sort_by(|one, other| one.path.cmp(&other.path));
    modes
}
