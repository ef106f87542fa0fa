//! Trees that are lost, and written again: a tree is nothing but names and ids, so whatever lists the same files makes the same
//! tree, byte for byte. The id proves that it is the same, so a guess can never do harm.
//!
//! What lists files: the indexes of the worktrees, and the trees of commits that are still there. Which other trees a folder may
//! have had is in [`crate::objects::lost_tree_search`].

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use gix::index::entry::Flags;
use gix::index::extension::Tree;

use axiom_base::env;
use axiom_base::error::Result;
use axiom_model::base::names::Oid;

use crate::base::object_kind::ObjectKind;
use crate::index::edit::without_cached_trees;
use crate::index::file;
use crate::index::lock::IndexLock;
use crate::lost::lost_tree_search::{FolderEntries, found_among};
use crate::objects::database::gix_id;
use crate::objects::interrupted_landing::named_by_tree;
use crate::repo::handles::PowerLosses;
use crate::repo::worktrees::Worktree;

/// The most trees that are looked at while lost ones are searched for.
const MOST_TREES: usize = 200_000;
/// How many commits below each tip are looked at.
const MOST_COMMITS: usize = 50;

/// What became of trees that were lost.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MendedTrees {
    /// Those that were written again.
    pub again: Vec<Oid>,
    /// The worktrees in whose indexes the cached trees named a lost one that could not be written again, and were dropped.
    pub dropped: Vec<PathBuf>,
}

/// A file or folder of a listing: its name or path, its mode, its id.
pub(crate) type ListedObject = (Vec<u8>, u32, gix::ObjectId);

