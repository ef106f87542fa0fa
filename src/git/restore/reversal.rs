//! Plans how an attempt at a restore is reversed, and finds which present files match a tree. Nothing in the worktree is
//! changed. Files are recognised by their hash or by their bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;

use axiom_base::error::{Code, Error, Result};
use axiom_model::base::names::{Oid, RepoPath};

use super::plan::{PresentState, RestoreStep, decide_back};
use super::prepared::RecordedTree;
use super::present_files::{FailedFilterPolicy, are_as_they_were, hash_files, is_what_is_held};
use super::types::{ChangeAttempt, LINK_LIMIT, PlannedPath, WorktreeRestore};
use crate::base::path_inspection::{FileTouchStamp, PathOccupant, WorktreeInspector};
use crate::base::readable::{can_be_read, is_caused_by_gap};
use crate::base::tree_change::{FileId, TreeChange};
use crate::capture::extras::CaptureExtras;
use crate::capture::file_differences::bytes_of;
use crate::capture::present_hashes::hash_here;
use crate::capture::raw_file::RawFile;
use crate::repo::handles::RestoreReversals;
use crate::repo::worktrees::Worktree;
use crate::restore::changes::wanted_folders;
use crate::restore::present_files::executable;
use crate::restore::trash_folder::Trash;

/// The execute bit of a mode.
const EXECUTE: u32 = 0o100;

/// Whether hashing may have failed because of a single file: one that appeared and vanished, or one whose filter fails.
fn may_be_one_file(error: &Error) -> bool {
    matches!(error.code(), Code::GitFailed | Code::ChangedMeanwhile | Code::FileUnreadable)
}

/// How files are hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HashBatching {
    /// All at once: if one file fails, all fail.
    Together,
    /// One by one.
    OneByOne,
}

/// How often the files are looked at again if one vanishes between look and hash.
const LOOKS: u32 = 5;

