//! How the files of a worktree differ between two moments: a path differs if its mode, its blob or its kept bytes differ.
//! All code that compares, previews, restores or undoes files uses this one rule.
//!
//! A file without kept bytes is what a checkout writes. If a capture could not decide that, it lists the file
//! ([`Coverage::decides_bytes_of`]), and whoever plans changes leaves the file's bytes alone. [`bytes_by`] takes the kept
//! bytes of each path from one of two moments.
//!
//! [`Coverage::decides_bytes_of`]: crate::domain::checkpoint::document::Coverage::decides_bytes_of

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use axiom_base::error::Result;
use axiom_model::base::names::{Oid, RepoPath};

use super::extras::CaptureExtras;
use super::raw_file::RawFile;
use crate::base::modes::TREE;
use crate::base::tree_change::{FileId, TreeChange};
use crate::repo::handles::Captures;
use crate::repo::repository::Repository;

/// The files of a worktree at one moment.
#[derive(Debug, Clone, Copy)]
pub struct HeldFiles<'a> {
    /// The tree of the files.
    pub tree: &'a Oid,
    /// The files whose bytes are kept, ordered by path.
    pub raw: &'a [RawFile],
}

impl CaptureExtras {
    /// The files of a tree, with these kept bytes.
    pub fn beside<'a>(&'a self, tree: &'a Oid) -> HeldFiles<'a> {
        HeldFiles { tree, raw: &self.raw }
    }
}

impl TreeChange {
    /// Whether nothing changes that a tree holds, but only bytes that git's conversions hide.
    pub fn is_of_bytes_alone(&self) -> bool {
        self.old.is_some() && self.old == self.new
    }
}

impl Captures<'_> {
    /// The paths at which the files of two moments differ, ordered. If the same bytes are kept for both, this costs no more
    /// than comparing the trees.
    pub fn differing(&self, old: HeldFiles<'_>, new: HeldFiles<'_>) -> Result<Vec<TreeChange>> {
        let mut changes = self.repo.history().diff_trees(old.tree, new.tree)?;
        if old.raw == new.raw {
            return Ok(changes);
        }
        let all: BTreeSet<&RepoPath> = old.raw.iter().chain(new.raw).map(|one| &one.path).collect();
        let (mut of_bytes, mut folders) = (Vec::new(), TreeEntryCache::default());
        for path in all {
            let (old, new_one) = (bytes_of(old.raw, path), bytes_of(new.raw, path));
            if old == new_one || change_of(&changes, path).is_some() {
                continue;
            }
            let Some(file) = folders.file_at(self.repo, new.tree, path)? else { continue };
            // What an LFS pointer names is what a checkout writes.
            let is_own = |one: &&RawFile| one.held_as == file.oid && one.lfs.is_none();
            let held = |one: Option<&RawFile>| one.filter(is_own).map(|one| one.oid.clone());
            if held(old) != held(new_one) {
                of_bytes.push(TreeChange { path: path.clone(), old: Some(file.clone()), new: Some(file) });
            }
        }
        changes.extend(of_bytes);
        changes.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(changes)
    }

    /// The files that differ between two captures. A path that a sparse checkout leaves out on one side has no file on that
    /// side.
    pub fn changed_files(
        &self,
        (old, beside_old): (&Oid, &CaptureExtras),
        (new, beside_new): (&Oid, &CaptureExtras),
    ) -> Result<Vec<TreeChange>> {
        let changes = self.differing(beside_old.beside(old), beside_new.beside(new))?;
        let (from, to) = (beside_old.index.left_out(), beside_new.index.left_out());
        if from.is_empty() && to.is_empty() {
            return Ok(changes);
        }
        let mut all: BTreeMap<RepoPath, TreeChange> = changes.into_iter().map(|change| (change.path.clone(), change)).collect();
        let one_side: BTreeSet<&RepoPath> =
            from.symmetric_difference(&to).copied().filter(|path| !all.contains_key(path)).collect();
        if !one_side.is_empty() {
            // At these paths the trees are equal.
            for (path, file) in self.repo.history().files_of(new)?.into_iter().filter(|(path, _)| one_side.contains(path)) {
                all.insert(path.clone(), TreeChange { path, old: Some(file.clone()), new: Some(file) });
            }
        }
        for change in all.values_mut() {
            change.old = change.old.take().filter(|_| !from.contains(&change.path));
            change.new = change.new.take().filter(|_| !to.contains(&change.path));
        }
        Ok(all.into_values().filter(|change| change.old.is_some() || change.new.is_some()).collect())
    }
}

/// A cache of trees that were read: many paths are in few folders.
#[derive(Debug, Default)]
pub(crate) struct TreeEntryCache(HashMap<Oid, BTreeMap<Vec<u8>, FileId>>);

