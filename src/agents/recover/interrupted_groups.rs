//! The goals and groups of tasks that a crash cut off: how far each part is, and what it waits for. Looking changes nothing.

use std::collections::BTreeSet;

use serde::Serialize;

use axiom_model::base::ids::TaskId;
use axiom_model::queries::displayed_status::DisplayedTaskStatus;
use axiom_model::queries::groups::TaskGroupTree;
use axiom_model::state::current_state::State;
use axiom_model::work::tasks::task::{Task, TaskKind, TaskStatus};

/// A goal or a group of which a crash cut tasks off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InterruptedGroup {
    /// The group.
    pub task_id: TaskId,
    /// What it is a part of; null for the goal.
    pub parent: Option<TaskId>,
    /// How deep it is in the tree: 0 for the goal.
    #[serde(skip)]
    pub depth: usize,
    /// Its title.
    pub title: String,
    /// Its status, as shown.
    pub status: DisplayedTaskStatus,
    /// How far it is, in percent.
    pub progress: u8,
    /// What it, or all of its tasks that are left, still wait for outside of it.
    pub waits_for: Vec<TaskId>,
    /// Its own tasks, where a crash cut one of them off.
    pub parts: Vec<InterruptedGroupTask>,
}

/// A task of such a group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InterruptedGroupTask {
    /// The task.
    pub task_id: TaskId,
    /// Its title.
    pub title: String,
    /// Its status, as shown.
    pub status: &'static str,
    /// How far it is, in percent.
    pub progress: u8,
    /// What it still waits for.
    pub waits_for: Vec<TaskId>,
    /// What it had to wait for and what is there.
    pub resolved: Vec<TaskId>,
}

/// The goals of these tasks with all groups in them, each before its parts, in the order of the tasks.
pub fn groups_of(state: &State, cut_off: &[&TaskId]) -> Vec<InterruptedGroup> {
    groups_around(state, cut_off, cut_off)
}

/// As [`groups_of`], around some of the tasks that were cut off.
pub fn groups_around(state: &State, tasks: &[&TaskId], cut_off: &[&TaskId]) -> Vec<InterruptedGroup> {
    let tree = TaskGroupTree::of(state);
    let above = |task: &TaskId| -> Vec<&Task> {
        state.restorable.tasks.get(task).into_iter().flat_map(|case| state.restorable.groups_around(case)).collect()
    };
    let is_hit: BTreeSet<&TaskId> = cut_off.iter().flat_map(|task| above(task)).map(|case| &case.id).collect();
    let mut seen = BTreeSet::new();
    let goals = tasks.iter().filter_map(|task| above(task).pop()).filter(|goal| seen.insert(&goal.id));
    let mut groups = Vec::new();
    for goal in goals {
        // The first is always the next: nested groups may be deeper than a stack is.
        let mut open = vec![(goal, 0)];
        while let Some((group, depth)) = open.pop() {
            groups.push(one_group(&tree, (group, depth), (tasks, cut_off), is_hit.contains(&group.id)));
            let within =
                tree.parts(&group.id).iter().filter(|part| part.kind != TaskKind::Task && part.status != TaskStatus::Archived);
            open.extend(within.rev().map(|part| (*part, depth + 1)));
        }
    }
    groups
}

fn one_group<'a>(
    tree: &TaskGroupTree<'a>,
    (group, depth): (&'a Task, usize),
    (wanted, cut_off): (&[&TaskId], &[&TaskId]),
    is_hit: bool,
) -> InterruptedGroup {
    let tasks: Vec<&'a Task> = tree.parts(&group.id).iter().copied().filter(|task| task.kind == TaskKind::Task).collect();
    let tasks: Vec<&'a Task> = tasks.into_iter().filter(|task| task.status != TaskStatus::Archived).collect();
    let of_it = tasks.iter().any(|task| wanted.contains(&&task.id));
    InterruptedGroup {
        task_id: group.id.clone(),
        parent: group.parent.clone(),
        depth,
        title: group.title.clone(),
        status: if is_hit { DisplayedTaskStatus::Interrupted } else { DisplayedTaskStatus::of(tree, group) },
        progress: tree.progress(group),
        waits_for: group_waits_for(tree, group, &tasks),
        parts: if of_it { tasks.into_iter().map(|task| one(tree, task, cut_off)).collect() } else { Vec::new() },
    }
}

/// What a group waits for: what it comes after itself, or what keeps all of its tasks that are left from beginning.
fn group_waits_for<'a>(tree: &TaskGroupTree<'a>, group: &'a Task, tasks: &[&'a Task]) -> Vec<TaskId> {
    let own: BTreeSet<&TaskId> = tree.waits_for(group).collect();
    let within: BTreeSet<&TaskId> = tasks.iter().map(|task| &task.id).collect();
    let left = tasks.iter().filter(|task| task.status == TaskStatus::Pending);
    let all: Vec<BTreeSet<&TaskId>> = left.map(|task| tree.waits_for(task).filter(|id| !within.contains(id)).collect()).collect();
    let has_more = tasks.iter().any(|task| task.status == TaskStatus::Active);
    let of_tasks =
        if has_more || all.iter().any(BTreeSet::is_empty) { BTreeSet::new() } else { all.into_iter().flatten().collect() };
    own.union(&of_tasks).map(|id| (*id).clone()).collect()
}

fn one<'a>(tree: &TaskGroupTree<'a>, task: &'a Task, cut_off: &[&TaskId]) -> InterruptedGroupTask {
    let waits_for: Vec<TaskId> = tree.waits_for(task).cloned().collect();
    let status = if cut_off.contains(&&task.id) { DisplayedTaskStatus::Interrupted } else { DisplayedTaskStatus::of(tree, task) };
    InterruptedGroupTask {
        task_id: task.id.clone(),
        title: task.title.clone(),
        status: status.as_str(),
        progress: tree.progress(task),
        resolved: task.after.iter().filter(|id| !waits_for.contains(id)).cloned().collect(),
        waits_for,
    }
}
