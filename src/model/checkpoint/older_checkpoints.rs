//! Which checkpoints are put into the part of the state that is not read at every start, and what is remembered of them so
//! that it need not be read. Pure.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::base::ids::CheckpointName;
use crate::checkpoint::record::CheckpointRecord;
use crate::checkpoint::trigger::CheckpointType;

/// How many of the newest checkpoints stay in memory. Few in debug builds, so that tests with a handful of checkpoints have
/// older ones.
pub const RECENT: usize = if cfg!(debug_assertions) { 4 } else { 64 };

/// What is known of the older checkpoints without reading them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OlderCheckpointSummary {
    /// How many there are.
    pub count: usize,
    /// How many events the log had before the newest of them.
    pub newest: u64,
    /// Their names in lower case, sorted, with a space between them.
    names: String,
    /// What retention has to know.
    pub groups: Vec<RetentionGroup>,
}

/// Checkpoints among which retention does not distinguish, except by age.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RetentionGroup {
    /// What retention goes by.
    pub sort: RetentionClass,
    /// Whether they are checkpoints of known paths, which are counted separately.
    pub of_paths: bool,
    /// The earliest time at which one of them was made.
    pub oldest: Timestamp,
    /// The place of the last of them among all older ones that are counted with it, from the newest, beginning with 1.
    pub last: usize,
}

/// What protects a checkpoint from retention.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RetentionClass {
    /// Its name, if names protect.
    Named,
    /// That an operation after it can be undone, for a time.
    Safety,
    /// Nothing.
    Automatic,
}

impl RetentionClass {
    fn of(record: &CheckpointRecord) -> Self {
        match record.kind {
            CheckpointType::Named => Self::Named,
            CheckpointType::Auto if crate::checkpoint::trigger::is_safety(record.trigger) => Self::Safety,
            CheckpointType::Auto => Self::Automatic,
        }
    }
}

impl OlderCheckpointSummary {
    /// Sums up checkpoints, which are given oldest first.
    pub fn of(records: &[&CheckpointRecord]) -> Self {
        let names: BTreeSet<String> = records.iter().map(|record| record.name.folded()).collect();
        let mut groups: Vec<RetentionGroup> = Vec::new();
        let mut counted = [0, 0];
        for record in records.iter().rev() {
            let (sort, of_paths) = (RetentionClass::of(record), record.only.is_some());
            let place = &mut counted[usize::from(of_paths)];
            *place += 1;
            match groups.iter_mut().find(|group| group.sort == sort && group.of_paths == of_paths) {
                Some(group) => {
                    group.oldest = group.oldest.min(record.created_at);
                    group.last = *place;
                }
                None => groups.push(RetentionGroup { sort, of_paths, oldest: record.created_at, last: *place }),
            }
        }
        let newest = records.iter().map(|record| record.seq).max().unwrap_or(0);
        Self { count: records.len(), newest, names: names.into_iter().collect::<Vec<_>>().join(" "), groups }
    }

    /// Whether one of them has this name, given in lower case.
    pub fn has(&self, folded: &str) -> bool {
        let names = self.names.as_bytes();
        let (mut from, mut to) = (0, names.len());
        while from < to {
            let middle = from.midpoint(to);
            let begin = memchr::memrchr(b' ', &names[from..middle]).map_or(from, |space| from + space + 1);
            let end = memchr::memchr(b' ', &names[begin..to]).map_or(to, |space| begin + space);
            match names[begin..end].cmp(folded.as_bytes()) {
                Ordering::Equal => return true,
                Ordering::Less => from = end + 1,
                Ordering::Greater => to = begin.saturating_sub(1),
            }
        }
        false
    }

    /// Their names in lower case.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.split(' ').filter(|name| !name.is_empty())
    }
}

/// Divides all checkpoints: the names of those that stay in memory, and the others, oldest first. The newest ones stay, and
/// those on which checkpoints of known paths are built. `None` where there are too few for it to be worth while.
pub fn divide<'r>(all: &[&'r CheckpointRecord]) -> Option<(BTreeSet<CheckpointName>, Vec<&'r CheckpointRecord>)> {
    if all.len() <= 2 * RECENT {
        return None;
    }
    let mut by_age = all.to_vec();
    by_age.sort_unstable_by_key(|record| record.age());
    let newest = by_age.split_off(by_age.len() - RECENT);
    let base = crate::checkpoint::record::newest_complete(all.iter().copied());
    let last = base.and_then(|base| crate::checkpoint::record::newest_on(all.iter().copied(), base));
    let stay: BTreeSet<CheckpointName> = newest.into_iter().chain(base).chain(last).map(|record| record.name.clone()).collect();
    by_age.retain(|record| !stay.contains(&record.name));
    Some((stay, by_age))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_taken_as_a_whole_only() {
        let summary = |names: &str| OlderCheckpointSummary { names: names.into(), ..OlderCheckpointSummary::default() };
        let all = ["a-b", "ab", "abc", "b", "b-1", "b1", "c_c", "zz"];
        // However many there are, each is found, and nothing else.
        for count in 0..=all.len() {
            let some = summary(&all[..count].join(" "));
            let asked = all.iter().copied().chain(["a", "bc", "", "b ab", "abcd", "a-b ab", "z", "zzz", " "]);
            assert_eq!(asked.filter(|name| some.has(name)).collect::<Vec<_>>(), all[..count]);
            assert_eq!(some.names().collect::<Vec<_>>(), all[..count]);
        }
    }
}
