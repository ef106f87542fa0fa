//! The groups with tasks that a crash cut off: how far each part is, and what it waits for. Looking changes nothing.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::domain::base::ids::CaseId;
use crate::domain::state::whole::State;
use crate::domain::work::case::{Case, Kind, Status};
use crate::domain::work::groups::Groups;
use crate::domain::work::view::Shown;

/// A group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CutGroup {
    /// The group.
    pub task_id: CaseId,
    /// Its title.
    pub title: String,
    /// How far it is, in percent.
    pub progress: u8,
    /// Its tasks.
    pub parts: Vec<CutPart>,
}

/// A task of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CutPart {
    /// The task.
    pub task_id: CaseId,
    /// Its title.
    pub title: String,
    /// Its status, as shown.
    pub status: &'static str,
    /// How far it is, in percent.
    pub progress: u8,
    /// What it still waits for.
    pub waits_for: Vec<CaseId>,
    /// What it had to wait for and what is there.
    pub resolved: Vec<CaseId>,
}

/// The groups of these tasks, in the order of the tasks.
pub fn groups_of(state: &State, cut_off: &[&CaseId]) -> Vec<CutGroup> {
    let cases = &state.restorable.cases;
    let tree = Groups::of(state);
    let mut seen = BTreeSet::new();
    let parents = cut_off.iter().filter_map(|task| cases.get(*task)?.parent.as_ref());
    let groups = parents.filter(|parent| seen.insert(*parent)).filter_map(|parent| cases.get(parent));
    let part = |case: &&Case| case.kind == Kind::Task && case.status != Status::Archived;
    groups
        .map(|group| CutGroup {
            task_id: group.id.clone(),
            title: group.title.clone(),
            progress: tree.progress(group),
            parts: tree.parts(&group.id).iter().copied().filter(part).map(|case| one(&tree, case, cut_off)).collect(),
        })
        .collect()
}

fn one<'a>(tree: &Groups<'a>, case: &'a Case, cut_off: &[&CaseId]) -> CutPart {
    let waits_for: Vec<CaseId> = tree.waits_for(case).cloned().collect();
    let status = if cut_off.contains(&&case.id) { Shown::Interrupted } else { Shown::of(tree, case) };
    CutPart {
        task_id: case.id.clone(),
        title: case.title.clone(),
        status: status.as_str(),
        progress: tree.progress(case),
        resolved: case.after.iter().filter(|id| !waits_for.contains(id)).cloned().collect(),
        waits_for,
    }
}
