//! The tasks of a plan as a tree, for people.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::ids::TaskId;
use crate::work::tasks::task::Task;

/// A line of the tree: its drawing, and the task.
#[derive(Debug, PartialEq, Eq)]
pub struct PlanTreeLine<'a> {
    /// The lines that lead to it.
    pub drawn: String,
    /// The task.
    pub task: &'a Task,
}

/// The tree of tasks, each below the one that it is a part of, in the order in which they were given. Tasks whose parent is not
/// among them are at the top, and so is what would be part of itself.
pub fn tree(tasks: &[Task]) -> Vec<PlanTreeLine<'_>> {
    let ids: BTreeSet<&TaskId> = tasks.iter().map(|task| &task.id).collect();
    let mut parts: BTreeMap<&TaskId, Vec<&Task>> = BTreeMap::new();
    for task in tasks {
        if let Some(parent) = task.parent.as_ref().filter(|id| ids.contains(id)) {
            parts.entry(parent).or_default().push(task);
        }
    }
    let tops = tasks.iter().filter(|task| task.parent.as_ref().is_none_or(|id| !ids.contains(id)));
    let mut lines = Vec::with_capacity(tasks.len());
    let mut seen = BTreeSet::new();
    for top in tops.chain(tasks) {
        grow(top, &parts, &mut seen, &mut lines);
    }
    lines
}

fn grow<'a>(
    top: &'a Task,
    parts: &BTreeMap<&TaskId, Vec<&'a Task>>,
    seen: &mut BTreeSet<&'a TaskId>,
    lines: &mut Vec<PlanTreeLine<'a>>,
) {
    // A stack, not a recursion: a chain may be as long as the plan.
    let mut ahead = vec![(String::new(), String::new(), top)];
    while let Some((drawn, below, task)) = ahead.pop() {
        if !seen.insert(&task.id) {
            continue;
        }
        lines.push(PlanTreeLine { drawn, task });
        let own = parts.get(&task.id).map(Vec::as_slice).unwrap_or_default();
        for (place, part) in own.iter().enumerate().rev() {
            let is_last = place + 1 == own.len();
            let (line, rest) = if is_last { ("└── ", "    ") } else { ("├── ", "│   ") };
            ahead.push((format!("{below}{line}"), format!("{below}{rest}"), part));
        }
    }
}
