//! What depends on a case's place in the tree of groups: its parts, what it waits for, its progress. The tree is read in one
//! pass. Valid for one state. Whether the tree is sound is checked in `graph`.

use std::collections::HashMap;

use super::case::{Case, Kind, Status};
use crate::domain::base::ids::CaseId;
use crate::domain::state::whole::State;

/// The tree of groups of one state.
#[derive(Debug)]
pub struct Groups<'a> {
    state: &'a State,
    parts: HashMap<&'a CaseId, Vec<&'a Case>>,
    /// What agents report of their tasks.
    reported: HashMap<&'a CaseId, u8>,
    /// Of each group: whether all of it is merged or settled, and its progress.
    groups: HashMap<&'a CaseId, (bool, u8)>,
}

impl<'a> Groups<'a> {
    /// Reads the tree.
    pub fn of(state: &'a State) -> Self {
        let cases = &state.restorable.cases;
        let mut parts: HashMap<&CaseId, Vec<&Case>> = HashMap::new();
        let mut topmost_first = Vec::new();
        for case in cases.values() {
            match case.parent.as_ref().filter(|parent| cases.contains_key(*parent)) {
                Some(parent) => parts.entry(parent).or_default().push(case),
                None => topmost_first.push(case),
            }
        }
        let reports = state.busy_agents().filter_map(|agent| agent.work.as_ref());
        let reported = reports.filter_map(|work| Some((&work.task, work.progress?))).collect();
        let mut tree = Self { state, parts, reported, groups: HashMap::new() };
        // Nested groups may be deeper than a stack is.
        let mut at = 0;
        while let Some(case) = topmost_first.get(at) {
            topmost_first.extend(tree.parts(&case.id));
            at += 1;
        }
        for group in topmost_first.into_iter().rev().filter(|case| case.kind != Kind::Task) {
            let answer = tree.answer(group);
            tree.groups.insert(&group.id, answer);
        }
        tree
    }

    /// The state that was read.
    pub fn state(&self) -> &'a State {
        self.state
    }

    /// From the answers of its parts.
    fn answer(&self, group: &Case) -> (bool, u8) {
        let parts = self.parts(&group.id);
        let sum: usize = parts.iter().map(|part| usize::from(self.progress(part))).sum();
        let mean = sum.checked_div(parts.len()).and_then(|mean| u8::try_from(mean).ok()).unwrap_or(0);
        (parts.iter().all(|part| self.is_in_target(&part.id)), mean)
    }

    /// The direct parts of a group.
    pub fn parts(&self, id: &CaseId) -> &[&'a Case] {
        self.parts.get(id).map_or(&[], Vec::as_slice)
    }

    /// The cases that `case` still waits for: its own dependencies and those of its groups that are not merged yet.
    pub fn waits_for(&self, case: &'a Case) -> impl Iterator<Item = &'a CaseId> {
        let cases = &self.state.restorable.cases;
        let up = move |case: &&'a Case| case.parent.as_ref().and_then(|parent| cases.get(parent));
        // Parents form no cycle: adding and changing cases checks that.
        std::iter::successors(Some(case), up).flat_map(|case| &case.after).filter(|id| !self.is_in_target(id))
    }

    /// Whether all dependencies of `case` are merged (or, for groups, settled).
    pub fn dependencies_met(&self, case: &'a Case) -> bool {
        self.waits_for(case).next().is_none()
    }

    fn is_in_target(&self, id: &CaseId) -> bool {
        let Some(case) = self.state.restorable.cases.get(id) else { return false };
        case.is_settled() || self.groups.get(id).is_some_and(|(is_in_target, _)| *is_in_target)
    }

    /// Progress in percent: of a task, as its agent reports it; of a group, the mean of its parts.
    pub fn progress(&self, case: &Case) -> u8 {
        match case.kind {
            _ if case.is_settled() || case.status == Status::Done => 100,
            Kind::Task => self.reported.get(&case.id).copied().unwrap_or(0),
            Kind::Operation | Kind::Directive => self.groups.get(&case.id).map_or(0, |(_, progress)| *progress),
        }
    }
}
