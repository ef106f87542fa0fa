//! The local refs of a repository: which of them a checkpoint holds, how they are stored as text, and how they have changed
//! since. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Bound, Range};

use serde::{Deserialize, Serialize};

use crate::base::names::{Oid, RefName};
use crate::base::own_names;

/// How many tips one commit keeps alive at most.
pub const BUCKET: usize = 500;

/// The ref of the stash. Its entries are in its reflog.
pub const STASH: &str = "refs/stash";

/// Folders of refs that no checkpoint holds: git axiom's own, remote-tracking ones, and those of a bisect or rebase in
/// progress.
pub const LEFT_OUT: &[&str] = &[
    own_names::REFS,
    own_names::TAGS,
    own_names::BRANCHES,
    "refs/remotes/",
    "refs/prefetch/",
    "refs/bisect/",
    "refs/rewritten/",
];

/// Whether every checkpoint holds a ref, or the refs below a folder that ends in `/`. The ref of the stash is not held as a
/// ref: its entries are.
pub fn is_held(name: &str) -> bool {
    name != own_names::NOTES && name != STASH && !LEFT_OUT.iter().any(|folder| name.starts_with(folder))
}

/// An entry of the stash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StashEntry {
    /// Its commit.
    pub id: Oid,
    /// Its message in the reflog; empty where no log has the entry.
    pub message: String,
}

impl StashEntry {
    /// Whether only the ref names it: it was stored without a log, or the log is gone.
    pub fn is_unlogged(&self) -> bool {
        self.message.is_empty()
    }
}

/// The local refs at one moment. Refs of one linked worktree have git's names for them: `worktrees/<name>/refs/worktree/…`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LocalRefSnapshot {
    /// Refs to an object.
    pub refs: BTreeMap<RefName, Oid>,
    /// Symbolic refs.
    pub links: BTreeMap<RefName, RefName>,
    /// The stash, newest first.
    pub stash: Vec<StashEntry>,
}

/// How local refs have changed since a checkpoint.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LocalRefChanges {
    /// Deleted refs, with their old values.
    pub gone: Vec<(RefName, Oid)>,
    /// Deleted refs that cannot be made again, because the second ref blocks the name.
    pub blocked: Vec<(RefName, RefName)>,
    /// Refs that moved: the old value and the new one.
    pub moved: Vec<(RefName, Oid, Oid)>,
    /// Symbolic refs that were deleted or changed, with their old targets.
    pub links: Vec<(RefName, RefName)>,
    /// Entries that were dropped from the stash, newest first.
    pub stash: Vec<StashEntry>,
}

impl LocalRefSnapshot {
    /// How these refs have changed, given the current ones. Refs that were created since are left alone and not listed.
    pub fn since(&self, now: &Self) -> LocalRefChanges {
        let mut since = LocalRefChanges::default();
        let taken: BTreeSet<&str> = now.refs.keys().chain(now.links.keys()).map(RefName::as_str).collect();
        for (name, then) in &self.refs {
            match now.refs.get(name) {
                Some(oid) if oid == then => {}
                Some(oid) => since.moved.push((name.clone(), then.clone(), oid.clone())),
                None if now.links.contains_key(name) => since.blocked.push((name.clone(), name.clone())),
                None => match in_the_way(name.as_str(), &taken) {
                    Some(other) => since.blocked.push((name.clone(), RefName::new(other))),
                    None => since.gone.push((name.clone(), then.clone())),
                },
            }
        }
        let links = self.links.iter().filter(|(name, target)| now.links.get(*name) != Some(*target));
        since.links = links.map(|(name, target)| (name.clone(), target.clone())).collect();
        let there: BTreeSet<&Oid> = now.stash.iter().map(|entry| &entry.id).collect();
        let mut seen = BTreeSet::new();
        let lost = self.stash.iter().filter(|entry| !there.contains(&entry.id) && seen.insert(&entry.id));
        since.stash = lost.cloned().collect();
        since
    }
}

/// The existing ref that blocks a name: git does not allow `a` and `a/b` at the same time.
fn in_the_way<'n>(name: &str, taken: &BTreeSet<&'n str>) -> Option<&'n str> {
    let below = format!("{name}/");
    let mut after = taken.range::<str, _>((Bound::Included(below.as_str()), Bound::Unbounded));
    let first_below = after.next().filter(|other| other.starts_with(&below));
    let above = || name.match_indices('/').find_map(|(end, _)| taken.get(&name[..end]));
    first_below.or_else(above).copied()
}

/// Cuts sorted, distinct ids into parts of at most `most` ids. The cuts follow the leading bits of the ids, so that adding
/// or removing an id changes only its own part.
pub fn buckets(ids: &[Oid], most: usize) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    cut(ids, 0..ids.len(), 0, most.max(1), &mut parts);
    parts
}