impl RestoreReversals<'_> {
    /// Looks at every path and decides what to do with it; nothing in the worktree is changed.
    pub(crate) fn plan_back<'c>(
        &self,
        restore: &WorktreeRestore<'_>,
        changes: &'c [TreeChange],
        trash: &Trash<'_>,
    ) -> Result<Vec<PlannedPath<'c>>> {
        let mut plan = self.look_back(restore, changes, trash, HashBatching::Together);
        for _ in 0..LOOKS {
            if plan.as_ref().err().is_none_or(|error| !may_be_one_file(error)) {
                break;
            }
            // A file that was seen may have vanished before it was read.
            plan = self.look_back(restore, changes, trash, HashBatching::Together);
        }
        match plan {
            Err(error) if may_be_one_file(&error) => self.look_back(restore, changes, trash, HashBatching::OneByOne),
            plan => plan,
        }
    }

    /// The paths at which the worktree matches neither the first nor the second tree.
    pub(crate) fn not_as_either(&self, restore: &WorktreeRestore<'_>, changes: &[TreeChange]) -> Result<Vec<String>> {
        let trash = Trash::unopened(restore.trash);
        let plan = self.look_back(restore, changes, &trash, HashBatching::Together)?;
        let nested = plan.iter().filter(|planned| planned.step == RestoreStep::Leave);
        Ok(nested.map(|planned| planned.path.to_string()).collect())
    }

    /// The files that only the first of two trees has and that are on disk as in that tree: git may ignore them by now. They
    /// are returned as changes that add them.
    pub fn still_there(&self, worktree: &Worktree, (from, to): (&Oid, &Oid), changes: &[TreeChange]) -> Result<Vec<TreeChange>> {
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        // Nothing is moved, so there is no trash.
        let trash = worktree.git_dir().join("axiom-no-trash");
        let restore = WorktreeRestore { worktree, from, to, trash: &trash, attempt: ChangeAttempt::Back, beside: None };
        let plan = self.look_back(&restore, changes, &Trash::unopened(&trash), HashBatching::Together)?;
        let there =
            changes.iter().zip(plan).filter(|(change, planned)| change.new.is_none() && planned.step == RestoreStep::Remove);
        Ok(there.map(|(change, _)| change.clone().reversed()).collect())
    }

    /// Those of the changed files that are on disk, byte for byte, what a tree had when it was captured, whatever git would
    /// make of them now. Files whose mode changed are not included.
    pub fn as_they_were(
        &self,
        worktree: &Worktree,
        (tree, extras): (&Oid, &CaptureExtras),
        since: Vec<TreeChange>,
    ) -> Result<BTreeSet<RepoPath>> {
        let same_mode = |change: &TreeChange| change.old.as_ref().zip(change.new.as_ref()).is_some_and(|(a, b)| a.mode == b.mode);
        let were: Vec<TreeChange> = since.into_iter().filter(same_mode).map(TreeChange::reversed).collect();
        let had = RecordedTree { tree, raw: &extras.raw, line_ends: Some(extras.line_ends) };
        let same = are_as_they_were(self.repo, worktree, had, (&were, FailedFilterPolicy::CostsItsFile))?;
        Ok(were.into_iter().zip(same).filter_map(|(change, same)| same.then_some(change.path)).collect())
    }

    /// Without those changes that give a file no other bytes: on disk it is already what it will be, and only git stores it otherwise,
    /// since other attributes or another configuration apply to it then. A restore leaves it alone. `changes` are between files as
    /// captured (`old`) and the tree that they shall have (`new`).
    pub fn of_other_bytes(
        &self,
        worktree: &Worktree,
        old: &CaptureExtras,
        (tree, new): (&Oid, &CaptureExtras),
        mut changes: Vec<TreeChange>,
    ) -> Result<Vec<TreeChange>> {
        let other_rules = old.line_ends != new.line_ends || changes.iter().any(|one| one.path.file_name() == b".gitattributes");
        let is_kept = |path: &RepoPath| [old, new].iter().any(|extras| bytes_of(&extras.raw, path).is_some());
        let is_stored_otherwise = |change: &&TreeChange| {
            let both = change.old.as_ref().zip(change.new.as_ref());
            let is_file = both.is_some_and(|(old, new)| new.is_regular() && old.mode == new.mode && old.oid != new.oid);
            is_file && (other_rules || is_kept(&change.path))
        };
        let asked: Vec<TreeChange> = changes.iter().filter(is_stored_otherwise).cloned().collect();
        if asked.is_empty() {
            return Ok(changes);
        }
        let will_have = RecordedTree { tree, raw: &new.raw, line_ends: Some(new.line_ends) };
        let same = are_as_they_were(self.repo, worktree, will_have, (&asked, FailedFilterPolicy::CostsAll))?;
        let same: BTreeSet<&RepoPath> = asked.iter().zip(same).filter(|(_, same)| *same).map(|(one, _)| &one.path).collect();
        changes.retain(|change| !same.contains(&change.path));
        Ok(changes)
    }

    /// The files that only the second of two trees has and that are on disk exactly as in that tree. The first tree does not
    /// have them if git ignores them, although they were there before. `raw` are the kept bytes of the second tree's files.
    pub fn there_already(
        &self,
        worktree: &Worktree,
        (from, to): (&Oid, &Oid),
        changes: &[TreeChange],
        raw: &[RawFile],
    ) -> Result<Vec<TreeChange>> {
        let is_file = |meta: &Metadata| meta.is_file() || meta.is_symlink();
        let place = |path: &RepoPath| worktree.path().join(path.to_path());
        let known: BTreeSet<RepoPath> = changes.iter().filter(|one| one.old.is_some()).map(|one| one.path.clone()).collect();
        let mut seen = Vec::new();
        for change in changes.iter().filter(|change| change.old.is_none()) {
            // If a folder above the path is known to be a file, nothing is below it.
            let is_below = || change.path.folders_above().any(|above| known.contains(&above));
            match place(&change.path).symlink_metadata() {
                Ok(meta) if is_file(&meta) && !is_below() => seen.push((change.clone().reversed(), meta)),
                Ok(_) | Err(_) => {}
            }
        }
        let (reversed, metas): (Vec<TreeChange>, Vec<Metadata>) = seen.into_iter().unzip();
        let metas: BTreeMap<&RepoPath, &Metadata> = reversed.iter().map(|change| &change.path).zip(&metas).collect();
        let keeps = self.repo.settings().keeps();
        let mut there = self.still_there(worktree, (to, from), &reversed)?;
        there.retain(|change| {
            let Some((file, meta)) = change.new.as_ref().zip(metas.get(&change.path)) else { return false };
            !keeps.modes || file.is_link() || (file.mode & EXECUTE != 0) == executable(meta)
        });
        // git's conversions may hide that the bytes differ.
        let differs = |change: &TreeChange| {
            let held = change.new.as_ref().and_then(|file| is_what_is_held(self.repo, worktree, raw, (&change.path, file)));
            held == Some(false)
        };
        there.retain(|change| !differs(change));
        Ok(there)
    }

    fn look_back<'c>(
        &self,
        restore: &WorktreeRestore<'_>,
        changes: &'c [TreeChange],
        trash: &Trash<'_>,
        telling: HashBatching,
    ) -> Result<Vec<PlannedPath<'c>>> {
        let root = restore.worktree.path();
        let (mut seen, mut to_hash) = (Vec::with_capacity(changes.len()), Vec::new());
        let mut looks = WorktreeInspector::below(root);
        let nested = self.repo.restore().nested_repositories(restore, changes)?;
        for change in changes {
            let found = match nested.above(&change.path) {
                Some(_) => PathOccupant::Missing,
                None => match looks.look(&change.path) {
                    // What cannot be looked at costs only itself: it is nobody's of both, and stays.
                    Err(error) if is_caused_by_gap(&error) => PathOccupant::Special,
                    Ok(PathOccupant::File(_)) if !can_be_read(&root.join(change.path.to_path())) => PathOccupant::Special,
                    found => found?,
                },
            };
            let (now, stamp) = match &found {
                PathOccupant::Missing | PathOccupant::Below(_) if trash.holds(&change.path)? => {
                    (PresentState::MissingButSaved, None)
                }
                PathOccupant::Missing | PathOccupant::Below(_) => (PresentState::Missing, None),
                PathOccupant::Folder => (PresentState::Folder, None),
                PathOccupant::Special => (PresentState::Other, None),
                PathOccupant::Link(meta, target) => (self.link_is(change, target)?, Some(FileTouchStamp::of(meta))),
                PathOccupant::File(meta) => {
                    to_hash.push((change, executable(meta)));
                    (PresentState::Unknown, Some(FileTouchStamp::of(meta)))
                }
            };
            seen.push((change, now, stamp));
        }
        let told = match telling {
            HashBatching::Together => self.tell(restore, &to_hash)?,
            HashBatching::OneByOne => to_hash.iter().map(|file| self.tell_one(restore, *file)).collect::<Result<_>>()?,
        };
        let mut told = told.into_iter();
        let needed = wanted_folders(changes);
        let plan = seen.into_iter().map(|(change, now, stamp)| {
            let now = if now == PresentState::Unknown { told.next().unwrap_or(PresentState::Other) } else { now };
            let now = if now == PresentState::Folder && needed.contains(&change.path) { PresentState::NeededFolder } else { now };
            let step = decide_back(change.old.is_some(), change.new.is_some(), now);
            PlannedPath { path: &change.path, step, stamp, new: change.new.as_ref() }
        });
        Ok(plan.collect())
    }

    pub(crate) fn link_is(&self, change: &TreeChange, target: &[u8]) -> Result<PresentState> {
        let same = |file: &Option<FileId>| match file {
            Some(file) if file.is_link() => Ok(self.repo.objects().read_blob(&file.oid, LINK_LIMIT)? == target),
            Some(_) | None => Ok::<bool, Error>(false),
        };
        Ok(if same(&change.new)? {
            PresentState::New
        } else if same(&change.old)? {
            PresentState::Old
        } else {
            PresentState::Other
        })
    }

    /// What regular files are, compared with their changes. If only the bytes change, the bytes are compared.
    pub(crate) fn tell(&self, restore: &WorktreeRestore<'_>, files: &[(&TreeChange, bool)]) -> Result<Vec<PresentState>> {
        let (by_bytes, by_blob): (Vec<usize>, Vec<usize>) =
            (0..files.len()).partition(|place| files[*place].0.is_of_bytes_alone());
        let these = |places: &[usize]| places.iter().map(|place| files[*place]).collect::<Vec<_>>();
        let mut told = vec![PresentState::Other; files.len()];
        for (place, now) in by_blob.iter().zip(self.tell_by_blob(restore, &these(&by_blob))?) {
            told[*place] = now;
        }
        for (place, now) in by_bytes.iter().zip(self.tell_by_bytes(restore, &these(&by_bytes))?) {
            told[*place] = now;
        }
        Ok(told)
    }

    fn tell_by_bytes(&self, restore: &WorktreeRestore<'_>, files: &[(&TreeChange, bool)]) -> Result<Vec<PresentState>> {
        let changes: Vec<TreeChange> = files.iter().map(|(change, _)| (*change).clone()).collect();
        let new =
            are_as_they_were(self.repo, restore.worktree, restore.will_have(), (&changes, FailedFilterPolicy::CostsItsFile))?;
        let old = are_as_they_were(self.repo, restore.worktree, restore.had(), (&changes, FailedFilterPolicy::CostsItsFile))?;
        let told = |(new, old)| match (new, old) {
            (true, _) => PresentState::New,
            (false, true) => PresentState::Old,
            (false, false) => PresentState::Other,
        };
        Ok(new.into_iter().zip(old).map(told).collect())
    }

    /// As [`RestoreReversals::tell`], comparing blobs, each by the attributes of the tree that the file is compared with. If only
    /// the mode differs, the execute bit decides.
    pub(super) fn tell_by_blob(&self, restore: &WorktreeRestore<'_>, files: &[(&TreeChange, bool)]) -> Result<Vec<PresentState>> {
        let mut told = vec![PresentState::Other; files.len()];
        let others =
            |told: &[PresentState]| (0..told.len()).filter(|place| told[*place] == PresentState::Other).collect::<Vec<usize>>();
        let files_at = |left: &[usize]| left.iter().map(|place| files[*place]).collect::<Vec<(&TreeChange, bool)>>();
        let mut settle = |left: Vec<usize>, as_new: &[Option<Oid>], as_old: &[Option<Oid>]| {
            let now = self.told(&files_at(&left), as_new, as_old);
            left.into_iter().zip(now).for_each(|(place, now)| told[place] = now);
            others(&told)
        };
        // Kept bytes need no filter, which may be missing or fail by now.
        let held = |raw: &[RawFile], path: &RepoPath, file: &Option<FileId>| {
            let file = file.as_ref()?;
            (is_what_is_held(self.repo, restore.worktree, raw, (path, file)) == Some(true)).then(|| file.oid.clone())
        };
        let (raw_new, raw_old) = (restore.will_have().raw, restore.had().raw);
        let as_new: Vec<Option<Oid>> = files.iter().map(|(change, _)| held(raw_new, &change.path, &change.new)).collect();
        let as_old: Vec<Option<Oid>> = files.iter().map(|(change, _)| held(raw_old, &change.path, &change.old)).collect();
        let left = settle((0..files.len()).collect(), &as_new, &as_old);
        let paths_of = |left: &[usize]| left.iter().map(|place| &files[*place].0.path).collect::<Vec<&RepoPath>>();
        let hashes = |tree: &Oid, is_asked: fn(&TreeChange) -> bool| {
            // If no file is compared with this tree, no filter has to run for it.
            if !left.iter().any(|place| is_asked(files[*place].0)) {
                return Ok(vec![None; left.len()]);
            }
            let hashes = hash_files(self.repo, restore.worktree, tree, &paths_of(&left))?;
            Ok::<_, Error>(hashes.into_iter().map(Some).collect())
        };
        let as_new = hashes(restore.to, |change| change.new.is_some())?;
        let as_old = hashes(restore.from, |change| change.old.is_some())?;
        let left = settle(left, &as_new, &as_old);
        // The attributes that the captures used may be in no tree: use those of the worktree.
        let here = hash_here(self.repo, restore.worktree, &paths_of(&left))?;
        let left = settle(left, &here, &here);
        // The configuration may be another one by now: compare with what a checkout by the recorded one writes.
        let changes: Vec<TreeChange> = files_at(&left).into_iter().map(|(change, _)| change.clone()).collect();
        let reversed: Vec<TreeChange> = changes.iter().map(|change| change.clone().reversed()).collect();
        let blob = |(same, change): (bool, &TreeChange)| change.new.as_ref().filter(|_| same).map(|file| file.oid.clone());
        let new =
            are_as_they_were(self.repo, restore.worktree, restore.will_have(), (&changes, FailedFilterPolicy::CostsItsFile))?;
        let new: Vec<Option<Oid>> = new.into_iter().zip(&changes).map(blob).collect();
        let old = are_as_they_were(self.repo, restore.worktree, restore.had(), (&reversed, FailedFilterPolicy::CostsItsFile))?;
        let old: Vec<Option<Oid>> = old.into_iter().zip(&reversed).map(blob).collect();
        settle(left, &new, &old);
        Ok(told)
    }

    /// As [`RestoreReversals::tell`] for one file. If its filter fails (its program is missing, for example), the file counts as the
    /// user's.
    fn tell_one(&self, restore: &WorktreeRestore<'_>, file: (&TreeChange, bool)) -> Result<PresentState> {
        match self.tell(restore, &[file]) {
            Err(error) if may_be_one_file(&error) => Ok(PresentState::Other),
            told => Ok(told?.pop().unwrap_or(PresentState::Other)),
        }
    }

    fn told(&self, files: &[(&TreeChange, bool)], as_new: &[Option<Oid>], as_old: &[Option<Oid>]) -> Vec<PresentState> {
        let keeps = self.repo.settings().keeps();
        let told = files.iter().zip(as_new).zip(as_old).map(|(((change, executes), as_new), as_old)| {
            let regular = |file: &&FileId| !file.is_link() || !keeps.links;
            let (old, new) = (change.old.as_ref().filter(regular), change.new.as_ref().filter(regular));
            let mode_tells = keeps.modes && old.zip(new).is_some_and(|(old, new)| old.oid == new.oid);
            let is_new = new
                .is_some_and(|new| Some(&new.oid) == as_new.as_ref() && (!mode_tells || (new.mode & EXECUTE != 0) == *executes));
            if is_new {
                PresentState::New
            } else if old.is_some_and(|old| Some(&old.oid) == as_old.as_ref()) {
                PresentState::Old
            } else {
                PresentState::Other
            }
        });
        told.collect()
    }
}
