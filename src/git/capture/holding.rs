//! Which paths of captures have contents of some kind. What many captures share is looked at once.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::extras::{CaptureExtras, LIST};
use crate::domain::base::names::{Oid, RepoPath};
use crate::error::{Code, Result};
use crate::git::checkpoint::limits;
use crate::git::objects::database::{GITLINK, TREE};
use crate::git::repo::handles::Captures;

/// The largest content that is looked through.
const LARGEST: u64 = 64 * 1024 * 1024;

/// What was looked at.
pub struct ContentSearch<'s> {
    has_it: &'s dyn Fn(&[u8]) -> bool,
    trees: HashMap<Oid, Vec<RepoPath>>,
    contents: HashMap<Oid, bool>,
    /// Contents that are too large to be looked through.
    pub too_large: BTreeSet<Oid>,
}

impl std::fmt::Debug for ContentSearch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ContentSearch").field("contents", &self.contents.len()).finish_non_exhaustive()
    }
}

impl<'s> ContentSearch<'s> {
    /// A search for contents that `has_it` says yes to.
    pub fn new(has_it: &'s dyn Fn(&[u8]) -> bool) -> Self {
        Self { has_it, trees: HashMap::new(), contents: HashMap::new(), too_large: BTreeSet::new() }
    }
}

impl Captures<'_> {
    /// The paths of a capture, staged ones too, whose content is what is looked for.
    ///
    /// # Errors
    /// `CHECKPOINT_DAMAGED`, `GIT_FAILED`.
    pub fn paths_holding(&self, capture: &Oid, search: &mut ContentSearch<'_>) -> Result<BTreeSet<RepoPath>> {
        let objects = self.repo.objects();
        let commit = objects.read_commit(capture)?;
        let mut found: BTreeSet<RepoPath> = self.below(&commit.tree, search)?.into_iter().collect();
        let Some(index) = commit.parents.get(1) else { return Ok(found) };
        let index = objects.read_commit(index)?;
        found.extend(self.below(&index.tree, search)?);
        for parent in index.parents.iter().skip(1) {
            let entries = objects.read_tree(&objects.read_commit(parent)?.tree)?;
            let Some(list) = entries.iter().find(|entry| entry.name == LIST) else { continue };
            let json = objects.read_blob(&list.oid, limits::EXTRAS)?;
            let Ok(extras) = serde_json::from_slice::<CaptureExtras>(&json) else { continue };
            let mut all: BTreeMap<&RepoPath, Vec<&Oid>> = BTreeMap::new();
            extras.raw.iter().for_each(|raw| all.entry(&raw.path).or_default().push(&raw.oid));
            extras.index.unmerged.iter().for_each(|stage| all.entry(&stage.path).or_default().push(&stage.oid));
            for (path, contents) in all {
                for oid in contents {
                    if self.has_it(oid, search)? {
                        found.insert(path.clone());
                    }
                }
            }
        }
        Ok(found)
    }

    fn below(&self, tree: &Oid, search: &mut ContentSearch<'_>) -> Result<Vec<RepoPath>> {
        if let Some(known) = search.trees.get(tree) {
            return Ok(known.clone());
        }
        let mut found = Vec::new();
        for entry in self.repo.objects().read_tree(tree)? {
            match entry.mode {
                TREE => {
                    let paths = self.below(&entry.oid, search)?;
                    found.extend(paths.iter().map(|path| RepoPath::new([&entry.name[..], b"/", path.as_bytes()].concat())));
                }
                GITLINK => {}
                _ if self.has_it(&entry.oid, search)? => found.push(RepoPath::new(entry.name)),
                _ => {}
            }
        }
        search.trees.insert(tree.clone(), found.clone());
        Ok(found)
    }

    fn has_it(&self, oid: &Oid, search: &mut ContentSearch<'_>) -> Result<bool> {
        if let Some(known) = search.contents.get(oid) {
            return Ok(*known);
        }
        let objects = self.repo.objects();
        // What a partial clone has not fetched is nowhere here, and is not fetched to be looked at.
        let content = if objects.is_blob(oid) { Some(objects.read_blob(oid, LARGEST)) } else { None };
        let has_it = match content {
            None => false,
            Some(Ok(bytes)) => (search.has_it)(&bytes),
            Some(Err(error)) if error.code() == Code::TooLarge => {
                search.too_large.insert(oid.clone());
                false
            }
            Some(Err(error)) => return Err(error),
        };
        search.contents.insert(oid.clone(), has_it);
        Ok(has_it)
    }
}
