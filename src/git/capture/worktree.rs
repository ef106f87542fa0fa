//! Captures the files, index and HEAD of a worktree as commits, without touching any of them.

pub(crate) mod captured_trees;
mod index_difference;

use std::collections::BTreeSet;
use std::os::unix::fs::FileTypeExt;
use std::path::PathBuf;

use axiom_base::error::{Code, Error, Result};
use axiom_base::shell_word::shell_word;
use axiom_base::{env, files};
use axiom_model::base::names::RepoPath;
use axiom_model::checkpoint::coverage::INDEX;

use super::captured::{CaptureOptions, WorktreeCapture};
use super::coverage::CaptureCoverage;
use super::extras::CaptureExtras;
use super::gaps::CaptureGaps;
use super::lost_contents::LostContents;
use super::permissions::UsualPermissions;
use super::round_trip::{CaptureScope, RoundTripScan};
use crate::index::conversions::is_of_no_encoding;
use crate::index::file::{StatTrust, copy_index, in_folder, mark};
use crate::index::starting_index::{StartingIndex, copy_or_make};
use crate::repo::handles::Captures;
use crate::repo::worktrees::Worktree;
use captured_trees::FilesTree;
use index_difference::{IndexDifference, may_be_content};

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
        let mut capture = match self.repo.quick_captures().fast_capture(worktree, options)? {
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
        let scratch = self.repo.scratch_folders().make()?;
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
        let folder = self.repo.scratch_folders().make()?;
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
        let usual = UsualPermissions::of_repository(self.repo, worktree);
        let excluded = self.take_excluded(worktree, (&staged, options), &mut entries, &mut unread)?;
        unread.into_iter().for_each(|path| gaps.add(path));
        let mut submodules = facts.gitlinks.clone();
        let found = (entries, excluded, facts.gitlinks.as_slice());
        let difference = self.content_of(worktree, found, options, (&mut coverage, &mut gaps))?;
        let IndexDifference { mut changed, untracked, narrow, attributes, included } = difference;
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
        if let Some(known) = self.repo.kept_bytes().known_conversions(&at)? {
            let tracked = self.unchanged_files(worktree, &index, (&changed, &gaps))?;
            raw.extend(self.repo.kept_bytes().raw_unchanged(&at, known, tracked, &mut coverage)?);
        }
        raw.sort_by(|one, other| one.path.cmp(&other.path));
        let mut extras = CaptureExtras::read(self.repo, worktree, facts, &mut coverage)?;
        extras.raw = raw;
        if sparse {
            (extras.index.sparse, extras.index.present) = (true, present);
        }
        extras.modes = usual.unusual_ones(self.repo, worktree.path(), changed.there().chain(&narrow))?;
        let is_untracked = |path: &RepoPath| untracked.contains(path) && !gaps.has(path);
        self.repo.captured_permissions().name_private(&extras.modes, is_untracked, &mut coverage);
        extras.gaps = gaps.name(&mut coverage);
        extras.gaps.extend(encrypted);
        let index_tree = match known.filter(|tree| settled && self.repo.objects().has_object(tree)) {
            Some(tree) => tree,
            None => self.staged_tree(worktree, &staged, (&head, &lost, &extras), &mut coverage)?,
        };
        let tree = files.unwrap_or_else(|| index_tree.clone());
        Ok(WorktreeCapture { head, tree, index_tree, extras, coverage, included, submodules })
    }
}

/// Whether `path` is `root` or below it.
pub(crate) fn is_below(path: &RepoPath, root: &RepoPath) -> bool {
    match path.as_bytes().strip_prefix(root.as_bytes()) {
        Some(rest) => rest.is_empty() || rest.starts_with(b"/"),
        None => false,
    }
}
