//! How far back each task's commits are, so that older history need not be read again. Pure.
//!
//! The commits of the first-parent chain are the links, counted from the beginning of history. The height of a commit is the
//! number of the link that brought it in. No commit reachable from a lower link belongs to the task.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::HistoryCommit;
use super::history::BranchHistory;
use crate::base::names::Oid;

/// The heights of a history.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct HistoryHeights {
    /// How many commits the first-parent chain has.
    pub whole: u64,
    /// By task, in lower case: the lowest link, counted from 1, that brought in a commit that names the task.
    pub lowest: BTreeMap<String, u64>,
}

impl HistoryHeights {
    /// Adds the heights of the commits on top of these.
    #[must_use]
    pub fn with(mut self, above: Self) -> Self {
        for (task, height) in above.lowest {
            self.lowest.entry(task).or_insert(self.whole + height);
        }
        self.whole += above.whole;
        self
    }
}

/// The heights of a log, newest first, every commit before its parents. For a part of a history, they are counted from the
/// beginning of that part.
pub fn heights(log: &[HistoryCommit]) -> HistoryHeights {
    let history = BranchHistory::new(log);
    let whole = history.chain().len() as u64;
    let mut height_of = vec![0; log.len()];
    for (steps, link) in history.chain().iter().enumerate() {
        height_of[*link] = whole - steps as u64;
    }
    let mut lowest: BTreeMap<String, u64> = BTreeMap::new();
    for (place, commit) in log.iter().enumerate().filter(|(_, commit)| !commit.marks.tasks.is_empty()) {
        let height = history.link(place).map_or(1, |link| height_of[link].max(1));
        for task in &commit.marks.tasks {
            let known = lowest.entry(task.to_ascii_lowercase()).or_insert(height);
            *known = height.min(*known);
        }
    }
    HistoryHeights { whole, lowest }
}

/// The commit below the first-parent chain of a partial log; `None` for a whole history or an empty log.
pub fn line_begins_at(log: &[HistoryCommit]) -> Option<&Oid> {
    let history = BranchHistory::new(log);
    let last = history.chain().last()?;
    log[*last].parents.first()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::tasks::commit_marks;

    fn oid(number: u64) -> Oid {
        Oid::new(format!("{number:040x}")).unwrap()
    }

    fn commit(number: u64, parents: &[u64], message: &str) -> HistoryCommit {
        let marks = commit_marks::read(message);
        HistoryCommit { oid: oid(number), parents: parents.iter().map(|one| oid(*one)).collect(), subject: message.into(), marks }
    }

    #[test]
    fn heights_are_counted_by_the_link_by_which_a_commit_came_in_and_go_on() {
        // 1 - 2 - 5(merge of 3, 4) - 6
        let log = [
            commit(6, &[5], "x #T1 @ed-001"),
            commit(5, &[2, 4], "merge"),
            commit(4, &[3], "y #t2 @ed-001"),
            commit(3, &[1], "y"),
            commit(2, &[1], "z #t3 @ed-001"),
            commit(1, &[], "first"),
        ];
        let whole = heights(&log);
        assert_eq!(whole.whole, 4);
        let lowest: Vec<(&str, u64)> = whole.lowest.iter().map(|(task, height)| (task.as_str(), *height)).collect();
        assert_eq!(lowest, [("t1", 4), ("t2", 3), ("t3", 2)]);
        assert_eq!(line_begins_at(&log), None);
        // In two parts it comes to the same.
        let below = heights(&log[4..]);
        assert_eq!(line_begins_at(&log[..4]), Some(&oid(2)));
        assert_eq!(below.with(heights(&log[..4])), whole);
    }
}
