//! Which paths of captures have contents of some kind. What many captures share is looked at once.

use std::collections::{BTreeSet, HashMap};

use super::extras::CaptureExtras;
use crate::base::modes::{GITLINK, TREE};
use crate::repo::handles::CaptureRewrites;
use axiom_base::error::{Code, Result};
use axiom_model::base::names::{Oid, RepoPath};

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

impl CaptureRewrites<'_> {
    /// The paths of a capture, staged ones too, whose content is what is looked for.
    pub fn paths_holding(&self, capture: &Oid, search: &mut ContentSearch<'_>) -> Result<BTreeSet<RepoPath>> {
        let objects = self.repo.objects();
        let commit = objects.read_commit(capture)?;
        let mut found: BTreeSet<RepoPath> = self.below(&commit.tree, search)?.into_iter().collect();
        let Some(index) = commit.parents.get(1) else { return Ok(found) };
        let index = objects.read_commit(index)?;
        found.extend(self.below(&index.tree, search)?);
        let extras = match CaptureExtras::of_capture(self.repo, capture) {
            Ok(extras) => extras,
            // What is damaged there names nothing.
            Err(error) if error.code() == Code::CheckpointDamaged => return Ok(found),
            Err(error) => return Err(error),
        };
        let raw = extras.raw.into_iter().map(|raw| (raw.path, raw.oid));
        let stages = extras.index.unmerged.into_iter().map(|stage| (stage.path, stage.oid));
        for (path, oid) in raw.chain(stages) {
            if self.has_it(&oid, search)? {
                found.insert(path);
            }
        }
        Ok(found)
    }

    fn below(&self, tree: &Oid, search: &mut ContentSearch<'_>) -> Result<Vec<RepoPath>> {
        if let Some(known) = search.trees.get(tree) {
            return Ok(known.clone());
        }
        let mut found = Vec::new();
        for entry in self.repo.trees().read_tree(tree)? {
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
        let content = if self.repo.forgotten().is_blob(oid) { Some(objects.read_blob(oid, LARGEST)) } else { None };
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