impl PowerLosses<'_> {
    /// Writes those trees again that are known to be lost, or that an index names in its cached trees, where something still lists
    /// what was in them. Where the cached trees of an index name another lost one, they are dropped: git makes them again. Nothing
    /// else changes. The caller holds the change lock. Safe to repeat.
    pub fn mend_trees(&self) -> Result<MendedTrees> {
        let worktrees = self.repo.worktrees().list().unwrap_or_default();
        let worktrees: Vec<Worktree> = worktrees.into_iter().filter(|one| one.present).map(|one| one.worktree).collect();
        let lost: BTreeSet<Oid> = self.lost_objects()?.into_iter().map(|(oid, _)| oid).collect();
        let mut mended = MendedTrees::default();
        let mut listings = Vec::new();
        for worktree in &worktrees {
            let Some(index) = file::read(self.repo, &worktree.index_file()) else { continue };
            let cached = index.tree().map(|root| self.missing_of_cached(root)).transpose()?.unwrap_or_default();
            listings.push((worktree, listed_in(&index), cached));
        }
        if lost.is_empty() && listings.iter().all(|(_, _, cached)| cached.is_empty()) {
            return Ok(mended);
        }
        let wanted: BTreeSet<Oid> = listings.iter().flat_map(|(_, _, cached)| cached).chain(&lost).cloned().collect();
        for (_, files, _) in &listings {
            self.write_wanted(&self.trees_of(files)?, &wanted, &mut mended)?;
        }
        if wanted.iter().any(|oid| lost.contains(oid) && !mended.again.contains(oid)) {
            let files: Vec<&[ListedObject]> = listings.iter().map(|(_, files, _)| files.as_slice()).collect();
            self.search_below_tips(&worktrees, &files, &lost, &mut mended)?;
        }
        self.repo.durability().land()?;
        env::fault_point("git.trees-again");
        for (worktree, _, cached) in listings {
            if cached.iter().all(|oid| mended.again.contains(oid)) {
                continue;
            }
            match self.drop_cached_trees(worktree) {
                Ok(true) => mended.dropped.push(worktree.path().to_owned()),
                Ok(false) => {}
                Err(error) => {
                    tracing::warn!(%error, worktree = %worktree.path().display(), "cached trees stay that name a lost one")
                }
            }
        }
        Ok(mended)
    }

    /// The cached trees of an index that are not there.
    fn missing_of_cached(&self, root: &Tree) -> Result<Vec<Oid>> {
        let (mut open, mut missing) = (vec![root], Vec::new());
        while let Some(tree) = open.pop() {
            if tree.num_entries.is_some_and(|count| count > 0) {
                let oid = Oid::from_bytes(tree.id.as_bytes())?;
                if !self.repo.connectivity().holds(&oid) {
                    missing.push(oid);
                }
            }
            open.extend(&tree.children);
        }
        // In a partial clone a tree may be a remote's.
        Ok(if self.repo.connectivity().is_partial() { Vec::new() } else { missing })
    }

    /// All trees that these files make, the innermost ones first.
    fn trees_of(&self, files: &[ListedObject]) -> Result<Vec<(Oid, Vec<u8>)>> {
        let mut made = Vec::new();
        self.add_trees(files, 0, &mut made)?;
        Ok(made)
    }

    /// Adds the tree of files that have their first `depth` bytes in common, and the trees below it; returns its id.
    fn add_trees(&self, files: &[ListedObject], depth: usize, made: &mut Vec<(Oid, Vec<u8>)>) -> Result<gix::ObjectId> {
        let mut folder = FolderEntries::default();
        let mut rest = files;
        while let Some((path, mode, id)) = rest.first() {
            let tail = &path[depth..];
            let Some(end) = tail.iter().position(|byte| *byte == b'/') else {
                folder.set(tail, *mode, *id);
                rest = &rest[1..];
                continue;
            };
            let prefix = &path[..=depth + end];
            let (below, after) = rest.split_at(rest.partition_point(|(path, _, _)| path.starts_with(prefix)));
            folder.set(&tail[..end], crate::base::modes::TREE, self.add_trees(below, depth + end + 1, made)?);
            rest = after;
        }
        let content = folder.content();
        let id = self.repo.objects().id_of(ObjectKind::Tree, &content)?;
        made.push((Oid::from_bytes(id.as_bytes())?, content));
        Ok(id)
    }

    /// Writes those of the trees that are wanted, the innermost ones first. One that names what is lost is left to
    /// [`PowerLosses::search_below_tips`]: where nothing leads to it, it would only be one more broken link.
    fn write_wanted(&self, trees: &[(Oid, Vec<u8>)], wanted: &BTreeSet<Oid>, mended: &mut MendedTrees) -> Result<()> {
        for (oid, content) in trees.iter().filter(|(oid, _)| wanted.contains(oid)) {
            if !mended.again.contains(oid) && !self.repo.connectivity().holds(oid) && self.is_complete(content) {
                self.repo.objects().write_object(ObjectKind::Tree, content)?;
                mended.again.push(oid.clone());
            }
        }
        Ok(())
    }

    /// Whether all that a tree names is here, but for commits of submodules.
    fn is_complete(&self, content: &[u8]) -> bool {
        let here = |id: &gix::ObjectId| Oid::from_bytes(id.as_bytes()).is_ok_and(|oid| self.repo.connectivity().holds(&oid));
        named_by_tree(content, self.repo.hash().gix()).iter().all(here)
    }

    /// Searches for what lost trees below HEADs, branches and stash entries had in them, and writes those again that are found.
    fn search_below_tips(
        &self,
        worktrees: &[Worktree],
        indexes: &[&[ListedObject]],
        lost: &BTreeSet<Oid>,
        mended: &mut MendedTrees,
    ) -> Result<()> {
        let roots = self.root_trees(worktrees)?;
        // What is found may name what is lost as well, one folder deeper.
        for _ in 0..MOST_COMMITS {
            let before = mended.again.len();
            for (oid, path) in self.lost_below(&roots, lost)? {
                if let Some(content) = found_among(&self.versions(&roots, indexes, &path)?, |content| self.is(&oid, content)) {
                    self.repo.objects().write_object(ObjectKind::Tree, &content)?;
                    mended.again.push(oid);
                }
            }
            if mended.again.len() == before {
                break;
            }
        }
        Ok(())
    }

    fn is(&self, oid: &Oid, content: &[u8]) -> bool {
        let id = self.repo.objects().id_of(ObjectKind::Tree, content);
        id.is_ok_and(|id| gix_id(oid).is_ok_and(|oid| oid == id))
    }

    /// The trees of the commits that HEADs, branches, stash entries and captures lead to, as far as they can be read.
    fn root_trees(&self, worktrees: &[Worktree]) -> Result<Vec<Oid>> {
        let refs = self.repo.refs();
        let mut tips: Vec<Oid> = worktrees.iter().filter_map(|one| refs.head(one).ok()?.commit().cloned()).collect();
        tips.extend(self.repo.stash().entries().unwrap_or_default().into_iter().map(|entry| entry.id));
        tips.extend(refs.refs_below("refs/").unwrap_or_default().into_iter().map(|value| value.oid));
        let (mut seen, mut roots) = (BTreeSet::new(), Vec::new());
        for tip in tips {
            let mut open = vec![tip];
            for _ in 0..MOST_COMMITS {
                let Some(commit) = open.pop() else { break };
                if seen.insert(commit.clone())
                    && let Some(read) =
                        self.repo.connectivity().holds(&commit).then(|| self.repo.objects().read_commit(&commit).ok()).flatten()
                {
                    roots.push(read.tree);
                    open.extend(read.parents.into_iter().rev());
                }
            }
        }
        Ok(roots)
    }

    /// The lost trees below these, each with its path.
    fn lost_below(&self, roots: &[Oid], lost: &BTreeSet<Oid>) -> Result<BTreeMap<Oid, Vec<u8>>> {
        let mut open: Vec<(Oid, Vec<u8>)> = roots.iter().map(|oid| (oid.clone(), Vec::new())).collect();
        let (mut seen, mut found) = (BTreeSet::new(), BTreeMap::new());
        while let Some((oid, path)) = open.pop() {
            if seen.len() > MOST_TREES || !seen.insert(oid.clone()) {
                continue;
            }
            if !self.repo.connectivity().holds(&oid) {
                if lost.contains(&oid) {
                    found.insert(oid, path);
                }
                continue;
            }
            let Ok(tree) = self.repo.trees().raw_tree(&oid) else { continue };
            for entry in tree.entries().filter_map(Result::ok).filter(|entry| entry.mode == crate::base::modes::TREE) {
                let name = [path.as_slice(), entry.name, b"/"].concat();
                open.push((Oid::from_bytes(entry.id.as_bytes())?, name));
            }
        }
        Ok(found)
    }

    /// What a folder has or had in it, as far as it is known: in the indexes, and in these trees. `path` is empty or ends in `/`.
    fn versions(&self, roots: &[Oid], indexes: &[&[ListedObject]], path: &[u8]) -> Result<Vec<FolderEntries>> {
        let mut versions = Vec::new();
        for files in indexes {
            let below = files.partition_point(|(file, _, _)| file.as_slice() < path);
            let below: Vec<ListedObject> =
                files[below..].iter().take_while(|(file, _, _)| file.starts_with(path)).cloned().collect();
            if below.is_empty() {
                continue;
            }
            let mut made = Vec::new();
            self.add_trees(&below, path.len(), &mut made)?;
            versions.extend(made.pop().and_then(|(_, content)| FolderEntries::of(&content, self.repo.hash().gix())));
        }
        let mut seen = BTreeSet::new();
        for root in roots {
            let there = self.folder_at(root, path);
            if let Some(oid) = there.filter(|oid| seen.insert(oid.clone()) && self.repo.connectivity().holds(oid)) {
                let content = self.repo.trees().read_raw_tree(&oid)?;
                versions.extend(FolderEntries::of(&content, self.repo.hash().gix()));
            }
        }
        Ok(versions)
    }

    fn folder_at(&self, root: &Oid, path: &[u8]) -> Option<Oid> {
        let mut at = root.clone();
        for name in path.split(|byte| *byte == b'/').filter(|name| !name.is_empty()) {
            if !self.repo.connectivity().holds(&at) {
                return None;
            }
            at = self.repo.trees().tree_entry(&at, name).ok()??.oid;
        }
        Some(at)
    }

    /// Writes the index of a worktree without its cached trees, and changes nothing else of it. Returns `false` for an index that
    /// only git writes.
    fn drop_cached_trees(&self, worktree: &Worktree) -> Result<bool> {
        let lock = IndexLock::take_patiently(worktree, "trees")?;
        let place = worktree.index_file();
        let meta = std::fs::symlink_metadata(&place).ok().filter(std::fs::Metadata::is_file);
        let bytes = std::fs::read(&place).ok();
        let Some((meta, bytes)) = meta.zip(bytes) else { return Ok(false) };
        let Some(without) = without_cached_trees(&bytes, self.repo.hash()) else { return Ok(false) };
        lock.install_bytes(&without, &meta)?;
        lock.release().map(|()| true)
    }
}

/// The files of an index that a tree can hold, ordered by path.
fn listed_in(index: &gix::index::File) -> Vec<ListedObject> {
    let plain = |entry: &&gix::index::Entry| !entry.flags.intersects(Flags::STAGE_MASK | Flags::INTENT_TO_ADD);
    let entries = index.entries().iter().filter(plain);
    entries.map(|entry| (entry.path(index).to_vec(), entry.mode.bits(), entry.id)).collect()
}
