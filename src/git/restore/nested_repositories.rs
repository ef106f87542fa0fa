//! Nested repositories in a worktree, into which a restore must not write, and everything else that is in the way of a
//! restore.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use axiom_base::error::Result;
use axiom_model::base::names::{Oid, RepoPath};

use super::plan::PresentState;
use super::trash::something_stays;
use super::types::{ChangeAttempt, WorktreeRestore};
use crate::base::path_inspection::{PathOccupant, WorktreeInspector};
use crate::base::tree_change::{FileId, TreeChange};
use crate::repo::handles::Restores;
use crate::repo::nested::is_repository;
use crate::restore::changes::without_submodules;
use crate::restore::present_files::executable;

/// Repositories within a worktree whose content no capture holds: they are moved as a whole.
#[derive(Debug, Default)]
pub(crate) struct NestedRepositories {
    folders: BTreeSet<RepoPath>,
}

impl NestedRepositories {
    /// The nested repository that contains a path.
    pub fn above(&self, path: &RepoPath) -> Option<RepoPath> {
        if self.folders.is_empty() { None } else { path.folders_above().find(|folder| self.folders.contains(folder)) }
    }
}

impl Restores<'_> {
    /// The nested repositories that contain paths which appear in only one of the trees.
    pub(crate) fn nested_repositories(
        &self,
        restore: &WorktreeRestore<'_>,
        changes: &[TreeChange],
    ) -> Result<NestedRepositories> {
        let root = restore.worktree.path();
        // When an attempt is reversed, the second tree is the state before it.
        let (captured, appears): (&Oid, fn(&TreeChange) -> bool) = match restore.attempt {
            ChangeAttempt::First | ChangeAttempt::Again => (restore.from, |change| change.old.is_none()),
            ChangeAttempt::Back => (restore.to, |change| change.new.is_none()),
        };
        let mut seen: BTreeMap<RepoPath, bool> = BTreeMap::new();
        for change in changes.iter().filter(|change| appears(change)) {
            for folder in change.path.folders_above() {
                if let Entry::Vacant(unseen) = seen.entry(folder) {
                    let place = root.join(unseen.key().to_path());
                    let is_one = is_repository(&place) && !self.has_below(captured, unseen.key())?;
                    unseen.insert(is_one);
                }
            }
        }
        Ok(NestedRepositories { folders: seen.into_iter().filter_map(|(folder, is_one)| is_one.then_some(folder)).collect() })
    }

    /// The checked-out commit of the repository in `folder`, in the form in which a tree of this repository names it: if the
    /// two have ids of different lengths, git pads with zeros or cuts. `None` if there is no repository or no commit.
    pub fn head_of_nested(&self, folder: &Path) -> Option<Oid> {
        if !is_repository(folder) {
            return None;
        }
        let nested = gix::open(folder).ok()?;
        let mut digits = nested.head_id().ok()?.to_string();
        let length = self.repo.gix().ok()?.object_hash().len_in_hex();
        digits.truncate(length);
        Oid::new(format!("{digits:0<length$}")).ok()
    }

    /// Whether a tree has anything below a folder.
    fn has_below(&self, tree: &Oid, folder: &RepoPath) -> Result<bool> {
        let git = self.repo.git().args(["ls-tree", "-z", "--full-tree", "--name-only", tree.as_str(), "--"]);
        let below = RepoPath::new([folder.as_bytes(), b"/"].concat());
        let output = git.arg(below.to_path()).run_ok()?;
        Ok(output.stdout.split(|byte| *byte == 0).any(|name| name.starts_with(below.as_bytes())))
    }

    /// What a restore would move to the trash because no capture holds it. Changes nothing.
    pub fn in_the_way(&self, restore: &WorktreeRestore<'_>) -> Result<Vec<RepoPath>> {
        let root = restore.worktree.path();
        let changes = self.repo.restore().changes_of(restore)?;
        let changes = without_submodules(&changes, &mut Vec::new());
        let nested = self.nested_repositories(restore, &changes)?;
        let gone: BTreeSet<&RepoPath> = changes.iter().filter(|c| c.new.is_none()).map(|c| &c.path).collect();
        let (mut blocking, mut files) = (BTreeSet::new(), Vec::new());
        let mut looks = WorktreeInspector::below(root);
        for change in changes.iter().filter(|change| change.old.is_none()) {
            if let Some(folder) = nested.above(&change.path) {
                blocking.insert(folder);
                continue;
            }
            match looks.look(&change.path)? {
                PathOccupant::Missing => {}
                PathOccupant::Below(above) if gone.contains(&above) => {}
                PathOccupant::Below(above) => drop(blocking.insert(above)),
                PathOccupant::Folder if !something_stays(root, &change.path, &gone)? => {}
                PathOccupant::Folder | PathOccupant::Special => drop(blocking.insert(change.path.clone())),
                PathOccupant::Link(_, target) => {
                    if self.repo.reversals().link_is(change, &target)? != PresentState::New {
                        blocking.insert(change.path.clone());
                    }
                }
                PathOccupant::File(meta) => files.push((change, executable(&meta))),
            }
        }
        let told = self.repo.reversals().tell(restore, &files)?;
        let keeps = self.repo.settings().keeps();
        let mode_fits = |file: &Option<FileId>, executes: bool| {
            file.as_ref().is_some_and(|f| !keeps.modes || (f.mode & 0o100 != 0) == executes)
        };
        let as_wanted = |(change, executes): &(&TreeChange, bool), now: PresentState| {
            now == PresentState::New && mode_fits(&change.new, *executes)
        };
        let other = files.iter().zip(told).filter(|(file, now)| !as_wanted(file, *now));
        blocking.extend(other.map(|((change, _), _)| change.path.clone()));
        Ok(blocking.into_iter().collect())
    }
}
