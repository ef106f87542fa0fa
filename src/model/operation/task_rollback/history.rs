//! The history of a branch as a graph: its first-parent chain, what each merge brought in, and which commits revert which.

use std::collections::{BTreeSet, HashMap};

use super::HistoryCommit;
use crate::base::names::Oid;

/// Commits by their place in the log: 0 is the newest.
#[derive(Debug)]
pub(super) struct BranchHistory<'l> {
    pub log: &'l [HistoryCommit],
    places: HashMap<&'l Oid, usize>,
    chain: Vec<usize>,
    /// By link of the chain: the commits it brought in, newest first.
    brought: HashMap<usize, Vec<usize>>,
    /// By commit: the link of the chain that brought it in; for a link, the link itself.
    came_by: Vec<usize>,
    /// By commit: the commits that are marked as reverting it, newest first.
    reverters: HashMap<usize, Vec<usize>>,
    /// By revert: the commit that it undoes or does again in the end, through reverts of reverts.
    roots: HashMap<usize, usize>,
}

impl<'l> BranchHistory<'l> {
    pub fn new(log: &'l [HistoryCommit]) -> Self {
        let places: HashMap<&Oid, usize> = log.iter().enumerate().map(|(place, commit)| (&commit.oid, place)).collect();
        let mut reverters: HashMap<usize, Vec<usize>> = HashMap::new();
        for (place, commit) in log.iter().enumerate() {
            // A commit can only revert older ones.
            for reverted in commit.marks.reverts.iter().filter_map(|oid| places.get(oid)).filter(|older| **older > place) {
                reverters.entry(*reverted).or_default().push(place);
            }
        }
        let mut roots: HashMap<usize, usize> = HashMap::new();
        for (place, commit) in log.iter().enumerate().rev().filter(|(_, commit)| !commit.marks.reverts.is_empty()) {
            let known = commit.marks.reverts.iter().filter_map(|oid| places.get(oid)).copied();
            if let Some(older) = known.filter(|older| *older > place).max() {
                roots.insert(place, roots.get(&older).copied().unwrap_or(older));
            }
        }
        let parent = |place: &usize| log[*place].parents.first().and_then(|oid| places.get(oid)).copied();
        let chain: Vec<usize> = std::iter::successors((!log.is_empty()).then_some(0), parent).collect();
        let came_by = vec![usize::MAX; log.len()];
        let mut history = Self { log, places, chain, brought: HashMap::new(), came_by, reverters, roots };
        history.attribute();
        history
    }

    /// Sets for every commit the link of the chain that brought it in: the oldest link that reaches it.
    fn attribute(&mut self) {
        for &link in &self.chain {
            self.came_by[link] = link;
        }
        for &link in self.chain.iter().rev() {
            // In a part of a history, parents may be missing.
            let others = self.log[link].parents.iter().skip(1);
            let mut open: Vec<usize> = others.filter_map(|oid| self.places.get(oid)).copied().collect();
            let mut brought = Vec::new();
            while let Some(place) = open.pop() {
                if self.came_by[place] == usize::MAX {
                    self.came_by[place] = link;
                    brought.push(place);
                    open.extend(self.parents(place));
                }
            }
            if !brought.is_empty() {
                brought.sort_unstable();
                self.brought.insert(link, brought);
            }
        }
    }

    fn parents(&self, place: usize) -> impl Iterator<Item = usize> {
        self.log[place].parents.iter().filter_map(|oid| self.places.get(oid)).copied()
    }

    /// The first-parent chain, newest first.
    pub fn chain(&self) -> &[usize] {
        &self.chain
    }

    pub fn first_parent(&self, place: usize) -> Option<usize> {
        self.log[place].parents.first().and_then(|oid| self.places.get(oid)).copied()
    }

    pub fn is_merge(&self, place: usize) -> bool {
        self.log[place].parents.len() > 1
    }

    /// The link of the chain that brought a commit in; for a link, the link itself.
    pub fn link(&self, place: usize) -> Option<usize> {
        self.came_by.get(place).copied().filter(|link| *link != usize::MAX)
    }

    /// The commits that a link of the chain brought in, newest first.
    pub fn brought(&self, link: usize) -> &[usize] {
        self.brought.get(&link).map_or(&[], Vec::as_slice)
    }

    /// The commit that a commit undoes or does again in the end, through reverts of reverts; `None` where it reverts nothing
    /// in this history.
    pub fn reverts_of(&self, place: usize) -> Option<usize> {
        self.roots.get(&place).copied()
    }

    /// The commit because of which this one has no effect: one that reverts it, or reverts the merge that brought it in, and
    /// is not reverted itself. `planned` are the commits that are about to be reverted.
    pub fn reverted_by(&self, place: usize, planned: &BTreeSet<usize>) -> Option<usize> {
        // A revert of a commit, and the merge that brought it in, are newer than the commit. Newest first, each answer is
        // known before it is needed, so no recursion is needed, however long the chain of reverts.
        let mut open = vec![place];
        let mut concerned: BTreeSet<usize> = BTreeSet::new();
        while let Some(place) = open.pop() {
            if concerned.insert(place) {
                open.extend(self.reverters.get(&place).into_iter().flatten());
                open.extend(self.link_of(place));
            }
        }
        let mut against: HashMap<usize, usize> = HashMap::new();
        for &place in &concerned {
            let link = self.link_of(place);
            let by_link = link.and_then(|link| against.get(&link).copied());
            let gone = |by: &usize| {
                let link = self.link_of(*by).is_some_and(|link| planned.contains(&link));
                against.contains_key(by) || planned.contains(by) || link
            };
            let reverter = self.reverters.get(&place).into_iter().flatten().copied().find(|by| !gone(by));
            if let Some(by) = reverter.or(by_link) {
                against.insert(place, by);
            }
        }
        against.get(&place).copied()
    }

    /// The merge of the chain that brought a commit in; `None` for a link of the chain itself.
    fn link_of(&self, place: usize) -> Option<usize> {
        let link = self.came_by[place];
        (link != place && link != usize::MAX).then_some(link)
    }
}