impl TreeEntryCache {
    /// The file or submodule that a tree has at a path; `None` if there is nothing or a folder.
    pub fn file_at(&mut self, repository: &Repository, tree: &Oid, path: &RepoPath) -> Result<Option<FileId>> {
        let mut at = FileId { mode: TREE, oid: tree.clone() };
        for part in path.as_bytes().split(|byte| *byte == b'/') {
            if at.mode != TREE {
                return Ok(None);
            }
            let folder = match self.0.entry(at.oid) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(unknown) => {
                    let entries = repository.trees().read_tree(unknown.key())?.into_iter();
                    unknown.insert(entries.map(|one| (one.name, FileId { mode: one.mode, oid: one.oid })).collect())
                }
            };
            let Some(next) = folder.get(part) else { return Ok(None) };
            at = next.clone();
        }
        Ok(Some(at).filter(|at| at.mode != TREE))
    }
}

/// The kept bytes of a path.
pub fn bytes_of<'r>(raw: &'r [RawFile], path: &RepoPath) -> Option<&'r RawFile> {
    raw.binary_search_by(|one| one.path.cmp(path)).ok().map(|place| &raw[place])
}

/// The change of a path; `changes` are ordered by path.
pub fn change_of<'c>(changes: &'c [TreeChange], path: &RepoPath) -> Option<&'c TreeChange> {
    changes.binary_search_by(|change| change.path.cmp(path)).ok().map(|place| &changes[place])
}

/// The kept bytes if some paths are as in one moment (`theirs`), and all others as in another (`ours`).
pub fn bytes_by(ours: &[RawFile], theirs: &[RawFile], is_theirs: impl Fn(&RepoPath) -> bool) -> Vec<RawFile> {
    let ours = ours.iter().filter(|one| !is_theirs(&one.path));
    let mut all: Vec<RawFile> = ours.chain(theirs.iter().filter(|one| is_theirs(&one.path))).cloned().collect();
    all.sort_by(|one, other| one.path.cmp(&other.path));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::scratch::ScratchRepository;

    #[test]
    fn a_path_differs_where_mode_blob_or_held_bytes_do() {
        let scratch = ScratchRepository::new(&[]);
        let repo = scratch.repo();
        let blob = |text: &str| repo.objects().write_blob(text.as_bytes()).unwrap();
        let path = |name: &str| RepoPath::new(name.as_bytes());
        let file = |text: &str| Some(FileId { mode: 0o100_644, oid: blob(text) });
        let tree = |files: &[(&str, &str)]| {
            let change = |(name, text): &(&str, &str)| TreeChange { path: path(name), old: None, new: file(text) };
            repo.trees().edit_tree(&repo.trees().empty_tree().unwrap(), &files.iter().map(change).collect::<Vec<_>>()).unwrap()
        };
        let raw = |name: &str, held_as: &str, text: &str| RawFile {
            path: path(name),
            held_as: blob(held_as),
            oid: blob(text),
            lfs: None,
        };
        let one = tree(&[("a", "1"), ("sub/b", "2"), ("c", "3")]);
        let two = tree(&[("a", "1"), ("sub/b", "2"), ("c", "other")]);
        let names = |old: (&Oid, &[RawFile]), new: (&Oid, &[RawFile])| {
            let held = |(tree, raw)| HeldFiles { tree, raw };
            let changes = repo.captures().differing(held(old), held(new)).unwrap();
            changes.into_iter().map(|one| (one.path.to_string(), one.is_of_bytes_alone())).collect::<Vec<_>>()
        };
        let b = |alone| ("sub/b".to_owned(), alone);
        let c = ("c".to_owned(), false);
        let (then, now) = (vec![raw("sub/b", "2", "2\r")], vec![raw("sub/b", "2", "2\r\r")]);
        assert_eq!(names((&one, &then), (&one, &then)), []);
        assert_eq!(names((&one, &then), (&one, &now)), [b(true)]);
        assert_eq!(names((&one, &then), (&one, &[])), [b(true)]);
        assert_eq!(names((&one, &[]), (&two, &then)), [c.clone(), b(true)]);
        // What was held of another blob, or of a path that is there no more, says nothing.
        assert_eq!(names((&one, &[raw("a", "before", "x")]), (&one, &[raw("gone", "1", "y")])), []);
        // What a tree says is said once.
        assert_eq!(names((&one, &[raw("c", "3", "3\r")]), (&two, &[])), [c]);
    }

    #[test]
    fn held_bytes_of_some_paths_take_the_place_of_those_of_others() {
        let oid = |digit: &str| Oid::new(digit.repeat(40)).unwrap();
        let raw = |name: &str, digit: &str| RawFile {
            path: RepoPath::new(name.as_bytes()),
            held_as: oid("1"),
            oid: oid(digit),
            lfs: None,
        };
        let (ours, theirs) = ([raw("a", "2"), raw("b", "2"), raw("d", "2")], [raw("b", "3"), raw("c", "3"), raw("d", "3")]);
        let is_theirs = |path: &RepoPath| ["a", "b", "c"].contains(&path.to_string().as_str());
        assert_eq!(bytes_by(&ours, &theirs, is_theirs), [raw("b", "3"), raw("c", "3"), raw("d", "2")]);
    }
}