fn cut(ids: &[Oid], range: Range<usize>, bit: usize, most: usize, parts: &mut Vec<Range<usize>>) {
    if range.is_empty() {
        return;
    }
    let is_set = |id: &Oid| {
        let digit = id.as_str().as_bytes().get(bit / 4).map_or(0, |digit| char::from(*digit).to_digit(16).unwrap_or(0));
        digit >> (3 - bit % 4) & 1 == 1
    };
    let bits = ids.get(range.start).map_or(0, |id| 4 * id.as_str().len());
    if range.len() <= most || bit >= bits {
        parts.push(range);
        return;
    }
    let middle = range.start + ids[range.clone()].partition_point(|id| !is_set(id));
    cut(ids, range.start..middle, bit + 1, most, parts);
    cut(ids, middle..range.end, bit + 1, most, parts);
}

/// Ids and names as lines `oid SP name`, in the given order.
pub fn to_lines<'r>(refs: impl Iterator<Item = (&'r str, &'r str)>) -> String {
    refs.flat_map(|(oid, name)| [oid, " ", name, "\n"]).collect()
}

/// The two fields of each line; `None` where a line has only one. The second may contain spaces.
pub fn of_lines(text: &str) -> Option<Vec<(&str, &str)>> {
    text.lines().map(|line| line.split_once(' ')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oid(text: &str) -> Oid {
        Oid::new(format!("{text:0<40}")).unwrap()
    }

    fn refs(all: &[(&str, &str)]) -> LocalRefSnapshot {
        let refs = all.iter().map(|(name, id)| (RefName::new(*name), oid(id))).collect();
        LocalRefSnapshot { refs, ..LocalRefSnapshot::default() }
    }

    #[test]
    fn ours_and_what_remotes_have_is_left_out_and_nothing_else() {
        for name in ["refs/heads/main", "refs/tags/axiomatic", "refs/notes/axiom-2", "refs/notes/commits", "refs/worktree/x"] {
            assert!(is_held(name), "{name}");
        }
        let own = ["refs/axiom/captures/x", "refs/tags/axiom/x", "refs/heads/axiom/t", "refs/notes/axiom", "refs/stash"];
        for name in own.into_iter().chain(["refs/remotes/origin/main", "refs/bisect/bad"]) {
            assert!(!is_held(name), "{name}");
        }
    }

    #[test]
    fn what_is_gone_moved_and_in_the_way_is_told_apart() {
        let then = refs(&[("refs/heads/a", "1"), ("refs/heads/b", "2"), ("refs/heads/c", "3"), ("refs/heads/d/e", "4")]);
        let now = refs(&[("refs/heads/a", "1"), ("refs/heads/b", "5"), ("refs/heads/c/x", "6"), ("refs/heads/d", "7")]);
        let since = then.since(&now);
        assert_eq!(since.moved, [(RefName::branch("b"), oid("2"), oid("5"))]);
        let blocked = [(RefName::branch("c"), RefName::branch("c/x")), (RefName::branch("d/e"), RefName::branch("d"))];
        assert_eq!((since.blocked.as_slice(), since.gone.len()), (blocked.as_slice(), 0));
        let gone = then.since(&refs(&[("refs/heads/c-", "1")])).gone;
        assert_eq!(gone.len(), 4, "a name that only begins alike is not in the way");
        assert_eq!(then.since(&then), LocalRefChanges::default());
    }

    #[test]
    fn entries_of_the_stash_that_are_gone_are_told_once_in_their_order() {
        let entry = |id: &str| StashEntry { id: oid(id), message: format!("m{id}") };
        let stash =
            |ids: &[&str]| LocalRefSnapshot { stash: ids.iter().map(|id| entry(id)).collect(), ..LocalRefSnapshot::default() };
        let since = stash(&["3", "2", "3", "1"]).since(&stash(&["9", "2"]));
        assert_eq!(since.stash, [entry("3"), entry("1")]);
    }

    #[test]
    fn an_id_more_changes_one_bucket() {
        let ids = |count: u64| -> BTreeSet<Oid> {
            (0..count).map(|n| oid(&format!("{:016x}", n.wrapping_mul(0x9e37_79b9_7f4a_7c15)))).collect()
        };
        let parts = |ids: &BTreeSet<Oid>| -> BTreeSet<Vec<Oid>> {
            let sorted: Vec<Oid> = ids.iter().cloned().collect();
            let parts = buckets(&sorted, BUCKET);
            assert_eq!(parts.iter().map(Range::len).sum::<usize>(), sorted.len());
            assert!(parts.iter().all(|part| !part.is_empty() && part.len() <= BUCKET));
            parts.into_iter().map(|part| sorted[part].to_vec()).collect()
        };
        let all = ids(10_000);
        let mut more = all.clone();
        more.insert(oid("5f"));
        let (before, after) = (parts(&all), parts(&more));
        assert!(before.len() < 60, "{}", before.len());
        assert!(after.difference(&before).count() <= 2);
        assert!(buckets(&[], BUCKET).is_empty());
        assert_eq!(parts(&ids(500)).len(), 1);
    }
}
