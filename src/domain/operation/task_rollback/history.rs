//! The history of a branch, as a graph.

use std::collections::{BTreeSet, HashMap};

use super::Logged;
use crate::domain::base::names::Oid;

/// Commits by their place in the log: 0 is the newest.
#[derive(Debug)]
pub(super) struct History<'l> {
    pub log: &'l [Logged],
    places: HashMap<&'l Oid, usize>,
    chain: Vec<usize>,
    /// By link of the chain: what it took in, newest first.
    brought: HashMap<usize, Vec<usize>>,
    /// The link of the chain that took a commit in; the commit itself where it is one.
    came_by: Vec<usize>,
    /// By commit: those that say they revert it, newest first.
    reverters: HashMap<usize, Vec<usize>>,
    /// By revert: what it undoes or does again in the end, through reverts of reverts.
    roots: HashMap<usize, usize>,
}

impl<'l> History<'l> {
    pub fn new(log: &'l [Logged]) -> Self {
        let places: HashMap<&Oid, usize> = log.iter().enumerate().map(|(place, commit)| (&commit.oid, place)).collect();
        let mut reverters: HashMap<usize, Vec<usize>> = HashMap::new();
        for (place, commit) in log.iter().enumerate() {
            // Only what is older can have been reverted.
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

    /// Says of every commit by which link of the chain it came in: the oldest that reaches it.
    fn attribute(&mut self) {
        for &link in &self.chain {
            self.came_by[link] = link;
        }
        for &link in self.chain.iter().rev() {
            // Where the log is a part of the history, the first parent may be missing.
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

    /// The link of the chain by which a commit came in: itself where it is one.
    pub fn link(&self, place: usize) -> Option<usize> {
        self.came_by.get(place).copied().filter(|link| *link != usize::MAX)
    }

    /// What a link of the chain took in, newest first.
    pub fn brought(&self, link: usize) -> &[usize] {
        self.brought.get(&link).map_or(&[], Vec::as_slice)
    }

    /// The commit that a commit undoes or does again in the end, through reverts of reverts; `None` where it is no revert of
    /// anything in this history.
    pub fn reverts_of(&self, place: usize) -> Option<usize> {
        self.roots.get(&place).copied()
    }

    /// The commit that keeps this one from having an effect: one that reverts it, or reverts the merge that it came by, and
    /// was not reverted in turn. `planned` are the commits that are about to be reverted.
    pub fn reverted_by(&self, place: usize, planned: &BTreeSet<usize>) -> Option<usize> {
        // A revert, and the merge by which something came in, are newer than the thing itself. So, newest first, each answer
        // is known before it is asked for: no recursion, however long the row.
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

    /// The merge of the chain by which a commit came in; `None` for a link of the chain itself.
    fn link_of(&self, place: usize) -> Option<usize> {
        let link = self.came_by[place];
        (link != place && link != usize::MAX).then_some(link)
    }
}
