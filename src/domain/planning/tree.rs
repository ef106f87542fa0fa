//! The cases of a plan as a tree, for people.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::base::ids::TaskId;
use crate::domain::work::task::Task;

/// A line of the tree: its drawing, and the case.
#[derive(Debug, PartialEq, Eq)]
pub struct PlanTreeLine<'a> {
    /// The lines that lead to it.
    pub drawn: String,
    /// The case.
    pub case: &'a Task,
}

/// The tree of cases, each below the one that it is a part of, in the order in which they were given. Cases whose parent is not
/// among them are at the top, and so is what would be part of itself.
pub fn tree(cases: &[Task]) -> Vec<PlanTreeLine<'_>> {
    let ids: BTreeSet<&TaskId> = cases.iter().map(|case| &case.id).collect();
    let mut parts: BTreeMap<&TaskId, Vec<&Task>> = BTreeMap::new();
    for case in cases {
        if let Some(parent) = case.parent.as_ref().filter(|id| ids.contains(id)) {
            parts.entry(parent).or_default().push(case);
        }
    }
    let tops = cases.iter().filter(|case| case.parent.as_ref().is_none_or(|id| !ids.contains(id)));
    let mut lines = Vec::with_capacity(cases.len());
    let mut seen = BTreeSet::new();
    for top in tops.chain(cases) {
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
    while let Some((drawn, below, case)) = ahead.pop() {
        if !seen.insert(&case.id) {
            continue;
        }
        lines.push(PlanTreeLine { drawn, case });
        let own = parts.get(&case.id).map(Vec::as_slice).unwrap_or_default();
        for (place, part) in own.iter().enumerate().rev() {
            let is_last = place + 1 == own.len();
            let (line, rest) = if is_last { ("└── ", "    ") } else { ("├── ", "│   ") };
            ahead.push((format!("{below}{line}"), format!("{below}{rest}"), part));
        }
    }
}
